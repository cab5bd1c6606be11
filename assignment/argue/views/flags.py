"""What assessors left open for the organizer: judgments that they could not give, and flags."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flag_views import ADOPTED, answered, condition_asked, number, to_inbox
from assignment.argue.actions import decide_label, resolve_label
from assignment.argue.label_kind import ARGUE
from assignment.argue.models import ArgueSheet


@require_safe
def questions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Lead to what is open under a condition."""
    _condition(request, slug, condition_id)
    return to_inbox(request, slug, condition=condition_id)


@require_POST
def adopt(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let the judgment of another person count."""
    condition = _condition(request, slug, condition_id)
    sheet, item = _sheet(request, condition), request.POST.get("item", "")
    sheets = ArgueSheet.objects.select_related("condition")
    other = get_object_or_404(sheets, pk=number(request, "other"), condition__campaign=condition.campaign)
    answered(
        request, lambda: resolve_label(sheet=sheet, item=item, other=other, acting_user=request.user), done=ADOPTED
    )
    return to_inbox(request, slug)


@require_POST
def decide(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let a judgment count that the organizer decides on."""
    condition = _condition(request, slug, condition_id)
    sheet, item = _sheet(request, condition), request.POST.get("item", "")
    label, reason = request.POST.get("label", ""), request.POST.get("reason", "")
    answered(
        request,
        lambda: decide_label(sheet=sheet, item=item, label=label, reason=reason, acting_user=request.user),
        done=f"Settled: it counts as {label}. The history says why.",
    )
    return to_inbox(request, slug)


def _condition(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    return condition_asked(request.user, slug, condition_id, [ARGUE.name])


def _sheet(request: PersonRequest, condition: Condition) -> ArgueSheet:
    sheets = ArgueSheet.objects.select_related("condition__campaign", "task", "judge")
    return get_object_or_404(sheets, pk=number(request, "sheet"), condition=condition)
