"""A campaign: its Overview and its settings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import may_create_campaigns, organized_campaign
from assessor.campaigns.actions import change_protocol, create_campaign, free_slug
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Protocol
from assessor.desk import queries
from assessor.desk.forms import CampaignForm, ProtocolForm
from assessor.desk.overview import overview, state_of
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
    """The Overview; its live part alone where that is asked for, and nothing (204) where it is as it was seen."""
    campaign = organized_campaign(request.user, slug)
    state = state_of(campaign)
    if request.htmx and request.headers.get("X-Seen") == state.name:
        return HttpResponse(status=204)
    context = {
        "campaign": campaign,
        "state": state,
        "overview": overview(campaign, state),
        "loaded": queries.loaded(campaign),
        "pool_depth": campaign.protocol.pool_depth,
    }
    template = "desk/overview.html#live" if request.htmx else "desk/overview.html"
    return render(request, template, context)


@require_http_methods(["GET", "POST"])
def protocol(request: PersonRequest, slug: str) -> HttpResponse:
    """Settings: the protocol, each change of which is a new version."""
    campaign = organized_campaign(request.user, slug)
    form = ProtocolForm(request.POST or None, instance=campaign.protocol)
    if request.method == "POST" and form.is_valid():
        settings = {name: form.cleaned_data[name] for name in Protocol.SETTINGS}
        present = change_protocol(campaign=campaign, settings=settings, acting_user=request.user)
        messages.success(request, f"Saved: {present}. Conditions made before keep their version.")
        return redirect("protocol", slug)
    return render(request, "desk/protocol.html", {"form": form, "campaign": campaign})


@require_safe
def security(request: PersonRequest, slug: str) -> HttpResponse:
    """Settings: whether a second factor is required."""
    return render(request, "desk/security.html", {"campaign": organized_campaign(request.user, slug)})
