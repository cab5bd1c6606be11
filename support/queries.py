"""What jobs, scores and pages read of support sheets."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from assessor.collection.models import Campaign, Condition, Judge, Topic
from assessor.work.models import Task
from support.citations import LABELS, places
from support.models import Revision, SupportSheet


def loaded_docids(campaign: Campaign, docids: Iterable[str]) -> set[str]:
    """Return those of the docids whose segment's text is loaded."""
    wanted = set(docids)
    return set(campaign.segments.filter(docid__in=wanted).values_list("docid", flat=True)) if wanted else set()


def are_a_models(condition: Condition) -> bool:
    """Say whether a condition's labels are a model's, made here or imported."""
    judge = condition.judge
    return judge is not None and (judge.kind == Judge.Kind.MODEL or judge.parameters.get("by") == "model")


def with_a_models_labels(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions whose labels can stand beside the choices of a person."""
    conditions = campaign.conditions.filter(kind=Condition.Kind.SUPPORT).exclude(judge=None).select_related("judge")
    return conditions.filter(pk__in=[condition.pk for condition in conditions if are_a_models(condition)])


def given_labels(condition: Condition, topic: Topic | None = None) -> dict[int, dict[str, str]]:
    """Return the labels of a condition by answer's key and citation's; what is not one of the three is none."""
    sheets = SupportSheet.objects.filter(condition=condition).exclude(labels={})
    if topic:
        sheets = sheets.filter(answer__topic=topic)
    return {
        answer: {key: label for key, label in labels.items() if label in LABELS}
        for answer, labels in sheets.values_list("answer", "labels")
    }


def sheets_on(task: Task) -> QuerySet[SupportSheet]:
    """Return all sheets of a task's topic under its condition, whoever has them."""
    return SupportSheet.objects.filter(condition=task.condition_id, answer__topic=task.topic_id)


class Progress(NamedTuple):
    """How far sheets are, in citations. Those that are unresolved or wait are in neither done nor total.

    silent: answers that cite nothing.
    """

    done: int
    total: int
    unresolved: int
    waiting: int
    silent: int


def progress(sheets: QuerySet[SupportSheet]) -> Progress:
    """Count the citations of sheets."""
    unresolved = waiting = total = to_do = silent = 0
    for row in sheets.order_by().values("asked", "unresolved", "waiting", "to_do"):
        unresolved += len(row["unresolved"])
        waiting += len(row["waiting"])
        total += len(row["asked"]) - len(row["unresolved"]) - len(row["waiting"])
        to_do += row["to_do"]
        silent += not row["asked"]
    return Progress(total - to_do, total, unresolved, waiting, silent)


def judging(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file."""
    return campaign.conditions.filter(kind=Condition.Kind.SUPPORT).select_related("judge", "shown__judge")


class Said(NamedTuple):
    """What stands of a citation, with the active seconds that were spent on it; what there isn't is empty."""

    sentence: int  # from 1
    docid: str
    text: str
    label: str
    shown: str
    cannot: str
    flag: str
    state: str  # why nobody is asked about it
    seconds: int | None

    @property
    def differs(self) -> str:
        """Whether the label differs from the one that was shown: "yes", "no", or "" where one of them is missing."""
        return ("yes" if self.label != self.shown else "no") if self.label and self.shown else ""


class Judged(NamedTuple):
    """An answer as an organizer sees it."""

    sheet: SupportSheet
    said: list[Said]
    uncited: int  # sentences without citations
    seconds: int
    last: datetime | None


def all_sheets(task: Task) -> QuerySet[SupportSheet]:
    """Return all sheets of a task, in the order in which they were shuffled."""
    sheets = SupportSheet.objects.filter(task=task).select_related("answer__run")
    return sheets.order_by("place", "pk")


UNRESOLVED = "its text is not loaded"
WAITING = "waits for the model's label"


def judged(sheets: Iterable[SupportSheet]) -> list[Judged]:
    """Return sheets with all that was said on them, for organizers: runs are named."""
    found = list(sheets)
    seconds: dict[tuple[int, str], int] = defaultdict(int)
    last: dict[int, datetime] = {}
    told = Revision.objects.filter(sheet__in=found).order_by("at").values_list("sheet", "changes", "seconds", "at")
    for sheet, changes, spent, at in told:
        last[sheet] = at
        if spent is not None:
            for citation in changes:
                seconds[sheet, citation] += spent
    return [_judged(sheet, seconds, last.get(sheet.pk)) for sheet in found]


def _judged(sheet: SupportSheet, seconds: dict[tuple[int, str], int], last: datetime | None) -> Judged:
    sentences = list(sheet.answer.sentences())
    rows = []
    for key in sheet.asked:
        sentence, citation = places(key)
        at = sentences[sentence]
        label, shown, cannot, flag = (
            column.get(key, "") for column in (sheet.labels, sheet.shown, sheet.cannot, sheet.flags)
        )
        state = UNRESOLVED if key in sheet.unresolved else WAITING if key in sheet.waiting else ""
        spent = seconds.get((sheet.pk, key))
        docid = at.citations[citation].docid
        rows.append(Said(sentence + 1, docid, at.text, label, shown, cannot, flag, state, spent))
    uncited = sum(not sentence.citations for sentence in sentences)
    return Judged(sheet, rows, uncited, sum(row.seconds or 0 for row in rows), last)
