"""What the pages of the desk read."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaigns
from assessor.campaigns.condition_kind import kind_of, names_in_order_of_work
from assessor.campaigns.models import CONTROL, Answer, Campaign, Import, Run, Topic
from assessor.campaigns.queries import hidden_answers, pooled
from assessor.labels.replies import unread
from assessor.llm.models import Job
from assessor.llm.queries import open_failures
from assessor.plan.models import Planned
from assessor.runtime.process_cache import cache
from assessor.work.access import FACTS, why_not_blind, with_checks
from assessor.work.models import Task, Waiting
from assessor.work.queries import lease, minutes, queues_of, tasks_of


class TaskRow(NamedTuple):
    """A task as a table shows it."""

    task: Task
    items: str
    time: str
    lease: str


def _row(task: Task) -> TaskRow:
    return TaskRow(task, kind_of(task).counted, minutes(task.seconds), lease(task))


class OwnTopic(NamedTuple):
    """A topic of an assessor, with all that they have to do on it, in order."""

    topic: Topic
    campaign: Campaign
    steps: list[TaskRow]

    @property
    def next(self) -> TaskRow | None:
        """The step to go on with: of those that are open the one last worked on, else the first; None: none is."""
        return _next(self.steps)

    @property
    def is_finished(self) -> bool:
        return all(step.task.state == Task.State.FINISHED for step in self.steps)

    @property
    def time(self) -> str:
        return minutes(sum(step.task.seconds for step in self.steps))


def _next(steps: Iterable[TaskRow]) -> TaskRow | None:
    still_open = [
        step
        for step in steps
        if step.task.state == Task.State.OPEN and not step.task.paused and not step.task.not_blind
    ]
    begun = [(step.task.worked_at, step.task.pk, step) for step in still_open if step.task.worked_at]
    return max(begun)[2] if begun else next(iter(still_open), None)


def _one_of_a_kind(steps: Iterable[TaskRow]) -> list[TaskRow]:
    """Leave out what is finished where more of its kind is open: beside it, a repetition would show that it is one."""
    rows = list(steps)
    still_open = {step.task.kind for step in rows if step.task.state != Task.State.FINISHED}
    return [step for step in rows if step.task.state != Task.State.FINISHED or step.task.kind not in still_open]


def home(person: Person) -> dict[str, Any]:
    """Return an assessor's open and finished topics, the task to go on with (the last one worked on), and queues.

    A queue from which they have a topic that is not finished gives them no other.
    """
    in_order = names_in_order_of_work()
    topics: dict[int, OwnTopic] = {}
    for task in with_checks(tasks_of(person), FACTS):
        task.person = person
        task.not_blind = why_not_blind(task, task) if task.state == Task.State.OPEN else None
        own = topics.setdefault(task.topic_id, OwnTopic(task.topic, task.campaign, []))
        own.steps.append(_row(task))
    for own in topics.values():
        own.steps.sort(key=lambda step: (in_order.index(step.task.kind), step.task.pk))
        own.steps[:] = _one_of_a_kind(own.steps)
    steps = [step for own in topics.values() for step in own.steps]
    drawn = [step.task for step in steps if step.task.state == Task.State.OPEN and step.lease]
    has_drawn = {task.condition_id for task in drawn if not task.paused}
    return {
        "queues": queues_of(person).filter(free__gt=0).exclude(pk__in=has_drawn),
        "next_task": _next(steps),
        "unread": unread(person),
        "open_topics": [own for own in topics.values() if not own.is_finished],
        "finished_topics": [own for own in topics.values() if own.is_finished],
    }


def organized(person: Person) -> QuerySet[Any]:
    """Return the campaigns that a person organizes: how much there is, how much of the work is done, what failed."""
    of_campaign = {"campaign": OuterRef("pk")}
    work = Task.objects.filter(**of_campaign, topic__is_practice=False).exclude(state=Task.State.WITHDRAWN)
    jobs = Job.objects.filter(**of_campaign).exclude(state=Job.State.CANCELLED)
    of_condition = {"condition__campaign": OuterRef("pk"), "topic__is_practice": False}
    to_come = [_number(model.objects.filter(**of_condition), "condition__campaign") for model in (Planned, Waiting)]
    failed = open_failures().filter(job=OuterRef("pk"))
    return organized_campaigns(person).annotate(
        topics_count=_number(Topic.objects.filter(**of_campaign)),
        runs_count=_number(Run.objects.filter(**of_campaign).exclude(task=CONTROL)),
        pieces=_number(work) + to_come[0] + to_come[1],
        finished=_number(work.filter(state=Task.State.FINISHED)),
        failing=_number(jobs.filter(Exists(failed) | Q(state=Job.State.HALTED))),
    )


def _number(rows: QuerySet[Any], by: str = "campaign") -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values(by).annotate(number=Count("pk")).values("number")), 0)


_QUIET = timedelta(minutes=1)


def state_of_loaded(campaign: Campaign) -> str:
    """Name the state of what a campaign has, and of the protocol by which it is looked at.

    Imports only add, and nothing else changes what there is but the grades made here, each of which leaves its time.
    While they are being made the state is named by the minute: a page then counts at most once in one, and is at most
    so much behind.
    """
    done = campaign.imports.filter(state=Import.State.DONE).aggregate(count=Count("pk"), last=Max("ended_at"))
    made = campaign.qrels_sources.filter(import_record=None).aggregate(count=Count("pk"), last=Max("changed_at"))
    now = timezone.now()
    graded = f"{now:%Y%m%d%H%M}" if made["last"] and now - made["last"] < _QUIET else _timestamp(made["last"])
    parts = (campaign.pk, campaign.protocol.pk, done["count"], _timestamp(done["last"]), made["count"], graded)
    return ".".join(map(str, parts))


def _timestamp(at: datetime | None) -> float:
    return at.timestamp() if at else 0


def loaded(campaign: Campaign) -> dict[str, Any]:
    """Return what a campaign has, in numbers; counted anew when that changed, which takes a moment for a track."""
    return dict(
        cache.get_or_set(f"loaded.{state_of_loaded(campaign)}", lambda: _count_loaded(campaign), timeout=None) or {}
    )


def _count_loaded(campaign: Campaign) -> dict[str, Any]:
    # A join sees the grades of unfinished imports too, and what was not judged.
    visible = Q(grades__import_record=None) | Q(grades__import_record__state=Import.State.DONE)
    judged = visible & Q(grades__grade__gte=0)
    sources = campaign.qrels_sources.annotate(
        grade_count=Count("grades", filter=judged), topic_count=Count("grades__topic", filter=judged, distinct=True)
    )
    # By topic, as an index has them, which does not say of which import an answer is: else each one's row is read.
    own_texts = Answer.everything.filter(topic__campaign=campaign, apart=False).exclude(pk__in=hidden_answers())
    return {
        "topics": campaign.topics.count(),
        "segments": campaign.segments.count(),
        "sources": list(sources),
        "runs": campaign.runs.exclude(task=CONTROL).count(),
        "answers": own_texts.count(),
        "retrieval_runs": campaign.retrieval_runs.count(),
        "pooled": pooled(campaign).values("topic", "docid").order_by().distinct().count(),
    }
