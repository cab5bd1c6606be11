"""What is judged again, by a second person or by the same one: what the first sheets ask, and nothing else."""

from typing import NamedTuple

from assessor.collection.models import Answer
from assessor.work.models import Task
from assessor.work.opinions import ask_more, asked_again, drawn, without_sheet
from support.actions.sheets import lock
from support.citations import cited_in, places
from support.models import Opinion, SupportSheet


class _Again(NamedTuple):
    answer: Answer
    asked: list[str]


def judged_again(task: Task, opinion: Opinion) -> list[tuple[Answer, dict[str, str]]]:
    """Return the answers to a task's topic that have no sheet yet, with what is judged again of each: docids by key.

    Where only that is asked which the first person couldn't judge, sheets that are there are asked what came since.
    """
    there = {
        sheet.answer_id: sheet for sheet in lock(task.topic, SupportSheet.in_or_out.filter(condition=task.condition))
    }
    firsts = SupportSheet.objects.filter(condition=opinion.of, answer__topic=task.topic_id, answer__apart=False)
    firsts = firsts.select_related("answer__run").order_by("answer")
    again = [_Again(sheet.answer, asked_again(opinion, sheet, sheet.asked)) for sheet in firsts]
    wanted = drawn(opinion, task.topic, [one for one in again if one.asked])
    new = without_sheet(opinion, wanted, there)
    if opinion.only_cannot:
        for one in wanted:
            if sheet := there.get(one.answer.pk):
                ask_more(sheet, sorted({*sheet.asked, *one.asked}, key=places))
    elif opinion.share == 100:
        # Answers that cite nothing go along, or they would be missing in the scores instead of being 0.
        new += [one for one in again if not one.asked and one.answer.pk not in there]
    return [(one.answer, _docids(one)) for one in new]


def _docids(one: _Again) -> dict[str, str]:
    return {key: cited.docid for key, cited in cited_in(list(one.answer.sentences()), one.asked).items()}
