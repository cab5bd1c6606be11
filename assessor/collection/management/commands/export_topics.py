from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import topics_lines
from assessor.collection.formats.topics import FORMS
from assessor.collection.management.exporting import ExportCommand
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export topics, in the form in which they came unless told otherwise."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--form", choices=FORMS)

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return topics_lines(campaign, options["form"])
