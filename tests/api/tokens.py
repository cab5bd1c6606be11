"""Tokens, for tests of all apps."""

from typing import Any

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.api.models import Token


def make_token(person: Person, **fields: Any) -> Token:
    wanted = {"name": "notebook", "expires_at": None, "acting_user": person} | fields
    return create_token(person=person, **wanted).token
