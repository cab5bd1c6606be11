"""Loading labels of nuggets: the options name a condition of the labels, and one of the nuggets."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.formats.report import Report
from assessor.imports.loaders.base import AddError, Options
from assessor.imports.loaders.conditions import ConditionLoader, check_name, find_condition
from assessor.labels.label_kind import LabelKind


class NuggetLabelsLoader(ConditionLoader):
    """A loader of labels of nuggets. brings_nuggets: whether its files bring the nuggets, or these are there before."""

    asks: ClassVar[Sequence[str]] = ("condition", "nuggets", "by")
    of_kind: ClassVar[LabelKind]
    brings_nuggets: ClassVar[bool] = False
    labels_of: ClassVar[str] = ""  # what is said of questions: "graded"

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.name, self.by = options["condition"], options["by"]
        self.condition = find_condition(campaign, options, self.of_kind.name, report)
        known = self.condition.nuggets.name if self.condition and self.condition.nuggets else f"{self.name} nuggets"
        self.name_of_nuggets = options.get("nuggets") or known
        self.nuggets = self._find_nuggets(self.name_of_nuggets)
        self.topics: dict[str, Topic] = {topic.qid: topic for topic in campaign.topics.all()}

    def _find_nuggets(self, name: str) -> Condition | None:
        """Return the condition of the nuggets, or None where the file is to make it; report what it can't be."""
        if not check_name(name, "nuggets", self.report):
            return None
        if name == self.name:
            self.report.error(0, "nuggets", name, "another name than that of the labels' condition")
            return None
        found = self.campaign.conditions.filter(name=name).first()
        if found and found.kind not in self.of_kind.builds_on:
            self.report.error(0, "nuggets", f"{name}, {found.kind}", "a new name, or that of a nugget condition")
            return None
        if self.condition and found != self.condition.nuggets:
            expected = f"{self.condition.nuggets}, whose nuggets {self.name} is about already"
            self.report.error(0, "nuggets", name, expected)
        elif found is None and not self.brings_nuggets:
            remedy = "Import the questions first, then name their condition: --nuggets NAME, or “Nuggets” on the page."
            expected = f"the condition of the questions that are {self.labels_of}"
            self.report.error(0, "nuggets", name, expected, remedy=remedy)
        return found

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        options = super().read_form(filled_in, add_error)
        nuggets = filled_in.get("nuggets", "").strip()
        return options | ({"nuggets": nuggets} if nuggets else {})
