"""What the items of practice are about, in words: answers, sentences with the passages that they cite, passages."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assessor.collection.models import Answer, Condition
from assessor.collection.passages import cited_texts
from assessor.collection.queries import segment_texts
from assessor.training.items import Item
from assessor.work.models import Task
from support.citations import cited_in


class Row(NamedTuple):
    """An item with what it is about; passage: the text that is cited or graded, where one is."""

    item: Item
    text: str
    passage: str


class Group(NamedTuple):
    """Items of one answer, or all of a topic (answer "")."""

    answer: str
    rows: list[Row]


def texts_of(task: Task, groups: Sequence[tuple[int | None, list[Item]]]) -> list[Group]:
    """Return the items of a task with their texts. No run is named."""
    answers = Answer.objects.in_bulk([answer for answer, _ in groups if answer])
    if task.kind == Condition.Kind.SUPPORT:
        return _cited(task, answers, groups)
    found = []
    texts: dict[str, str] = {}
    if task.kind == Condition.Kind.RELEVANCE:
        texts = segment_texts(task.campaign, [item.key for _, items in groups for item in items])
    for pk, items in groups:
        answer = " ".join(sentence["text"] for sentence in answers[pk].content) if pk else ""
        found.append(Group(answer, [Row(item, item.text or item.key, texts.get(item.key, "")) for item in items]))
    return found


def _cited(task: Task, answers: Mapping[int, Answer], groups: Sequence[tuple[int | None, list[Item]]]) -> list[Group]:
    found = []
    for pk, items in groups:
        sentences = list(answers[pk or 0].sentences())
        cited = cited_in(sentences, [item.key for item in items])
        found.append((answers[pk or 0].run_id, " ".join(sentence.text or "" for sentence in sentences), items, cited))
    texts = cited_texts(task.campaign, {(run, one.docid) for run, _, _, cited in found for one in cited.values()})
    return [
        Group(
            answer,
            [Row(item, cited[item.key].sentence, texts.get((run, cited[item.key].docid), "")) for item in items],
        )
        for run, answer, items, cited in found
    ]
