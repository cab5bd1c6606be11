from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from assessor.campaigns.condition_kind import kinds_with_screen
from assessor.campaigns.management.export_command import ExportCommand
from assessor.campaigns.models import Campaign
from assessor.work.actions.guidelines import in_force, versions


class Command(ExportCommand):
    help = "Export a campaign's guidelines for a kind of work, as Markdown: those in force unless told otherwise."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--kind", required=True, choices=[kind.name for kind in kinds_with_screen()])
        parser.add_argument("--version-number", type=int, metavar="N")

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        kind, version = options["kind"], options["version_number"]
        present = in_force(campaign, kind)
        if version is None or version == present.version:
            return iter([present.text])
        found = versions(campaign, kind).filter(version=version).first()
        if found is None:
            raise CommandError(f"There is no version {version}: the newest is {present.version}.")
        return iter([found.text])
