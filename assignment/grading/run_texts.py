"""What becomes of grades of what answers cite when a run gets texts of its own for that."""

from collections.abc import Collection

from django.db.models import Q

from assessor.campaigns.changed_answers import JudgedBySegments
from assessor.campaigns.models import Protocol, Run
from assessor.labels.models import Label
from assessor.llm.models import Unit
from assignment.grading.label_kind import AUTO, GRADING
from assignment.models import AnswerSheet, Assignment

_BY_DOCUMENTS = Q(condition__kind=GRADING.name, condition__method=AUTO) & ~Q(
    condition__protocol__grade_text=Protocol.GradeText.RESPONSE
)


def graded_docids(run: Run, docids: Collection[str]) -> set[str]:
    """Return those of the docids by whose texts a model graded an answer of the run, or is being asked to."""
    given = Assignment.in_or_out.filter(sheet__answer__run=run, state=Label.State.GIVEN).order_by().values("sheet")
    claimed = Unit.objects.filter(job__campaign=run.campaign_id, state=Unit.State.CLAIMED, answer__run=run)
    asked = claimed.filter(job__condition__kind=GRADING.name).values("answer")
    sheets = AnswerSheet.in_or_out.filter(_BY_DOCUMENTS, answer__run=run).filter(Q(pk__in=given) | Q(answer__in=asked))
    return {
        citation.docid
        for sheet in sheets.select_related("answer").order_by("pk").iterator(500)
        for sentence in sheet.answer.sentences()
        for citation in sentence.citations
        if citation.docid in docids
    }


def follow_texts(run: Run, docids: Collection[str]) -> None:
    """Have no answer graded by the campaign's text while a run's own takes its place. Raises JudgedBySegments."""
    locked = AnswerSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(_BY_DOCUMENTS, answer__run=run)
    list(locked.order_by("pk").values_list("pk"))
    if graded := graded_docids(run, docids):
        raise JudgedBySegments(f"answers of {run} were graded by what they cite, {sorted(graded)[0]} among others")
