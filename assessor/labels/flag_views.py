"""Organizers' answers to open questions over HTTP: what is alike for nuggets and citations."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Condition
from assessor.labels.flags import ResolveError, with_questions

_ANSWERS = 50  # on a page
ADOPTED = "The label stands; the history says whose it is."


def condition_asked(person: Person, slug: str, condition_id: int, kind: str) -> Condition:
    """Return a condition of a kind in a campaign that the person organizes. Raises Http404."""
    conditions = organized_campaign(person, slug).conditions.filter(kind=kind).select_related("campaign", "nuggets")
    condition: Condition | None = conditions.filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def page_of(request: PersonRequest, sheets: QuerySet[Any]) -> Page[Any]:
    """Return the page that the address names of those sheets of a condition on which something is open."""
    return Paginator(with_questions(sheets), _ANSWERS).get_page(request.GET.get("page"))


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
