from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import segments_lines
from assessor.collection.management.exporting import ExportCommand
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export segments (JSONL)."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return segments_lines(campaign)
