"""What a model's job writes: sheets when it is launched, labels when they come. Called in the job's transactions."""

from collections.abc import Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job, Unit
from assignment.actions.judged_answers import add_sheets, sheet_row
from assignment.label_kind import kind_of_nuggets
from assignment.models import AnswerSheet
from assignment.queries import answers_without_sheet, asked_of
from nuggets.queries import lock_finished_banks, present_editions

_AT_A_TIME = 1_500


class Labelled(NamedTuple):
    """What a model said on a sheet. edition: of the bank, whose nuggets it was asked about; labels: by nugget's id."""

    sheet: int
    edition: int
    labels: dict[int, str]


def add_lacking_sheets(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write sheets for some answers to topics with finished nuggets that have none; return how many were written."""
    judge = condition.judge_id
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    assert judge is not None, "a model's condition has a judge"
    banks = lock_finished_banks(condition.nuggets, topics)
    editions = present_editions(banks.values())
    new = answers_without_sheet(condition, banks.values())[:_AT_A_TIME]
    empty_label = kind_of_nuggets(condition).empty_label
    asked = asked_of(condition, {answer: editions[banks[topic].pk].nuggets for answer, topic, _ in new})
    add_sheets(
        sheet_row(
            condition=condition.pk,
            bank=banks[topic].pk,
            answer=answer,
            judge=judge,
            edition=banks[topic].edition,
            nuggets=asked[answer],
            is_part=bool(condition.sample),
            by_rule=None if words else empty_label,
        )
        for answer, topic, words in new
    )
    return len(new)


def store_labels(job: Job, results: Sequence[tuple[Unit, Labelled]]) -> None:
    """Write the labels that a job's model gave, where there is none yet.

    Raises UnitFailure where the bank was finished again since: the model read other texts.
    """
    keys = [labelled.sheet for _, labelled in results]
    # In the order in which a bank that is finished again locks them too.
    locked = AnswerSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(pk__in=keys).order_by("pk")
    sheets = {sheet.pk: sheet for sheet in AnswerSheet.with_items(locked)}
    for unit, labelled in results:
        sheet = sheets[labelled.sheet]
        if sheet.edition != labelled.edition:
            raise UnitFailure(f"The nuggets of {unit.topic.qid} were changed while the model was asked about them.")
        new = {
            nugget: {"label": label, "stale": None}
            for nugget, label in labelled.labels.items()
            if not sheet.is_said(str(nugget))
        }
        if new:
            sheet.revise("labelled", new, judge_id=job.condition.judge_id, job_id=job.pk)
