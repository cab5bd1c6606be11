"""What the pages of the plan read."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from assessor.campaigns.condition_kind import kind_named, names_in_order_of_work
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.plan.models import WHOEVER_DRAWS, Planned
from assessor.work.judging_pool import ALL, NONE
from assessor.work.models import Draw, Scope, Task
from assessor.work.queries import Counted, counted, lease, waiting_in

# Of a piece of work: people are at it, it is paused, done, in a queue, or waits for other work.
OPEN, PAUSED, FINISHED, QUEUED, WAITING = "open", "paused", "finished", "queued", "waiting"
NOT_GIVEN = "none"  # of a topic on which there is no work


class WorkRow(NamedTuple):
    """A topic under a condition, for a person or (person_id None) for whoever draws it.

    total: 0 where it is not known yet; left: items; note: its lease, or what it waits for.
    """

    topic: int
    condition: int
    person_id: int | None
    person: str
    state: str
    done: int
    total: int
    seconds: int
    note: str

    @property
    def left(self) -> int | None:
        """How many items are left; None where that is not known."""
        return max(0, self.total - self.done) if self.total else None

    @property
    def share(self) -> int | None:
        """The percent that is done; None where that is not known."""
        if self.state == FINISHED:
            return 100
        return 100 * min(self.done, self.total) // self.total if self.total else None


def work_rows(campaign: Campaign, tasks: Iterable[Counted] | None = None) -> list[WorkRow]:
    """Return all work of a campaign, given or not, in three queries. tasks: those of the campaign, where read."""
    found = [_of_task(task) for task in (counted(campaign) if tasks is None else tasks)]
    queued = waiting_in(campaign).order_by("pk").values_list("topic", "condition")
    found += [WorkRow(topic, condition, None, WHOEVER_DRAWS, QUEUED, 0, 0, 0, "") for topic, condition in queued]
    to_come = Planned.objects.filter(condition__campaign=campaign).values_list(
        "topic", "condition", "person", "person__username", "waits_for"
    )
    for topic, condition, key, name, why in to_come:
        found.append(WorkRow(topic, condition, key, name or WHOEVER_DRAWS, WAITING, 0, 0, 0, why))
    return found


def _of_task(task: Counted) -> WorkRow:
    state = PAUSED if task.rests else FINISHED if task.state == Task.State.FINISHED else OPEN
    return WorkRow(
        task.topic_id,
        task.condition_id,
        task.person_id,
        task.person__username,
        state,
        task.done,
        task.total,
        task.seconds,
        lease(task),
    )


class Filters(NamedTuple):
    """Which topics of the plan are shown. state: "" for all; condition, person: keys; text: of a query or qid."""

    state: str
    condition: int | None
    person: int | None
    text: str


class Line(NamedTuple):
    """A topic of the plan: the work on it, also by kind in the order of the columns."""

    topic: Topic
    work: list[WorkRow]
    by_kind: list[list[WorkRow]]


class Matrix(NamedTuple):
    """Topics and work. kinds: the columns; counts: topics by state, among those that the other filters leave."""

    kinds: list[str]
    lines: list[Line]
    counts: dict[str, int]


def matrix(topics: Iterable[Topic], work: Iterable[WorkRow], conditions: Sequence[Condition], by: Filters) -> Matrix:
    """Return the topics that filters leave, each with the work that they leave on it.

    A topic is counted for each state that a piece of work on it has; it is finished once all of them are.
    """
    kind_by_condition = {one.pk: one.kind for one in conditions}
    used = {one.kind for one in conditions if by.condition in (None, one.pk)}
    kinds = [name for name in names_in_order_of_work() if name in used]
    of_topic: dict[int, list[WorkRow]] = {}
    for piece in work:
        if by.condition in (None, piece.condition) and by.person in (None, piece.person_id):
            of_topic.setdefault(piece.topic, []).append(piece)
    lines, counts = [], dict.fromkeys(("", NOT_GIVEN, OPEN, WAITING, FINISHED), 0)
    text = by.text.casefold()
    for topic in topics:
        own = of_topic.get(topic.pk, [])
        if (by.person is not None and not own) or text not in f"{topic.qid} {topic.title}".casefold():
            continue
        states = states_of(own)
        for state in ("", *states):
            counts[state] += 1
        if not by.state or by.state in states:
            of_kind = [[one for one in own if kind_by_condition.get(one.condition) == kind] for kind in kinds]
            lines.append(Line(topic, own, of_kind))
    return Matrix(kinds, lines, counts)


def states_of(work: Sequence[WorkRow]) -> set[str]:
    """Return how it stands with a topic, by the work on it: paused work is open, and in a queue it waits."""
    if not work:
        return {NOT_GIVEN}
    folded = {PAUSED: OPEN, QUEUED: WAITING}
    states = {folded.get(one.state, one.state) for one in work}
    return states - {FINISHED} or states


def heading(kind: str) -> str:
    """Return the heading of the column of a kind of work."""
    described = kind_named(kind)
    return described.counted.capitalize() + (f" {described.done}" if not described.makes_nuggets else "")


def draws_by_number(campaign: Campaign) -> dict[int, list[Draw]]:
    """Return the draws of topics by condition, by its key, in the order of their numbers: 1, 2, ..."""
    found: dict[int, list[Draw]] = {}
    drawn = Draw.objects.filter(condition__campaign=campaign).select_related("condition", "created_by").order_by("pk")
    for draw in drawn:
        found.setdefault(draw.condition_id, []).append(draw)
    return found


def planned_counts(campaign: Campaign) -> dict[int, int]:
    """Return how many topics wait for other work under each condition, by its key; none for practice.

    A topic that somebody has there already, and is to be another person's, is one of theirs.
    """
    theirs = Task.objects.filter(condition=OuterRef("condition"), topic=OuterRef("topic"), state=Task.State.OPEN)
    to_come = Planned.objects.filter(condition__campaign=campaign, topic__is_practice=False).exclude(Exists(theirs))
    return dict(to_come.order_by().values_list("condition").annotate(Count("pk")))


def rules_of(campaign: Campaign, topics: Any) -> dict[tuple[int, int], str]:
    """Return the rules by which not all runs are judged on some topics, by condition's key and topic's."""
    records = Scope.objects.filter(condition__campaign=campaign, topic__in=topics).order_by("pk")
    newest = {(condition, topic): rule for condition, topic, rule in records.values_list("condition", "topic", "rule")}
    return {key: rule for key, rule in newest.items() if rule != ALL}


def dropped(campaign: Campaign) -> list[Scope]:
    """Return what drops runs from conditions of a campaign now."""
    same = Scope.objects.filter(condition=OuterRef("condition"), run=OuterRef("run")).order_by("-pk")
    newest = Scope.objects.filter(condition__campaign=campaign).exclude(run=None)
    newest = newest.filter(pk=Subquery(same.values("pk")[:1]), rule=NONE)
    return list(newest.select_related("condition", "run", "person").order_by("condition__name", "run__tag"))


def condition_of(campaign: Campaign, condition_id: int) -> Condition | None:
    """Return a condition of a campaign, or None."""
    conditions: QuerySet[Any] = campaign.conditions.select_related("campaign", "nuggets", "shown", "protocol")
    found: Condition | None = conditions.filter(pk=condition_id).first()
    return found
