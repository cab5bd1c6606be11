"""Tokens by command."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.models import Token
from assessor.campaigns.models import Event


def test_a_command_makes_a_token(olga: Person):
    out = StringIO()
    call_command("create_token", "olga", "a notebook", "--days", "7", stdout=out)
    secret = out.getvalue().strip()
    token = Token.objects.get()
    assert (token.person, token.name) == (olga, "a notebook")
    assert abs(token.expires_at - token.created_at - timedelta(days=7)) < timedelta(minutes=1)
    assert Client().get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    assert [*Event.objects.values_list("verb", "person")] == [("token made", None)]


def test_a_command_makes_a_token_that_may_send(olga: Person):
    call_command("create_token", "olga", "a pipeline", "--may", "import", stdout=StringIO())
    assert Token.objects.get().may == Token.May.IMPORT


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody", "x"], "There is no active person nobody."),
        (["olga", "x", "--days", "0"], "--days: found 0, expected 1 to 3650."),
        (["olga", "x" * 121], "name: Ensure this value has at most 120 characters (it has 121)."),
        (["olga", ""], "name: This field cannot be blank."),
    ],
)
def test_odd_arguments_make_none(olga: Person, arguments: list[str], said: str):
    with pytest.raises(CommandError) as found:
        call_command("create_token", *arguments)
    assert str(found.value) == said
    assert not Token.objects.exists()


def test_nobody_inactive_gets_one(olga: Person):
    Person.objects.update(is_active=False)
    with pytest.raises(CommandError):
        call_command("create_token", "olga", "x")
