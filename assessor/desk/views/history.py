"""Who did what, and when."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.history import HistoryForm

_ON_A_PAGE = 100


@require_safe
def history(request: PersonRequest, slug: str) -> HttpResponse:
    """A page of the history: the newest events that are asked for, or those before one."""
    campaign = organized_campaign(request.user, slug)
    form = HistoryForm(campaign, request.GET)
    events = form.events()
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        events = events.filter(pk__lt=int(before))
    # By key, not by number: the last page of a long history is found as fast as the first, and events that come
    # meanwhile move nothing.
    found = list(events[: _ON_A_PAGE + 1])
    shown = found[:_ON_A_PAGE]
    asked = request.GET.copy()
    asked.pop("before", None)
    context = {
        "campaign": campaign,
        "form": form,
        "events": [(event, [(name, in_words(value)) for name, value in event.details.items()]) for event in shown],
        "older": shown[-1].pk if len(found) > _ON_A_PAGE else None,
        "asked": asked.urlencode(),
    }
    return render(request, "desk/history.html", context)


def in_words(value: Any) -> str:
    """Return a detail of an event as people read it: "lines 6, runs added 1"."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(in_words, value)) or "none"
    return "none" if value is None or value == "" else str(value)
