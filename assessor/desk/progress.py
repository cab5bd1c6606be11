"""How far a campaign is: by step, by person, by topic. Every number is a task's counter or a sum of them.

Topics for practice are told by topic alone: they are no part of the work.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any, NamedTuple

from django.urls import reverse

from assessor.campaigns.condition_kind import kind_named, kind_of, names_in_order_of_work
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.burn_up import BurnUp, Seconds, burn_up, done_by_day, seconds_by_day
from assessor.desk.pace import Ends, Pace, days_of, expected_ends, last_end, pace_of
from assessor.llm.models import Job
from assessor.plan.queries import FINISHED, WAITING, WorkRow, planned_counts
from assessor.plan.recent_time import DAYS, Recent, recent_time
from assessor.work.models import Task
from assessor.work.queries import Counted, known_total, minutes, waiting_counts


class Step(NamedTuple):
    """One kind of work under a condition: topics, then items of those that were given out.

    waiting: topics that wait to be drawn; planned: for other work. left: in units, with these, without what is paused;
    paused: topics that are, and rests: units that are left of these.
    """

    condition: int
    name: str
    people: list[str]
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
    ends: Ends
    paused: int
    rests: int
    drawing: BurnUp | None

    @property
    def so_far(self) -> int:
        """What is done, in units."""
        return self.finished if self.unit == "topics" else self.done

    @property
    def whole(self) -> int:
        """What there is, in units: done, left and paused."""
        return self.so_far + self.left + self.rests

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
    """A person's work. days: active seconds of the last days, the latest last."""

    name: str
    open: int
    paused: int
    finished: int
    said: list[Said]
    time: str
    recently: str
    days: list[int]
    worked_at: datetime | None


class Cell(NamedTuple):
    """A topic under a step, as a square of the heat map: what is printed, its class, what is read out, its address."""

    text: str
    shade: str
    told: str
    address: str


class JobRow(NamedTuple):
    """A job that is not over."""

    name: str
    state: str
    percent: int
    failed: int
    address: str


class Progress(NamedTuple):
    """How far a campaign is, and over how many days the pace is taken. ends: of what is not paused."""

    days: int
    finished: int  # topics, once for each step
    topics: int
    time: str
    recently: str
    ends: Ends
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
    seconds = seconds_by_day(campaign)
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
            seconds,
        )
        for condition in sorted(names, key=lambda condition: in_order.index(condition.kind))
    ]
    people = [_person(own, recent, days) for _, own in sorted(_grouped(work, "person__username").items())]
    return Progress(
        days=days,
        finished=sum(step.finished for step in steps),
        topics=sum(step.topics + step.waiting + step.planned for step in steps),
        time=minutes(sum(task.seconds for task in work)),
        recently=minutes(sum(recent.seconds.values())),
        ends=Ends(last_end([step.ends.earliest for step in steps]), last_end([step.ends.latest for step in steps])),
        steps=steps,
        people=people,
    )


def _grouped(tasks: Iterable[Counted], by: str) -> Mapping[Any, list[Counted]]:
    groups: dict[Any, list[Counted]] = defaultdict(list)
    for task in tasks:
        groups[getattr(task, by)].append(task)
    return groups


def _step(
    condition: Condition,
    tasks: Sequence[Counted],
    waiting: int,
    planned: int,
    recent: Recent,
    days: int,
    seconds: Seconds,
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
    finished, done = len(tasks) - len(unfinished), sum(task.done for task in tasks)
    so_far = finished if in_topics else done
    ends = expected_ends(left, pace)
    return Step(
        condition=condition.pk,
        name=condition.name,
        people=sorted({task.person__username for task in tasks}),
        items=items,
        unit="topics" if in_topics else items,
        topics=len(tasks),
        finished=finished,
        waiting=waiting,
        planned=planned,
        done=done,
        total=known_total(tasks),
        time=minutes(sum(task.seconds for task in tasks)),
        per_hour=_of_items(tasks, recent, days).per_hour,
        per_day=pace.per_day,
        is_too_early=not pace.is_known,
        left=left,
        ends=ends,
        paused=len(paused),
        rests=rests,
        drawing=burn_up(done_by_day(tasks, seconds, in_topics=in_topics), so_far, so_far + left + rests, ends),
    )


def _to_do(tasks: Iterable[Counted]) -> int:
    return sum(max(0, task.total - task.done) for task in tasks)


def _of_items(tasks: Iterable[Counted], recent: Recent, days: int) -> Pace:
    return pace_of(tasks, recent, days, in_topics=False)


def _person(tasks: Sequence[Counted], recent: Recent, days: int) -> PersonRow:
    by_kind = _grouped(tasks, "kind")
    by_day = [recent.by_day.get(task.pk, [0] * DAYS) for task in tasks]
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
        days=[sum(on_days) for on_days in zip(*by_day, strict=True)][::-1],
        worked_at=max((task.worked_at for task in tasks if task.worked_at), default=None),
    )


class Bar(NamedTuple):
    """A day of a person in a drawing 24 high."""

    x: int
    y: float
    height: float


def sparks(people: Sequence[PersonRow]) -> list[tuple[PersonRow, list[Bar]]]:
    """Return people with the hours of their last days as bars, all of one scale."""
    most = max((seconds for person in people for seconds in person.days), default=0) or 1
    drawn = []
    for person in people:
        heights = [round(max(1.5, 24 * seconds / most), 1) for seconds in person.days]
        drawn.append((person, [Bar(12 * day, 24 - height, height) for day, height in enumerate(heights)]))
    return drawn


def heat(
    campaign: Campaign,
    topics: Sequence[Topic],
    steps: Sequence[Step],
    work: Iterable[WorkRow],
    stuck: Collection[tuple[int, int]],
) -> list[tuple[Step, list[Cell]]]:
    """Return for each step what is done of each topic. stuck: conditions and topics, by keys."""
    at: dict[tuple[int, int], list[WorkRow]] = defaultdict(list)
    for row in work:
        at[row.condition, row.topic].append(row)
    base = reverse("plan", args=[campaign.slug])
    return [
        (
            step,
            [
                _cell(at[step.condition, topic.pk], topic, step, base, is_stuck=(step.condition, topic.pk) in stuck)
                for topic in topics
            ],
        )
        for step in steps
    ]


def _cell(rows: Sequence[WorkRow], topic: Topic, step: Step, base: str, *, is_stuck: bool) -> Cell:
    name = f"{topic.qid}{', practice' if topic.is_practice else ''}, {step.name}"
    begun = [row for row in rows if row.person_id and row.state != WAITING]
    if not begun:
        told = "not given" if not rows else "waits for earlier work" if rows[0].state == WAITING else "in the queue"
        return Cell("", "hx", f"{name}: {told}", f"{base}?q={topic.qid}")
    row = begun[0]
    address = f"{base}work/{row.condition}/{topic.pk}/?person={row.person_id}"
    who = f"{row.person}, {row.state}{', stuck' if is_stuck else ''}"
    if row.share is None:
        return Cell(str(row.done), "hw" if is_stuck else "h1", f"{name}: {step.items} {row.done}, {who}", address)
    text = "✓" if row.state == FINISHED else str(row.share)
    return Cell(text, "hw" if is_stuck else _shade(row.share), f"{name}: {row.share} %, {who}", address)


def _shade(percent: int) -> str:
    return f"h{1 + min(4, percent // 25)}"


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
