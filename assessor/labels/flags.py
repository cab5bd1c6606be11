"""What people left open for the organizer, labels that they could not give and flags, and how it is settled."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max, Q

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.labels.label_kind import LabelKind
from assessor.labels.manual_setups import SECOND, conditions
from assessor.labels.models import Label, ManualSetup
from assessor.work.models import MAX_REASON, Task
from assessor.work.write_protocol import Stale

# The labels on which a person left something open, which are few.
LEFT_OPEN = Q(state=Label.State.UNJUDGEABLE) | ~Q(flag="")


class ResolveError(Exception):
    """It can't be resolved like that; the text says why."""


class OtherLabel(NamedTuple):
    """What another person says of the same item of the same answer."""

    sheet: Any
    label: str


class Question(NamedTuple):
    """What is asked about: an item of a sheet, by its key."""

    sheet: Any
    item: str


def other_labels(sheets: Sequence[Any], items: Iterable[tuple[int, str]]) -> dict[tuple[int, str], list[OtherLabel]]:
    """Return what second people said of items of sheets of one kind. items: the sheet's key, and the item's."""
    if not sheets:
        return {}
    by_key, model = {one.pk: one for one in sheets}, type(sheets[0])
    setups = ManualSetup.objects.filter(of__in={one.condition_id for one in sheets}, purpose=SECOND)
    first = dict(setups.values_list("condition", "of"))
    about = {_answers(one) for one in sheets}
    same = {f"{name}__in": set(keys) for name, keys in zip(model.ANSWERS, zip(*about, strict=True), strict=True)}
    found = model.objects.filter(condition__in=first, **same)
    others: dict[tuple[int, tuple[int, ...]], list[Any]] = {}
    for other in model.with_items(found).select_related("condition", "judge").order_by("pk"):
        others.setdefault((first[other.condition_id], _answers(other)), []).append(other)
    return {
        (key, item): [
            OtherLabel(other, label)
            for other in others.get((by_key[key].condition_id, _answers(by_key[key])), ())
            if (label := by_key[key].label_of(other, item))
        ]
        for key, item in items
        if key in by_key
    }


def _answers(sheet: Any) -> tuple[int, ...]:
    """Return the keys of the answers that a sheet is about."""
    return tuple(getattr(sheet, f"{name}_id") for name in sheet.ANSWERS)


@transaction.atomic
def adopt(*, sheet: Any, item: str, other: Any, acting_user: Person) -> None:
    """Let another person's label count where the first one could not judge. Raises ResolveError.

    It stands apart from what the first person said, who is never shown it.
    """
    seconds = conditions(of=sheet.condition_id, purpose=SECOND)
    if _answers(other) != _answers(sheet) or not seconds.filter(condition=other.condition_id).exists():
        raise ResolveError("That is no other person's label of this answer.")
    _require_open(sheet, item)
    label = sheet.label_of(other, item)
    if label is None:
        raise ResolveError("The other person has no label there that counts.")
    reason = f"adopted by {acting_user} from {other.condition}"
    _settle(sheet, "adopted", item, label, judge_id=other.judge_id, reason=reason)
    told = _named(sheet, item) | {"label": label, "from": other.condition.name}
    history.record("label adopted", sheet.condition, campaign=sheet.condition.campaign, person=acting_user, **told)


@transaction.atomic
def decide(*, sheet: Any, item: str, label: str, reason: str, acting_user: Person) -> None:
    """Let a label that an organizer decides on count where a person could not judge. Raises ResolveError."""
    reason = given_reason(reason)
    _require_open(sheet, item)
    _settle(sheet, "decided", item, label, judge_id=None, reason=f"{label}, says {acting_user}: {reason}")
    told = _named(sheet, item) | {"label": label, "reason": reason}
    history.record("label decided", sheet.condition, campaign=sheet.condition.campaign, person=acting_user, **told)


def _named(sheet: Any, item: str) -> dict[str, str]:
    """Return what names an item in the history of its campaign."""
    return {"answer": " and ".join(answer.name for answer in sheet.answers), "item": sheet.item_name(item)}


def given_reason(text: str) -> str:
    """Return an organizer's reason with its blanks folded. Raises ResolveError."""
    reason = " ".join(text.split())
    if not reason or len(reason) > MAX_REASON or "\x00" in reason:
        raise ResolveError(f"Say why, in at most {MAX_REASON} characters.")
    return reason


