"""The second factor: set up, asked for, throttled, required, turned off and reset; with real codes."""

import re
from typing import Any

import pyotp
import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from assessor.accounts.actions import TOO_MANY, WRONG, set_up
from assessor.accounts.models import Person, SecondFactor
from assessor.api.actions import create_token
from assessor.campaigns.models import Campaign, Event
from nuggets.models import NuggetBank
from tests.conftest import PASSWORD, client_of, end_roles

NOW = "2026-11-21T10:00:00Z"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def clock(time_machine) -> Any:
    time_machine.move_to(NOW, tick=False)
    return time_machine


def code(secret: str = SECRET) -> str:
    """Return what an app shows now."""
    return pyotp.TOTP(secret).now()


@pytest.fixture
def recovery(anna: Person, clock: Any) -> list[str]:
    """Anna's recovery codes: her second factor is set up, half an hour ago."""
    found = set_up(person=anna, secret=SECRET, code=code(), session_key=None)
    assert found is not None
    clock.shift(1800)
    return found


def give_password(client: Client, next_page: str = "") -> Any:
    return client.post("/login/", {"username": "anna", "password": PASSWORD, "next": next_page})


def give_code(client: Client, code: str) -> str:
    """Give a code at the second step; return where it leads, or what is said of it."""
    response = client.post("/login/code/", {"code": code})
    return response["Location"] if response.status_code == 302 else response.context["form"].errors["code"][0]


def is_signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_setting_up_by_the_page(anna: Person, clock):
    client, elsewhere = client_of(anna), client_of(anna)
    page = client.get("/second-factor/").content.decode()
    [key] = re.findall(r'<code id="key">([A-Z2-7 ]{39})</code>', page)
    assert page.count("<svg") == 1
    assert "style=" not in page
    assert key in client.get("/second-factor/").content.decode()  # the same when it is loaded again
    secret = key.replace(" ", "")
    wrong_password = client.post("/second-factor/", {"password": "wrong", "code": code(secret)})
    assert b"This is not your password." in wrong_password.content
    assert WRONG in client.post("/second-factor/", {"password": PASSWORD, "code": "000000"}).content.decode()
    assert not SecondFactor.objects.exists()
    session = client.session.session_key
    page = client.post("/second-factor/", {"password": PASSWORD, "code": code(secret)}).content.decode()
    told = re.findall(r"<li><code>((?:[a-z2-7]{4}-){5}[a-z2-7]{4})</code>", page)
    assert len(set(told)) == 8
    assert is_signed_in(client)
    assert client.session.session_key != session
    assert not is_signed_in(elsewhere), "it began with the password alone"
    kept = SecondFactor.objects.values().get()
    assert secret not in str(kept)
    assert not any(one in str(kept) or one.replace("-", "") in str(kept) for one in told)
    assert not any(secret in str(session.get_decoded()) for session in Session.objects.all())
    assert Event.objects.latest("pk").verb == "second factor set up"


def test_signing_in_takes_the_password_and_a_code(recovery):
    client = Client()
    assert give_password(client, "/answers/")["Location"] == "/login/code/"
    assert not is_signed_in(client)
    assert client.get("/login/code/").status_code == 200
    assert give_code(client, "000000") == WRONG
    assert not is_signed_in(client)
    before = client.session.session_key
    assert give_code(client, code()) == "/answers/"
    assert is_signed_in(client)
    assert client.session.session_key != before


def test_a_code_is_good_once_and_not_after_the_step_after_its_own(recovery, clock):
    early = code()
    client = Client()
    give_password(client)
    assert give_code(client, early) == "/"
    again = Client()
    give_password(again)
    assert give_code(again, early) == WRONG
    clock.shift(30)
    late = code()
    clock.shift(30)
    assert give_code(again, late) == "/"
    third = Client()
    clock.shift(30)
    gone = code()
    clock.shift(60)
    give_password(third)
    assert give_code(third, gone) == WRONG


