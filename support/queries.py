"""What jobs, scores and pages read of support sheets."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.db.models import Q, QuerySet

from assessor.collection.models import Answer, Campaign, Condition, Judge, Topic
from assessor.collection.queries import answers_to, lacking_docids
from assessor.work.models import Task
from support.citations import LABELS, places
from support.models import Revision, SupportSheet

_AT_A_TIME = 2_000


def loaded_docids(campaign: Campaign, docids: Iterable[str]) -> set[str]:
    """Return those of the docids whose segment's text is loaded."""
    wanted = set(docids)
    return wanted - lacking_docids(campaign, wanted) if wanted else set()


def answers_without_sheet(condition: Condition, topics: Sequence[Topic]) -> Iterator[list[Answer]]:
    """Yield the systems' own answers to topics that have no sheet under a condition yet, some thousand at a time."""
    known = set(SupportSheet.objects.filter(condition=condition.pk, answer__topic__in=topics).values_list("answer"))
    keys = answers_to(topics).order_by("topic", "pk").values_list("pk")
    new = iter([pk for (pk,) in keys if (pk,) not in known])
    while some := list(islice(new, _AT_A_TIME)):
        answers = Answer.objects.filter(pk__in=some).order_by("topic", "pk").only("form", "references", "content")
        yield [answer for answer in answers if citations_are_known(answer)]


def citations_are_known(answer: Answer) -> bool:
    """Say whether it is known what an answer cites; not of a bare text that came with labels of nuggets."""
    return answer.form != Answer.Form.TEXT or any(sentence["citations"] for sentence in answer.content)


def unfinished_sheets(condition: Condition, topics: Sequence[Topic]) -> QuerySet[SupportSheet]:
    """Return the sheets with citations of which nothing is said, be it that their text is not loaded.

    None is of a text that has given way to what the run itself answered.
    """
    lacking = Q(to_do__gt=0) | ~Q(unresolved=[])
    return SupportSheet.objects.filter(lacking, condition=condition.pk, answer__topic__in=topics, answer__apart=False)


def supporting(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file."""
    return campaign.conditions.filter(kind=Condition.Kind.SUPPORT).select_related("judge", "shown__judge")


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
