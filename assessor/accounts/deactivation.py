"""What ends when somebody is made inactive. Apps register theirs when they are ready: collection need not know them."""

from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.http import int_to_base36

from assessor.accounts.models import Person

End = Callable[[Person], None]
_ends: list[End] = []
_WAITING = "account_login"  # where allauth keeps, in a session, who gave their password and owes a code


def when_leaving(end: End) -> None:
    """Have something done for each person who is made inactive, in the transaction of that."""
    _ends.append(end)


def end_sessions(person: Person, *, but: str | None = None) -> None:
    """Sign a person out everywhere, but in the session of that key; where a code is waited for, sign-in starts over."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=but or ""):
        data = session.get_decoded()
        waiting = data.get(_WAITING) or {}
        if data.get(SESSION_KEY) == str(person.pk) or waiting.get("user_pk") == int_to_base36(person.pk):
            session.delete()


def end_link(person: Person) -> None:
    """End a person's one-time link, if there is one."""
    Person.objects.filter(pk=person.pk).update(link_until=None)
    person.link_until = None


def end_access(person: Person) -> None:
    """End a person's sessions and whatever else they could come in by, so that none is good again once they are."""
    end_sessions(person)
    end_link(person)
    for end in _ends:
        end(person)
