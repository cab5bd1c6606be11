"""Signing in at a provider, a real one in a process of its own: only people who were linked, never by an address."""

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.sessions.models import Session
from django.test import Client

from assessor.accounts.actions import make_link
from assessor.accounts.adapters import SignOnAdapter
from assessor.accounts.models import Person
from assessor.accounts.single_sign_on import names_several_factors
from assessor.campaigns.models import Campaign, Event
from tests.accounts.provider import running_provider
from tests.accounts.steps import (
    code,
    confirm,
    give_code,
    give_password,
    has_address,
    has_app,
    is_signed_in,
    plant,
    words,
)
from tests.conftest import client_of, make_person
from tests.ports import free_port


@pytest.fixture(scope="session")
def provider() -> Iterator[str]:
    """The address of a running provider."""
    with running_provider() as address:
        yield address


@pytest.fixture
def on(provider: str, settings: Any, at_commit: None) -> Any:
    """The settings, with the provider switched on."""
    settings.SSO_ISSUER, settings.SSO_NAME = provider, "NIST Login"
    settings.SSO_CLIENT_ID, settings.SSO_CLIENT_SECRET = "assay", "secret"
    return settings


def at_provider(page: Any, sub: str) -> str:
    """Go where a page leads, and sign in there; return the address that the provider leads back to."""
    [address] = re.findall(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', page.content.decode())
    answer = httpx2.post(html.unescape(address), data={"sub": sub})
    assert answer.status_code == 302, answer.text
    return answer.headers["location"].removeprefix("http://testserver")


def sign_in(client: Client, sub: str, next_page: str = "") -> Any:
    return client.get(at_provider(client.post("/sso/", {"next": next_page}), sub))


def link(client: Client, sub: str) -> Any:
    """Link an account to who is signed in."""
    confirm(client)
    return client.get(at_provider(client.post("/sso/link/"), sub), follow=True)


def by_link(address: str, sub: str, client: Client | None = None) -> Any:
    """Come by a one-time link and use the provider."""
    client = client or Client()
    opened = client.get(address)["Location"]
    assert "Use NIST Login" in words(client.get(opened)) or b"Use NIST Login" in client.get(opened).content
    return client.get(at_provider(client.post(opened, {"provider": "yes"}), sub))


def link_to(person: Person) -> str:
    return make_link(person=person, acting_user=None, site="http://testserver").address


def test_it_is_off_unless_it_is_set_up(anna: Person):
    client = client_of(anna)
    assert b"/sso/" not in Client().get("/login/").content
    assert b"/sso/" not in client.get("/security/").content
    confirm(client)
    assert [client.post("/sso/").status_code, client.post("/sso/link/").status_code] == [404, 404]
    assert client.get("/sso/callback/?code=x&state=y").status_code == 404


def test_who_is_linked_signs_in(on, anna: Person):
    client = client_of(anna)
    assert client.post("/sso/link/")["Location"].startswith("/confirm/")
    assert "Your account is linked" in words(link(client, "kim"))
    account = SocialAccount.objects.get()
    assert (account.user, account.provider, account.uid) == (anna, on.SSO_ISSUER, "kim")
    event = Event.objects.get()
    assert (event.verb, event.subject, event.person) == ("provider's account linked", "anna", anna)
    assert "Sign in with NIST Login" in Client().get("/login/").content.decode()
    fresh = Client()
    fresh.get("/login/")
    assert sign_in(fresh, "kim", "/answers/")["Location"] == "/answers/"
    assert fresh.get("/").context["user"] == anna
    assert sign_in(Client(), "kim", "https://evil.example/")["Location"] == "/"


def test_what_is_asked_of_the_provider_and_kept_of_it(on, anna: Person):
    page = Client().post("/sso/")
    [address] = re.findall(r"url=([^\"]+)", page.content.decode())
    asked = {name: value for name, [value] in parse_qs(urlsplit(html.unescape(address)).query).items()}
    assert asked["redirect_uri"] == "http://testserver/sso/callback/"
    assert (asked["scope"], asked["response_type"], asked["code_challenge_method"]) == ("openid", "code", "S256")
    link(client_of(anna), "mallory")
    assert "email" not in SocialAccount.objects.get().extra_data["id_token"]
    sign_in(waiting := Client(), "mallory")
    has_app(anna)
    sign_in(waiting := Client(), "mallory")
    assert waiting.session["account_login"]
    assert not SocialToken.objects.exists()
    assert not any("token_secret" in str(session.get_decoded()) for session in Session.objects.all())


def test_a_planted_session_is_nobodys_after_the_provider(on, anna: Person):
    link(client_of(anna), "kim")
    planted, victim = plant()
    assert sign_in(victim, "kim")["Location"] == "/"
    assert (is_signed_in(victim), is_signed_in(planted)) == (True, False)


def test_an_unknown_account_signs_nobody_in_whatever_its_address(on, anna: Person, monkeypatch: pytest.MonkeyPatch):
    has_address(anna, "anna@example.org")  # as mallory's, whose provider says that it is confirmed
    apps = SignOnAdapter.list_apps

    def with_addresses(*args: Any, **kwargs: Any) -> list[Any]:
        found = apps(*args, **kwargs)
        for app in found:
            app.settings |= {"scope": ["openid", "email"], "fetch_userinfo": True}
        return found

    monkeypatch.setattr(SignOnAdapter, "list_apps", with_addresses)
    before = Person.objects.count()
    for sub in ("kim", "mallory", "anna", "anna@example.org"):
        client = Client()
        response = sign_in(client, sub)
        assert response.status_code == 403
        assert "Nobody here is linked to your account" in words(response)
        assert not is_signed_in(client)
    assert (Person.objects.count(), SocialAccount.objects.count()) == (before, 0)


def test_another_providers_account_of_the_same_name_is_somebody_else(on, anna: Person, provider: str):
    link(client_of(anna), "kim")
    on.SSO_ISSUER = provider.replace("127.0.0.1", "localhost")
    assert sign_in(Client(), "kim").status_code == 403
    assert "signs nobody in any more" in words(client_of(anna).get("/security/"))


def test_a_token_of_another_issuer_than_the_settings_name_is_refused(on, anna: Person, provider: str):
    link(client_of(anna), "kim")
    SocialAccount.objects.update(provider=f"{provider}/")
    on.SSO_ISSUER = f"{provider}/"  # whose tokens name it without the slash
    response = sign_in(Client(), "kim")
    assert (response.status_code, "You are not signed in" in words(response)) == (403, True)


def test_an_account_is_linked_by_an_invitation_which_is_over_then(on, db):
    invited = Person.objects.create_user("invited")
    address = link_to(invited)
    client = Client()
    assert by_link(address, "kim", client)["Location"] == "/"
    assert client.get("/").context["user"] == invited
    assert Client().get(address).status_code == 410
    verbs = ["sign-in link made", "sign-in link used", "provider's account linked"]
    assert list(Event.objects.order_by("pk").values_list("verb", flat=True)) == verbs
    assert not Person.objects.get(pk=invited.pk).has_usable_password()
    again = Client()
    assert sign_in(again, "kim")["Location"] == "/"
    assert "You have no password" in words(again.get("/password/"))


def test_an_invitation_links_once_and_no_account_of_somebody_else(on, anna: Person, ben: Person):
    link(client_of(anna), "kim")
    address = link_to(ben)
    response = by_link(address, "kim")
    assert (response.status_code, "Your account was not linked" in words(response)) == (403, True)
    slow, quick = Client(), Client()
    opened = [client.get(address)["Location"] for client in (slow, quick)]
    back = at_provider(slow.post(opened[0], {"provider": "yes"}), "mia")
    quick.post(opened[1], {"password1": "another long password", "password2": "another long password"})
    response = slow.get(back)
    assert (response.status_code, is_signed_in(slow)) == (403, False)
    assert list(SocialAccount.objects.values_list("user__username", "uid")) == [("anna", "kim")]


def test_an_invitation_does_not_get_around_a_second_factor_by_an_account_that_claims_one(on, anna: Person):
    has_app(anna)
    on.SSO_TRUSTS_AMR = True
    client, address = Client(), link_to(anna)
    response = by_link(address, "mia", client)
    assert (response.status_code, "Your account was not linked" in words(response)) == (403, True)
    assert not is_signed_in(client)
    assert not anna.socialaccount_set.exists()
    assert Client().get(address).status_code == 302, "the link stays good"


def test_an_invitation_by_somebody_else_ends_what_was_before(on, anna: Person, admin: Person):
    link(client_of(anna), "mia")
    has_app(anna)
    address = make_link(person=anna, acting_user=admin, site="http://testserver").address
    assert by_link(address, "kim")["Location"] == "/"
    assert list(SocialAccount.objects.values_list("user__username", "uid")) == [("anna", "kim")]
    assert sign_in(Client(), "mia").status_code == 403
    assert give_password(Client()).status_code == 200, "nor is the old password good"


def test_nobody_begins_to_sign_in_without_end(on, db, clock):
    answers = [Client().post("/sso/").status_code for _ in range(121)]
    assert answers == [200] * 120 + [429]


def test_an_account_is_linked_to_one_person(on, anna: Person, ben: Person):
    link(client_of(anna), "kim")
    assert "linked to somebody else in Assay" in words(link(client_of(ben), "kim"))
    assert SocialAccount.objects.get().user == anna


def test_an_answer_of_the_provider_is_good_once_and_in_the_session_that_asked(on, anna: Person):
    """Nobody is signed in, or linked, by an answer that somebody else got."""
    link(client_of(anna), "kim")
    asking = Client()
    back = at_provider(asking.post("/sso/"), "kim")
    victim = client_of(make_person("victim", "assessor"))
    confirm(victim)
    assert victim.get(back).status_code == 403
    assert Client().get(back).status_code == 403
    assert asking.get(back).status_code == 302
    assert asking.get(back).status_code == 403
    assert list(SocialAccount.objects.values_list("user__username", flat=True)) == ["anna"]


def test_linking_needs_a_form_of_ours_and_so_does_signing_in(on, anna: Person):
    """Or a link on another site could link an account of its owner."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(anna)
    assert [client.post(path).status_code for path in ("/sso/", "/sso/link/")] == [403, 403]
    assert [client.get(path).status_code for path in ("/sso/", "/sso/link/")] == [405, 405]


@pytest.mark.parametrize("error", ["access_denied", "server_error", ""])
def test_what_goes_wrong_there_is_told(on, db, error: str):
    client = Client()
    page = client.post("/sso/").content.decode()
    [state] = re.findall(r"[?&]state=(\w+)", html.unescape(page).split("url=")[1])[:1]
    response = client.get("/sso/callback/", {"state": state, "error": error})
    assert (response.status_code, "You are not signed in" in words(response)) == (403, True)
    on.SSO_ISSUER = f"http://127.0.0.1:{free_port()}"
    assert Client().post("/sso/").status_code == 503


def test_an_inactive_person_is_not_let_in(on, anna: Person):
    link(client_of(anna), "kim")
    Person.objects.update(is_active=False)
    client = Client()
    sign_in(client, "kim")
    assert not is_signed_in(client)


@pytest.mark.parametrize(("sub", "trusts", "asks"), [("mia", True, False), ("mia", False, True), ("otp", True, True)])
def test_a_code_is_asked_for_unless_a_trusted_provider_asked_for_several_factors(
    on, anna: Person, sub: str, trusts: bool, asks: bool
):
    link(client_of(anna), sub)
    has_app(anna)
    on.SSO_TRUSTS_AMR = trusts
    client = Client()
    assert sign_in(client, sub)["Location"] == ("/login/code/" if asks else "/")
    assert is_signed_in(client) == (not asks)
    if asks:
        assert give_code(client, code()) == "/"


@pytest.mark.parametrize(("sub", "trusts", "owes"), [("mia", True, False), ("mia", False, True), ("kim", True, True)])
def test_a_second_factor_is_owed_unless_the_provider_asked_for_it(
    on, bank, anna: Person, sub: str, trusts: bool, owes: bool
):
    link(client_of(anna), sub)
    on.SSO_TRUSTS_AMR = trusts
    Campaign.objects.update(second_factor_required=True)
    client = Client()
    sign_in(client, sub)
    assert client.get("/").get("Location") == ("/security/" if owes else None)
    assert ("requires a second factor" in words(client.get("/security/"))) == owes
    client.post("/logout/")
    give_password(client)
    assert client.get("/")["Location"] == "/security/", "what the provider asked for was of that session"


@pytest.mark.parametrize("change", [{"SSO_TRUSTS_AMR": False}, {"SSO_ISSUER": "https://other.example"}])
@pytest.mark.parametrize("has_own", [True, False])
def test_a_session_ends_when_its_provider_is_trusted_no_longer(
    on, anna: Person, ben: Person, has_own: bool, change: dict[str, Any]
):
    """Whether it spared somebody a code of their own, or setting a second factor up."""
    link(client_of(anna), "mia")
    link(client_of(ben), "kim")
    if has_own:
        has_app(anna)
    Campaign.objects.update(second_factor_required=not has_own)
    on.SSO_TRUSTS_AMR = True
    client, by_one_factor = Client(), Client()
    sign_in(client, "mia")
    sign_in(by_one_factor, "kim")
    assert (is_signed_in(client), is_signed_in(by_one_factor)) == (True, True)
    for name, value in change.items():
        setattr(on, name, value)
    assert client.get("/")["Location"].startswith("/login/")
    on.SSO_TRUSTS_AMR = True
    assert not is_signed_in(client), "for good"
    assert is_signed_in(by_one_factor), "its provider's word opened nothing"


@pytest.mark.parametrize(
    ("amr", "several"),
    [
        (["mfa"], True),
        (["pwd", "otp"], True),
        (["pin", "hwk"], True),
        (["fpt", "swk"], True),
        (["otp"], False),
        (["hwk", "otp"], False),
        (["pwd", "pin"], False),
        (["pwd", "sms"], False),
        (["pwd", "tel", "geo", "user"], False),
        ([], False),
        (None, False),
        ("mfa", False),
        ([["mfa"], {"mfa": 1}], False),
    ],
)
def test_which_methods_are_several_factors(amr: Any, several: bool):
    assert names_several_factors({"id_token": {"amr": amr}}) == several
    assert not names_several_factors({"userinfo": {"amr": amr}})


def test_unlinking_by_the_person(on, anna: Person, ben: Person):
    client = client_of(anna)
    link(client, "kim")
    [account] = SocialAccount.objects.all()
    elsewhere = client_of(anna)
    stranger = client_of(ben)
    confirm(stranger)
    assert stranger.post(f"/sso/{account.pk}/unlink/").status_code == 404
    assert elsewhere.post(f"/sso/{account.pk}/unlink/")["Location"].startswith("/confirm/")
    assert "The account is unlinked" in words(client.post(f"/sso/{account.pk}/unlink/", follow=True))
    assert not is_signed_in(elsewhere)
    assert Event.objects.latest("pk").verb == "provider's account unlinked"
    assert sign_in(Client(), "kim").status_code == 403


def test_nobody_unlinks_their_only_way_in_but_an_administrator_may(on, admin: Person):
    invited = Person.objects.create_user("invited")
    client = Client()
    by_link(link_to(invited), "kim", client)
    [account] = SocialAccount.objects.all()
    assert "It is your only way in." in words(client.post(f"/sso/{account.pk}/unlink/", follow=True))
    assert "kim" in client_of(admin).get("/admin/socialaccount/socialaccount/").content.decode()
    sent = {"action": "unlink", "_selected_action": [account.pk]}
    client_of(admin).post("/admin/socialaccount/socialaccount/", sent)
    assert not SocialAccount.objects.exists()
    assert not is_signed_in(client)
    assert Event.objects.latest("pk").person == admin
