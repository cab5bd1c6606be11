"""Signing in, throttling, passwords, and what every response carries."""

import gzip

import pytest
from django.test import Client

from assessor.accounts.models import Person
from tests.accounts.steps import code, give_code, give_password, has_app, is_signed_in, plant
from tests.conftest import PASSWORD, client_of
from tests.desk.asking import POLICY

ELSEWHERE = ["https://evil.example/", "//evil.example", r"/\evil.example", "javascript:alert(1)", "https:evil.example"]


def sign_in(client: Client, password: str, address: str = "10.0.0.1") -> int:
    data = {"username": "anna", "password": password}
    return client.post("/login/", data, REMOTE_ADDR=address).status_code


def test_the_sixth_wrong_password_waits_and_the_right_one_with_it(anna: Person):
    client = Client()
    assert [sign_in(client, "wrong") for _ in range(5)] == [200] * 5
    assert sign_in(client, "wrong") == 429
    response = client.post("/login/", {"username": "anna", "password": PASSWORD}, REMOTE_ADDR="10.0.0.1")
    assert response.status_code == 429
    assert b"Too many wrong passwords" in response.content
    assert sign_in(client, PASSWORD, address="10.0.0.2") == 302


def test_the_throttle_ends_after_a_quarter_of_an_hour(anna: Person, time_machine):
    time_machine.move_to("2026-11-21T10:00:00Z", tick=False)
    client = Client()
    for _ in range(5):
        sign_in(client, "wrong")
    time_machine.move_to("2026-11-21T10:14:00Z", tick=False)
    assert sign_in(client, PASSWORD) == 429
    time_machine.move_to("2026-11-21T10:16:00Z", tick=False)
    assert sign_in(client, PASSWORD) == 302


def test_four_wrong_passwords_do_not_lock_out(anna: Person):
    client = Client()
    for _ in range(4):
        sign_in(client, "wrong")
    assert sign_in(client, PASSWORD) == 302


def test_an_inactive_person_is_out_at_once(anna: Person):
    client = client_of(anna)
    assert client.get("/").status_code == 200
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    assert client.get("/").status_code == 302


def test_a_planted_session_is_nobodys_after_the_password(anna: Person):
    planted, victim = plant()
    assert give_password(victim)["Location"] == "/"
    assert (is_signed_in(victim), is_signed_in(planted)) == (True, False)


@pytest.mark.parametrize("target", ELSEWHERE)
def test_signing_in_and_confirming_lead_nowhere_else(anna: Person, target: str, at_commit):
    assert give_password(Client(), target)["Location"] == "/"
    assert give_password(Client(), "/answers/")["Location"] == "/answers/"
    confirmed = client_of(anna).post("/confirm/", {"password": PASSWORD, "next": target})
    assert confirmed["Location"] in ("/", "/security/")
    has_app(anna)
    client = Client()
    give_password(client, target)
    assert give_code(client, code()) == "/"


def test_changing_the_password(anna: Person):
    client = client_of(anna)
    new = "another long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    short = {"password1": "eleven char", "password2": "eleven char"}
    assert client.post("/password/", form | short).status_code == 200
    assert client.post("/password/", form | {"oldpassword": "wrong"}).status_code == 200
    assert sign_in(Client(), PASSWORD) == 302
    assert client.post("/password/", form).status_code == 302
    assert sign_in(Client(), new) == 302
    assert sign_in(Client(), PASSWORD) == 200


def test_a_write_needs_the_csrf_token(anna: Person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(anna)
    response = client.post("/logout/")
    assert response.status_code == 403
    assert b"This form is too old" in response.content


@pytest.mark.parametrize("address", ["/login/", "/", "/nothing/", "/admin/", "/guidelines/nuggets/"])
def test_every_page_has_the_strict_policy_and_stays_in_no_cache(address: str, admin: Person):
    response = client_of(admin).get(address) if address != "/login/" else Client().get(address)
    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert "no-store" in response["Cache-Control"]
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"


def test_pages_are_sent_compressed_and_files_are_not(olga: Person, bank):
    client = client_of(olga)
    accepted = {"Accept-Encoding": "gzip"}
    page = client.get("/campaigns/study/", headers=accepted)
    assert page["Content-Encoding"] == "gzip"
    assert b"<h1>Study</h1>" in gzip.decompress(page.content)
    assert "Content-Encoding" not in client.get("/campaigns/study/").headers
    file = client.get("/campaigns/study/plan/plan.csv", headers=accepted)
    assert (file.status_code, file.get("Content-Encoding")) == (200, None)


@pytest.mark.parametrize("template", ["home", "campaign", "imports", "plan", "exports", "protocol"])
def test_no_page_has_inline_script_or_style_or_foreign_addresses(template: str, bank, olga: Person, anna: Person):
    addresses = {"home": "/"} | {
        name: f"/campaigns/study/{name}/" for name in ("imports", "plan", "exports", "protocol")
    }
    address = addresses.get(template, "/campaigns/study/")
    for html in (
        client_of(olga).get(address).content.decode(),
        client_of(anna).get(f"/nuggets/{bank.pk}/").content.decode(),
    ):
        assert "<style" not in html
        assert " style=" not in html
        assert " onclick" not in html
        assert "http://" not in html.replace("http://www.w3.org", "")
        assert "https://" not in html
        assert all("src=" in tag for tag in html.split("<script")[1:])
