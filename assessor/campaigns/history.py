"""Writing the history."""

from typing import Any

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event


def record(verb: str, subject: object, *, campaign: Campaign | None, person: Person | None, **details: Any) -> Event:
    """Add an event to the history; call it inside the transaction of what it tells of.

    person is None for what the command line or a start does.
    """
    return Event.objects.create(
        verb=verb, subject=str(subject)[:300], campaign=campaign, person=person, details=details
    )
