"""Where work does not get on, and why; each reason leads to the page on which one sees it."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import timedelta
from statistics import median
from typing import NamedTuple

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.llm.models import Job
from assessor.work.models import Task
from assessor.work.queries import Counted, minutes, planned

IDLE = timedelta(days=3)
TIMES_MEDIAN = 3
LEAST_FINISHED = 3  # topics of a condition, before its median says anything
MANY_QUESTIONS = 5  # on a topic


class Reason(NamedTuple):
    """Something that does not get on: what it is about, why, and where one sees that."""

    about: str
    why: str
    address: str


def stuck(campaign: Campaign, tasks: Sequence[Counted], asked: dict[int, int]) -> list[Reason]:
    """Return what does not get on. asked: open questions by task's key."""
    still_open = [task for task in tasks if task.state == Task.State.OPEN]
    at_hand = [task for task in still_open if not task.rests]
    gone = _gone(tasks)
    found = [*_idle(at_hand, gone), *_slow(tasks), *_lapsed(at_hand), *_asking(still_open, asked), *gone.values()]
    waiting = {task: number for kind in label_kinds() for task, number in kind.waiting_for_a_model(campaign).items()}
    about = {task.pk: task for task in planned(campaign).filter(pk__in={*waiting, *(pk for pk, _ in found)})}
    reasons = [Reason(_name(about[pk]), why, kind_of(about[pk]).url(about[pk])) for pk, why in found if pk in about]
    jobs = campaign.jobs.exclude(state=Job.State.CANCELLED).select_related("condition").order_by("pk")
    of_condition = {job.condition_id: _failures(campaign, job) for job in jobs}
    for pk, number in waiting.items():
        if task := about.get(pk):
            kind = label_kind(task.kind)
            why = f"{number} {f'{kind.items} wait' if number > 1 else f'{kind.item} waits'} for the model's label"
            reasons.append(
                Reason(_name(task), why, of_condition.get(task.condition.shown_id or 0) or kind_of(task).url(task))
            )
    return [*_jobs(campaign, jobs), *sorted(reasons)]


def _name(task: Task) -> str:
    return f"{task.person}: {task.topic.qid}, {task.condition}"


Found = tuple[int, str]  # a task's key, and why it does not get on


def _gone(tasks: Iterable[Counted]) -> dict[int, Found]:
    """Return whom nothing has been heard of, by person's key, with the topic that they were last at."""
    own: dict[int, list[Counted]] = defaultdict(list)
    for task in tasks:
        own[task.person_id].append(task)
    found = {}
    for person, of_person in own.items():
        last = max(task.worked_at or task.created_at for task in of_person)
        still_open = [task for task in of_person if task.state == Task.State.OPEN and not task.rests]
        if still_open and last < timezone.now() - IDLE:
            latest = max(still_open, key=lambda task: (task.worked_at or task.created_at, -task.pk))
            found[person] = (
                latest.pk,
                f"{len(still_open)} open, and nothing saved on any since {date_format(timezone.localtime(last))}",
            )
    return found


def _idle(tasks: Iterable[Counted], gone: Container[int]) -> Iterator[Found]:
    """Yield what was begun and then left, by people who work on other topics."""
    for task in tasks:
        if task.worked_at and task.worked_at < timezone.now() - IDLE and task.person_id not in gone:
            yield task.pk, f"begun, and nothing saved since {date_format(timezone.localtime(task.worked_at))}"


def _slow(tasks: Sequence[Counted]) -> Iterator[Found]:
    """Yield what takes many times as long as topics of the condition take."""
    took: dict[int, list[int]] = defaultdict(list)
    for task in tasks:
        if task.state == Task.State.FINISHED and task.seconds and not task.topic__is_practice:
            took[task.condition_id].append(task.seconds)
    usual = {condition: median(of_it) for condition, of_it in took.items() if len(of_it) >= LEAST_FINISHED}
    for task in tasks:
        middle = usual.get(task.condition_id)
        if middle and task.state == Task.State.OPEN and not task.rests and task.seconds > TIMES_MEDIAN * middle:
            spent, common = minutes(task.seconds), minutes(round(middle))
            yield task.pk, f"{spent} so far, over {TIMES_MEDIAN} times the median of a finished topic, {common}"


def _lapsed(tasks: Iterable[Counted]) -> Iterator[Found]:
    now = timezone.now()
    for task in tasks:
        if task.leased_until and task.leased_until <= now and not 0 < task.total == task.done:
            until = date_format(timezone.localtime(task.leased_until), "SHORT_DATETIME_FORMAT")
            yield task.pk, f"its lease ran out on {until}: anybody can draw it"


def _asking(tasks: Iterable[Counted], asked: dict[int, int]) -> Iterator[Found]:
    for task in tasks:
        if (number := asked.get(task.pk, 0)) >= MANY_QUESTIONS:
            yield task.pk, f"open questions of the assessor: {number}"


def _jobs(campaign: Campaign, jobs: Iterable[Job]) -> Iterator[Reason]:
    """Yield jobs that were halted, and those that have failed units."""
    for job in jobs:
        if job.state == Job.State.HALTED:
            yield Reason(str(job), f"halted: {job.message}", reverse("job", args=[campaign.slug, job.pk]))
        if job.units_failed:
            failed = f"{job.units_failed} of its {job.units_total} units failed"
            yield Reason(str(job), failed, _failures(campaign, job))


def _failures(campaign: Campaign, job: Job) -> str:
    return reverse("job_failures", args=[campaign.slug, job.pk])
