"""How far a campaign is: by step, by person, by topic. Every number is a task's counter or a sum of them.

Topics for practice are told by topic alone: they are no part of the work.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from statistics import fmean
from typing import Any, NamedTuple

from django.urls import reverse

from assessor.campaigns.condition_kind import kind_named, kind_of, names_in_order_of_work
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.pace import Pace, Recent, days_of, expected_end, last_end, pace_of, recent_time
from assessor.llm.models import Job
from assessor.plan.queries import TaskRow, planned_counts
from assessor.plan.queries import rows as plan
from assessor.work.models import Task
from assessor.work.queries import Counted, known_total, minutes, waiting_counts


class Step(NamedTuple):
    """One kind of work under a condition: topics, then items of those that were given out.

    waiting: topics that wait to be drawn; planned: for other work. left: in units, with these, without what is paused;
    paused: topics that are, and rests: units that are left of these.
    """

    condition: int
    name: str
    items: str  # what is counted: "answers"
    unit: str  # what the pace and what is left are told in: the items, or "topics" where nobody knows how many
    topics: int
    finished: int
    waiting: int
    planned: int
    done: int
    total: int
    time: str
    per_hour: float | None
    per_day: float
    is_too_early: bool  # to tell a pace and an end
    left: int
    end: date | None
    paused: int
    rests: int

    @property
    def is_to_be_signed_off(self) -> bool:
        """Whether people have topics at hand, with whatever is left of them."""
        return self.topics > self.finished + self.paused


class Said(NamedTuple):
    """What a person has done of a kind of work, and how many an hour over the last days."""

    items: str
    done: int
    per_hour: float | None


class PersonRow(NamedTuple):
    """A person's work."""

    name: str
    open: int
    paused: int
    finished: int
    said: list[Said]
    time: str
    recently: str
    worked_at: datetime | None


class Cell(NamedTuple):
    """A person's part of a topic under a condition."""

    person: str
    told: str  # "answers 14/45"
    state: str
    time: str
    address: str


class TopicRow(NamedTuple):
    """A topic: under each step its people's parts, and whether it waits there for whoever draws it."""

    qid: str
    title: str
    is_practice: bool
    cells: list[tuple[list[Cell], bool]]


class JobRow(NamedTuple):
    """A job that is not over."""

    name: str
    state: str
    percent: int
    failed: int
    address: str


class Progress(NamedTuple):
    """How far a campaign is, and over how many days the pace is taken. end: of what is not paused."""

    days: int
    finished: int  # topics, once for each step
    topics: int
    time: str
    end: date | None
    steps: list[Step]
    people: list[PersonRow]

    @property
    def paused(self) -> int:
        """How many topics are paused, once for each step."""
        return sum(step.paused for step in self.steps)

    @property
    def is_too_early(self) -> bool:
        """Whether too little was done of a step that has something left to tell when it ends."""
        return any(step.left and step.is_too_early for step in self.steps)

    @property
    def is_only_paused(self) -> bool:
        """Whether nobody can go on with anything: all that is left is paused."""
        return bool(self.paused) and not any(step.left or step.is_to_be_signed_off for step in self.steps)


def progress(campaign: Campaign, tasks: Sequence[Counted]) -> Progress:
    """Return how far the tasks of a campaign are, in a few queries however large it is."""
    work = [task for task in tasks if not task.topic__is_practice]
    recent, waiting, to_come = recent_time(campaign), waiting_counts(campaign), planned_counts(campaign)
    days = days_of(work, recent)
    by_condition = _grouped(work, "condition_id")
    names = Condition.objects.filter(pk__in={*(task.condition_id for task in tasks), *waiting, *to_come}).order_by(
        "name", "pk"
    )
    in_order = names_in_order_of_work()
    steps = [
        _step(
            condition,
            by_condition.get(condition.pk, []),
            waiting.get(condition.pk, 0),
            to_come.get(condition.pk, 0),
            recent,
            days,
        )
        for condition in sorted(names, key=lambda condition: in_order.index(condition.kind))
    ]
    people = [_person(own, recent, days) for _, own in sorted(_grouped(work, "person__username").items())]
    return Progress(
        days=days,
        finished=sum(step.finished for step in steps),
        topics=sum(step.topics + step.waiting + step.planned for step in steps),
        time=minutes(sum(task.seconds for task in work)),
        end=last_end([step.end for step in steps]),
        steps=steps,
        people=people,
    )


