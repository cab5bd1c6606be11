"""The only way to a token: by its secret, or for the person whose it is."""

import re
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest

from django.db.models import BigIntegerField, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from assessor.accounts.access import owes_second_factor
from assessor.accounts.models import Person
from assessor.api.models import Token

PREFIX = 14  # characters of a secret that are kept
_SECRET = re.compile(r"assay_[A-Za-z0-9_-]{43}")
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


def digest(secret: str) -> str:
    """Return what is kept of a secret. It is 256 random bits, so that no salt or slow hash is needed."""
    return sha256(secret.encode()).hexdigest()


def token_of(secret: str) -> Token | None:
    """Return the token with this secret while it is good, and its person active; note that it was used.

    The token of who owes a second factor is good for nothing until they have set it up.
    """
    if not _SECRET.fullmatch(secret):
        return None
    now, wanted = timezone.now(), digest(secret)
    good = Token.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None, person__is_active=True)
    for token in good.filter(prefix=secret[:PREFIX]).select_related("person"):
        if compare_digest(token.sha256, wanted) and not owes_second_factor(token.person):
            if token.used_at is None or now - token.used_at >= _USE_IS_NOTED_EVERY:
                Token.objects.filter(pk=token.pk).update(used_at=now)
            return token
    return None


def own_tokens(person: Person) -> QuerySet[Token]:
    """Return a person's tokens, the newest first."""
    return Token.objects.filter(person=person).order_by("-pk")


def own_token(person: Person, token_id: int) -> Token:
    """Return a token of a person. Raises Http404 for anybody else's, and for none."""
    token = own_tokens(person).filter(pk=token_id).first() if token_id <= BigIntegerField.MAX_BIGINT else None
    if token is None:
        raise Http404("There is no such token of yours.")
    return token
