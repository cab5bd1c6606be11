from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import ExportCommand
from assessor.collection.models import Campaign
from assessor.plan.exports import plan_lines


class Command(ExportCommand):
    help = "Export plan.csv, which import_plan reads back."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return plan_lines(campaign)
