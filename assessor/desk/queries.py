"""What the pages of the desk read."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from assessor.collection.models import CONTROL, Answer, Campaign, Condition, Grade, Import, Person, Run, Segment, Topic
from assessor.collection.queries import pooled
from assessor.work.kinds import kind_of
from assessor.work.models import Task, Waiting
from assessor.work.queries import lease, minutes, planned, queues_of, tasks_of, waiting_in


class TaskRow(NamedTuple):
    """A task as a table shows it."""

    task: Task
    items: str
    time: str
    lease: str


def _row(task: Task) -> TaskRow:
    return TaskRow(task, kind_of(task).items, minutes(task.seconds), lease(task))


def home(person: Person) -> dict[str, Any]:
    """Return an assessor's open and finished tasks, the one to go on with (the last one worked on), and their queues.

    A queue from which they have a topic that is not finished gives them no other.
    """
    rows = [_row(task) for task in tasks_of(person)]
    still_open = [row for row in rows if row.task.state == Task.State.OPEN]
    begun = [(row.task.worked_at, row.task.pk, row) for row in still_open if row.task.worked_at]
    latest = max(begun)[2] if begun else None
    has_drawn = {row.task.condition_id for row in still_open if row.task.leased_until}
    return {
        "queues": queues_of(person).filter(free__gt=0).exclude(pk__in=has_drawn),
        "next_task": (latest or (still_open[0] if still_open else None)),
        "open_tasks": still_open,
        "finished_tasks": [row for row in rows if row.task.state == Task.State.FINISHED],
    }


def campaigns_of(person: Person) -> QuerySet[Campaign]:
    """Return the campaigns that a person organizes."""
    return Campaign.objects.filter(organizers__person=person, organizers__until__isnull=True)


_QUIET = timedelta(minutes=1)


def _state(campaign: Campaign) -> str:
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
    return dict(cache.get_or_set(f"loaded.{_state(campaign)}", lambda: _count_loaded(campaign), timeout=None) or {})


def _count_loaded(campaign: Campaign) -> dict[str, Any]:
    # A join sees the grades of unfinished imports too.
    visible = Q(grades__import_record=None) | Q(grades__import_record__state=Import.State.DONE)
    sources = campaign.qrels_sources.annotate(
        grade_count=Count("grades", filter=visible), topic_count=Count("grades__topic", filter=visible, distinct=True)
    )
    return {
        "topics": campaign.topics.count(),
        "segments": campaign.segments.count(),
        "sources": list(sources),
        "runs": campaign.runs.count(),
        "answers": Answer.objects.filter(run__campaign=campaign, apart=False).count(),
        "retrieval_runs": campaign.retrieval_runs.count(),
        "pooled": pooled(campaign).values("topic", "docid").order_by().distinct().count(),
    }


class Gap(NamedTuple):
    """Something that is missing: how often, and the first few names."""

    what: str
    size: int
    names: list[str]


_NAMED = 5


def gaps(campaign: Campaign) -> list[Gap]:
    """Return what a campaign lacks, named; what it does not lack is left out. Looked for anew when that changed."""
    least = campaign.protocol.min_relevant_grade
    key = f"gaps.{_state(campaign)}"
    return list(cache.get_or_set(key, lambda: _find_gaps(campaign, least), timeout=None) or [])


def _find_gaps(campaign: Campaign, least: int) -> list[Gap]:
    relevant = Grade.objects.filter(topic__campaign=campaign, grade__gte=least)
    has_text = Segment.objects.filter(campaign=campaign, docid=OuterRef("docid"))
    without_text = relevant.filter(~Exists(has_text)).order_by("docid").values_list("docid", flat=True).distinct()
    unread = pooled(campaign).filter(~Exists(has_text)).order_by("docid").values_list("docid", flat=True).distinct()
    graded = Grade.objects.filter(topic=OuterRef("pk"))
    topics = Topic.objects.filter(campaign=campaign).order_by("qid")
    ungraded = topics.filter(~Exists(graded)).values_list("qid", flat=True)
    nothing_relevant = topics.filter(Exists(graded), ~Exists(graded.filter(grade__gte=least)))
    every = campaign.topics.count()
    own = Q(answers__import_record__state=Import.State.DONE, answers__apart=False)
    runs = Run.objects.filter(campaign=campaign).exclude(task=CONTROL)
    runs = runs.annotate(answered=Count("answers", filter=own)).order_by("tag")
    lacking = [f"{run.tag} ({every - run.answered})" for run in runs if run.answered < every]
    empty = Answer.objects.filter(run__campaign=campaign, apart=False, words=0).exclude(run__task=CONTROL)
    empty = empty.select_related("run", "topic").order_by("run__tag", "topic__qid")
    found = [
        _gap("relevant segments without text", without_text),
        _gap("pooled segments without text", unread),
        _gap("topics without qrels", ungraded),
        _gap("topics with qrels but no relevant segment", nothing_relevant.values_list("qid", flat=True)),
        Gap("runs lacking topics (how many)", len(lacking), lacking[:_NAMED]),
        Gap("empty answers", empty.count(), [f"{answer.run.tag} on {answer.topic.qid}" for answer in empty[:_NAMED]]),
    ]
    return [gap for gap in found if gap.size]


def _gap(what: str, names: "QuerySet[Any, str]") -> Gap:
    size, first = 0, []
    for name in names.iterator():  # once through: counting alone takes as long
        size += 1
        if size <= _NAMED:
            first.append(name)
    return Gap(what, size, first)


class PlanRow(NamedTuple):
    """A topic of the plan: its tasks, and under which conditions it waits to be drawn and is nobody's."""

    topic: Topic
    tasks: list[TaskRow]
    waiting: list[Waiting]


def runs_with_texts(campaign: Campaign) -> QuerySet[Run]:
    """Return the runs, each with the number of its answers of which no more is loaded than came with labels."""
    # A join sees the answers of unfinished imports too.
    visible = Q(answers__import_record__state=Import.State.DONE, answers__apart=False)
    texts = Count("answers", filter=visible & Q(answers__form__in=Answer.WITH_LABELS))
    runs: QuerySet[Run] = Run.objects.filter(campaign=campaign).annotate(texts=texts).order_by("tag")
    return runs


def plan(campaign: Campaign, topics: Iterable[Topic]) -> list[PlanRow]:
    """Return topics of the campaign, each with its tasks, and where it waits for whoever draws it."""
    rows = {topic.pk: PlanRow(topic, [], []) for topic in topics}
    for task in planned(campaign).filter(topic__in=rows):
        rows[task.topic_id].tasks.append(_row(task))
    for waiting in waiting_in(campaign).filter(topic__in=rows):
        rows[waiting.topic_id].waiting.append(waiting)
    return list(rows.values())


def finished_counts(campaign: Campaign) -> Any:
    """Return the campaign's nugget conditions with how many of their banks are finished, and how many there are."""
    # A join sees the banks of unfinished imports too.
    visible = Q(nugget_banks__import_record=None) | Q(nugget_banks__import_record__state=Import.State.DONE)
    finished = Count("nugget_banks", filter=visible & Q(nugget_banks__state="finished"), distinct=True)
    conditions = campaign.conditions.filter(kind="nuggets").select_related(
        "qrels_source__condition__judge", "judge", "protocol"
    )
    return conditions.annotate(finished=finished, banks=Count("nugget_banks", filter=visible, distinct=True))


def grading(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which passages are graded, by people or a model."""
    return campaign.conditions.filter(kind=Condition.Kind.RELEVANCE).select_related(
        "judge", "qrels_source__condition__judge"
    )
