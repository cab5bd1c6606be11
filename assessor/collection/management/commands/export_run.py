from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import run_lines
from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export a run's answers (JSONL), in the form in which they came."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--run", required=True, help="The run's tag.")

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return run_lines(named(campaign.runs, "tag", options["run"], "run"))
