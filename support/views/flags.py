"""What assessors left open for the organizer: citations that they could not judge, and flags."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flag_views import ADOPTED, answered, condition_asked, number, to_inbox
from support.actions import leave_out, resolve_label
from support.label_kind import SUPPORT
from support.models import SupportSheet


@require_safe
def questions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Lead to what is open under a condition."""
    _condition(request, slug, condition_id)
    return to_inbox(request, slug, condition=condition_id)


@require_POST
def adopt(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let the label of another person count."""
    condition = _condition(request, slug, condition_id)
    sheet, citation = _sheet(request, condition), request.POST.get("item", "")
    sheets = SupportSheet.objects.select_related("condition")
    other = get_object_or_404(sheets, pk=number(request, "other"), condition__campaign=condition.campaign)
    answered(
        request,
        lambda: resolve_label(sheet=sheet, citation=citation, other=other, acting_user=request.user),
        done=ADOPTED,
    )
    return to_inbox(request, slug)


@require_POST
def leave_citation_out(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let a citation count as not judged."""
    condition = _condition(request, slug, condition_id)
    sheet, citation = _sheet(request, condition), request.POST.get("item", "")
    reason = request.POST.get("reason", "")
    answered(
        request,
        lambda: leave_out(sheet=sheet, citation=citation, reason=reason, acting_user=request.user),
        done="Settled: it counts as not judged. The history says why.",
    )
    return to_inbox(request, slug)


def _condition(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    return condition_asked(request.user, slug, condition_id, [SUPPORT.name])


def _sheet(request: PersonRequest, condition: Condition) -> SupportSheet:
    sheets = SupportSheet.objects.select_related("condition__campaign", "task", "judge")
    return get_object_or_404(sheets, pk=number(request, "sheet"), condition=condition)
