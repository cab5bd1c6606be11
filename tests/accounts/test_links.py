"""One-time links: made by an administrator or mailed, good once, for three days, until another or a new password."""

import logging
import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from assessor.accounts.actions import make_link
from assessor.accounts.models import Person
from assessor.accounts.tasks import mail_links
from assessor.campaigns.models import Event
from tests.accounts.steps import code, give_code, give_password, has_address, is_signed_in, words
from tests.conftest import PASSWORD, client_of, make_person

NEW = "another long password"
SITE = "http://testserver"


def link_to(person: Person) -> str:
    return make_link(person=person, acting_user=None, site=SITE).address


def use(address: str, client: Client | None = None, password: str = NEW) -> Any:
    """Open a link and set a password; return what comes of it, or the page where it is over."""
    client = client or Client()
    opened = client.get(address)
    if opened.status_code != 302:
        return opened
    return client.post(opened["Location"], {"password1": password, "password2": password})


def test_an_administrator_makes_one_that_is_shown_once(anna: Person, admin: Person):
    client = client_of(admin)
    assert "Make a sign-in link" in client.get(f"/admin/accounts/person/{anna.pk}/change/").content.decode()
    assert client.get(f"/admin/accounts/person/{anna.pk}/link/").status_code == 405
    page = client.post(f"/admin/accounts/person/{anna.pk}/link/").content.decode()
    [address] = re.findall(r"readonly>(http://testserver/password/link/\w+/[0-9a-f]{64}/)<", page)
    assert "It was not mailed" in page
    event = Event.objects.latest("pk")
    assert (event.verb, event.subject, event.person, event.details) == ("sign-in link made", "anna", admin, {})
    token = address.split("/")[-2]
    assert token not in str(list(Person.objects.values()))
    assert token not in client.get(f"/admin/accounts/person/{anna.pk}/change/").content.decode()
    response = use(address)
    assert response["Location"] == "/login/"
    event = Event.objects.latest("pk")
    assert (event.verb, event.subject, event.person) == ("sign-in link used", "anna", anna)
    assert give_password(Client(), password=NEW)["Location"] == "/"
    assert give_password(Client(), password=PASSWORD).status_code == 200


@pytest.mark.parametrize("role", ["assessor", "organizer", ""])
def test_nobody_else_makes_one_in_the_admin(anna: Person, role: str):
    maker = make_person("maker", role)
    assert client_of(maker).post(f"/admin/accounts/person/{anna.pk}/link/").status_code == 404
    assert not Event.objects.exists()


def test_it_is_the_invitation_of_who_never_had_a_password(db):
    invited = Person.objects.create_user("invited")
    assert not invited.has_usable_password()
    use(link_to(invited))
    assert give_password(Client(), password=NEW, name="invited")["Location"] == "/"


def test_the_password_must_be_a_good_one(anna: Person):
    address = link_to(anna)
    assert "at least 12 characters" in words(use(address, password="short"))
    client = Client()
    opened = client.get(address)["Location"]
    assert "The two are not the same." in words(client.post(opened, {"password1": NEW, "password2": NEW + "x"}))
    assert use(address)["Location"] == "/login/", "a refused password leaves it good"


def test_it_is_good_once(anna: Person):
    address = link_to(anna)
    first, second = Client(), Client()
    opened = [client.get(address)["Location"] for client in (first, second)]
    assert first.post(opened[0], {"password1": NEW, "password2": NEW}).status_code == 302
    other = "yet another password"
    late = second.post(opened[1], {"password1": other, "password2": other})
    assert (late.status_code, "This link no longer works" in words(late)) == (410, True)
    assert use(address, password=other).status_code == 410
    assert use(address, first, other).status_code == 410
    assert give_password(Client(), password=NEW)["Location"] == "/"


