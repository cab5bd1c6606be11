from collections.abc import Iterator
from typing import Any

from assessor.collection.exports import pool_lines
from assessor.collection.management.exporting import ExportCommand
from assessor.collection.models import Campaign


class Command(ExportCommand):
    help = "Export the pool: topic and docid of the first segments of each retrieval run."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        return pool_lines(campaign)
