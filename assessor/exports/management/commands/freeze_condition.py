from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named
from assessor.exports.freeze import FreezeError, freeze
from assessor.exports.signatures import OddKey


class Command(BaseCommand):
    help = "Freeze a finished condition as its next version; says what is missing where it is not finished."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        condition = named(campaign.conditions, "name", options["condition"], "condition")
        try:
            frozen = freeze(condition=condition, acting_user=None)
        except (FreezeError, OddKey) as error:
            raise CommandError(str(error)) from error
        signed = f"signed with {frozen.public_key}" if frozen.signature else "unsigned: the server has no key"
        self.stdout.write(f"Frozen: {frozen}, {signed}.")
