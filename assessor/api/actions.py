"""The writers of tokens."""

from datetime import datetime
from secrets import token_urlsafe
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.api.access import PREFIX, digest
from assessor.api.models import Token
from assessor.campaigns import history


class Made(NamedTuple):
    """A new token, with the secret that is told now and never again."""

    token: Token
    secret: str


@transaction.atomic
def create_token(
    *,
    person: Person,
    name: str,
    expires_at: datetime | None,
    acting_user: Person | None,
    may: Token.May = Token.May.READ,
) -> Made:
    """Make a token for a person. Raises ValidationError for an odd name."""
    secret = f"assay_{token_urlsafe(32)}"
    kept = {"prefix": secret[:PREFIX], "sha256": digest(secret)}
    token = Token(person=person, name=name, may=may, expires_at=expires_at, **kept)
    token.clean_fields(exclude=("expires_at", "used_at", "revoked_at"))
    token.save()
    history.record("token made", token, campaign=None, person=acting_user, of=person.username, may=token.may)
    return Made(token, secret)


@transaction.atomic
def revoke_token(*, token: Token, acting_user: Person | None) -> None:
    """Make a token good for nothing; one that is revoked already stays as it is."""
    if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        history.record("token revoked", token, campaign=None, person=acting_user, of=token.person.username)


def revoke_all(person: Person) -> None:
    """Revoke all tokens of a person who is made inactive, which is in the history itself."""
    Token.objects.filter(person=person, revoked_at=None).update(revoked_at=timezone.now())
