from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import ExportCommand, named
from assessor.collection.models import Campaign, Condition
from assessor.relevance.exports import judgment_lines


class Command(ExportCommand):
    help = "Export the judgments of relevance under one condition: what was shown and given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True)

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        conditions = campaign.conditions.filter(kind=Condition.Kind.RELEVANCE)
        return judgment_lines(named(conditions, "name", options["condition"], "relevance condition"))
