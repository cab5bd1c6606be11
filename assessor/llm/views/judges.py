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
from assessor.llm.endpoints import key_of
from assessor.llm.forms import JudgeForm, NewJudgeForm
from assessor.llm.providers import providers, rehearsal


@require_safe
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    rows = queries.judges_with_work(campaign)
    endpoint = rehearsal()
    if endpoint and all(row.judge.base_url != endpoint.initial["base_url"] for row in rows):
        offered = NewJudgeForm(campaign, initial=endpoint.initial)
    else:
        offered = None
    context = {"campaign": campaign, "rows": rows, "endpoint": endpoint, "offered": offered}
    return render(request, "llm/judges.html", context)


@require_http_methods(["GET", "POST"])
def new_judge(request: PersonRequest, slug: str) -> HttpResponse:
    """The form, filled in for a provider; of a key, htmx asks alone whether it is there."""
    campaign = organized_campaign(request.user, slug)
    if request.htmx:
        return render(request, "llm/_key_found.html", {"key": key_of(request.GET.get("key_variable", ""))})
    chosen = next((one for one in providers() if one.name == request.GET.get("provider")), None)
    form = NewJudgeForm(campaign, request.POST or None, initial=chosen.initial if chosen else None)
    if chosen and chosen.example:
        form.fields["base_url"].widget.attrs["placeholder"] = chosen.example
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
            form.add_error(None, error)
        else:
            messages.success(request, f"{judge} is saved. Send it a test request before you launch a job.")
            return redirect("judge", slug, judge.pk)
    context = {"form": form, "campaign": campaign, "providers": providers(), "chosen": chosen, "key": form.key}
    return render(request, "llm/new_judge.html", context)


@require_http_methods(["GET", "POST"])
def judge(request: PersonRequest, slug: str, judge_id: int) -> HttpResponse:
    """A judge: what is fixed, what can be changed, and its last trial (htmx asks again each second meanwhile)."""
    campaign = organized_campaign(request.user, slug)
    judge = campaign_judge(campaign, judge_id)
    context = {"campaign": campaign, "judge": judge, "trial": queries.trial_of(judge)}
    if request.htmx:
        return render(request, "llm/judge.html#trial", context)
    form = JudgeForm(campaign, request.POST or None, instance=judge)
    if request.method == "POST" and form.is_valid():
        change_judge(judge=judge, settings=form.settings(), acting_user=request.user)
        messages.success(request, "Saved. Running jobs use it from their next start.")
        return redirect("judge", slug, judge_id)
    return render(request, "llm/judge.html", context | {"form": form, "key": form.key})


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
