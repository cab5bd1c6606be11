from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import retrieval_run_lines
from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export a retrieval run: topic, Q0, docid, rank, score, tag."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--run", required=True, help="The retrieval run's tag.")

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return retrieval_run_lines(named(campaign.retrieval_runs, "tag", options["run"], "retrieval run"))
