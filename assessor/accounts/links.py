"""The token in a one-time link: by it a person sets a password, or links their account at the provider."""

from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from assessor.accounts.models import Person

LINK_DAYS = 3


def site_of(request: HttpRequest) -> str:
    """Return the address that links of a request's installation begin with: scheme and host."""
    return request.build_absolute_uri("/").rstrip("/")


class LinkTokens:
    """Makes and checks tokens, for allauth's pages too.

    A token is a keyed hash of what must not have changed since, so nothing secret is kept: the password, and until when
    the person's only link is good. Making another changes that time, and using it empties it.
    """

    def make_token(self, person: Person, *, starts_anew: bool = False) -> str:
        person.link_until = timezone.now() + timedelta(days=LINK_DAYS)
        person.link_starts_anew = starts_anew
        person.save(update_fields=["link_until", "link_starts_anew"])
        return _token(person)

    def check_token(self, person: Person, token: str) -> bool:
        is_open = person.is_active and person.link_until is not None and timezone.now() < person.link_until
        return is_open and constant_time_compare(_token(person), token)


def _token(person: Person) -> str:
    assert person.link_until is not None
    value = f"{person.pk} {person.password} {person.link_until.timestamp()}"
    return salted_hmac("assessor.accounts.links", value, algorithm="sha256").hexdigest()
