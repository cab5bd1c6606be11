"""What is to be graded, and what jobs and pages read of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Value, When

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Grade, Segment, Topic
from assessor.campaigns.queries import byte_order, pooled, segments_by_docid
from assessor.formats.values import to_json
from assessor.labels.replies import replies_by_item
from assessor.relevance.label_kind import POST_EDITED
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.runtime.clock import shared_now
from assessor.runtime.sql import Parameter
from assessor.work.blindness import has_seen
from assessor.work.models import Task

TO_DO = Q(state=RelevanceJudgment.State.OPEN)  # passages of which nobody said anything, or took it back


def pool(condition: Condition, topics: Sequence[Topic]) -> "QuerySet[Any, tuple[int, str]]":
    """Return (topic's key, docid) of the segments pooled under the condition's protocol: each once, by docid's bytes.

    The condition may not be saved yet; then the protocol in force counts.
    """
    protocol = condition.protocol if condition.protocol_id else None
    found = pooled(condition.campaign, protocol).filter(topic__in=topics)
    return found.order_by("topic_id", byte_order("docid")).values_list("topic_id", "docid").distinct()


def ungraded(condition: Condition, topics: Sequence[Topic]) -> "QuerySet[Any, tuple[int, str]]":
    """Return those of the pool that have no grade of the condition's own yet."""
    if condition._state.adding:
        return pool(condition, topics)
    own = Grade.everything.filter(source__condition=condition, topic=OuterRef("topic"), docid=OuterRef("docid"))
    return pool(condition, topics).filter(~Exists(own))


def graded_by(condition: Condition) -> dict[int, int]:
    """Count the grades that were made under a condition, by topic's key; none where it is not saved yet."""
    own = Grade.everything.filter(source__condition=condition.pk)
    return dict(own.order_by().values_list("topic").annotate(Count("pk"))) if condition.pk else {}


def items_of(task: Task) -> QuerySet[RelevanceJudgment]:
    """Return all passages of a task's topic that people grade under its condition."""
    return RelevanceJudgment.objects.filter(condition=task.condition, topic=task.topic)


def can_be_opened(condition: Condition) -> Q:
    """Say of a condition's passages: still to be graded, the text loaded and, in post-editing, graded by the model."""
    return is_ready(condition.campaign_id, shown_source(condition))


def is_ready(campaign: int | Parameter, shown: int | Parameter | None) -> Q:
    """Say the same of passages, by keys: of the campaign, and of the source whose grades are shown.

    From scratch (None) no grades are looked at.
    """
    has_text = Segment.objects.filter(campaign=campaign, docid=OuterRef("docid"))
    said = TO_DO & Q(Exists(has_text))
    if shown is not None:
        has_grade = Grade.objects.filter(source=shown, topic=OuterRef("topic"), docid=OuterRef("docid"))
        said &= Q(Exists(has_grade))
    return said


def shown_source(condition: Condition) -> int | None:
    """Return the key of the source whose grades a condition shows beside the choices; None from scratch."""
    return condition.qrels_source_id if condition.method == POST_EDITED else None


def openable(task: Task) -> QuerySet[RelevanceJudgment]:
    """Return the passages that can be opened, in order: what was taken back comes first."""
    taken_back_first = Case(When(version__gt=0, then=Value(0)), default=Value(1))
    return items_of(task).filter(can_be_opened(task.condition)).order_by(taken_back_first, "position")


def shown_grades(condition: Condition) -> QuerySet[Grade]:
    """Return the grades that a condition shows beside the choices: those of the model that it post-edits."""
    return Grade.objects.filter(source=condition.qrels_source_id)


def aided_labels(condition: Condition) -> set[tuple[int, str]]:
    """Return what was graded beside a model's grade, by topic's key and docid."""
    rows = RelevanceJudgment.objects.filter(condition=condition, shown_value__isnull=False).order_by()
    return set(rows.values_list("topic", "docid"))


def free(now: datetime, person: Person) -> Q:
    """Say of a queue's passages which this person could have: nobody else's lease is running."""
    return Q(held_until=None) | Q(held_until__lte=now) | Q(holder=person)


def theirs(task: Task) -> Q:
    """Say of a topic's passages which the task's person has judged, or could judge now."""
    now = can_be_opened(task.condition)
    if task.condition.manual_setup.from_queue:
        now &= Q(holder=task.person, held_until__gt=shared_now())
    return Q(task=task) | now


class Passage(NamedTuple):
    """A passage as the page shows it; said, under: as JSON, for the browser, as with answers."""

    sheet: RelevanceJudgment
    segment: Segment
    said: str
    under: str


def passages(task: Task, items: Sequence[RelevanceJudgment]) -> list[Passage]:
    """Return items with their texts, in order, without those whose text is gone."""
    segments = segments_by_docid(task.condition.campaign, [item.docid for item in items])
    there = [item for item in items if item.docid in segments]
    return [Passage(item, segments[item.docid], to_json(said(item, task)), _under(item, task)) for item in there]


def said(item: RelevanceJudgment, task: Task) -> dict[str, dict[str, str]]:
    """Return what stands of a passage by its key, as far as the task's person may see it; each may be nothing."""
    key = str(item.pk)
    is_theirs = item.task_id == task.pk
    shown = item.shown_value if item.shown_to_id == task.person_id else None
    told = {
        "labels": item.value if is_theirs else None,
        "cannot": item.reason if is_theirs else None,
        "flags": None,
        "shown": shown,
    }
    return {name: {key: value} if value else {} for name, value in told.items()}


def _under(item: RelevanceJudgment, task: Task) -> str:
    """Return by which guidelines something was said that can only be read now."""
    is_over = task.state != Task.State.OPEN and item.task_id == task.pk
    return to_json({str(item.pk): item.guidelines_version} if is_over and item.guidelines_version else {})


Queued = tuple[int, int, int, int, int]  # key, number from 1, what is to do, version, put off: as in queues of answers


def queue(task: Task, at_hand: Sequence[RelevanceJudgment]) -> list[Queued]:
    """Return what a person has judged of a topic, and what they have to judge: in a queue, what is at hand."""
    mine = items_of(task).filter(task=task)
    to_do = at_hand if task.condition.manual_setup.from_queue else openable(task)
    return [(one.pk, one.position + 1, one.to_do, one.version, 0) for one in (*to_do, *mine.order_by("position"))]


def replies(task: Task) -> dict[int, dict[int, list[str]]]:
    """Return what the organizer replied to a task's person about its passages, by their keys twice, as of answers."""
    found = replies_by_item(task)
    keys = items_of(task).filter(docid__in=found).values_list("pk", "docid")
    return {pk: {pk: found[docid]} for pk, docid in keys}


class Progress(NamedTuple):
    """How far a topic is. others: graded by others; waiting: can't be shown yet; elsewhere: on others' screens."""

    graded: int
    others: int
    total: int
    waiting: int
    elsewhere: int

    @property
    def is_over(self) -> bool:
        return self.graded == self.total


def progress(task: Task) -> Progress:
    """Count a topic's passages, by whoever they were graded."""
    there = can_be_opened(task.condition)
    elsewhere = there & ~free(shared_now(), task.person)
    counts = items_of(task).aggregate(
        total=Count("pk"),
        graded=Count("pk", filter=~TO_DO),
        others=Count("pk", filter=~TO_DO & ~Q(task=task)),
        there=Count("pk", filter=there),
        elsewhere=Count("pk", filter=elsewhere),
    )
    waiting = counts["total"] - counts["graded"] - counts["there"]
    return Progress(counts["graded"], counts["others"], counts["total"], waiting, counts["elsewhere"])


def judged(task: Task) -> QuerySet[RelevanceJudgment]:
    """Return what stands judged by a task's person, the latest first."""
    latest = LabelEvent.objects.filter(judgment=OuterRef("pk")).order_by("-version").values("pk")[:1]
    return items_of(task).filter(task=task).order_by(Subquery(latest).desc())


class PastJudgment(NamedTuple):
    """What a person said of a passage, as they see it again. replies: as beside the passage."""

    item: RelevanceJudgment
    replies: Sequence[str]


def looked_back(task: Task) -> list[PastJudgment]:
    """Return what stands judged by a task's person with what they were answered, the latest first."""
    found = replies_by_item(task)
    return [PastJudgment(item, found.get(item.docid, ())) for item in judged(task)]


def next_task(task: Task) -> Task | None:
    """Return the person's next open topic under the same condition that has a passage for them now."""
    to_do = RelevanceJudgment.objects.filter(condition=task.condition, topic=OuterRef("topic"))
    to_do = to_do.filter(can_be_opened(task.condition), free(shared_now(), task.person))
    others = Task.objects.filter(person=task.person, condition=task.condition, state=Task.State.OPEN)
    others = others.filter(Exists(to_do)).exclude(pk=task.pk).select_related("topic").order_by("topic__qid")
    seen = has_seen(task.person, [other.topic for other in others], task.condition)
    return next((other for other in others if other.topic_id not in seen), None)
