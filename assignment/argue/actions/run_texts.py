"""What becomes of judgments when a run gets texts of its own for what it cites."""

from collections.abc import Collection

from django.db.models import Q

from assessor.campaigns.changed_answers import JudgedBySegments
from assessor.campaigns.models import Run
from assessor.labels.models import Label
from assessor.llm.models import Unit
from assignment.argue.label_kind import ARGUE
from assignment.argue.models import ArgueJudgment, ArgueSheet
from assignment.argue.vocabulary import ATTESTS


def judged_docids(run: Run, docids: Collection[str]) -> set[str]:
    """Return those of the docids of which somebody said here whether they attest a sentence of the run.

    Or a model is being asked.
    """
    claimed = Unit.objects.filter(job__campaign=run.campaign_id, state=Unit.State.CLAIMED, answer__run=run)
    is_asked = Q(sheet__answer__in=claimed.filter(job__condition__kind=ARGUE.name).values("answer"))
    is_said = Q(state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE))
    rows = ArgueJudgment.in_or_out.filter(sheet__answer__run=run, sheet__import_record=None, docid__in=docids)
    return set(rows.filter(is_said | is_asked, step=ATTESTS).order_by().values_list("docid", flat=True))


def follow_texts(run: Run, docids: Collection[str]) -> None:
    """Have nobody judge by the campaign's text while a run's own takes its place. Raises JudgedBySegments."""
    locked = ArgueSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(answer__run=run)
    list(locked.order_by("pk").values_list("pk"))
    if judged := judged_docids(run, docids):
        raise JudgedBySegments(f"reports of {run} were judged meanwhile, by {sorted(judged)[0]} among others")
