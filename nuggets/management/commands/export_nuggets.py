from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign, Condition
from nuggets.exports import condition_lines


class Command(ExportCommand):
    help = "Export the finished nugget banks of a condition (JSONL)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True)
        parser.add_argument(
            "--lineage", action="store_true", help="With ids, origins, parents, evidence, and the nuggets made from."
        )

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        conditions = campaign.conditions.filter(kind=Condition.Kind.NUGGETS)
        condition = named(conditions, "name", options["condition"], "nugget condition")
        return condition_lines(condition, with_lineage=options["lineage"])
