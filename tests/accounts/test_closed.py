"""Of allauth, nothing is offered but what is listed; and what is shown is ours."""

from pathlib import Path
from typing import Any

import allauth
import pytest
from django.contrib import admin
from django.test import Client
from django.test.signals import template_rendered

from assessor.accounts.models import Person
from tests.accounts.steps import code, confirm, give_code, give_password, has_app
from tests.conftest import client_of

# What allauth has besides, where its own addresses are used, at the root or below accounts/.
CLOSED = ["signup/", "signup/passkey/", "email/", "confirm-email/", "confirm-email/x/", "inactive/", "password/change/"]
CLOSED += ["password/set/", "password/reset/", "password/reset/done/", "password/reset/key/1-set-password/"]
CLOSED += ["login/code/confirm/", "reauthenticate/", "2fa/", "2fa/recovery-codes/download/", "2fa/trust/", "3rdparty/"]
CLOSED += [
    "3rdparty/signup/",
    "3rdparty/login/error/",
    "social/connections/",
    "oidc/x/login/",
    "oidc/x/login/callback/",
]
CLOSED += ["security/recovery-codes/download/", "security/passkeys/", "phone/change/", "sessions/"]


@pytest.mark.parametrize("below", ["/", "/accounts/"])
def test_no_other_address_of_allauths_is_open(anna: Person, below: str):
    client = client_of(anna)
    found = {path: client.get(below + path).status_code for path in CLOSED}
    assert found == dict.fromkeys(CLOSED, 404)


def test_nobody_makes_an_account(db):
    for path in ("/signup/", "/accounts/signup/"):
        Client().post(path, {"username": "new", "password1": "a good long password", "email": "new@example.org"})
    assert not Person.objects.filter(username="new").exists()


def test_the_admin_shows_no_secret_of_allauths():
    ours = {model._meta.label for model in admin.site._registry if model.__module__.startswith("allauth")}
    assert ours == {"mfa.Authenticator", "socialaccount.SocialAccount"}
    for model in admin.site._registry:
        if model._meta.label in ours:
            assert type(admin.site._registry[model]).__module__ == "assessor.accounts.admin"


def test_every_page_is_ours(anna: Person, clock, at_commit):
    """In our templates, in English that we wrote, without a script or style in it."""
    used: set[Path] = set()

    def note(template: Any, **_: Any) -> None:
        if template.origin:
            used.add(Path(template.origin.name))

    template_rendered.connect(note)
    pages = [Client().get("/login/")]
    give_password(Client(), password="wrong")
    client = client_of(anna)
    pages += [client.get(path) for path in ("/security/", "/password/", "/confirm/")]
    pages.append(confirm(client, "wrong"))
    confirm(client)
    pages += [client.get(path) for path in ("/security/app/", "/security/passkeys/add/")]
    has_app(anna)
    pages += [client.get(f"/security/{path}") for path in ("", "app/off/", "recovery-codes/new/", "recovery-codes/")]
    pages.append(client.get("/confirm/code/"))
    give_password(signing_in := Client())
    pages.append(signing_in.get("/login/code/"))
    give_code(signing_in, code())
    template_rendered.disconnect(note)
    assert [page.status_code for page in pages] == [200] * len(pages)
    foreign = {path for path in used if Path(allauth.__file__).parent in path.parents}
    assert foreign == set()
    for page in pages:
        text = page.content.decode()
        assert " style=" not in text
        assert "<style" not in text
        for script in text.split("<script")[1:]:
            tag = script.split(">")[0]
            assert " src=" in tag or ' type="application/json"' in tag
