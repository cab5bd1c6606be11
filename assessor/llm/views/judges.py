"""Judges: who they are, how they are reached, and whether they answer."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.llm import queries
from assessor.llm.access import campaign_judge
from assessor.llm.actions import JobError, change_judge, create_judge
from assessor.llm.actions import try_judge as start_trial
from assessor.llm.forms import JudgeForm, NewJudgeForm


@require_safe
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    context = {"campaign": campaign, "judges": campaign.model_judges.select_related("judge")}
    return render(request, "llm/judges.html", context)


@require_http_methods(["GET", "POST"])
def new_judge(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    form = NewJudgeForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            judge = create_judge(
                campaign=campaign,
                name=form.cleaned_data["name"],
                parameters=form.parameters(),
                settings=form.settings(),
                acting_user=request.user,
            )
        except ValidationError as error:
            form.add_error(None, error.messages)
        else:
            messages.success(request, f"{judge} is there. Try it before it goes to work.")
            return redirect("judge", slug, judge.pk)
    context = {"form": form, "campaign": campaign, "title": "New judge", "submit": "Create judge"}
    return render(request, "desk/form.html", context)


@require_http_methods(["GET", "POST"])
def judge(request: PersonRequest, slug: str, judge_id: int) -> HttpResponse:
    """A judge: what never changes, what may, and how it was tried last (htmx asks again each second meanwhile)."""
    campaign = organized_campaign(request.user, slug)
    judge = campaign_judge(campaign, judge_id)
    context = {"campaign": campaign, "judge": judge, "trial": queries.trial_of(judge)}
    if request.htmx:
        return render(request, "llm/judge.html#trial", context)
    form = JudgeForm(campaign, request.POST or None, instance=judge)
    if request.method == "POST" and form.is_valid():
        change_judge(judge=judge, settings=form.settings(), acting_user=request.user)
        messages.success(request, "Changed. Jobs that run take it up at their next start.")
        return redirect("judge", slug, judge_id)
    return render(request, "llm/judge.html", context | {"form": form})


@require_POST
def try_judge(request: PersonRequest, slug: str, judge_id: int) -> HttpResponse:
    """Have a worker send one small request."""
    campaign = organized_campaign(request.user, slug)
    judge = campaign_judge(campaign, judge_id)
    try:
        start_trial(judge=judge, acting_user=request.user)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("judge", slug, judge_id)
