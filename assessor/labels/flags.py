"""What people left open for the organizer, labels that they could not give and flags, and how it is settled."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.labels.label_kind import LabelKind
from assessor.labels.manual_setups import SECOND, conditions
from assessor.labels.models import Label
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
    """What is open on an item of a sheet, by its key: why it can't be judged, or a flag's note, or both."""

    sheet: Any
    item: str
    cannot: str
    adopted: str
    flag: str
    others: list[OtherLabel]


def with_questions(sheets: QuerySet[Any]) -> QuerySet[Any]:
    """Return those of the sheets on which a person could not judge something or flagged it, the topics in order."""
    model: Any = sheets.model
    found = sheets.filter(model.QUESTIONED).select_related("answer__run", "answer__topic", "judge")
    in_order: QuerySet[Any] = model.with_items(found.order_by("answer__topic__qid", "pk"), LEFT_OPEN)
    return in_order


def questions(sheets: Sequence[Any]) -> list[Question]:
    """Return what is open on sheets of one condition, item by item, with what other people said there."""
    others: dict[int, list[Any]] = {}
    for sheet in sheets[:1]:
        seconds = conditions(of=sheet.condition_id, purpose=SECOND)
        model = type(sheet)
        found = model.objects.filter(condition__in=seconds, answer__in=[one.answer_id for one in sheets])
        for other in model.with_items(found).select_related("condition", "judge").order_by("pk"):
            others.setdefault(other.answer_id, []).append(other)
    return [
        Question(
            sheet,
            item,
            sheet.cannot.get(item, ""),
            sheet.adopted.get(item, ""),
            sheet.flags.get(item, ""),
            [
                OtherLabel(other, label)
                for other in others.get(sheet.answer_id, ())
                if (label := sheet.label_of(other, item))
            ],
        )
        for sheet in sheets
        for item in {**sheet.cannot, **sheet.flags}
    ]


@transaction.atomic
def adopt(*, sheet: Any, item: str, other: Any, acting_user: Person) -> None:
    """Let another person's label count where the first one could not judge. Raises ResolveError.

    It stands apart from what the first person said, who is never shown it.
    """
    seconds = conditions(of=sheet.condition_id, purpose=SECOND)
    if other.answer_id != sheet.answer_id or not seconds.filter(condition=other.condition_id).exists():
        raise ResolveError("That is no other person's label of this answer.")
    _require_open(sheet, item)
    label = sheet.label_of(other, item)
    if label is None:
        raise ResolveError("The other person has no label there that counts.")
    reason = f"adopted by {acting_user} from {other.condition}"
    _settle(sheet, "adopted", item, label, judge_id=other.judge_id, reason=reason)
    told = {"answer": sheet.answer.name, "item": sheet.item_name(item), "label": label, "from": other.condition.name}
    history.record("label adopted", sheet.condition, campaign=sheet.condition.campaign, person=acting_user, **told)


@transaction.atomic
def decide(*, sheet: Any, item: str, label: str, reason: str, acting_user: Person) -> None:
    """Let a label that an organizer decides on count where a person could not judge. Raises ResolveError."""
    reason = given_reason(reason)
    _require_open(sheet, item)
    _settle(sheet, "decided", item, label, judge_id=None, reason=f"{label}, says {acting_user}: {reason}")
    told = {"answer": sheet.answer.name, "item": sheet.item_name(item), "label": label, "reason": reason}
    history.record("label decided", sheet.condition, campaign=sheet.condition.campaign, person=acting_user, **told)


def given_reason(text: str) -> str:
    """Return an organizer's reason with its blanks folded. Raises ResolveError."""
    reason = " ".join(text.split())
    if not reason or len(reason) > MAX_REASON or "\x00" in reason:
        raise ResolveError(f"Say why, in at most {MAX_REASON} characters.")
    return reason


def _require_open(sheet: Any, item: str) -> None:
    if sheet.task is None or sheet.task.state == Task.State.OPEN:
        raise ResolveError(f"{sheet.judge} has not signed the topic off, and may still say something there.")
    if item not in sheet.cannot or item in sheet.adopted:
        raise ResolveError("Nothing is unresolved there: load the page again.")


def _settle(sheet: Any, verb: str, item: str, label: str, *, judge_id: int | None, reason: str) -> None:
    try:
        sheet.revise(verb, {item: {"adopted": label}}, judge_id=judge_id, reason=reason[:MAX_REASON])
    except Stale as error:
        raise ResolveError("The person changed this answer at the same moment: load the page again.") from error


LEFT_OUT = "left out for all runs"
Place = tuple[int | None, str]  # a judged answer's key, where there is one, and its item's


class Asked(NamedTuple):
    """What a person asks about an item. sheet: the judged answer's key, None where the item alone names it.

    adopted: how it is settled that they can't judge it, or empty.
    """

    kind: str
    task: int
    sheet: int | None
    item: str
    cannot: str
    flag: str
    adopted: str

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
    found = model.objects.filter(model.QUESTIONED, task__campaign=campaign).order_by("pk")
    for sheet in model.with_items(found, LEFT_OPEN):
        cannot, flags, adopted = sheet.cannot, sheet.flags, sheet.adopted
        for item in {**cannot, **flags}:
            is_out = item in cannot and (sheet.condition_id, item) in out
            settled = LEFT_OUT if is_out else adopted.get(item, "")
            why, flag = cannot.get(item, ""), flags.get(item, "")
            yield Asked(kind.name, sheet.task_id, sheet.pk, item, why, flag, settled)


def described_on_answers(
    model: Any, places: Sequence[Place], texts_of: Callable[[Sequence[Question]], Iterable[str]]
) -> dict[Place, tuple[str, str]]:
    """Return what items of judged answers are, in the words of texts_of, and apart from that the run."""
    sheets = model.objects.filter(pk__in={sheet for sheet, _ in places}).select_related("answer__run").in_bulk()
    about = [Question(sheets[sheet], item, "", "", "", []) for sheet, item in places if sheet in sheets]
    return {
        (one.sheet.pk, one.item): (words, one.sheet.answer.run.tag)
        for one, words in zip(about, texts_of(about), strict=True)
    }
