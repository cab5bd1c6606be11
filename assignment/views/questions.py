"""What assessors left open for the organizer: labels they could not give, and flags."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.collection.models import Condition
from assignment import queries
from assignment.actions import ResolveError, adopt_label, leave_out
from assignment.models import AnswerSheet
from nuggets.models import Nugget

_ANSWERS = 50  # on a page


@require_safe
def questions(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """The answers of a condition on which something is open, the topics in order."""
    condition = _condition(request, slug, condition_id)
    page = Paginator(queries.with_questions(condition), _ANSWERS).get_page(request.GET.get("page"))
    context = {
        "campaign": condition.campaign,
        "condition": condition,
        "page": page,
        "rows": queries.questions(condition, list(page)),
        "left_out": queries.left_out(condition),
    }
    return render(request, "assignment/questions.html", context)


@require_POST
def adopt(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let the label of another person stand."""
    condition = _condition(request, slug, condition_id)
    sheets = AnswerSheet.objects.select_related("condition__campaign")
    sheet = get_object_or_404(sheets, pk=_number(request, "sheet"), condition=condition)
    other = get_object_or_404(sheets, pk=_number(request, "other"), condition__campaign=condition.campaign)
    try:
        adopt_label(sheet=sheet, nugget=_number(request, "nugget"), other=other, acting_user=request.user)
    except ResolveError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The label stands; the history says whose it is.")
    return redirect("assignment_questions", slug, condition_id)


@require_POST
def leave_nugget_out(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Leave a nugget out for all runs, or take it back."""
    condition = _condition(request, slug, condition_id)
    nugget = get_object_or_404(Nugget, pk=_number(request, "nugget"), bank__condition=condition.nuggets)
    is_out = request.POST.get("out") == "1"
    try:
        leave_out(
            condition=condition,
            nugget=nugget,
            is_out=is_out,
            reason=request.POST.get("reason", ""),
            acting_user=request.user,
        )
    except ResolveError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{'Left out for all runs' if is_out else 'Back in the scores'}: {nugget.text}")
    return redirect("assignment_questions", slug, condition_id)


def _condition(request: PersonRequest, slug: str, condition_id: int) -> Condition:
    campaign = organized_campaign(request.user, slug)
    conditions = campaign.conditions.filter(kind=Condition.Kind.ASSIGNMENT).select_related("campaign", "nuggets")
    condition: Condition | None = conditions.filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def _number(request: PersonRequest, name: str) -> int:
    text = request.POST.get(name, "")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Http404(f"{name} names nothing.")
    return int(text)
