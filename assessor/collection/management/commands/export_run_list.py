from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import run_list_lines
from assessor.collection.management.exporting import ExportCommand
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export runs.csv: team, task, type, priority and aliases of the runs."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return run_list_lines(campaign)
