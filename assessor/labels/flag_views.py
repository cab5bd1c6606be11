"""Organizers' answers to open questions over HTTP: what is alike for nuggets and citations."""

from collections.abc import Callable, Collection

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flags import ResolveError

ADOPTED = "Settled: the other person's label counts. The history says whose it is."


def condition_asked(person: Person, slug: str, condition_id: int, kinds: Collection[str]) -> Condition:
    """Return a condition of one of some kinds in a campaign that the person organizes. Raises Http404."""
    conditions = (
        organized_campaign(person, slug).conditions.filter(kind__in=kinds).select_related("campaign", "nuggets")
    )
    condition: Condition | None = conditions.filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def to_inbox(request: PersonRequest, slug: str, **filters: str | int) -> HttpResponse:
    """Lead to the inbox of questions, filtered as the address says, or as asked for."""
    asked: dict[str, str | int] = {name: request.GET[name] for name in ("state", "condition") if name in request.GET}
    asked |= filters
    return redirect(f"{reverse('questions', args=[slug])}{'?' if asked else ''}{urlencode(asked)}")


def number(request: PersonRequest, name: str) -> int:
    """Return a record's key that was sent. Raises Http404 for what can't be one."""
    text = request.POST.get(name, "")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Http404(f"{name} names nothing.")
    return int(text)


def answered(request: PersonRequest, answer: Callable[[], None], *, done: str) -> None:
    """Carry an answer out, and tell the organizer on the next page that it is done, or why it can't be."""
    try:
        answer()
    except ResolveError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
