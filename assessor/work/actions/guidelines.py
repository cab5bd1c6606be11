"""The writers of guidelines, and of who opened them; and what pages read of them."""

from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.work.guidelines import as_html, first_text
from assessor.work.models import Guidelines, GuidelinesOpened
from assessor.work.write_protocol import Stale

MAX_CHARACTERS = 100_000


class GuidelinesError(Exception):
    """There can be no such guidelines; the text says why."""


def versions(campaign: Campaign, kind: str) -> QuerySet[Guidelines]:
    """Return the versions that are kept of a campaign's guidelines, the newest first."""
    found: QuerySet[Guidelines] = Guidelines.objects.filter(campaign=campaign, kind=kind)
    return found.select_related("person").order_by("-version")


def in_force(campaign: Campaign, kind: str) -> Guidelines:
    """Return the newest version of a campaign's guidelines; while none is kept, the first text, not saved."""
    return versions(campaign, kind).first() or Guidelines(
        campaign=campaign, kind=kind, version=1, text=first_text(kind)
    )


def _kept(campaign: Campaign, kind: str) -> Guidelines:
    """Return the version in force, which is kept from now on. One after the other: it locks the campaign."""
    Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)
    present = in_force(campaign, kind)
    if present._state.adding:
        present.save()
    return present


@transaction.atomic
def change_guidelines(*, campaign: Campaign, kind: str, text: str, seen: int, acting_user: Person | None) -> Guidelines:
    """Put another text in force, as a new version; the same text changes nothing.

    seen: the version that it was written on. Raises Stale where there is a newer one, and GuidelinesError.
    """
    text = clean_text(text)
    present = _kept(campaign, kind)
    if present.version != seen:
        raise Stale
    if present.text == text:
        return present
    new: Guidelines = Guidelines.objects.create(
        campaign=campaign, kind=kind, version=present.version + 1, text=text, person=acting_user
    )
    history.record("guidelines changed", new, campaign=campaign, person=acting_user, kind=kind, version=new.version)
    return new


def clean_text(text: str) -> str:
    """Return a text as it is kept: lines end alike, and with one end the last. Raises GuidelinesError."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    if not text.strip():
        raise GuidelinesError("Guidelines without a word tell nobody anything.")
    if "\x00" in text or len(text) > MAX_CHARACTERS:
        raise GuidelinesError(f"Guidelines have at most {MAX_CHARACTERS:,} characters and no NUL.")
    return text


@transaction.atomic
def open_guidelines(*, campaign: Campaign, kind: str, version: int, acting_user: Person) -> None:
    """Record that a person has opened the version in force; once. Raises Stale where it is another one by now."""
    present = _kept(campaign, kind)
    if present.version != version:
        raise Stale
    if not GuidelinesOpened.objects.filter(person=acting_user, guidelines=present).exists():
        GuidelinesOpened.objects.create(person=acting_user, guidelines=present)


class Shown(NamedTuple):
    """What a screen shows of guidelines: the version that its person opened last, and whether there is a newer one."""

    html: str
    version: int
    is_outdated: bool


def shown_guidelines(campaign_id: int, kind: str, opened: int | None) -> Shown:
    """Return what a screen shows of guidelines, in one query.

    opened: the version that its person opened last; without one, as for those who only look, it is that in force.
    """
    kept = Guidelines.objects.filter(campaign=campaign_id, kind=kind, version__gte=opened or 1).order_by("version")
    found = list(kept.values_list("version", "text")) or [(1, first_text(kind))]
    version, text = found[0 if opened else -1]
    return Shown(as_html(text), version, version < found[-1][0])
