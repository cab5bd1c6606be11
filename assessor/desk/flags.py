"""What assessors asked the organizer, of all kinds of work in one place: what they could not judge, and their flags."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of, related_records
from assessor.campaigns.models import Campaign
from assessor.labels.flags import Asked, OtherLabel, Reading, other_labels
from assessor.labels.label_kind import LabelKind, label_kind, label_kinds
from assessor.labels.replies import placed, replies_to
from assessor.runtime.process_cache import cache
from assessor.work.models import Reply, Task

_REMEMBERED = 600  # seconds
OPEN, ANSWERED, SETTLED = "open", "answered", "settled"
Place = tuple[int, int | None, str]  # the task's key, the sheet's, the item's


def asked(campaign: Campaign) -> Iterator[Asked]:
    """Yield all that assessors ask now in a campaign."""
    for kind in label_kinds():
        yield from kind.open_questions(campaign)


def replied(campaign: Campaign) -> dict[Place, list[Reply]]:
    """Return the replies in a campaign by what they are about, the oldest first."""
    found: dict[Place, list[Reply]] = defaultdict(list)
    replies = Reply.objects.filter(task__campaign=campaign).select_related("task", "person", "read").order_by("pk")
    for one, place in placed(replies):
        found[one.task_id, *place].append(one)
    return found


def state(one: Asked, replies: Mapping[Place, Sequence[Reply]]) -> str:
    """Return how it stands with a question. What was worded anew since its answer is open again."""
    if one.adopted and not one.flag:
        return SETTLED
    of_it = replies.get(one.place)
    return ANSWERED if of_it and of_it[-1].question == one.text else OPEN


def open_by_task(campaign: Campaign, questions: Iterable[Asked] | None = None) -> dict[int, int]:
    """Count the questions that are open, by task's key. questions: all of the campaign, where read."""
    replies = replied(campaign)
    every = asked(campaign) if questions is None else questions
    found = Counter(one.task for one in every if state(one, replies) == OPEN)
    remember_open(campaign, found.total())
    return found


def remember_open(campaign: Campaign, number: int) -> None:
    """Keep for the sidebar of all pages how many questions are open: to count them takes as long as some pages do."""
    cache.set(f"open-questions.{campaign.pk}", number, timeout=_REMEMBERED)


def last_open(campaign: Campaign) -> int:
    """Return how many questions were open when they were last counted, within ten minutes; else 0."""
    return int(cache.get(f"open-questions.{campaign.pk}", 0))


def unsettled(questions: Iterable[Asked]) -> int:
    """Count the labels that are missing until an organizer settles them."""
    return sum(one.is_unsettled and bool(label_kind(one.kind).settling) for one in questions)


What = tuple[str, int | None, str]  # kind, sheet's key, item's


class Row(NamedTuple):
    """A question as the organizer sees it. about: what is asked about, in words."""

    asked: Asked
    task: Task
    about: str
    run: str
    state: str
    replies: Sequence[Reply]
    address: str  # of what the person said there
    settling: str  # the template of the forms that settle it, or ""
    sheet: Any  # which these forms are about
    others: Sequence[OtherLabel]
    reading: Reading | None

    @property
    def item(self) -> str:
        """What is asked about, in a word."""
        return label_kind(self.asked.kind).item

    @property
    def can_answer(self) -> bool:
        """Whether its person still has the work, and reads answers on it."""
        return self.task.state != Task.State.WITHDRAWN

    @property
    def can_settle(self) -> bool:
        """Whether its person changes nothing there any more."""
        return self.task.state != Task.State.OPEN


def rows(campaign: Campaign, some: Sequence[Asked], replies: Mapping[Place, Sequence[Reply]]) -> list[Row]:
    """Return questions of a campaign with all that a page shows of them. replies: as replied() has them."""
    # What was asked on work that was taken away since can still be settled.
    of_any = campaign.tasks.select_related("topic", "condition", "person", *related_records())
    tasks = of_any.in_bulk({one.task for one in some})
    about = described((one.kind, one.sheet, one.item) for one in some)
    sheets, others = _to_settle(some)
    texts = _readings(campaign, [(one.kind, one.sheet, one.item) for one in some if one.task in tasks])
    found = []
    for one in some:
        if task := tasks.get(one.task):
            words, run = about[one.kind, one.sheet, one.item]
            found.append(
                Row(
                    one,
                    task,
                    words,
                    run,
                    state(one, replies),
                    replies.get(one.place, ()),
                    kind_of(task).url(task),
                    label_kind(one.kind).settling if one.is_unsettled else "",
                    sheets.get((one.kind, one.sheet)),
                    others.get((one.kind, one.sheet, one.item), ()),
                    texts.get((one.kind, one.sheet, one.item)),
                )
            )
    return found


def _to_settle(some: Sequence[Asked]) -> tuple[dict[tuple[str, int | None], Any], dict[What, list[OtherLabel]]]:
    """Return the judged answers of labels to be settled, and what second people said of them, by kind."""
    sheets: dict[tuple[str, int | None], Any] = {}
    others: dict[What, list[OtherLabel]] = {}
    for kind in label_kinds():
        places = [(one.sheet, one.item) for one in some if one.kind == kind.name and one.is_unsettled and one.sheet]
        if places and kind.settling:
            model: Any = kind.scored
            found = model.objects.filter(pk__in={sheet for sheet, _ in places})
            found = found.select_related("condition__protocol", *model.ANSWERS)
            own = list(found)
            sheets |= {(kind.name, one.pk): one for one in own}
            others |= {(kind.name, *place): told for place, told in other_labels(own, places).items()}
    return sheets, others


def described(items: Iterable[What]) -> dict[What, tuple[str, str]]:
    """Return what items are, in words that their assessor may read, and apart from that the run, which they may not."""
    return {
        (kind.name, *place): told for kind, places in _by_kind(items) for place, told in kind.described(places).items()
    }


def _readings(campaign: Campaign, items: Iterable[What]) -> dict[What, Reading]:
    return {
        (kind.name, *place): text
        for kind, places in _by_kind(items)
        for place, text in kind.readings(campaign, places).items()
    }


def _by_kind(items: Iterable[What]) -> Iterator[tuple[LabelKind, list[tuple[int | None, str]]]]:
    places: dict[str, list[tuple[int | None, str]]] = defaultdict(list)
    for kind, sheet, item in items:
        places[kind].append((sheet, item))
    return ((kind, places[kind.name]) for kind in label_kinds())


class Answered(NamedTuple):
    """A reply as its assessor sees it."""

    reply: Reply
    about: str
    address: str
    is_new: bool


def answers_to(person: Person, most: int) -> list[Answered]:
    """Return the newest replies to a person: no run, nothing but the organizer's words and their own."""
    replies = placed(replies_to(person)[:most])
    about = described((one.task.kind, *place) for one, place in replies)
    return [
        Answered(one, about.get((one.task.kind, *place), ("", ""))[0], _address(one, place), not hasattr(one, "read"))
        for one, place in replies
    ]


def _address(reply: Reply, place: tuple[int | None, str]) -> str:
    address = kind_of(reply.task).url(reply.task)
    return f"{address}?answer={place[0]}" if place[0] else address
