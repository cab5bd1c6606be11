"""A link that somebody else makes starts an account anew: whoever opened it before its owner keeps no way in."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.models import Campaign, Event
from tests.accounts.steps import Passkey, add_passkey, confirm, give_password, has_address, is_signed_in
from tests.accounts.test_links import NEW, use
from tests.accounts.test_links import link_to as forgotten_link
from tests.conftest import client_of

OLGAS = "a password of olga's"


pytestmark = pytest.mark.usefixtures("mails", "at_commit")


@pytest.fixture
def as_olga(olga: Person, empty_campaign: Campaign) -> Client:
    return client_of(olga)


def link_in(page: Any) -> str:
    [found] = re.findall(r"readonly>(http://testserver/[^<]+)<", page.content.decode())
    return str(found)


def take(as_olga: Client) -> tuple[Person, Client]:
    """Invite somebody new, open their link oneself, and keep what ways into the account there are."""
    use(link_in(as_olga.post("/campaigns/study/people/", {"name": "kim", "role": "assessor"})), password=OLGAS)
    kim = Person.objects.get(username="kim")
    as_kim = Client(SERVER_NAME="localhost")
    assert give_password(as_kim, password=OLGAS, name="kim")["Location"] == "/"
    confirm(as_kim, OLGAS)
    as_kim.post("/mail-address/", {"email": "olga@example.org"})
    [confirmation] = re.findall(r"http://localhost(/mail-address/\S+/)", mail.outbox[-1].body)
    assert as_kim.post(confirmation).status_code == 302
    assert add_passkey(as_kim, Passkey()).status_code == 302
    assert is_signed_in(as_kim)
    SocialAccount.objects.create(user=kim, provider="https://login.example", uid="olga")
    create_token(person=kim, name="kept", expires_at=None, acting_user=kim)
    mail.outbox.clear()
    return kim, as_kim


def ways_into(person: Person) -> list[str]:
    """What else than a password lets somebody into an account."""
    ways = {
        "passkeys and codes": Authenticator.objects.filter(user=person),
        "mail": EmailAddress.objects.filter(user=person),
        "account": SocialAccount.objects.filter(user=person),
        "token": person.tokens.filter(revoked_at=None),
    }
    return [name for name, rows in ways.items() if rows]


@pytest.mark.parametrize("maker", ["organizer", "administrator"])
def test_who_opened_an_account_first_keeps_no_way_in(as_olga: Client, admin: Person, maker: str):
    kim, as_kim = take(as_olga)
    assert ways_into(kim) == ["passkeys and codes", "mail", "account", "token"]
    page = (
        f"/campaigns/study/people/{kim.pk}/link/" if maker == "organizer" else f"/admin/accounts/person/{kim.pk}/link/"
    )
    link = link_in((as_olga if maker == "organizer" else client_of(admin)).post(page))
    assert mail.outbox == [], "it is not mailed to an address that whoever signed in entered"
    assert is_signed_in(as_kim), "until it is used nothing ends"
    assert use(link).status_code == 302
    kim.refresh_from_db()
    assert (ways_into(kim), kim.email, is_signed_in(as_kim)) == ([], "", False)
    assert give_password(Client(), password=OLGAS, name="kim").status_code == 200
    Client().post("/password/forgotten/", {"email": "olga@example.org"})
    assert mail.outbox == []
    assert give_password(Client(), password=NEW, name="kim")["Location"] == "/"
    assert list(Event.objects.filter(subject="kim").order_by("-pk").values_list("verb", flat=True))[:2] == [
        "earlier ways to sign in ended",
        "sign-in link used",
    ]


def test_who_forgot_a_password_keeps_the_rest(anna: Person, recovery: list[str]):
    has_address(anna, "anna@example.org")
    use(forgotten_link(anna))
    assert ways_into(anna) == ["passkeys and codes", "mail"]
    assert [sent.to for sent in mail.outbox] == [["anna@example.org"]] * 2, "the link, and that it was used"


def test_an_address_that_an_administrator_entered_stays(anna: Person, admin: Person):
    Person.objects.filter(pk=anna.pk).update(email="anna@example.org")
    EmailAddress.objects.create(user=anna, email="other@example.org", verified=True)
    use(link_in(client_of(admin).post(f"/admin/accounts/person/{anna.pk}/link/")))
    assert Person.objects.get(pk=anna.pk).email == "anna@example.org"
    assert [sent.to for sent in mail.outbox] == [["anna@example.org"]]
    assert ways_into(anna) == []


def test_an_address_that_an_administrator_entered_stays_though_somebody_asked_to_confirm_it(
    anna: Person, admin: Person
):
    Person.objects.filter(pk=anna.pk).update(email="anna@example.org")
    EmailAddress.objects.create(user=anna, email="anna@example.org", verified=False)
    use(link_in(client_of(admin).post(f"/admin/accounts/person/{anna.pk}/link/")))
    assert Person.objects.get(pk=anna.pk).email == "anna@example.org"
