"""What assessors left open for the organizer: labels they could not give, and flags."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flag_views import ADOPTED, answered, condition_asked, number, to_inbox
from assignment.actions import leave_out, resolve_label
from assignment.models import AnswerSheet, kinds
from nuggets.models import Nugget


@require_safe
def questions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Lead to what is open under a condition."""
    _condition(request, slug, condition_id)
    return to_inbox(request, slug, condition=condition_id)


@require_POST
def adopt(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let the label of another person count."""
    condition = _condition(request, slug, condition_id)
    sheets = AnswerSheet.objects.select_related("condition__campaign")
    sheet = get_object_or_404(sheets, pk=number(request, "sheet"), condition=condition)
    other = get_object_or_404(sheets, pk=number(request, "other"), condition__campaign=condition.campaign)
    nugget = number(request, "nugget")
    answered(
        request, lambda: resolve_label(sheet=sheet, nugget=nugget, other=other, acting_user=request.user), done=ADOPTED
    )
    return to_inbox(request, slug)


@require_POST
def leave_nugget_out(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Leave a nugget out for all runs, or take it back."""
    condition = _condition(request, slug, condition_id)
    nugget = get_object_or_404(Nugget, pk=number(request, "nugget"), bank__condition=condition.nuggets)
    is_out, reason = request.POST.get("out") == "1", request.POST.get("reason", "")
    answered(
        request,
        lambda: leave_out(condition=condition, nugget=nugget, is_out=is_out, reason=reason, acting_user=request.user),
        done=f"{'Left out for all runs' if is_out else 'Back in the scores'}: {nugget.text}",
    )
    return to_inbox(request, slug)


def _condition(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    return condition_asked(request.user, slug, condition_id, kinds())
