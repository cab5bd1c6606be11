"""What assessors left open for the organizer: pairs that they could not judge, and flags."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flag_views import ADOPTED, answered, condition_asked, number, to_inbox
from assessor.preference import actions
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import PreferencePair


@require_safe
def questions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Lead to what is open under a condition."""
    _condition(request, slug, condition_id)
    return to_inbox(request, slug, condition=condition_id)


@require_POST
def adopt(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let the preference of another person count."""
    condition = _condition(request, slug, condition_id)
    pair, item = _pair(request, condition), request.POST.get("item", "")
    pairs = PreferencePair.objects.select_related("condition")
    other = get_object_or_404(pairs, pk=number(request, "other"), condition__campaign=condition.campaign)
    answered(request, lambda: actions.adopt(pair=pair, item=item, other=other, acting_user=request.user), done=ADOPTED)
    return to_inbox(request, slug)


@require_POST
def decide(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let what the organizer says of a pair count."""
    condition = _condition(request, slug, condition_id)
    pair = _pair(request, condition)
    said = {name: request.POST.get(name, "") for name in ("item", "label", "reason")}
    answered(
        request,
        lambda: actions.decide(pair=pair, acting_user=request.user, **said),
        done="Settled: your preference counts. The history says why.",
    )
    return to_inbox(request, slug)


def _condition(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    return condition_asked(request.user, slug, condition_id, [PREFERENCE.name])


def _pair(request: PersonRequest, condition: Condition) -> PreferencePair:
    pairs = PreferencePair.objects.select_related(
        "condition__campaign", "condition__protocol", "task", "judge", "first__run", "second__run", "topic"
    )
    return get_object_or_404(pairs, pk=number(request, "sheet"), condition=condition)
