"""Behind a proxy: one person's wrong passwords lock out nobody who comes from elsewhere."""

from typing import Any

import pytest
from django.test import Client

from tests.conftest import PASSWORD


def _sign_in(password: str, address: str) -> int:
    # The first address is what a client made up; the last one is what the proxy saw.
    headers = {"x-forwarded-for": f"198.51.100.9, {address}"}
    return Client().post("/login/", {"username": "anna", "password": password}, headers=headers).status_code


@pytest.mark.django_db
def test_a_stranger_locks_out_only_their_own_address(anna: Any, settings: Any):
    settings.BEHIND_PROXY = True
    for _ in range(5):
        _sign_in("wrong", "203.0.113.5")
    assert _sign_in(PASSWORD, "203.0.113.5") == 429
    assert _sign_in(PASSWORD, "203.0.113.6") == 302
