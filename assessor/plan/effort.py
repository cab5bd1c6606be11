"""What work took: the active time of people by topic, condition and person, with medians and outliers.

All time counts, whatever became of the task on which it was spent. Topics for practice are told apart.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assessor.campaigns.condition_kind import kind_named, names_in_order_of_work
from assessor.campaigns.models import Campaign, Condition
from assessor.campaigns.queries import byte_order
from assessor.plan.hours import Measured, longest_usual, measured, per_item
from assessor.work.models import Task
from assessor.work.queries import handed_over

PAUSED = "paused"  # beside the states of tasks: open, and its person can't go on with it for now
STATES: tuple[str, ...] = (Task.State.FINISHED, Task.State.OPEN, PAUSED, Task.State.WITHDRAWN)


class Spent(NamedTuple):
    """A task and its time; the fields are columns of a query."""

    pk: int
    topic_id: int
    topic__qid: str
    topic__is_practice: bool
    condition_id: int
    kind: str
    person__username: str
    state: str
    paused: bool
    done: int
    seconds: int
    handed_over: bool

    @property
    def stands(self) -> str:
        """Which of STATES it is in."""
        return PAUSED if self.paused and self.state == Task.State.OPEN else self.state


def spent(campaign: Campaign) -> list[Spent]:
    """Return all tasks of a campaign with their time, by topic in byte order: those that were withdrawn too."""
    tasks = campaign.tasks.annotate(handed_over=handed_over()).order_by(byte_order("topic__qid"), "pk")
    return list(map(Spent._make, tasks.values_list(*Spent._fields)))


def measurements(tasks: Iterable[Spent]) -> list[Measured]:
    """Return what all medians are taken from: the finished ones of one person each, but for practice."""
    finished = (task for task in tasks if task.state == Task.State.FINISHED and not task.topic__is_practice)
    return [Measured(task.seconds, task.done) for task in finished if not task.handed_over]


def by_item(kind: str) -> bool:
    """Say whether the time of work depends on the number of items: nuggets are as many as a topic has."""
    return not kind_named(kind).makes_nuggets


class Group(NamedTuple):
    """Tasks that are told together. seconds: by STATES; finished: how many are; the medians are None without any.

    topic, item: median seconds of a finished task and of one of its items; of: how many tasks they are taken from.
    """

    seconds: dict[str, int]
    finished: int
    topic: float | None
    item: float | None
    of: int
    outliers: int

    @property
    def total(self) -> int:
        """All active seconds."""
        return sum(self.seconds.values())


class Row(NamedTuple):
    """A condition or a kind of work. limit: seconds above which a task is an outlier; None for a kind."""

    name: str
    kind: str
    group: Group
    limit: float | None
    is_kind: bool


class PersonRow(NamedTuple):
    """A person's work under a condition; `condition` is "" for all of it, beside which practice is told."""

    person: str
    condition: str
    kind: str
    group: Group
    practice: int


class Effort(NamedTuple):
    """The time of a campaign. work: all tasks but those for practice; conditions: those of any task, in order.

    limits: by a condition's key, None where none is defined; over: the keys of the outliers.
    """

    work: list[Spent]
    practice: list[Spent]
    conditions: list[Condition]
    limits: dict[int, float | None]
    over: set[int]

    def of_condition(self, condition: Condition) -> list[Spent]:
        """Return the tasks of a condition."""
        return [task for task in self.work if task.condition_id == condition.pk]


def effort(campaign: Campaign) -> Effort:
    """Return what the work of a campaign took, in two queries however large it is."""
    tasks = spent(campaign)
    found = list(Condition.objects.filter(pk__in={task.condition_id for task in tasks}))
    in_order = names_in_order_of_work()
    conditions = sorted(found, key=lambda one: (in_order.index(one.kind), one.name.encode()))
    work = [task for task in tasks if not task.topic__is_practice]
    limits = {
        one.pk: longest_usual(measurements(task for task in work if task.condition_id == one.pk)) for one in conditions
    }
    over = {task.pk for task in work if (limit := limits[task.condition_id]) is not None and task.seconds > limit}
    return Effort(work, [task for task in tasks if task.topic__is_practice], conditions, limits, over)


def group(tasks: Sequence[Spent], kind: str, over: set[int]) -> Group:
    """Return tasks told together. kind: "" where they are of several, so that no median of them says anything."""
    times = measurements(tasks)
    known = measured(times, by_item=by_item(kind)) if kind else None
    return Group(
        {state: sum(task.seconds for task in tasks if task.stands == state) for state in STATES},
        sum(task.state == Task.State.FINISHED and not task.topic__is_practice for task in tasks),
        known.topic if known else None,
        per_item(times) if kind else None,
        known.tasks if known else 0,
        sum(task.pk in over for task in tasks),
    )


def rows(found: Effort) -> list[Row]:
    """Return each kind of work, and under it its conditions."""
    told = []
    for kind in dict.fromkeys(condition.kind for condition in found.conditions):
        of_kind = [task for task in found.work if task.kind == kind]
        told.append(Row(kind, kind, group(of_kind, kind, found.over), None, True))
        for condition in found.conditions:
            if condition.kind == kind:
                told_of = group(found.of_condition(condition), kind, found.over)
                told.append(Row(condition.name, kind, told_of, found.limits[condition.pk], False))
    return told


def person_rows(found: Effort) -> list[PersonRow]:
    """Return each person by name in byte order: all of their work, then that under each condition."""
    told = []
    names = {task.person__username for task in (*found.work, *found.practice)}
    for name in sorted(names, key=str.encode):
        own = [task for task in found.work if task.person__username == name]
        practice = sum(task.seconds for task in found.practice if task.person__username == name)
        told.append(PersonRow(name, "", "", group(own, "", found.over), practice))
        for condition in found.conditions:
            if of_it := [task for task in own if task.condition_id == condition.pk]:
                told.append(
                    PersonRow(name, condition.name, condition.kind, group(of_it, condition.kind, found.over), 0)
                )
    return told
