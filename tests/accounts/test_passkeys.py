"""Passkeys: added, named, used in place of password and code, removed; only those that ask who is there."""

import json
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from assessor.accounts.adapters import INACTIVE, TOO_MANY_CODES
from assessor.accounts.models import Person
from assessor.accounts.passkeys import WRONG_PASSKEY
from assessor.campaigns.models import Campaign, Event
from tests.accounts.steps import (
    Passkey,
    add_passkey,
    confirm,
    give_code,
    give_password,
    has_app,
    is_signed_in,
    options_on,
    plant,
    words,
)

HERE = {"SERVER_NAME": "localhost"}


@pytest.fixture
def anna_here(anna: Person, at_commit: None) -> Client:
    """Anna's browser, where she has just confirmed that it is her."""
    client = Client(**HERE)
    client.force_login(anna)
    confirm(client)
    return client


@pytest.fixture
def passkey(anna_here: Client) -> Passkey:
    """One that Anna has added."""
    passkey = Passkey()
    assert add_passkey(anna_here, passkey).status_code == 302
    return passkey


def options(client: Client) -> dict[str, Any]:
    asked: dict[str, Any] = client.get("/login/passkey/").json()["request_options"]
    return asked


def sign_in(client: Client, passkey: Passkey, next_page: str = "") -> Any:
    credential = passkey.get(options(client))
    return client.post("/login/passkey/", {"credential": credential, "next": next_page}, follow=not next_page)


def test_adding_one(anna: Person, anna_here: Client, at_commit):
    elsewhere = Client(**HERE)
    elsewhere.force_login(anna)
    assert elsewhere.get("/security/passkeys/add/")["Location"].startswith("/confirm/")
    asked = options_on(anna_here.get("/security/passkeys/add/"))["publicKey"]
    assert asked["authenticatorSelection"]["residentKey"] == "required"
    assert asked["authenticatorSelection"]["userVerification"] == "required"
    assert (asked["rp"], asked["user"]["name"]) == ({"id": "localhost", "name": "Assay"}, "anna")
    before = anna_here.session.session_key
    assert add_passkey(anna_here, Passkey())["Location"] == "/security/recovery-codes/"
    assert anna_here.session.session_key != before
    assert not is_signed_in(elsewhere)
    page = words(anna_here.get("/security/"))
    assert "Laptop , added on" in page
    assert "8 recovery codes left" in page
    assert list(Event.objects.values_list("verb", "subject")) == [("passkey added", "anna")]


def test_one_that_asks_nobody_who_is_there_is_refused(anna_here: Client, passkey: Passkey):
    assert WRONG_PASSKEY in words(add_passkey(anna_here, Passkey(verifies=False)))
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    passkey.flags = 0x01  # it is there, and asks no longer
    client = Client(**HERE)
    assert WRONG_PASSKEY in words(sign_in(client, passkey))
    assert not is_signed_in(client)


def test_it_signs_in_without_password_and_code(anna: Person, passkey: Passkey):
    has_app(anna)
    Campaign.objects.update(second_factor_required=True)
    client = Client(**HERE)
    client.get("/login/")
    options(client)
    before = client.session.session_key
    assert sign_in(client, passkey, "/answers/")["Location"] == "/answers/"
    assert is_signed_in(client)
    assert client.session.session_key != before
    assert sign_in(Client(**HERE), passkey, "https://evil.example/")["Location"] == "/"


def test_a_planted_session_is_nobodys_after_the_passkey(passkey: Passkey):
    planted, victim = plant(**HERE)
    assert sign_in(victim, passkey, "https://evil.example/")["Location"] == "/"
    assert (is_signed_in(victim), is_signed_in(planted)) == (True, False)


def test_a_challenge_is_good_once_and_in_its_own_session(passkey: Passkey):
    client = Client(**HERE)
    credential = passkey.get(options(client))
    assert client.post("/login/passkey/", {"credential": credential})["Location"] == "/"
    client.post("/logout/")
    assert client.post("/login/passkey/", {"credential": credential})["Location"] == "/login/"
    other = Client(**HERE)
    options(other)
    assert other.post("/login/passkey/", {"credential": credential})["Location"] == "/login/"
    assert not is_signed_in(client)
    assert not is_signed_in(other)


