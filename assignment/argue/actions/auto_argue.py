"""What a model's job writes: sheets when it is launched, judgments when they come."""

from collections.abc import Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job, Unit
from assignment.argue.actions.judged_reports import add_sheets, asked_of, keys_of, lock_sheets, sheet_row
from assignment.argue.items import bank_of, judged_sentences
from assignment.argue.models import ArgueSheet
from assignment.argue.queries import reports_of, reports_without_sheet
from nuggets.queries import lock_finished_banks, present_editions

_AT_A_TIME = 100


def add_lacking_sheets(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write sheets for some reports on topics with finished questions that have none; return how many were written."""
    judge = condition.judge_id
    assert condition.nuggets is not None, "reports are judged against questions"
    assert judge is not None, "a model's condition has a judge"
    banks = lock_finished_banks(condition.nuggets, topics)
    editions = present_editions(banks.values())
    new = reports_without_sheet(condition, banks.values())[:_AT_A_TIME]
    asked = {topic: bank_of(editions[bank.pk].nuggets, condition.protocol) for topic, bank in banks.items()}
    keys = {topic: keys_of(editions[bank.pk].nuggets) for topic, bank in banks.items()}
    rows = []
    for answer in reports_of(new).order_by("topic", "pk"):
        bank = banks[answer.topic_id]
        sentences = list(answer.sentences())
        judged = judged_sentences(sentences, condition.protocol, answer.topic)
        rows.append(
            sheet_row(
                condition=condition.pk,
                bank=bank.pk,
                answer=answer.pk,
                judge=judge,
                edition=bank.edition,
                cut=len(sentences) - len(judged),
                items=asked[answer.topic_id].items(judged, {}),
                nuggets=keys[answer.topic_id],
            )
        )
    add_sheets(rows)
    return len(new)


class Judged(NamedTuple):
    """What a model said on a sheet. edition: of the bank that it was asked about; labels: by item's key."""

    sheet: int
    edition: int
    labels: dict[str, str]


def store_judgments(job: Job, results: Sequence[tuple[Unit, Judged]]) -> None:
    """Write the judgments that a job's model gave, where there is none yet.

    Raises UnitFailure where the bank was finished again since.
    """
    keys = [judged.sheet for _, judged in results]
    sheets = {sheet.pk: sheet for sheet in lock_sheets(ArgueSheet.in_or_out.filter(pk__in=keys))}
    editions = present_editions({sheet.bank_id: sheet.bank for sheet in sheets.values()}.values())
    for unit, judged in results:
        sheet = sheets[judged.sheet]
        if sheet.edition != judged.edition or sheet.bank.edition != judged.edition:
            raise UnitFailure(f"The questions of {unit.topic.qid} were changed while the model was asked about them.")
        bank = bank_of(editions[sheet.bank_id].nuggets, sheet.condition.protocol)
        labels = {key: label for key, label in judged.labels.items() if not sheet.is_said(key)}
        asked, _ = asked_of(sheet, bank, {**sheet.labels, **labels})
        labels = {key: label for key, label in labels.items() if key in asked}  # sentences may have changed meanwhile
        # What is asked because of another judgment has its row, to which events refer, only once that one is written.
        while there := {key: label for key, label in labels.items() if key in sheet.labels_by_item}:
            said = {key: {"label": label, "stale": None} for key, label in there.items()}
            sheet.revise("judged", said, judge_id=job.condition.judge_id, job_id=job.pk, asked=asked)
            labels = {key: label for key, label in labels.items() if key not in there}
