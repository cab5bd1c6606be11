"""Judges: who they are, how they are reached, and whether they answer."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.collection.access import organized_campaign
from assessor.collection.http import PersonRequest
from assessor.llm import trying
from assessor.llm.access import campaign_judge
from assessor.llm.actions import change_judge, create_judge
from assessor.llm.forms import JudgeForm, NewJudgeForm


@require_safe
def judges(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    context = {"campaign": campaign, "judges": campaign.model_judges.select_related("judge")}
    return render(request, "llm/judges.html", context)


@require_http_methods(["GET", "POST"])
def new_judge(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    form = NewJudgeForm(request.POST or None)
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
    """A judge: what never changes, what may, and the button that tries it."""
    campaign = organized_campaign(request.user, slug)
    judge = campaign_judge(campaign, judge_id)
    form = JudgeForm(request.POST or None, instance=judge)
    if request.method == "POST" and form.is_valid():
        change_judge(judge=judge, settings=form.settings(), acting_user=request.user)
        messages.success(request, "Changed. Jobs that run take it up at their next start.")
        return redirect("judge", slug, judge_id)
    return render(request, "llm/judge.html", {"campaign": campaign, "judge": judge, "form": form})


@require_POST
def try_judge(request: PersonRequest, slug: str, judge_id: int) -> HttpResponse:
    """Send one small request and show what came back."""
    campaign = organized_campaign(request.user, slug)
    judge = campaign_judge(campaign, judge_id)
    context = {"campaign": campaign, "judge": judge, "form": JudgeForm(instance=judge), "tried": trying.ask_once(judge)}
    return render(request, "llm/judge.html", context)
