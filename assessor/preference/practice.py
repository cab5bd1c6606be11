"""Pairs of answers to topics for practice, beside the reference."""

from collections.abc import Sequence

from assessor.labels.practice import Against, Group, Item, Items, OfAnswers, Row
from assessor.preference.models import PreferencePair
from assessor.preference.questions import both_texts
from assessor.preference.verdicts import of_answers
from assessor.work.models import Task


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return what people said on tasks of practice, in terms of what is shown; against: by condition's key."""
    topics = {task.topic_id for task in tasks}
    references = {reference.reference_id for reference in against.values()}
    theirs = PreferencePair.objects.filter(condition__in=references, topic__in=topics)
    said = {(one.condition_id, one.first_id, one.second_id): one.counted or "" for one in theirs}
    items: Items = {task.pk: [] for task in tasks}
    for pair in PreferencePair.objects.filter(task__in=tasks).order_by("position"):
        reference = against[pair.condition_id].reference_id or 0
        labels = [pair.value or "", said.get((reference, pair.first_id, pair.second_id), "")]
        own, other = (label and of_answers(label, second_stood_first=pair.second_stood_first) for label in labels)
        items[pair.task_id or 0].append(Item(None, pair.item, f"Pair {pair.position + 1}", own, other, not pair.value))
    return items


def practice_groups(task: Task, of_answers: OfAnswers) -> list[Group]:
    """Return pairs with both texts. No run is named."""
    pairs = PreferencePair.objects.filter(task=task).select_related("first", "second")
    texts = {pair.item: both_texts(pair) for pair in pairs}
    return [Group("", [Row(item, item.text, texts[item.key]) for item in items]) for _, items in of_answers]