def test_a_recovery_code_is_good_once_however_it_is_typed(recovery):
    client = Client()
    give_password(client)
    assert give_code(client, f" {recovery[3].upper().replace('-', ' ')} ") == "/"
    assert Event.objects.latest("pk").details == {"left": 7}
    again = Client()
    give_password(again)
    assert give_code(again, recovery[3]) == WRONG
    assert give_code(again, recovery[4]) == "/"


def test_five_wrong_codes_wait_a_quarter_of_an_hour_from_wherever_they_come(recovery, clock):
    said = []
    for number in range(5):
        client = Client(REMOTE_ADDR=f"10.0.0.{number}")
        give_password(client)
        said.append(give_code(client, "000000"))
    assert said == [WRONG] * 4 + [TOO_MANY]
    client = Client()
    give_password(client)
    assert give_code(client, code()) == TOO_MANY
    assert give_code(client, recovery[0]) == TOO_MANY
    clock.shift(14 * 60)
    give_password(client)
    assert give_code(client, code()) == TOO_MANY
    clock.shift(60)
    assert give_code(client, code()) == "/"


def test_a_good_code_begins_the_count_anew(recovery):
    for _ in range(3):
        client = Client()
        give_password(client)
        assert [give_code(client, "000000") for _ in range(3)] == [WRONG] * 3
        assert give_code(client, recovery.pop()) == "/"


def test_the_second_step_is_nobodys_without_the_first(recovery, clock, anna: Person):
    assert Client().get("/login/code/")["Location"] == "/login/"
    assert give_code(Client(), code()) == "/login/"
    late = Client()
    give_password(late)
    clock.shift(301)
    assert give_code(late, code()) == "/login/"
    changed = Client()
    give_password(changed)
    anna.set_password("another long password")
    anna.save()
    assert give_code(changed, code()) == "/login/"
    anna.set_password(PASSWORD)
    anna.save()
    inactive = Client()
    give_password(inactive)
    Person.objects.update(is_active=False)
    assert give_code(inactive, code()) == "/login/"


def test_turning_it_off_takes_password_and_code(recovery, anna: Person):
    client = client_of(anna)
    assert b"8 recovery codes left" in client.get("/second-factor/").content
    for form in ({"password": "wrong", "code": code()}, {"password": PASSWORD, "code": "000000"}, {}):
        assert client.post("/second-factor/off/", form).status_code == 200
        assert client.post("/second-factor/codes/", form).status_code == 200
    assert SecondFactor.objects.get().recovery != []
    assert client.post("/second-factor/off/", {"password": PASSWORD, "code": code()}).status_code == 302
    assert not SecondFactor.objects.exists()
    assert Event.objects.latest("pk").verb == "second factor turned off"
    assert give_password(Client())["Location"] == "/"


def test_new_recovery_codes_take_the_place_of_the_old_ones(recovery, anna: Person):
    client = client_of(anna)
    page = client.post("/second-factor/codes/", {"password": PASSWORD, "code": code()}).content.decode()
    told = re.findall(r"<li><code>([a-z2-7-]{29})</code>", page)
    assert len(told) == 8
    signing_in = Client()
    give_password(signing_in)
    assert give_code(signing_in, recovery[0]) == WRONG
    assert give_code(signing_in, told[0]) == "/"


def test_wrong_passwords_count_wherever_one_is_asked_for(anna: Person):
    client = client_of(anna)
    form = {"old_password": "wrong", "new_password1": "another long one", "new_password2": "another long one"}
    assert [client.post("/password/", form).status_code for _ in range(3)] == [200] * 3
    assert client.post("/second-factor/", {"password": "wrong", "code": "1"}).status_code == 200
    assert client.post("/second-factor/", {"password": "wrong", "code": "1"}).status_code == 429
    assert client.post("/password/", form | {"old_password": PASSWORD}).status_code == 429


