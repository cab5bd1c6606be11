"""People's own mail addresses: confirmed by a mailed link, and then good for a forgotten password."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from assessor.accounts.models import Person
from assessor.accounts.tasks import mail_notice
from assessor.campaigns.models import Event
from tests.accounts.steps import confirm, has_address, has_app, words
from tests.conftest import PASSWORD, client_of

PAGE = "/mail-address/"
NEW = "another long password"


def here(person: Person) -> Client:
    """Return a person's browser, in which they gave their password again just now."""
    client = client_of(person)
    assert confirm(client).status_code == 302
    return client


def ask(client: Client, email: str) -> str:
    """Ask for a new address; return what the page then says."""
    return words(client.post(PAGE, {"email": email}, follow=True))


def newest_link() -> str:
    [found] = re.findall(r"^http://testserver(/mail-address/\S+/)$", mail.outbox[-1].body, re.MULTILINE)
    return str(found)


def forgotten(email: str) -> list[str]:
    """Say that a password is forgotten; return the addresses to which a link was mailed."""
    before = len(mail.outbox)
    Client().post("/password/forgotten/", {"email": email})
    return [to for sent in mail.outbox[before:] for to in sent.to]


def test_a_new_address_is_good_once_it_is_confirmed(mails, anna: Person):
    client = here(anna)
    told = ask(client, "Anna@Example.org")
    assert "Open the link that was mailed to Anna@Example.org: then it is your address." in told
    assert "None that you confirmed" in told
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == (["Anna@Example.org"], "Confirm your mail address in Assay")
    assert "anna wants this to be their mail address" in sent.body
    assert (forgotten("anna@example.org"), Person.objects.get(pk=anna.pk).email) == ([], "")
    link = newest_link()
    assert "a link is mailed to anna@example.org" in words(client.get(link))
    assert forgotten("anna@example.org") == [], "opening it confirms nothing: programs open the links of mails, too"
    told = words(client.post(link, follow=True))
    assert "Your mail address is confirmed." in told
    assert "anna@example.org: a link is mailed to it if you forget your password." in told
    assert Person.objects.get(pk=anna.pk).email == "anna@example.org"
    assert forgotten("ANNA@example.org") == ["anna@example.org"]
    confirmed = Event.objects.get(verb="mail address confirmed")
    assert (confirmed.subject, confirmed.person, confirmed.details) == ("anna", anna, {})
    assert (client.get(link).status_code, client.post(link).status_code) == (410, 404), "it is good once"


def test_until_then_the_old_address_stays(mails, anna: Person, clock):
    has_address(anna, "old@example.org")
    client = here(anna)
    assert "Your address now is old@example.org." in words(client.get(PAGE))
    ask(client, "first@example.org")
    first = newest_link()
    ask(client, "second@example.org")
    second = newest_link()
    assert [client.get(link).status_code for link in (first, second)] == [410, 200], "only the newest link works"
    assert (forgotten("old@example.org"), forgotten("second@example.org")) == (["old@example.org"], [])
    clock.shift(3 * 24 * 3600 + 1)
    assert client_of(anna).get(second).status_code == 410, "after three days"
    client = here(anna)
    ask(client, "third@example.org")
    client.post(newest_link())
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("third@example.org", True)]
    assert (forgotten("old@example.org"), forgotten("third@example.org")) == ([], ["third@example.org"])
    assert "This is your address already." in ask(here(anna), "Third@example.org")


def test_nobody_else_confirms_it(mails, anna: Person, ben: Person):
    ask(here(anna), "anna@example.org")
    link = newest_link()
    assert Client().get(link)["Location"].startswith("/login/?next=/mail-address/")
    assert Client().post(link).status_code == 401
    stranger = client_of(ben)
    assert (stranger.get(link).status_code, stranger.post(link).status_code) == (410, 404)
    assert not EmailAddress.objects.filter(verified=True).exists()


