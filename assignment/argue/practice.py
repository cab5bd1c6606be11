"""Judgments of reports on topics for practice, beside the reference."""

from collections.abc import Sequence

from assessor.campaigns.models import Answer
from assessor.campaigns.passages import cited_texts
from assessor.labels.practice import Against, Group, Items, OfAnswers, Row, items_of_answers
from assessor.work.models import Task
from assignment.argue.items import item_of_key
from assignment.argue.models import ArgueSheet
from assignment.argue.queries import ASKS, item_texts
from assignment.argue.vocabulary import LABELS


def practice_items(tasks: Sequence[Task], against: Against) -> Items:
    """Return what people said on tasks of practice; against: by condition's key."""
    sheets = ArgueSheet.objects.filter(ASKS, task__in=tasks)
    mine = ArgueSheet.with_items(sheets.order_by("task", "place", "pk"))
    texts = item_texts({item for sheet in mine for item in _judgeable(sheet)})

    def asked(sheet: ArgueSheet) -> list[tuple[str, str]]:
        return [(item, texts[item]) for item in _judgeable(sheet)]

    return items_of_answers(tasks, against, mine, LABELS, asked)


def _judgeable(sheet: ArgueSheet) -> list[str]:
    unresolved = sheet.unresolved
    return [item for item in sheet.asked if item not in unresolved]


def practice_groups(task: Task, of_answers: OfAnswers) -> list[Group]:
    """Return items with the documents that they are about. No run is named."""
    answers = Answer.objects.in_bulk([answer for answer, _ in of_answers if answer])
    runs = {pk: answer.run_id for pk, answer in answers.items()}
    docids = {(pk, item.key): item_of_key(item.key).docid for pk, items in of_answers for item in items}
    texts = cited_texts(task.campaign, {(runs[pk or 0], docid) for (pk, _), docid in docids.items() if docid})
    return [
        Group(
            answers[pk or 0].text,
            [Row(item, item.text, texts.get((runs[pk or 0], docids[pk, item.key]), "")) for item in items],
        )
        for pk, items in of_answers
    ]
