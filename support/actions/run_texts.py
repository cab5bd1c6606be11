"""What becomes of support judgments when a run gets texts of its own for what it cites."""

from collections.abc import Collection

from django.db.models import Q

from assessor.campaigns.changed_answers import JudgedBySegments
from assessor.campaigns.models import Condition, Run
from assessor.labels.models import Label
from assessor.llm.models import Unit
from assessor.work.models import Task
from support.actions.equal_pairs import note_equal
from support.actions.preparation import count
from support.label_kind import SUPPORT
from support.models import SupportJudgment, SupportSheet


def judged_docids(run: Run, docids: Collection[str]) -> set[str]:
    """Return those of the docids of which something was said here where the run cites them.

    Or a label was shown, or a model is being asked.
    """
    judged: set[str] = set()
    keys = _being_judged(run)
    rows = SupportJudgment.in_or_out.filter(sheet__answer__run=run, sheet__import_record=None, docid__in=docids)
    is_said = Q(state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE)) | Q(shown_value__isnull=False)
    judged |= set(rows.filter(is_said).values_list("docid", flat=True))
    for row in rows.filter(sheet__answer__in=keys).select_related("sheet"):
        if row.item in keys[row.sheet.answer_id]:
            judged.add(row.docid)
    return judged


def _being_judged(run: Run) -> dict[int, list[str]]:
    """Return the citations that jobs are at, by the key of the run's answer: a model may have read their passages."""
    units = Unit.objects.filter(job__campaign=run.campaign_id, state=Unit.State.CLAIMED, answer__run=run)
    found: dict[int, list[str]] = {}
    for answer, key in units.filter(job__condition__kind=SUPPORT.name).values_list("answer", "item"):
        found.setdefault(answer, []).append(key)
    return found


def follow_texts(run: Run, docids: Collection[str]) -> None:
    """Note anew which pairs are equal, in the transaction that makes the run's own texts of docids visible.

    Raises JudgedBySegments where one of them was judged by the campaign's text meanwhile.
    """
    made_here = SupportSheet.in_or_out.filter(answer__run=run, import_record=None).order_by()
    once = set(made_here.filter(condition__protocol__equal_pairs_once=True).values_list("condition", "answer__topic"))
    conditions, topics = ({pair[side] for pair in once} for side in (0, 1))
    touched = Q(pk__in=made_here.values("pk")) | Q(condition__in=conditions, answer__topic__in=topics)
    # Who locks several does it in the order of their keys.
    locked = SupportSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(touched)
    list(locked.order_by("pk").values_list("pk"))
    if judged := judged_docids(run, docids):
        raise JudgedBySegments(f"citations of {run} were judged meanwhile, {sorted(judged)[0]} among them")
    for condition in Condition.with_controls.filter(pk__in=conditions).select_related("protocol").order_by("pk"):
        for topic in sorted(topic for pk, topic in once if pk == condition.pk):
            note_equal(condition, topic)
            tasks = SupportSheet.objects.filter(condition=condition, answer__topic=topic).order_by().values("task")
            for task in Task.objects.filter(pk__in=tasks).order_by("pk"):
                count(task)