def test_the_password_or_second_factor_is_asked_for_again(mails, anna: Person, clock, at_commit):
    client = client_of(anna)
    for response in (client.get(PAGE), client.post(PAGE, {"email": "anna@example.org"})):
        assert response["Location"] == "/confirm/?next=%2Fmail-address%2F"
    has_app(anna)
    assert "Use a code instead" in words(client.get("/confirm/"))
    assert (mail.outbox, EmailAddress.objects.count()) == ([], 0)


def test_an_address_of_somebody_else_is_answered_as_any_other(mails, anna: Person, ben: Person):
    has_address(ben, "ben@example.org")
    client = here(anna)
    told = [ask(client, email).replace(email, "EMAIL") for email in ("ben@example.org", "nobody@example.org")]
    assert told[0] == told[1]
    assert [sent.to for sent in mail.outbox] == [["ben@example.org"], ["nobody@example.org"]]
    ask(client, "ben@example.org")
    told_to_reader = words(client.post(newest_link(), follow=True))
    assert "You can't have this mail address here." in told_to_reader
    assert list(EmailAddress.objects.filter(verified=True).values_list("user__username", flat=True)) == ["ben"]
    assert (Person.objects.get(pk=anna.pk).email, forgotten("ben@example.org")) == ("", ["ben@example.org"])
    assert "Your username is ben." in mail.outbox[-1].body


def test_an_address_that_an_administrator_entered_is_not_confirmed(mails, anna: Person, admin: Person):
    change = {"username": "anna", "is_active": "on", "email": "anna@example.org"}
    assert client_of(admin).post(f"/admin/accounts/person/{anna.pk}/change/", change).status_code == 302
    assert forgotten("anna@example.org") == []
    client = here(anna)
    assert "An administrator entered anna@example.org. You have not confirmed it." in words(client.get(PAGE))
    ask(client, "anna@example.org")
    client.post(newest_link())
    assert forgotten("anna@example.org") == ["anna@example.org"]
    client_of(admin).post(f"/admin/accounts/person/{anna.pk}/change/", change | {"email": "other@example.org"})
    assert (forgotten("anna@example.org"), forgotten("other@example.org")) == ([], [])


def test_it_is_offered_where_mail_is_set_up(anna: Person):
    client = here(anna)
    assert client.get(PAGE).status_code == 404
    assert PAGE not in client.get("/security/").content.decode()


def test_nobody_has_mails_sent_to_strangers_without_end(mails, anna: Person, clock):
    client = here(anna)
    codes = []
    for number in range(11):
        confirm(client)
        codes.append(client.post(PAGE, {"email": f"stranger{number}@example.org"}).status_code)
    assert (codes, len(mail.outbox)) == ([302] * 10 + [429], 10)


def test_a_mail_server_that_is_down_is_told(mails, anna: Person, monkeypatch: pytest.MonkeyPatch):
    def refuses(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("assessor.accounts.actions.send_mail", refuses)
    assert "The mail could not be sent, so your address stays as it is." in ask(here(anna), "anna@example.org")


def test_what_changes_in_signing_in_is_mailed_to_the_address_of_before(mails, anna: Person, at_commit):
    client = here(anna)
    client.post("/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert mail.outbox == [], "there is no address yet"
    has_address(anna, "old@example.org")
    client.post("/password/", {"oldpassword": NEW, "password1": PASSWORD, "password2": PASSWORD})
    ask(client, "new@example.org")
    client.post(newest_link())
    has_app(anna)
    client.post("/security/app/off/")
    told = [(sent.to[0], sent.body.split("\n")[2]) for sent in mail.outbox if "was changed" in sent.subject]
    assert told == [
        ("old@example.org", "your password was changed."),
        ("old@example.org", "your mail address is another one now, and this one is yours no longer."),
        ("new@example.org", "codes of your authenticator app are asked for no longer."),
    ]


def test_nothing_is_mailed_where_mail_is_not_set_up(anna: Person, monkeypatch: pytest.MonkeyPatch, at_commit):
    monkeypatch.setattr("assessor.accounts.tasks.mail_notice.delay", mail_notice)
    has_address(anna, "anna@example.org")
    here(anna).post("/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert mail.outbox == []
