from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from assessor.campaigns.management.common import campaign_called, named, write_bytes
from assessor.exports.releases import Release


class Command(BaseCommand):
    help = "Export a release, a zip without names of people: of a campaign, or of one condition and its nuggets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--condition")
        parser.add_argument("--output", "-o", required=True, help="The zip to write.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, name = campaign_called(options["campaign"]), options["condition"]
        condition = named(campaign.conditions, "name", name, "condition") if name else None
        write_bytes(Release(campaign, condition, lambda records: None), options["output"])
        self.stdout.write(f"{options['output']}: a release of {condition or campaign}")
