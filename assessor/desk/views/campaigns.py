"""A campaign: what it has, its protocol, its conditions."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.collection.access import organized_campaign
from assessor.collection.actions import ConditionError, change_protocol, create_campaign, name_for_assessors
from assessor.collection.http import PersonRequest
from assessor.collection.models import Campaign, Condition, Person, Protocol
from assessor.collection.roles import ORGANIZER, has_role
from assessor.desk import queries
from assessor.desk.forms import CampaignForm, ConditionForm, ControlForm, ProtocolForm
from assessor.desk.gaps import gaps
from assessor.desk.views.errors import not_found
from assessor.labels.manual_setups import label_again
from assessor.relevance.actions import create_relevance
from assignment import actions as assignment
from assignment.control import ControlError, make_control_runs
from assignment.queries import assigning
from nuggets.actions import create_manual_nuggets
from nuggets.queries import finished_counts
from support import actions as support
from support.queries import supporting


@require_http_methods(["GET", "POST"])
def new_campaign(request: PersonRequest) -> HttpResponse:
    if not has_role(request.user, ORGANIZER):
        return not_found(request)
    form = CampaignForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        campaign = create_campaign(**form.cleaned_data, acting_user=request.user)
        messages.success(request, "The campaign is there. Load its topics first.")
        return redirect("imports", campaign.slug)
    return render(request, "desk/form.html", {"form": form, "title": "New campaign", "submit": "Create campaign"})


@require_safe
def campaign(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "protocol": campaign.protocol,
        "settings": queries.settings_of(campaign.protocol),
        "loaded": queries.loaded(campaign),
        "gaps": gaps(campaign),
        "conditions": finished_counts(campaign),
        "assigning": assigning(campaign),
        "grading": queries.grading(campaign),
        "judging": supporting(campaign),
        "controls": ControlForm(campaign),
        "events": campaign.events.select_related("person")[:10],
    }
    return render(request, "desk/campaign.html", context)


@require_http_methods(["GET", "POST"])
def protocol(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    form = ProtocolForm(request.POST or None, instance=campaign.protocol)
    if request.method == "POST" and form.is_valid():
        settings = {name: form.cleaned_data[name] for name in Protocol.SETTINGS}
        present = change_protocol(campaign=campaign, settings=settings, acting_user=request.user)
        messages.success(request, f"In force: {present}. Conditions made before keep their version.")
        return redirect("campaign", slug)
    context = {"form": form, "campaign": campaign, "title": "Protocol", "submit": "Put in force"}
    return render(request, "desk/form.html", context)


@require_http_methods(["GET", "POST"])
def new_condition(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    form = ConditionForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            condition = _create_named(campaign, form, request.user)
        except ConditionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{condition} is there. Now its topics can be planned.")
            return redirect("plan", slug)
    context = {
        "form": form,
        "campaign": campaign,
        "title": "New condition",
        "submit": "Create condition",
    }
    return render(request, "desk/form.html", context)


@transaction.atomic
def _create_named(campaign: Campaign, form: ConditionForm, acting_user: Person) -> Condition:
    """Make the condition that a form asks for, with its name for assessors. Raises ConditionError."""
    condition = _create(campaign, form, acting_user)
    if name := form.cleaned_data["assessor_name"]:
        name_for_assessors(condition=condition, name=name, acting_user=acting_user)
    return condition


def _create(campaign: Campaign, form: ConditionForm, acting_user: Person) -> Condition:
    asked = form.cleaned_data
    by: dict[str, Any] = {"campaign": campaign, "name": asked["name"], "acting_user": acting_user}
    if asked["method"] == "ManualNuggets":
        grades = {name: asked[name] for name in ("qrels_source", "min_relevant_grade")}
        return create_manual_nuggets(**grades, **by)
    if asked["method"] == "ManualAssign":
        return assignment.create_manual_assign(nuggets=asked["nuggets"], name=asked["name"], acting_user=acting_user)
    if asked["of"]:
        again = {name: asked[name] for name in ("of", "share", "name")}
        only_unjudgeable = bool(asked["only_unjudgeable"])
        return label_again(purpose=asked["method"], only_unjudgeable=only_unjudgeable, acting_user=acting_user, **again)
    if asked["method"] in ("support from scratch", "support post-edited"):
        return support.create_support(shown=asked["shown_labels"], **by)
    from_queue = asked["given"] == form.DRAWN
    return create_relevance(
        shown=asked["shown"], max_grade=asked["max_grade"] or campaign.protocol.max_grade, from_queue=from_queue, **by
    )


@require_POST
def control_runs(request: PersonRequest, slug: str) -> HttpResponse:
    """Add the control runs of a condition's nuggets."""
    campaign = organized_campaign(request.user, slug)
    form = ControlForm(campaign, request.POST)
    if form.is_valid():
        try:
            added = make_control_runs(**form.cleaned_data, acting_user=request.user)
        except ControlError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Answers added: {', '.join(f'{tag} {count}' for tag, count in added.items())}.")
    else:
        messages.error(request, "Choose the condition whose nuggets the control runs are to say.")
    return redirect("campaign", slug)
