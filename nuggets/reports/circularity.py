"""Which reports say less of whoever scores them: those written from the bank by which they are scored, or by the judge.

Scores of such runs come near the best there can be, whatever their worth (Dietz et al., arXiv 2601.13227).
"""

from collections.abc import Mapping

from assessor.campaigns.condition_kind import CIRCULAR, RELATED
from assessor.campaigns.models import Condition, Judge
from nuggets.reports.models import Report


def run_marks(condition: Condition) -> Mapping[str, str]:
    """Return CIRCULAR or RELATED of the reports that a condition scores so, by their runs' tags."""
    reports = Report.objects.filter(condition__campaign=condition.campaign_id)
    writing = [f"{path}__{of}" for path in ("condition", "condition__shown") for of in ("judge", "nuggets__judge")]
    # What people edited is still the model's that found it.
    told = {report.tag: report.condition.shown or report.condition for report in reports.select_related(*writing)}
    marks = {tag: _mark(writer, condition) for tag, writer in told.items()}
    return {tag: mark for tag, mark in marks.items() if mark}


def _mark(writing: Condition, scoring: Condition) -> str:
    """Return what is between reports and a condition that scores them, or "".

    They are circular where the condition has the same bank, or one that the same model made of the same grades, or the
    judge that wrote them; related where a model of the same name, or the same prompts, had a part in both.
    """
    if scoring.judge_id == writing.judge_id or _are_relatives(writing.nuggets, scoring.nuggets):
        return CIRCULAR
    writers, scorers = _models(writing), _models(scoring)
    return RELATED if writers & scorers else ""


def _are_relatives(one: Condition | None, other: Condition | None) -> bool:
    if one is None or other is None:
        return False
    if one.pk == other.pk:
        return True
    has_same_maker = one.judge_id is not None and one.judge_id == other.judge_id
    return has_same_maker and one.is_drafted and other.is_drafted and one.qrels_source_id == other.qrels_source_id


def _models(condition: Condition) -> set[str]:
    """Return the names of the models that had a part in what is said under a condition."""
    return {
        str(judge.parameters.get("model") or judge)
        for one in (condition, condition.nuggets)
        if one and (judge := one.judge) and judge.kind != Judge.Kind.PERSON and judge.is_a_model
    }
