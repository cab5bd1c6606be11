"""Registered studies."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.studies.access import campaign_registration
from assessor.studies.actions import register_study
from assessor.studies.registration import RegistrationError
from metaeval.registration_forms import RegistrationForm


@require_http_methods(["GET", "POST"])
def registrations(request: PersonRequest, slug: str) -> HttpResponse:
    """All registered studies of a campaign; a POST registers one."""
    campaign = organized_campaign(request.user, slug)
    form = RegistrationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = register_study(campaign=campaign, fields=form.fields_of_document, acting_user=request.user)
        except RegistrationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{made} is registered.")
            return redirect("registration", slug, made.pk)
    listed = campaign.registrations.select_related("made_by").order_by("-pk")
    context = {"campaign": campaign, "form": form, "registrations": listed}
    return render(request, "metaeval/registrations.html", context)


@require_safe
def registration(request: PersonRequest, slug: str, registration_id: int) -> HttpResponse:
    """One of them, with its hash."""
    campaign = organized_campaign(request.user, slug)
    found = campaign_registration(campaign, registration_id)
    existing = dict(campaign.conditions.values_list("name", "pk"))
    conditions = [(name, existing.get(name)) for name in found.document["conditions"]]
    context = {"campaign": campaign, "registration": found, "conditions": conditions}
    return render(request, "metaeval/registration.html", context)
