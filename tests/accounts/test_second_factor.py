"""Codes of an app: set up, asked for, throttled, required, turned off and reset."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.test import Client

from assessor.accounts.adapters import TOO_MANY_CODES, WRONG_CODE
from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.models import Campaign, Event
from nuggets.models import NuggetBank
from tests.accounts.steps import SECRET, code, confirm, give_code, give_password, has_app, is_signed_in, plant, words
from tests.conftest import PASSWORD, client_of, end_roles


def types(person: Person) -> set[str]:
    return set(Authenticator.objects.filter(user=person).values_list("type", flat=True))


def events() -> list[str]:
    return list(Event.objects.order_by("pk").values_list("verb", flat=True))


def test_setting_up_by_the_page(anna: Person, clock, at_commit):
    client, elsewhere = client_of(anna), client_of(anna)
    assert client.get("/security/app/")["Location"] == "/confirm/?next=%2Fsecurity%2Fapp%2F"
    assert "This is not your password." in words(confirm(client, "wrong"))
    assert client.get("/security/app/").status_code == 302
    keys = [client.session.session_key]
    assert confirm(client)["Location"] == "/security/"
    keys.append(client.session.session_key)
    page = client.get("/security/app/").content.decode()
    [secret] = re.findall(r'<code id="key">([A-Z2-7]{32})</code>', page)
    assert page.count("<svg") == 1
    assert "style=" not in page
    assert not any(secret in str(session.get_decoded()) for session in Session.objects.all())
    assert WRONG_CODE in words(client.post("/security/app/", {"code": "000000"}))
    assert types(anna) == set()
    used = code(secret)
    assert client.post("/security/app/", {"code": used})["Location"] == "/security/recovery-codes/"
    keys.append(client.session.session_key)
    assert len(set(keys)) == 3, "a new key at each step up"
    shown = re.findall(
        r"<li><code>(\d{4}-\d{4}-\d{4})</code>", client.get("/security/recovery-codes/").content.decode()
    )
    assert len(set(shown)) == 8
    assert shown[0] not in client.get("/security/recovery-codes/").content.decode(), "shown once"
    assert is_signed_in(client)
    assert not is_signed_in(elsewhere), "it began with the password alone"
    kept = str(list(Authenticator.objects.values()))
    assert not any(each in kept for each in (secret, *shown, *(one.replace("-", "") for one in shown)))
    assert not any(secret in str(session.get_decoded()) for session in Session.objects.all())
    assert events() == ["second factor set up"]
    again = Client()
    give_password(again)
    assert give_code(again, used) == WRONG_CODE, "the code that set it up was used"


def test_signing_in_takes_the_password_and_a_code(recovery):
    client = Client()
    client.get("/login/")
    assert give_password(client, "/answers/")["Location"] == "/login/code/"
    waiting = client.session.session_key
    assert not is_signed_in(client)
    assert client.get("/login/code/").status_code == 200
    assert give_code(client, "000000") == WRONG_CODE
    assert not is_signed_in(client)
    assert give_code(client, code()) == "/answers/"
    assert is_signed_in(client)
    assert client.session.session_key != waiting


def test_a_session_that_was_planted_is_nobodys_after_the_password(recovery):
    planted, victim = plant()
    give_password(victim)
    assert give_code(planted, code()) == "/login/", "the password was given in another session"
    assert give_code(victim, code()) == "/"


def test_a_code_is_good_once_and_not_after_the_step_after_its_own(recovery, clock):
    early = code()
    client, again = Client(), Client()
    give_password(client)
    assert give_code(client, early) == "/"
    for _ in range(3):  # for as long as its time is one that a clock may show
        give_password(again)
        assert give_code(again, early) == WRONG_CODE
        clock.shift(29)
    late = code()
    clock.shift(30)
    assert give_code(again, late) == "/"
    third = Client()
    clock.shift(30)
    gone = code()
    clock.shift(60)
    give_password(third)
    assert give_code(third, gone) == WRONG_CODE


def test_a_code_that_confirmed_signs_nobody_in(recovery, anna: Person):
    client = client_of(anna)
    assert client.post("/confirm/code/", {"code": code(), "next": "/security/"})["Location"] == "/security/"
    again = Client()
    give_password(again)
    assert give_code(again, code()) == WRONG_CODE


def test_a_recovery_code_is_good_once_however_it_is_typed(recovery):
    client = Client()
    give_password(client)
    typed = f" {recovery[3][:4]}-{recovery[3][4:8]} {recovery[3][8:]} "
    assert give_code(client, typed) == "/"
    event = Event.objects.latest("pk")
    assert (event.verb, event.details) == ("recovery code used", {"left": 7})
    again = Client()
    give_password(again)
    assert give_code(again, recovery[3]) == WRONG_CODE
    assert give_code(again, recovery[4]) == "/"


def test_five_wrong_codes_wait_a_quarter_of_an_hour_from_wherever_they_come(recovery, clock):
    said = []
    for number in range(6):
        client = Client(REMOTE_ADDR=f"10.0.0.{number}")
        give_password(client)
        said.append(give_code(client, "000000"))
    assert said == [WRONG_CODE] * 5 + [TOO_MANY_CODES]
    client = Client()
    give_password(client)
    assert give_code(client, code()) == TOO_MANY_CODES
    assert give_code(client, recovery[0]) == TOO_MANY_CODES
    clock.shift(14 * 60)
    give_password(client)
    assert give_code(client, code()) == TOO_MANY_CODES
    clock.shift(61)
    assert give_code(client, code()) == "/"


def test_wrong_codes_count_wherever_one_is_asked_for(recovery, anna: Person):
    client = client_of(anna)
    for _ in range(5):
        assert WRONG_CODE in words(client.post("/confirm/code/", {"code": "000000"}))
    give_password(signing_in := Client())
    assert give_code(signing_in, code()) == TOO_MANY_CODES


def test_a_good_code_begins_the_count_anew(recovery):
    for _ in range(3):
        client = Client()
        give_password(client)
        assert [give_code(client, "000000") for _ in range(4)] == [WRONG_CODE] * 4
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


def test_turning_it_off_takes_password_or_code_again(recovery, anna: Person):
    client, elsewhere = client_of(anna), client_of(anna)
    assert "8 recovery codes left" in words(client.get("/security/"))
    for path in ("/security/app/off/", "/security/recovery-codes/new/"):
        assert client.post(path)["Location"].startswith("/confirm/")
    assert types(anna) == {"totp", "recovery_codes"}
    confirm(client)
    assert client.post("/security/app/off/")["Location"] == "/security/"
    assert types(anna) == set()
    assert events() == ["second factor turned off"]
    assert (is_signed_in(client), is_signed_in(elsewhere)) == (True, False)
    assert give_password(Client())["Location"] == "/"


def test_new_recovery_codes_take_the_place_of_the_old_ones(recovery, anna: Person):
    client = client_of(anna)
    confirm(client)
    assert client.post("/security/recovery-codes/new/")["Location"] == "/security/recovery-codes/"
    page = client.get("/security/recovery-codes/").content.decode()
    shown = re.findall(r"<li><code>(\d{4}-\d{4}-\d{4})</code>", page)
    assert len(shown) == 8
    assert events() == ["recovery codes renewed"]
    signing_in = Client()
    give_password(signing_in)
    assert give_code(signing_in, recovery[0]) == WRONG_CODE
    assert give_code(signing_in, shown[0]) == "/"


def test_what_was_confirmed_is_confirmed_for_five_minutes(recovery, anna: Person, clock):
    client = client_of(anna)
    confirm(client)
    clock.shift(299)
    assert client.get("/security/app/off/").status_code == 200
    clock.shift(2)
    assert client.get("/security/app/off/").status_code == 302


def test_wrong_passwords_count_wherever_one_is_asked_for(anna: Person):
    client = client_of(anna)
    form = {"oldpassword": "wrong", "password1": "another long one", "password2": "another long one"}
    assert [client.post("/password/", form).status_code for _ in range(3)] == [200] * 3
    assert [confirm(client, "wrong").status_code for _ in range(2)] == [200] * 2
    assert confirm(client).status_code == 429
    assert client.post("/password/", form | {"oldpassword": PASSWORD}).status_code == 429
    assert give_password(Client()).status_code == 429


def test_a_new_password_ends_the_other_sessions(recovery, anna: Person):
    client, elsewhere, waiting = client_of(anna), client_of(anna), Client()
    give_password(waiting)
    before, new = client.session.session_key, "another long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/password/", form)["Location"] == "/security/"
    assert is_signed_in(client)
    assert client.session.session_key != before
    assert not is_signed_in(elsewhere)
    assert give_code(waiting, code()) == "/login/"
    assert events() == ["password changed"]


def require(client: Client, required: str = "yes") -> None:
    assert client.post("/campaigns/study/second-factor/", {"required": required}).status_code == 302


def test_a_campaign_requires_it_of_its_people_and_of_no_others(
    bank: NuggetBank, anna: Person, ben: Person, olga: Person, otto: Person, admin: Person
):
    end_roles(ben)
    clients = {person.username: client_of(person) for person in (anna, ben, olga, otto, admin)}
    token = create_token(person=olga, name="script", expires_at=None, acting_user=olga)
    script = {"HTTP_AUTHORIZATION": f"Bearer {token.secret}"}
    assert Client().get("/api/v1/campaigns", **script).status_code == 200
    require(clients["olga"])
    assert Event.objects.latest("pk").verb == "second factor required"
    found = {name: client.get("/").get("Location") for name, client in clients.items()}
    assert found == {"anna": "/security/", "ben": None, "olga": "/security/", "otto": None, "admin": "/security/"}
    owing = clients["anna"]
    assert owing.get(f"/nuggets/{bank.pk}/")["Location"] == "/security/"
    assert owing.post(f"/nuggets/{bank.pk}/add/").status_code == 403
    assert owing.get(f"/nuggets/{bank.pk}/", headers={"HX-Request": "true"}).status_code == 403
    assert owing.get(f"/nuggets/{bank.pk}/", headers={"Sec-Fetch-Mode": "cors"}).status_code == 403
    assert clients["admin"].get("/admin/")["Location"] == "/security/"
    assert owing.get("/password/").status_code == 200
    assert "A campaign of yours requires a second factor" in words(owing.get("/security/"))
    assert confirm(owing)["Location"] == "/security/"
    for page in ("app/", "passkeys/add/"):
        assert owing.get(f"/security/{page}").status_code == 200
    assert Client().get("/api/v1/campaigns", **script).status_code == 401
    for person in (anna, olga):
        has_app(person)
        clients[person.username] = client_of(person)
    assert clients["anna"].get(f"/nuggets/{bank.pk}/").status_code == 200
    assert Client().get("/api/v1/campaigns", **script).status_code == 200
    require(clients["olga"], "no")
    assert clients["admin"].get("/admin/").status_code == 200


@pytest.mark.parametrize(("kind", "is_one"), [("totp", True), ("webauthn", True), ("recovery_codes", False)])
def test_an_app_or_a_passkey_is_one_and_recovery_codes_are_not(bank, anna: Person, kind: str, is_one: bool):
    Campaign.objects.update(second_factor_required=True)
    Authenticator.objects.create(user=anna, type=kind, data={})
    assert is_signed_in(client_of(anna)) == is_one


def test_who_belongs_to_it_no_longer_owes_nothing(bank: NuggetBank, anna: Person, olga: Person):
    Campaign.objects.update(second_factor_required=True)
    for person in (anna, olga):
        assert not is_signed_in(client_of(person))
        end_roles(person)
        assert is_signed_in(client_of(person))


def reset(admin: Person, factor: Authenticator) -> Any:
    return client_of(admin).post("/admin/mfa/authenticator/", {"action": "reset", "_selected_action": [factor.pk]})


def test_an_administrator_resets_it_which_is_recorded(recovery, anna: Person, admin: Person):
    factor = Authenticator.objects.get(type="totp")
    for page in ("/admin/mfa/authenticator/", f"/admin/mfa/authenticator/{factor.pk}/change/"):
        shown = client_of(admin).get(page).content.decode()
        assert "anna" in shown
        assert factor.data["secret"] not in shown
    reset(admin, factor)
    assert not Authenticator.objects.exists()
    event = Event.objects.latest("pk")
    assert (event.verb, event.subject, event.person) == ("second factor reset", "anna", admin)
    assert give_password(Client())["Location"] == "/"


def test_a_reset_ends_the_persons_sessions_and_a_sign_in_that_waits_for_a_code(
    recovery, anna: Person, ben: Person, admin: Person
):
    """Who had the password and waited at the second step must not be let in by a factor that they set up now."""
    signed_in, waiting, another = client_of(anna), Client(), client_of(ben)
    give_password(waiting)
    assert waiting.get("/login/code/").status_code == 200
    reset(admin, Authenticator.objects.get(type="totp"))
    assert not is_signed_in(signed_in)
    assert waiting.get("/login/code/")["Location"] == "/login/"
    assert give_code(waiting, code()) == "/login/"
    assert is_signed_in(another)


def test_with_another_key_of_the_installation_no_code_is_good(recovery, settings):
    """Not even one that anybody could compute, such as that of a fixed secret."""
    settings.SECRET_KEY = "another one"
    client = Client()
    give_password(client)
    for given in (code(), recovery[0], code("A" * 32)):
        assert give_code(client, given) == WRONG_CODE


def test_a_secret_is_in_no_page_after_it_was_set_up(recovery, anna: Person):
    client = client_of(anna)
    confirm(client)
    for page in ("/security/", "/security/app/off/", "/security/recovery-codes/"):
        assert SECRET not in client.get(page).content.decode()
    assert client.get("/security/app/")["Location"] == "/security/app/off/"
