"""Work that is stuck, why, and the buttons that end it."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.http import urlencode

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.llm.models import Job
from assessor.llm.queries import open_failures
from assessor.work.access import with_checks
from assessor.work.models import Task
from assessor.work.queries import Counted, minutes, planned

IDLE = timedelta(days=3)
TIMES_MEDIAN = 3
LEAST_FINISHED = 3  # topics of a condition, before its median says anything
MANY_QUESTIONS = 5  # on a topic


class Button(NamedTuple):
    """What ends it: a page, or where there is a task, a reminder of its person."""

    label: str
    address: str
    task: int | None = None


class Stuck(NamedTuple):
    """Something that is stuck: a fact, what else is to be known, buttons. place: condition's and topic's keys."""

    icon: str
    is_bad: bool
    fact: str
    more: str
    buttons: Sequence[Button]
    place: tuple[int, int] | None = None


class Found(NamedTuple):
    """A task that is stuck, by key, and why. can_remind: whether its person can do something about it."""

    task: int
    fact: str
    more: str
    icon: str
    can_remind: bool


def stuck(
    campaign: Campaign, tasks: Sequence[Counted], asked: Mapping[int, int], unsettled: int = 0, free: int = 0
) -> list[Stuck]:
    """Return what is stuck. asked: open questions by task's key; unsettled: labels; free: topics without work."""
    still_open = [task for task in tasks if task.state == Task.State.OPEN]
    at_hand = [task for task in still_open if not task.rests]
    gone = _gone(tasks)
    found = [
        *_not_blind(campaign),
        *(*gone.values(), *_idle(at_hand, gone), *_slow(tasks), *_lapsed(at_hand), *_asking(still_open, asked)),
    ]
    waiting = {task: number for kind in label_kinds() for task, number in kind.waiting_for_a_model(campaign).items()}
    about = {task.pk: task for task in planned(campaign).filter(pk__in={*waiting, *(one.task for one in found)})}
    jobs = list(campaign.jobs.exclude(state=Job.State.CANCELLED).select_related("condition").order_by("pk"))
    of_condition = {job.condition_id: _failures(campaign, job) for job in jobs}
    return [
        *_jobs(campaign, jobs),
        *(_of_task(campaign, about[one.task], one) for one in found if one.task in about),
        *(
            _of_model(about[pk], number, of_condition.get(about[pk].condition.shown_id or 0))
            for pk, number in waiting.items()
            if pk in about
        ),
        *_of_campaign(campaign, unsettled, free),
    ]


def _of_task(campaign: Campaign, task: Task, one: Found) -> Stuck:
    piece = reverse("plan_piece", args=[campaign.slug, task.condition_id, task.topic_id])
    here = f"{piece}?person={task.person_id}"
    work = kind_of(task)
    if one.icon == "ask":
        inbox = f"{reverse('questions', args=[campaign.slug])}?{urlencode({'condition': task.condition_id})}"
        buttons = [Button("Answer", inbox)]
    elif one.can_remind:
        remind = Button("Remind", reverse("remind", args=[campaign.slug, task.pk]), task.pk)
        buttons = [remind, Button("Give to somebody else", here)]
    else:
        buttons = [Button("Look at the work", work.url(task)), Button("Change", here)]
    place = (task.condition_id, task.topic_id)
    return Stuck(
        one.icon,
        False,
        one.fact.format(who=task.person, topic=task.topic.qid),
        f"{task.condition}. {one.more}",
        buttons,
        place,
    )


def _of_model(task: Task, number: int, failures: str | None) -> Stuck:
    kind = label_kind(task.kind)
    waits = f"{kind.items} of {task.topic.qid} wait" if number > 1 else f"{kind.item} of {task.topic.qid} waits"
    button = Button("Show failures", failures) if failures else Button("Look at the work", kind.url(task))
    place = (task.condition_id, task.topic_id)
    fact = f"{number} {waits} for the model's label."
    return Stuck("chip", False, fact, f"{task.condition}, {task.person}", [button], place)