def _grouped(tasks: Iterable[Counted], by: str) -> Mapping[Any, list[Counted]]:
    groups: dict[Any, list[Counted]] = defaultdict(list)
    for task in tasks:
        groups[getattr(task, by)].append(task)
    return groups


def _step(
    condition: Condition, tasks: Sequence[Counted], waiting: int, planned: int, recent: Recent, days: int
) -> Step:
    # How many nuggets there will be is known when a topic is finished.
    in_topics = kind_of(condition).makes_nuggets or not any(task.total for task in tasks)
    items = kind_of(condition).counted
    pace = pace_of(tasks, recent, days, in_topics=in_topics)
    unfinished = [task for task in tasks if task.state != Task.State.FINISHED]
    # What is paused goes on when an organizer says so, which no pace can tell.
    paused = [task for task in unfinished if task.rests]
    at_hand = [task for task in unfinished if not task.rests]
    if in_topics:
        left, rests = len(at_hand) + waiting + planned, len(paused)
    else:
        # Of a topic that nobody has yet it is not known how much there is: as much as of the others.
        usual = fmean(task.total for task in tasks if task.total)
        left, rests = round(_to_do(at_hand) + (waiting + planned) * usual), _to_do(paused)
    return Step(
        condition=condition.pk,
        name=condition.name,
        items=items,
        unit="topics" if in_topics else items,
        topics=len(tasks),
        finished=len(tasks) - len(unfinished),
        waiting=waiting,
        planned=planned,
        done=sum(task.done for task in tasks),
        total=known_total(tasks),
        time=minutes(sum(task.seconds for task in tasks)),
        per_hour=_of_items(tasks, recent, days).per_hour,
        per_day=pace.per_day,
        is_too_early=not pace.is_known,
        left=left,
        end=expected_end(left, pace),
        paused=len(paused),
        rests=rests,
    )


def _to_do(tasks: Iterable[Counted]) -> int:
    return sum(max(0, task.total - task.done) for task in tasks)


def _of_items(tasks: Iterable[Counted], recent: Recent, days: int) -> Pace:
    return pace_of(tasks, recent, days, in_topics=False)


def _person(tasks: Sequence[Counted], recent: Recent, days: int) -> PersonRow:
    by_kind = _grouped(tasks, "kind")
    return PersonRow(
        name=tasks[0].person__username,
        open=sum(task.state != Task.State.FINISHED and not task.rests for task in tasks),
        paused=sum(task.rests for task in tasks),
        finished=sum(task.state == Task.State.FINISHED for task in tasks),
        said=[
            Said(
                kind_named(kind).counted,
                sum(task.done for task in by_kind[kind]),
                _of_items(by_kind[kind], recent, days).per_hour,
            )
            for kind in names_in_order_of_work()
            if kind in by_kind
        ],
        time=minutes(sum(task.seconds for task in tasks)),
        recently=minutes(sum(recent.seconds.get(task.pk, 0) for task in tasks)),
        worked_at=max((task.worked_at for task in tasks if task.worked_at), default=None),
    )


def topic_rows(campaign: Campaign, topics: Iterable[Topic], steps: Sequence[Step]) -> list[TopicRow]:
    """Return topics, each with what is there of it under each of the steps."""
    rows = []
    for row in plan(campaign, topics):
        free = {one.condition_id for one, _ in row.waiting}
        cells = [
            ([_cell(one) for one in row.tasks if one.task.condition_id == step.condition], step.condition in free)
            for step in steps
        ]
        rows.append(TopicRow(row.topic.qid, row.topic.title, row.topic.is_practice, cells))
    return rows


def _cell(row: TaskRow) -> Cell:
    task = row.task
    told = f"{row.items} {task.done}/{task.total}" if task.total else f"{row.items} {task.done}"
    rests = ", paused" if task.paused and task.state == Task.State.OPEN else ""
    return Cell(str(task.person), told, f"{task.get_state_display()}{rests}", row.time, kind_of(task).url(task))


def jobs_under_way(campaign: Campaign) -> list[JobRow]:
    """Return the jobs that are not over."""
    jobs = campaign.jobs.exclude(state__in=Job.OVER).select_related("condition")
    return [
        JobRow(
            str(job),
            job.get_state_display(),
            job.percent,
            job.units_failed,
            reverse("job", args=[campaign.slug, job.pk]),
        )
        for job in jobs
    ]
