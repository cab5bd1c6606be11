"""The archive of a campaign over HTTP: what it is, made in the background, and downloaded as exports are."""

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from assessor.archive.exports import KIND, ask_for_archive
from assessor.archive.registry import EVENTS
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.exports.actions import hint

_SHOWN = 20


@require_safe
def archive(request: PersonRequest, slug: str) -> HttpResponse:
    """What is in the archive, the newest one or how far it is, and who took one."""
    campaign = organized_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "export": campaign.exports.filter(kind=KIND).select_related("person").first(),
        "days": settings.EXPORT_DAYS,
        "events": campaign.events.filter(verb__in=EVENTS).select_related("person")[:_SHOWN],
    }
    return render(request, "archive/archive.html", context)


@require_POST
def make_archive(request: PersonRequest, slug: str) -> HttpResponse:
    """Have an archive made in the background."""
    campaign = organized_campaign(request.user, slug)
    with transaction.atomic():
        hint(ask_for_archive(campaign=campaign, acting_user=request.user))
    return redirect("archive", slug)