def test_a_new_password_ends_the_other_sessions(anna: Person):
    client, elsewhere = client_of(anna), client_of(anna)
    before, new = client.session.session_key, "another long password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/password/", form).status_code == 302
    assert is_signed_in(client)
    assert client.session.session_key != before
    assert not is_signed_in(elsewhere)


def require(client: Client, required: str = "yes") -> None:
    assert client.post("/campaigns/study/second-factor/", {"required": required}).status_code == 302


def test_a_campaign_requires_it_of_its_people_and_of_no_others(
    bank: NuggetBank, anna: Person, ben: Person, olga: Person, otto: Person, admin: Person, clock
):
    end_roles(ben)
    clients = {person.username: client_of(person) for person in (anna, ben, olga, otto, admin)}
    token = create_token(person=olga, name="script", expires_at=None, acting_user=olga)
    script = {"HTTP_AUTHORIZATION": f"Bearer {token.secret}"}
    assert Client().get("/api/v1/campaigns", **script).status_code == 200
    require(clients["olga"])
    assert Event.objects.latest("pk").verb == "second factor required"
    found = {name: client.get("/").get("Location") for name, client in clients.items()}
    assert found == {"anna": "/second-factor/", "ben": None, "olga": "/second-factor/", "otto": None} | {
        "admin": "/second-factor/"
    }
    owing = clients["anna"]
    assert owing.get(f"/nuggets/{bank.pk}/")["Location"] == "/second-factor/"
    assert owing.post(f"/nuggets/{bank.pk}/add/").status_code == 403
    assert owing.get(f"/nuggets/{bank.pk}/", headers={"HX-Request": "true"}).status_code == 403
    assert owing.get(f"/nuggets/{bank.pk}/", headers={"Sec-Fetch-Mode": "cors"}).status_code == 403
    assert clients["admin"].get("/admin/")["Location"] == "/second-factor/"
    assert owing.get("/password/").status_code == 200
    assert b"A campaign of yours requires it" in owing.get("/second-factor/").content
    assert Client().get("/api/v1/campaigns", **script).status_code == 401
    for person in (anna, olga):
        assert set_up(person=person, secret=SECRET, code=code(), session_key=None)
        clients[person.username] = client_of(person)
    assert clients["anna"].get(f"/nuggets/{bank.pk}/").status_code == 200
    assert Client().get("/api/v1/campaigns", **script).status_code == 200
    require(clients["olga"], "no")
    assert clients["admin"].get("/admin/").status_code == 200


def test_who_belongs_to_it_no_longer_owes_nothing(bank: NuggetBank, anna: Person, olga: Person):
    Campaign.objects.update(second_factor_required=True)
    for person in (anna, olga):
        assert not is_signed_in(client_of(person))
        end_roles(person)
        assert is_signed_in(client_of(person))


def test_an_administrator_resets_it_which_is_recorded(recovery, anna: Person, admin: Person):
    client = client_of(admin)
    factor = SecondFactor.objects.get()
    for page in ("/admin/accounts/secondfactor/", f"/admin/accounts/secondfactor/{factor.pk}/change/"):
        shown = client.get(page).content.decode()
        assert "anna" in shown
        assert factor.secret not in shown
        assert factor.recovery[0] not in shown
    client.post("/admin/accounts/secondfactor/", {"action": "reset", "_selected_action": [factor.pk]})
    assert not SecondFactor.objects.exists()
    event = Event.objects.latest("pk")
    assert (event.verb, event.subject, event.person) == ("second factor reset", "anna", admin)
    assert give_password(Client())["Location"] == "/"


def test_with_another_key_of_the_installation_recovery_codes_still_work(recovery, settings):
    settings.SECRET_KEY = "another one"
    client = Client()
    give_password(client)
    assert give_code(client, code()) == WRONG
    assert give_code(client, recovery[0]) == "/"
