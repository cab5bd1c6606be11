"""What is judged again, by a second person or by the same one: what the first sheets ask, and nothing else."""

from collections.abc import Iterable
from typing import NamedTuple

from assessor.campaigns.models import Answer
from assessor.labels.manual_setups import ask_more, asked_again, drawn, without_sheet
from assessor.labels.models import ManualSetup
from assessor.work.models import Task
from support.actions.judged_answers import lock
from support.citations import places
from support.models import SupportSheet


class _Again(NamedTuple):
    answer: Answer
    asked: dict[str, str]  # docids, by key


def judged_again(task: Task, setup: ManualSetup) -> list[tuple[Answer, dict[str, str]]]:
    """Return the answers to a task's topic that have no sheet yet, with what is judged again of each: docids by key.

    Where only that is asked which the first person couldn't judge, sheets that are there are asked what came since.
    """
    there = {
        sheet.answer_id: sheet for sheet in lock(task.topic, SupportSheet.in_or_out.filter(condition=task.condition))
    }
    firsts = SupportSheet.objects.filter(condition=setup.of, answer__topic=task.topic_id, answer__apart=False)
    firsts = SupportSheet.with_items(firsts.select_related("answer__run").order_by("answer"))
    again = [_Again(sheet.answer, _docids(sheet, asked_again(setup, sheet, sheet.asked))) for sheet in firsts]
    wanted = drawn(setup, task.topic, [one for one in again if one.asked])
    new = without_sheet(setup, wanted, there)
    if setup.only_unjudgeable:
        for one in wanted:
            if sheet := there.get(one.answer.pk):
                ask_more(sheet, sorted({*sheet.asked, *one.asked}, key=places))
    elif setup.share == 100:
        # Answers that cite nothing go along, or they would be missing in the scores instead of being 0.
        new += [one for one in again if not one.asked and one.answer.pk not in there]
    return [(one.answer, one.asked) for one in new]


def _docids(sheet: SupportSheet, keys: Iterable[str]) -> dict[str, str]:
    return {key: sheet.labels_by_item[key].docid for key in keys}
