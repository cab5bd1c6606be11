"""Who asks: a token in the header Authorization, and nothing else, so that no cookie lets anybody in."""

from math import ceil
from time import time
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import HttpError, Throttled
from ninja.security import HttpBearer

from assessor.accounts.models import Person
from assessor.api.access import token_of
from assessor.api.models import Token
from assessor.runtime.process_cache import cache

_WINDOW = 60  # seconds


class TokenRequest(HttpRequest):
    """A request that came with a token."""

    auth: Token


def asker(request: Any) -> Person:
    """Return who asks: the person whose token it is."""
    person: Person = request.auth.person
    return person


class Bearer(HttpBearer):
    """Takes "Authorization: Bearer ..."; the library's own way would log an odd header.

    A token is good for what it may do alone, whatever its person may.
    """

    def __init__(self, may: Token.May) -> None:
        self._may = may
        super().__init__()

    def __call__(self, request: HttpRequest) -> Token | None:
        scheme, _, secret = request.headers.get(self.header, "").partition(" ")
        return self.authenticate(request, secret.strip()) if scheme.lower() == "bearer" else None

    def authenticate(self, request: HttpRequest, token: str) -> Token | None:
        found = token_of(token)
        if found:
            _count(found)
            if found.may != self._may:
                raise HttpError(403, f"This token may {found.get_may_display()}.")
        return found


def _count(token: Token) -> None:
    """Count the requests of a token in this minute, in this process. Raises Throttled beyond the limit."""
    now = time()
    key = f"api.{token.pk}.{int(now // _WINDOW)}"
    cache.add(key, 0, timeout=_WINDOW)
    try:
        asked = cache.incr(key)
    except ValueError:  # the cache was full, and made room
        cache.set(key, asked := 1, timeout=_WINDOW)
    if asked > settings.API_REQUESTS_A_MINUTE:
        raise Throttled(wait=ceil(_WINDOW - now % _WINDOW))
