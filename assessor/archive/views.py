"""The archive of a campaign over HTTP: what it is, and the file, sent while it is written."""

from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.archive import writing
from assessor.archive.registry import RESTORED, TAKEN, WRITTEN
from assessor.collection import history
from assessor.collection.access import organized_campaign
from assessor.collection.http import ZIP, PersonRequest, download
from assessor.work.exposing import take_all

_SHOWN = 20


@require_safe
def archive(request: PersonRequest, slug: str) -> HttpResponse:
    """What is in the archive, and who took it."""
    campaign = organized_campaign(request.user, slug)
    events = campaign.events.filter(verb__in=(WRITTEN, RESTORED)).select_related("person")[:_SHOWN]
    return render(request, "archive/archive.html", {"campaign": campaign, "events": events})


@require_safe
def archive_file(request: PersonRequest, slug: str) -> HttpResponseBase:
    """The archive. Who takes it, and so sees what models gave, is recorded before the first byte leaves."""
    campaign = organized_campaign(request.user, slug)
    if request.method == "HEAD":
        return HttpResponse(content_type=ZIP)
    with transaction.atomic():
        history.record(WRITTEN, campaign, campaign=campaign, person=request.user)
        take_all(request.user, campaign, TAKEN)
    return download(f"{campaign.slug}.archive.zip", writing.archive(campaign), ZIP)
