"""Passages of topics for practice, beside the reference."""

from collections.abc import Sequence

from assessor.campaigns.models import Grade
from assessor.campaigns.queries import segment_texts
from assessor.labels.practice import Against, Group, Item, Items, OfAnswers, Row
from assessor.relevance.models import RelevanceJudgment
from assessor.work.models import Task


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return what people said on tasks of practice; against: by condition's key."""
    topics = {task.topic_id for task in tasks}
    sources = {reference.grades_id for reference in against.values()}
    said = Grade.objects.filter(source__in=sources, topic__in=topics).values_list("source", "topic", "docid", "grade")
    grades = {(source, topic, docid): str(grade) for source, topic, docid, grade in said}
    items: Items = {task.pk: [] for task in tasks}
    by_key = {task.pk: task for task in tasks}
    for judgment in RelevanceJudgment.objects.filter(task__in=tasks).order_by("position"):
        task = by_key[judgment.task_id or 0]
        theirs = grades.get((against[task.condition_id].grades_id or 0, task.topic_id, judgment.docid), "")
        is_graded = judgment.value is not None
        items[task.pk].append(Item(None, judgment.docid, "", judgment.value or "", theirs, not is_graded))
    return items


def practice_groups(task: Task, of_answers: OfAnswers) -> list[Group]:
    """Return items with the texts of their passages."""
    texts = segment_texts(task.campaign, [item.key for _, items in of_answers for item in items])
    return [
        Group("", [Row(item, item.text or item.key, texts.get(item.key, "")) for item in items])
        for _, items in of_answers
    ]
