"""A campaign: what it has, its protocol, its conditions."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import may_create_campaigns, organized_campaign
from assessor.campaigns.actions import ConditionError, change_protocol, create_campaign, free_slug
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Protocol
from assessor.desk import queries
from assessor.desk.completeness import gaps
from assessor.desk.forms import CampaignForm, ConditionForm, ProtocolForm
from assessor.desk.views.errors import not_found


@require_http_methods(["GET", "POST"])
def new_campaign(request: PersonRequest) -> HttpResponse:
    if not may_create_campaigns(request.user):
        return not_found(request)
    form = CampaignForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        campaign = create_campaign(name=name, slug=free_slug(name), acting_user=request.user)
        return redirect("setup", campaign.slug)
    return render(request, "desk/form.html", {"form": form, "title": "New campaign", "submit": "Create campaign"})


@require_safe
def campaign(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    kinds = [(kind, list(kind.conditions(campaign))) for kind in condition_kinds()]
    context = {
        "campaign": campaign,
        "protocol": campaign.protocol,
        "settings": queries.settings_of(campaign.protocol),
        "loaded": queries.loaded(campaign),
        "gaps": gaps(campaign),
        "kinds": kinds,
        "has_conditions": any(conditions for _, conditions in kinds),
        "sections": [section for kind, _ in kinds if (section := kind.campaign_section(campaign))],
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
            condition = form.create(request.user)
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
