"""A session that lasts, one that has ended, and one that never was."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person

SIGN_IN = "/login/?next=/me/"


def test_a_session_opens_pages_until_it_ends(as_anna: Client, anna: Person):
    page = as_anna.get("/me/")
    assert page.status_code == 200
    assert page.wsgi_request.user == anna
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert as_anna.get("/me/").headers["Location"] == SIGN_IN


@pytest.mark.parametrize("key", ["", "short", "a" * 32, "é" * 32, "' or 1=1 --", "a" * 5_000])
def test_a_made_up_session_opens_nothing(client: Client, anna: Person, key: str):
    client.cookies["sessionid"] = key
    assert client.get("/me/").headers["Location"] == SIGN_IN
    assert not Session.objects.exists()
