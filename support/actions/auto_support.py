"""What a model's job writes: sheets when it is launched, labels when they come. Called in the job's transactions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any

from django.db.models import Q, QuerySet

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.passages import lacking_passages
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job
from support.actions.equal_pairs import say_of_equal
from support.actions.judged_answers import add_sheets, mark_loaded, sheet_row
from support.models import SupportJudgment, SupportSheet
from support.queries import answers_without_sheet, to_judge

# Labels by answer's key, and then by the sentence's place and the docid.
Said = Mapping[int, Mapping[tuple[int, str], str]]
_AT_A_TIME = 100
MOVED = "The answer got further citations since, and this one is elsewhere now: launch again to have it judged."


def add_lacking_sheets(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write sheets for some answers that a model judges and that have none yet; return how many were written."""
    judge = condition.judge_id
    assert judge is not None, "a model's condition has a judge"
    answers = list(islice(chain.from_iterable(answers_without_sheet(condition, topics)), _AT_A_TIME))
    asked = to_judge(condition, answers)
    run_of = {answer.pk: answer.run_id for answer in answers}
    cited = ((run_of[answer], docid) for answer, of_answer in asked.items() for docid in of_answer.values())
    lacking = lacking_passages(condition.campaign, cited)
    add_sheets(
        sheet_row(
            condition=condition.pk,
            answer=answer,
            judge=judge,
            asked=of_answer,
            unresolved=[key for key, docid in of_answer.items() if (run_of[answer], docid) in lacking],
        )
        for answer, of_answer in asked.items()
    )
    return len(answers)


def store_labels(job: Job, said: Said) -> None:
    """Write the labels that a job's model gave, where there is none yet.

    Each goes where its citation is now: a run file may have brought the answer further ones since the model was asked.
    Equal citations get it too, where they are judged once. Raises UnitFailure for one that is not among those judged
    any more.
    """
    # Two workers may be at citations of one answer. Who limits a judge's rate has locked the job before units end;
    # so must all others, or one waits for the job and the other one for the sheet.
    Job.locked(job.pk)
    of_job = SupportSheet.in_or_out.filter(condition=job.condition_id)
    once = job.condition.protocol.equal_pairs_once
    with_equal = set(_with_equal(of_job.filter(answer__in=list(said)))) if once else set()
    wanted = Q(answer__in=list(said)) | Q(pk__in=with_equal)
    locked = of_job.select_for_update(no_key=True, of=("self",)).filter(wanted).order_by("pk")
    by_key = {sheet.pk: sheet for sheet in SupportSheet.with_items(locked)}
    sheets = {sheet.answer_id: sheet for sheet in by_key.values()}
    alike: dict[int, list[tuple[SupportSheet, str]]] = defaultdict(list)
    for sheet in by_key.values():
        for key, row in sheet.labels_by_item.items():
            if row.equal_to_id:
                alike[row.equal_to_id].append((sheet, key))
    equal: dict[int, dict[str, tuple[str, int]]] = defaultdict(dict)
    for answer, labels in said.items():
        sheet, new = sheets[answer], {}
        rows = ((key, sheet.labels_by_item[key]) for key in sheet.asked)
        asked = {(row.sentence, row.docid): key for key, row in rows}
        for cited, label in labels.items():
            if cited not in asked:
                raise UnitFailure(MOVED)
            key = asked[cited]
            if not sheet.is_said(key):
                new[key] = {"label": label}
                row = sheet.labels_by_item[key]
                for other, of_other in alike.get(row.equal_to_id, ()):
                    equal[other.pk][of_other] = label, row.pk
        if came := [key for key in sheet.unresolved if key in new]:
            mark_loaded(sheet, came, job_id=job.pk)
        if new:
            sheet.revise("labelled", new, judge_id=job.condition.judge_id, job_id=job.pk)
    for pk, of_sheet in equal.items():
        # One that was noted as equal since its sheet was locked here is settled with the next launch.
        if lacking := {key: one for key, one in of_sheet.items() if not by_key[pk].is_said(key)}:
            labelled = {key: {"label": label} for key, (label, _) in lacking.items()}
            say_of_equal(by_key[pk], labelled, {key: first for key, (_, first) in lacking.items()}, job_id=job.pk)


def _with_equal(sheets: QuerySet[SupportSheet]) -> QuerySet[Any]:
    """Return the keys of the sheets on which citations equal to some of these stand."""
    firsts = SupportJudgment.everything.filter(sheet__in=sheets.values("pk"), equal_to__isnull=False)
    return SupportJudgment.everything.filter(equal_to__in=firsts.values("equal_to")).values_list("sheet", flat=True)