def _require_open(sheet: Any, item: str) -> None:
    if sheet.task is None or sheet.task.state == Task.State.OPEN:
        raise ResolveError(f"{sheet.judge} has not finished the topic and may still change this. Settle it then.")
    if item not in sheet.cannot or item in sheet.adopted:
        raise ResolveError("This label is not missing any more: load the page again.")


def _settle(sheet: Any, verb: str, item: str, label: str, *, judge_id: int | None, reason: str) -> None:
    try:
        sheet.revise(verb, {item: {"adopted": label}}, judge_id=judge_id, reason=reason[:MAX_REASON])
    except Stale as error:
        raise ResolveError("The person changed this answer at the same moment: load the page again.") from error


LEFT_OUT = "left out for all runs"
Place = tuple[int | None, str]  # a judged answer's key, where there is one, and its item's


class Asked(NamedTuple):
    """What a person asks about an item. sheet: the judged answer's key, None where the item alone names it.

    adopted: how it is settled that they can't judge it, or empty. at: when they last said something there.
    """

    kind: str
    task: int
    sheet: int | None
    item: str
    cannot: str
    flag: str
    adopted: str
    at: datetime | None

    @property
    def place(self) -> tuple[int, int | None, str]:
        return self.task, self.sheet, self.item

    @property
    def is_unsettled(self) -> bool:
        """Whether a label is missing, and nothing is decided about that yet."""
        return bool(self.cannot) and not self.adopted

    @property
    def text(self) -> str:
        """The question in words."""
        return "; ".join(part for part in (self.cannot and f"can't judge: {self.cannot}", self.flag) if part)


def open_on_answers(kind: LabelKind, campaign: Campaign) -> Iterator[Asked]:
    """Yield what people ask of the items of judged answers."""
    model, out = kind.sheets, kind.left_out(campaign)
    found = kind.judged_answers().filter(model.QUESTIONED, task__campaign=campaign).order_by("pk")
    sheets = list(model.with_items(found, LEFT_OPEN))
    column, key = model.label_model().IN_HISTORY
    events = model._meta.get_field("revisions").related_model.objects.exclude(task=None)
    newest = events.filter(sheet__in=found.order_by().values("pk")).order_by().values_list("sheet", column)
    last = {(sheet, name): at for sheet, name, at in newest.annotate(Max("at"))} if sheets else {}
    for sheet in sheets:
        cannot, flags, adopted = sheet.cannot, sheet.flags, sheet.adopted
        for item in {**cannot, **flags}:
            is_out = item in cannot and (sheet.condition_id, item) in out
            settled = LEFT_OUT if is_out else adopted.get(item, "")
            why, flag = cannot.get(item, ""), flags.get(item, "")
            at = last.get((sheet.pk, getattr(sheet.labels_by_item[item], key)))
            yield Asked(kind.name, sheet.task_id, sheet.pk, item, why, flag, settled, at)


MOST_READ = 20_000  # characters: texts are as long as files had them


class Reading(NamedTuple):
    """What one reads to judge an item. cut: how many characters more the text has."""

    heading: str
    text: str
    cut: int


def reading(heading: str, text: str) -> Reading:
    """Return a text for a page, cut where it is too long for one."""
    return Reading(heading, text[:MOST_READ], max(len(text) - MOST_READ, 0))


def read_answers(model: Any, places: Sequence[Place]) -> dict[Place, Reading]:
    """Return the answers that items of judged answers are about."""
    sheets = model.objects.filter(pk__in={sheet for sheet, _ in places}).select_related("answer").in_bulk()
    return {place: reading("Answer", sheets[place[0]].answer.text) for place in places if place[0] in sheets}


def described_on_answers(
    model: Any, places: Sequence[Place], texts_of: Callable[[Sequence[Question]], Iterable[str]]
) -> dict[Place, tuple[str, str]]:
    """Return what items of judged answers are, in the words of texts_of, and apart from that the run."""
    sheets = model.objects.filter(pk__in={sheet for sheet, _ in places}).select_related("answer__run").in_bulk()
    about = [Question(sheets[sheet], item) for sheet, item in places if sheet in sheets]
    return {
        (one.sheet.pk, one.item): (words, one.sheet.answer.docid or one.sheet.answer.run.tag)
        for one, words in zip(about, texts_of(about), strict=True)
    }
