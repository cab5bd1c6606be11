"""Trials of nuggets: what a person who edits a bank sees of them, and the organizer's setting."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import PersonRequest
from assessor.work.access import require_running
from assessor.work.exposure import see
from assignment.trials.access import bank_to_try, setting_of
from assignment.trials.actions import TrialError, set_trials, try_nugget
from assignment.trials.condition_kind import TRIALS
from assignment.trials.forms import TrialForm
from assignment.trials.queries import calls_left, is_at_work, trial_conditions, tried
from nuggets.models import NuggetBank


@require_safe
def trials(request: PersonRequest, bank_id: int) -> HttpResponse:
    """The nuggets of a person's own bank, with what trials of them came to: a part of the editor's page."""
    return _section(request, bank_to_try(request.user, bank_id))


@require_POST
def try_one(request: PersonRequest, bank_id: int, uid: UUID) -> HttpResponse:
    """Have a nugget tried, and answer with the section as it is then."""
    bank = bank_to_try(request.user, bank_id)
    if bank.task:
        require_running(bank.task)
    try:
        try_nugget(bank=bank, uid=uid, acting_user=request.user)
    except TrialError as error:
        return _section(request, bank, str(error))
    return _section(request, bank)


def _section(request: PersonRequest, bank: NuggetBank, error: str = "") -> HttpResponse:
    setting = setting_of(bank)
    if setting is None:
        raise Http404("Nuggets of this bank can't be tried by you.")
    rows = tried(bank, setting.condition)
    if any(row.impact for row in rows):
        kinds = kind_of(setting.condition).exposed_kinds(setting.condition)
        see(request.user, bank.topic, kinds, f"trials of nuggets under {bank.condition}"[:200])
    context = {"bank": bank, "rows": rows, "error": error, "condition": setting.condition}
    context["is_at_work"] = is_at_work(setting.condition)
    return render(request, "trials/_trials.html", context)


@require_http_methods(["GET", "POST"])
def trial_setting(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """Whether people who edit banks under a condition may try nuggets, and who is asked then."""
    campaign = organized_campaign(request.user, slug)
    nuggets = campaign.conditions.filter(pk=condition_id, kind__in=TRIALS.builds_on).select_related("campaign").first()
    if nuggets is None or not nuggets.edits_drafts:
        raise Http404("There is no condition in which people edit drafts of nuggets.")
    conditions = trial_conditions(campaign, nuggets)
    on = next((one for one in conditions if one.trial_setting.is_on), None)
    initial = {"judge": on.judge.model.pk, "most_calls": on.trial_setting.most_calls} if on and on.judge else None
    form = TrialForm(campaign, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            set_trials(campaign=campaign, nuggets=nuggets, **form.cleaned_data, acting_user=request.user)
        except TrialError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("trial_setting", slug, condition_id)
    context = {
        "campaign": campaign,
        "condition": nuggets,
        "form": form,
        "used": [(one, calls_left(one)) for one in conditions],
    }
    return render(request, "trials/setting.html", context)