def test_one_of_somebody_else_or_of_another_site_signs_nobody_in(anna: Person, ben: Person, passkey: Passkey):
    stranger = Passkey()
    stranger.user = passkey.user
    elsewhere = Passkey("https://localhost.evil.example")
    elsewhere.key, elsewhere.id, elsewhere.user = passkey.key, passkey.id, passkey.user
    for wrong in (stranger, elsewhere):
        client = Client(**HERE)
        assert WRONG_PASSKEY in words(sign_in(client, wrong))
        assert not is_signed_in(client)


@pytest.mark.parametrize("sent", ["", "x", "{}", "[]", "null", '"x"', '{"response": []}', '{"id": 1, "response": {}}'])
def test_whatever_is_sent_is_answered(passkey: Passkey, sent: str):
    client = Client(**HERE)
    options(client)
    assert client.post("/login/passkey/", {"credential": sent})["Location"] == "/login/"
    damaged = json.loads(passkey.get(options(client)))
    for name in damaged["response"]:
        options(client)
        broken = {**damaged, "response": {**damaged["response"], name: "AAAA"}}
        assert client.post("/login/passkey/", {"credential": json.dumps(broken)})["Location"] == "/login/"
    assert not is_signed_in(client)


def test_it_takes_the_place_of_a_code_after_the_password(anna: Person, passkey: Passkey):
    client = Client(**HERE)
    assert give_password(client)["Location"] == "/login/code/"
    page = client.get("/login/code/")
    assert "Your passkey" in words(page)
    response = client.post("/login/code/", {"credential": passkey.get(options_on(page))})
    assert response["Location"] == "/"
    assert is_signed_in(client)


def test_a_wrong_one_after_the_password_counts_as_a_wrong_code(passkey: Passkey):
    client = Client(**HERE)
    give_password(client)
    for _ in range(5):
        page = client.get("/login/code/")
        answer = client.post("/login/code/", {"credential": Passkey().get(options_on(page))})
        assert WRONG_PASSKEY in words(answer)
    assert give_code(client, "000000") == TOO_MANY_CODES


def test_it_confirms_who_is_there(anna: Person, passkey: Passkey):
    client = Client(**HERE)
    client.force_login(anna)
    page = client.get("/confirm/passkey/?next=/security/passkeys/add/")
    sent = {"credential": Passkey().get(options_on(page))}
    assert WRONG_PASSKEY in words(client.post("/confirm/passkey/", sent, follow=True))
    assert client.get("/security/passkeys/add/").status_code == 302
    page = client.get("/confirm/passkey/?next=/security/passkeys/add/")
    sent = {"credential": passkey.get(options_on(page)), "next": "/security/passkeys/add/"}
    assert client.post("/confirm/passkey/", sent)["Location"] == "/security/passkeys/add/"
    assert client.get("/security/passkeys/add/").status_code == 200


def test_renaming_and_removing(anna: Person, ben: Person, anna_here: Client, passkey: Passkey):
    factor = Authenticator.objects.get(type="webauthn")
    rename, remove = (f"/security/passkeys/{factor.pk}/{verb}/" for verb in ("rename", "remove"))
    stranger = Client(**HERE)
    stranger.force_login(ben)
    confirm(stranger)
    for address in (rename, remove):
        assert stranger.post(address, {"name": "mine"}).status_code == 404
    assert anna_here.post(rename, {"name": "Phone"})["Location"] == "/security/"
    assert "Phone , added on" in words(anna_here.get("/security/"))
    elsewhere = Client(**HERE)
    elsewhere.force_login(anna)
    assert elsewhere.post(remove)["Location"].startswith("/confirm/")
    assert "Remove Phone?" in words(anna_here.get(remove))
    assert anna_here.post(remove)["Location"] == "/security/"
    assert not Authenticator.objects.exists(), "recovery codes alone are for nothing"
    assert not is_signed_in(elsewhere)
    assert is_signed_in(anna_here)
    assert list(Event.objects.order_by("pk").values_list("verb", flat=True)) == ["passkey added", "passkey removed"]
    assert WRONG_PASSKEY in words(sign_in(Client(**HERE), passkey))


def test_an_inactive_persons_signs_nobody_in(anna: Person, passkey: Passkey):
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    client = Client(**HERE)
    assert INACTIVE in words(sign_in(client, passkey))
    assert not is_signed_in(client)


def test_nobody_asks_for_challenges_without_end(db, clock):
    answers = [Client(**HERE).get("/login/passkey/").status_code for _ in range(121)]
    assert answers == [200] * 120 + [429]
