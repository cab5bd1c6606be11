"""What the export commands share."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from assessor.campaigns.management.common import campaign_called, write_lines
from assessor.campaigns.models import Campaign


class ExportCommand(BaseCommand):
    """Writes one file; the same data gives the same bytes."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--output", "-o", default="-", help="The file to write; by default standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        write_lines(self.lines(campaign, options), options["output"], self.stdout)

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        """Yield the lines of the file."""
        raise NotImplementedError
