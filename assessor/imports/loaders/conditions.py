"""Conditions that files bring: what is in a file goes under the name that the organizer gives to it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Import, Judge
from assessor.formats.report import Report
from assessor.imports.loaders.base import AddError, Loader, Options, may_add_to

MAKERS = ("people", "model")
_LONGEST_NAME = 120
ANOTHER_NAME = "Import the file under another name: --condition NAME, or “Condition” on the page."


class ConditionLoader(Loader):
    """A loader of what is kept by condition: the options name the condition, and who made what is in the file."""

    is_a_judges = True
    brings: ClassVar[str]  # in the plural: "support judgments"

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        super().read_form(filled_in, add_error)
        name = cls.read_condition(filled_in, add_error)
        if not filled_in.get("by"):
            add_error("by", f"Say whether people or a model made these {cls.brings}.")
        return {"condition": name, "by": filled_in.get("by", "")}

    @classmethod
    def read_condition(cls, filled_in: Mapping[str, Any], add_error: AddError) -> str:
        """Return the name of the condition as the form of imports has it."""
        name: str = filled_in.get("condition", "").strip()
        if not name:
            add_error("condition", f"Name the condition: {cls.brings} are kept by condition.")
        return name


def check_name(name: str, option: str, report: Report) -> bool:
    """Say whether a condition can have this name, which an option gave; if it can't, that is an error."""
    if name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME:
        return True
    report.error(0, option, name, f"a name of 1 to {_LONGEST_NAME} visible characters")
    return False


def is_open(condition: Condition, options: Options, report: Report) -> bool:
    """Say whether a file may add to a condition; if it may not, that is an error."""
    if may_add_to(condition, options):
        return True
    expected = "a new name, or that of a condition which came by the same token"
    report.error(0, "condition", condition.name, expected, remedy=ANOTHER_NAME)
    return False


def find_condition(campaign: Campaign, options: Options, kind: str, report: Report) -> Condition | None:
    """Return the imported condition that the options name, or None where the file is to make it.

    What it can't be, or who can't have made it, is an error.
    """
    name, by = options["condition"], options["by"]
    if not check_name(name, "condition", report):
        return None
    if by not in MAKERS:
        report.error(0, "by", by, " or ".join(MAKERS))
    condition = campaign.conditions.filter(name=name).select_related("judge", "nuggets", "import_record").first()
    if condition is None or not is_open(condition, options, report):
        return None
    if (condition.kind, condition.method) != (kind, Condition.IMPORTED):
        found = f"{name}, {condition.kind} by {condition.method}"
        expected = f"a new name, or that of imported {kind}"
        report.error(0, "condition", found, expected, remedy=ANOTHER_NAME)
        return None
    if condition.judge and condition.judge.parameters["by"] != by:
        before = condition.judge.parameters["by"]
        report.error(0, "by", by, f"{before}, as {name} is known already", remedy=ANOTHER_NAME)
    _check_invalid_labels(condition, options.get("invalid_labels", ""), report)
    return condition


def _check_invalid_labels(condition: Condition, found: str, report: Report) -> None:
    """Report it where the labels of a condition would come to count in two ways."""
    if not kind_of(condition).takes_invalid_labels:
        return
    counted = Import.InvalidLabels.NOT_SUPPORT
    if condition.counts_invalid_labels != (found == counted):
        before = counted if condition.counts_invalid_labels else "errors or missing"
        expected = f"{before}, as {condition} has them already"
        report.error(0, "invalid labels", found or "errors", expected, remedy=ANOTHER_NAME)


def imported_judge(name: str, by: str) -> Judge:
    """Return the judge that made what is in a file."""
    judge, _ = Judge.objects.get_or_create(kind=Judge.Kind.IMPORTED, name=name, parameters={"by": by})
    return judge


def make_condition(
    import_record: Import,
    report: Report,
    *,
    kind: str,
    name: str,
    by: str,
    nuggets: Condition | None = None,
    of_passages: bool = False,
) -> Condition:
    """Make an imported condition, and the judge of its name who made what is in the file.

    Both in one transaction: once the condition is gone, so is the judge (see nuggets/apps.py).
    """
    judge = imported_judge(name, by)
    report.counts["conditions added"] += 1
    return Condition.everything.create(
        import_record=import_record,
        campaign=import_record.campaign,
        name=name,
        kind=kind,
        method=Condition.IMPORTED,
        judge=judge,
        nuggets=nuggets,
        of_passages=of_passages,
        protocol=import_record.campaign.protocol,
        created_by=import_record.person,
    )