def _of_campaign(campaign: Campaign, unsettled: int, free: int) -> Iterator[Stuck]:
    if unsettled:
        fact = f"{unsettled} label{'' if unsettled == 1 else 's'} could not be given."
        settle = Button("Settle", reverse("questions", args=[campaign.slug]))
        yield Stuck("ask", False, fact, "These answers have no score until you settle them.", [settle])
    if free:
        fact = f"{free} topic{' has' if free == 1 else 's have'} no assessor."
        yield Stuck("people", False, fact, "", [Button("Give", f"{reverse('plan', args=[campaign.slug])}?state=none")])


def _not_blind(campaign: Campaign) -> Iterator[Found]:
    """Yield blind work that its people can't do any more: it is refused to them, as access.why_not_blind() says."""
    still_open = Task.objects.filter(campaign=campaign, state=Task.State.OPEN, topic__is_practice=False)
    seen = with_checks(still_open, ("keeps_blind", "has_seen")).filter(keeps_blind=True, has_seen=True)
    for task in seen.select_related("condition"):
        if task.condition.is_blind():
            more = "Blind work on it is refused to them: give it to somebody else."
            yield Found(task.pk, "{who} has seen what a model gave on {topic}.", more, "alert", False)


def _gone(tasks: Iterable[Counted]) -> dict[int, Found]:
    """Return who saved nothing for long, by person's key, with the topic that they were last at."""
    own: dict[int, list[Counted]] = defaultdict(list)
    for task in tasks:
        own[task.person_id].append(task)
    found = {}
    for person, of_person in own.items():
        last = max(task.worked_at or task.created_at for task in of_person)
        still_open = [task for task in of_person if task.state == Task.State.OPEN and not task.rests]
        if still_open and last < timezone.now() - IDLE:
            latest = max(still_open, key=lambda task: (task.worked_at or task.created_at, -task.pk))
            more = f"{len(still_open)} open topic{'' if len(still_open) == 1 else 's'}, last at {latest.topic__qid}"
            found[person] = Found(latest.pk, f"{{who}} saved nothing since {_day(last)}.", more, "clock", True)
    return found


def _idle(tasks: Iterable[Counted], gone: Container[int]) -> Iterator[Found]:
    """Yield what was begun and then left, by people who work on other topics."""
    for task in tasks:
        if task.worked_at and task.worked_at < timezone.now() - IDLE and task.person_id not in gone:
            fact = f"{{who}} saved nothing on {{topic}} since {_day(task.worked_at)}."
            yield Found(task.pk, fact, "Works on other topics.", "clock", True)


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
            fact = f"{{who}} has spent {minutes(task.seconds)} on {{topic}}."
            more = f"Over {TIMES_MEDIAN} times the median of a finished topic, {minutes(round(middle))}."
            yield Found(task.pk, fact, more, "clock", False)


def _lapsed(tasks: Iterable[Counted]) -> Iterator[Found]:
    now = timezone.now()
    for task in tasks:
        if task.leased_until and task.leased_until <= now and not 0 < task.total == task.done:
            until = date_format(timezone.localtime(task.leased_until), "SHORT_DATETIME_FORMAT")
            more = "Anybody can take the topic from the queue now."
            yield Found(task.pk, f"{{who}}'s lease on {{topic}} ended on {until}.", more, "clock", True)


def _asking(tasks: Iterable[Counted], asked: Mapping[int, int]) -> Iterator[Found]:
    for task in tasks:
        if (number := asked.get(task.pk, 0)) >= MANY_QUESTIONS:
            yield Found(task.pk, f"{{who}} asks {number} questions on {{topic}}.", "They wait for you.", "ask", False)


def _jobs(campaign: Campaign, jobs: Iterable[Job]) -> Iterator[Stuck]:
    """Yield jobs that were halted, and those with calls that failed and were not made since."""
    failed = dict(open_failures().filter(job__campaign=campaign).values_list("job").annotate(Count("pk")))
    for job in jobs:
        if job.state == Job.State.HALTED:
            page = Button("Open the job", reverse("job", args=[campaign.slug, job.pk]))
            yield Stuck("alert", True, f"{job} stopped: {job.message}", "", [page])
        if number := failed.get(job.pk):
            fact = f"{number} of {job.units_total} failed."
            yield Stuck("alert", True, fact, str(job), [Button("Show failures", _failures(campaign, job))])


def _failures(campaign: Campaign, job: Job) -> str:
    return reverse("job_failures", args=[campaign.slug, job.pk])


def _day(at: datetime) -> str:
    return date_format(timezone.localtime(at))
