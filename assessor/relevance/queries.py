"""What is to be graded, and what jobs and pages read of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from assessor.collection.models import Condition, Grade, Person, Segment, Topic
from assessor.collection.queries import byte_order, pooled, segments_by_docid
from assessor.relevance.models import Item
from assessor.work.blindness import has_seen
from assessor.work.models import Task
from assessor.work.replies import replies_by_item


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


def items_of(task: Task) -> QuerySet[Item]:
    """Return all passages of a task's topic that people grade under its condition."""
    return Item.objects.filter(condition=task.condition, topic=task.topic)


def can_be_opened(condition: Condition) -> Q:
    """Say of a condition's passages: still to be graded, the text loaded and, in post-editing, graded by the model.

    Only the grades of the condition's own model are looked at, and from scratch none at all.
    """
    has_text = Segment.objects.filter(campaign=condition.campaign_id, docid=OuterRef("docid"))
    said = Q(judgment=None) & Q(Exists(has_text))
    if condition.method == Condition.Method.RELEVANCE_POST_EDITED:
        has_grade = shown_grades(condition).filter(topic=OuterRef("topic"), docid=OuterRef("docid"))
        said &= Q(Exists(has_grade))
    return said


def openable(task: Task) -> QuerySet[Item]:
    """Return the passages that can be opened, in order: what was taken back comes first."""
    taken_back_first = Case(When(version__gt=0, then=Value(0)), default=Value(1))
    return items_of(task).filter(can_be_opened(task.condition)).order_by(taken_back_first, "place")


def shown_grades(condition: Condition) -> QuerySet[Grade]:
    """Return the grades that a condition shows beside the choices: those of the model that it post-edits."""
    return Grade.objects.filter(source=condition.qrels_source_id)


def free(now: datetime, person: Person) -> Q:
    """Say of a queue's passages which this person could have: nobody else's lease is running."""
    return Q(held_until=None) | Q(held_until__lte=now) | Q(holder=person)


class Passage(NamedTuple):
    """A passage as the page shows it. replies: the organizer's, to what the person asked about it."""

    item: Item
    segment: Segment
    replies: Sequence[str]


def passages(task: Task, items: Sequence[Item]) -> list[Passage]:
    """Return items with their texts, in order."""
    segments = segments_by_docid(task.condition.campaign, [item.docid for item in items])
    replies = replies_by_item(task) if items else {}
    return [Passage(item, segments[item.docid], replies.get(item.docid, ())) for item in items]


class Progress(NamedTuple):
    """How far a topic is. waiting: can't be shown yet; elsewhere: others have them on their screens."""

    graded: int
    total: int
    waiting: int
    elsewhere: int

    @property
    def is_over(self) -> bool:
        return self.graded == self.total


def progress(task: Task) -> Progress:
    """Count a topic's passages, by whoever they were graded."""
    there = can_be_opened(task.condition)
    elsewhere = there & ~free(timezone.now(), task.person)
    counts = items_of(task).aggregate(
        total=Count("pk"),
        graded=Count("judgment"),
        there=Count("pk", filter=there),
        elsewhere=Count("pk", filter=elsewhere),
    )
    waiting = counts["total"] - counts["graded"] - counts["there"]
    return Progress(counts["graded"], counts["total"], waiting, counts["elsewhere"])


def version_of(task: Task) -> int:
    """Return the version of a task: how often the person has judged or taken back on it."""
    return task.relevance_judgments.count()


def judged(task: Task) -> QuerySet[Item]:
    """Return what stands judged by a task's person, the latest first."""
    return items_of(task).filter(judgment__task=task).select_related("judgment").order_by("-judgment_id")


class LookedBack(NamedTuple):
    """What a person said of a passage, as they see it again. replies: as beside the passage."""

    item: Item
    replies: Sequence[str]


def looked_back(task: Task) -> list[LookedBack]:
    """Return what stands judged by a task's person with what they were answered, the latest first."""
    replies = replies_by_item(task)
    return [LookedBack(item, replies.get(item.docid, ())) for item in judged(task)]


def next_task(task: Task) -> Task | None:
    """Return the person's next open topic under the same condition that has a passage for them now."""
    to_do = Item.objects.filter(condition=task.condition, topic=OuterRef("topic"))
    to_do = to_do.filter(can_be_opened(task.condition), free(timezone.now(), task.person))
    others = Task.objects.filter(person=task.person, condition=task.condition, state=Task.State.OPEN)
    others = others.filter(Exists(to_do)).exclude(pk=task.pk).select_related("topic").order_by("topic__qid")
    seen = has_seen(task.person, [other.topic for other in others], task.condition)
    return next((other for other in others if other.topic_id not in seen), None)


def said_since(task: Task, version: int) -> dict[int, str]:
    """Return what the task's person said last of each passage (by key) that they judged after a version of the task.

    What others said is not theirs to see.
    """
    later = task.relevance_judgments.order_by("pk")[min(max(version, 0), version_of(task)) :]
    last = {judgment.docid: judgment.said for judgment in later}
    keys = items_of(task).filter(docid__in=last).values_list("pk", "docid")
    return {pk: last[docid] for pk, docid in keys}
