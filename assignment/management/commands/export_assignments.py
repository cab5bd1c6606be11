from collections.abc import Iterator
from typing import Any

from assessor.collection.management.exporting import LabelExport, named
from assessor.collection.models import Campaign, Condition
from assignment.exports import assignment_lines


class Command(LabelExport):
    help = "Export the labels of an assignment condition (JSONL, NIST's form)."

    def lines(self, campaign: Campaign, options: dict[str, Any]) -> Iterator[str]:
        conditions = campaign.conditions.filter(kind=Condition.Kind.ASSIGNMENT)
        condition = named(conditions, "name", options["condition"], "assignment condition")
        return assignment_lines(condition, *self.scope(campaign, options))
