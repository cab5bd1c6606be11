"""Nobody learns by signing in which names there are: neither from the answer nor from how long it takes."""

import re

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.test import Client

from assessor.accounts.models import Person
from tests.accounts.steps import has_address
from tests.conftest import make_person


class Counting(MD5PasswordHasher):
    """Counts how often a password is hashed, which is what takes the time."""

    hashed = 0

    def encode(self, password: str, salt: str) -> str:
        type(self).hashed += 1
        encoded: str = super().encode(password, salt)
        return encoded


def test_a_name_that_there_is_not_is_answered_as_a_wrong_password_is(db, settings):
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    make_person("anna", "assessor")
    gone = make_person("gone", "assessor")
    gone.is_active = False
    gone.save()
    Person.objects.create_user("invited")  # who has no password yet

    def answered(name: str) -> tuple[int, str, int]:
        before = Counting.hashed
        response = Client().post("/login/", {"username": name, "password": "a wrong password"})
        page = re.sub(r'(name="csrfmiddlewaretoken" value=")\w+', r"\1", response.content.decode())
        return response.status_code, page.replace(name, "NAME"), Counting.hashed - before

    known = answered("anna")
    assert known[0] == 200
    assert known[2] == 1
    assert "NAME" in known[1]
    assert answered("nobody") == known
    assert answered("gone") == known
    assert answered("invited") == known


@pytest.mark.parametrize("address", ["anna@example.org", "nobody@example.org", "gone@example.org"])
def test_who_forgot_a_password_is_told_the_same_whatever_the_address(anna: Person, settings, monkeypatch, address: str):
    """Nor does the web process look for it, so that it takes as long: a worker does."""
    settings.MAILS = True
    has_address(anna, "anna@example.org")
    has_address(gone := make_person("gone", "assessor"), "gone@example.org")
    Person.objects.filter(pk=gone.pk).update(is_active=False)
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("assessor.accounts.tasks.mail_links.delay", lambda *told: sent.append(told))
    response = Client().post("/password/forgotten/", {"email": address}, follow=True)
    assert b"If somebody here has this address, a link is on its way there." in response.content
    assert (sent, mail.outbox) == ([(address, "http://testserver")], [])
