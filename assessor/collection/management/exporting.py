"""What the export commands share."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assessor.collection.management.common import campaign_called, write_lines
from assessor.collection.models import Campaign, Run, Topic


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


class LabelExport(ExportCommand):
    """Writes the labels of a condition, of all topics and runs or of some."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True)
        parser.add_argument("--topics", nargs="+", metavar="ID", help="Of these topics alone.")
        parser.add_argument("--runs", nargs="+", metavar="TAG", help="Of these runs alone.")

    def scope(self, campaign: Campaign, options: dict[str, Any]) -> tuple[list[Topic] | None, list[Run] | None]:
        """Return the topics and the runs that are asked for; None for all."""
        topics, runs = options["topics"], options["runs"]
        return (
            None if topics is None else [named(campaign.topics, "qid", qid, "topic") for qid in topics],
            None if runs is None else [named(campaign.runs, "tag", tag, "run") for tag in runs],
        )


def named(records: Any, field: str, name: str, what: str) -> Any:
    """Return the record of a campaign with this name, or end the command saying which there are."""
    record = records.filter(**{field: name}).first()
    if record is None:
        known = ", ".join(records.values_list(field, flat=True)) or "none"
        raise CommandError(f"There is no {what} {name}. There are: {known}.")
    return record
