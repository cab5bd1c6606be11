from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import qrels_lines
from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export the relevance judgments of one source."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--source", required=True)

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return qrels_lines(named(campaign.qrels_sources, "name", options["source"], "source of grades"))
