from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.campaigns.management.common import campaign_called, named, write_bytes
from assessor.exports.checksums import Damaged
from assessor.exports.freeze import frozen_bundle


class Command(BaseCommand):
    help = "Export a frozen version of a condition as a zip: the same bytes each time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition", required=True)
        parser.add_argument("--of-version", type=int, help="Which version; by default the newest.")
        parser.add_argument("--output", "-o", required=True, help="The zip to write.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        condition = named(campaign.conditions, "name", options["condition"], "condition")
        versions = condition.frozen.order_by("-version")
        wanted = options["of_version"]
        frozen = (versions if wanted is None else versions.filter(version=wanted)).first()
        if frozen is None:
            known = ", ".join(str(one.version) for one in versions) or "none"
            raise CommandError(f"{condition} has no such version. There are: {known}.")
        try:
            write_bytes(frozen_bundle(frozen), options["output"])
        except Damaged as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['output']}: {frozen}")
