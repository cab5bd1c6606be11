"""Answers that people label beside a model's labels: each can be opened once the model has labelled all of it.

That is all nuggets of the same edition of the bank. Nothing is kept of this with the answers: finished again, a bank
may close and open them, as the model is asked about what was reworded.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from assessor.campaigns.models import Campaign, Condition
from assignment.label_kind import Assignment
from assignment.models import AnswerSheet


def openable(sheets: QuerySet[AnswerSheet], condition: Condition | None = None) -> QuerySet[AnswerSheet]:
    """Return those sheets that can be opened, or are done; from scratch these are all.

    condition: that of them all, where it is known: then none but post-editing takes more than before.
    """
    if condition is None:
        is_open = Q(condition__shown=None) | Q(to_do=0) | _labelled_under(OuterRef("condition__shown"))
        return sheets.filter(is_open)
    return sheets.filter(Q(to_do=0) | _labelled_under(condition.shown_id)) if condition.shown_id else sheets


def waiting(sheets: QuerySet[AnswerSheet], condition: Condition) -> QuerySet[AnswerSheet]:
    """Return those sheets of a condition that wait for the model's labels."""
    return sheets.filter(~_labelled_under(condition.shown_id), to_do__gt=0) if condition.shown_id else sheets.none()


def _labelled_under(shown: int | OuterRef | None) -> Exists:
    same = {name: OuterRef(name) for name in ("bank", "answer", "edition")}
    return Exists(AnswerSheet.in_or_out.filter(condition=shown, to_do=0, unjudgeable=0, **same))


def waiting_for_a_model(kind: Assignment, campaign: Campaign) -> dict[int, int]:
    """Count the nuggets that can't be judged because a model has not labelled all of the answer, by task's key."""
    beside = AnswerSheet.objects.filter(
        condition__campaign=campaign, condition__method=kind.post_edited_method, to_do__gt=0
    )
    sheets = beside.filter(~_labelled_under(OuterRef("condition__shown"))).exclude(task=None)
    return dict(sheets.order_by().values_list("task").annotate(Sum("to_do")))
