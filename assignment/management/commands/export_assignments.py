from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign, Condition
from assignment.exports import assignment_lines


class Command(ExportCommand):
    help = "Export the labels of an assignment condition (JSONL, NIST's form)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True)
        parser.add_argument("--topics", nargs="+", metavar="ID", help="Of these topics alone.")
        parser.add_argument("--runs", nargs="+", metavar="TAG", help="Of these runs alone.")

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        conditions = campaign.conditions.filter(kind=Condition.Kind.ASSIGNMENT)
        condition = named(conditions, "name", options["condition"], "assignment condition")
        topics, runs = options["topics"], options["runs"]
        return assignment_lines(
            condition,
            None if topics is None else [named(campaign.topics, "qid", qid, "topic") for qid in topics],
            None if runs is None else [named(campaign.runs, "tag", tag, "run") for tag in runs],
        )
