from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import LabelExport, named
from assessor.collection.models import Campaign, Condition
from support.exports import support_lines


class Command(LabelExport):
    help = "Export the labels of a support condition (JSONL, NIST's form)."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        conditions = campaign.conditions.filter(kind=Condition.Kind.SUPPORT)
        condition = named(conditions, "name", options["condition"], "support condition")
        return support_lines(condition, *self.scope(campaign, options))