def test_another_one_ends_it_and_so_does_a_new_password(anna: Person):
    first = link_to(anna)
    second = link_to(anna)
    assert use(first).status_code == 410
    client = client_of(anna)
    client.post("/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert use(second, password="yet another password").status_code == 410
    assert give_password(Client(), password=NEW)["Location"] == "/"


def test_it_ends_after_three_days(anna: Person, clock):
    address = link_to(anna)
    clock.shift(3 * 24 * 3600)
    assert use(address).status_code == 410
    address = link_to(anna)
    clock.shift(3 * 24 * 3600 - 1)
    assert use(address).status_code == 302


def test_it_is_nobodys_key_to_somebody_else(anna: Person, ben: Person):
    of_anna, of_ben = link_to(anna), link_to(ben)
    token = of_anna.split("/")[-2]
    assert use(of_ben.replace(of_ben.split("/")[-2], token)).status_code == 410
    for nobody in ("zzzzzzzzzzzzzz", "zzzzzzzzzzzzz", "0", "-", "A_B"):
        assert use(f"/password/link/{nobody}/{token}/").status_code == 410
    assert use(of_anna.replace(token, "set-password")).status_code == 410
    Person.objects.filter(pk=ben.pk).update(is_active=False)
    assert use(of_ben).status_code == 410


def test_an_inactive_person_gets_none(anna: Person, admin: Person):
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    page = client_of(admin).post(f"/admin/accounts/person/{anna.pk}/link/", follow=True).content.decode()
    assert "No link was made." in page
    assert not Event.objects.exists()


def test_it_does_not_get_around_the_second_factor_and_ends_all_sessions(recovery, anna: Person):
    elsewhere, here, waiting = client_of(anna), client_of(anna), Client()
    give_password(waiting)
    assert use(link_to(anna), here)["Location"] == "/login/"
    assert not is_signed_in(elsewhere)
    assert not is_signed_in(here)
    assert give_code(waiting, code()) == "/login/"
    client = Client()
    assert give_password(client, password=NEW)["Location"] == "/login/code/"
    assert give_code(client, code()) == "/"


def test_who_opens_anothers_link_is_signed_out_first(anna: Person, ben: Person):
    client = client_of(ben)
    assert "Your username is anna" in words(client.get(link_to(anna), follow=True))
    assert not is_signed_in(client)


def test_the_key_is_not_in_the_address_of_the_page(anna: Person):
    address = link_to(anna)
    assert address.split("/")[-2] not in Client().get(address)["Location"]


def test_it_is_mailed_where_that_is_set_up_and_there_is_an_address(anna: Person, ben: Person, admin: Person, settings):
    settings.MAILS, settings.DEFAULT_FROM_EMAIL = True, "assay@example.org"
    Person.objects.filter(pk=anna.pk).update(email="anna@example.org", first_name="Anna")
    page = client_of(admin).post(f"/admin/accounts/person/{anna.pk}/link/").content.decode()
    assert "It was mailed to anna@example.org too." in page
    [sent] = mail.outbox
    assert (sent.to, sent.from_email, sent.subject) == (["anna@example.org"], "assay@example.org", "Your link to Assay")
    [address] = re.findall(r"^http://testserver/password/link/\S+$", sent.body, re.MULTILINE)
    assert sent.body.startswith("Hello Anna,\n")
    assert "Your username is anna." in sent.body
    assert use(address).status_code == 302
    assert "It was not mailed" in client_of(admin).post(f"/admin/accounts/person/{ben.pk}/link/").content.decode()


def test_a_mail_server_that_is_down_is_told_and_the_link_is_good(anna: Person, settings, monkeypatch, caplog):
    settings.MAILS = True
    anna.email = "anna@example.org"

    def refuses(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("assessor.accounts.actions.send_mail", refuses)
    with caplog.at_level(logging.ERROR):
        made = make_link(person=anna, acting_user=None, site=SITE)
    assert (bool(made.mailed_to), "A mail was not sent." in caplog.text, made.address in caplog.text) == (
        False,
        True,
        False,
    )
    assert use(made.address).status_code == 302


def test_who_forgot_a_password_is_mailed_a_link(anna: Person, ben: Person, settings, monkeypatch):
    assert Client().get("/password/forgotten/").status_code == 404
    assert "makes you a link" in words(Client().get("/login/"))
    settings.MAILS = True
    assert 'href="/password/forgotten/"' in Client().get("/login/").content.decode()
    has_address(anna, "anna@example.org")
    has_address(ben, "ben@example.org")
    Person.objects.filter(pk=ben.pk).update(is_active=False)
    monkeypatch.setattr("assessor.accounts.tasks.mail_links.delay", mail_links)
    for address in ("anna@EXAMPLE.org", "ben@example.org", "nobody@example.org"):
        Client().post("/password/forgotten/", {"email": address})
    [sent] = mail.outbox
    assert sent.to == ["anna@example.org"]
    [address] = re.findall(r"^http://testserver/password/link/\S+$", sent.body, re.MULTILINE)
    assert use(address).status_code == 302
    assert give_password(Client(), password=NEW)["Location"] == "/"


def test_nobody_has_mails_sent_without_end(anna: Person, settings, monkeypatch):
    settings.MAILS = True
    sent: list[Any] = []
    monkeypatch.setattr("assessor.accounts.tasks.mail_links.delay", lambda *told: sent.append(told))
    codes = [Client().post("/password/forgotten/", {"email": "anna@example.org"}).status_code for _ in range(6)]
    assert codes == [302] * 5 + [429]
    assert len(sent) == 5
