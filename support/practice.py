"""Citations of answers to topics for practice, beside the reference."""

from collections.abc import Sequence

from assessor.campaigns.models import Answer
from assessor.campaigns.passages import cited_texts
from assessor.labels.practice import Against, Group, Items, OfAnswers, Row, items_of_answers
from assessor.work.models import Task
from support.citations import LABELS, cited_in
from support.models import SupportSheet


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return what people said on tasks of practice; against: by condition's key."""
    mine = SupportSheet.with_items(SupportSheet.objects.filter(task__in=tasks).order_by("task", "place", "pk"))
    return items_of_answers(tasks, against, mine, LABELS, lambda sheet: [(key, "") for key in sheet.open])


def practice_groups(task: Task, of_answers: OfAnswers) -> list[Group]:
    """Return items with their sentences and passages. No run is named."""
    answers = Answer.objects.in_bulk([answer for answer, _ in of_answers if answer])
    found = []
    for pk, items in of_answers:
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
