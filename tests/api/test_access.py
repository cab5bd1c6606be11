"""Who gets what by the API: what their role's pages show, and no more."""

import re
from typing import Any

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.models import Token
from assessor.api.service import api
from assessor.campaigns.actions import create_campaign, end_membership, note_activity
from assessor.campaigns.models import Campaign, Event, Membership
from assessor.runtime.process_cache import cache
from tests.api.conftest import Ask, token
from tests.conftest import client_of, end_roles, make_person

# The columns: who asks. Everybody may list what they organize, which is nothing for most of them.
ROLES = ("organizer", "another", "administrator", "assessor", "nobody's role")
OUT = ("anonymous", "forged", "revoked", "expired", "inactive")  # 401, whatever it is
ORGANIZERS_ALONE = (200, 404, 404, 404, 404)
TABLE = {
    "list_campaigns": ("/campaigns", (200, 200, 200, 200, 200)),
    **{
        name: (f"/campaigns/study{rest}", ORGANIZERS_ALONE)
        for name, rest in {
            "get_campaign": "",
            "list_conditions": "/conditions",
            "list_topics": "/topics",
            "list_segments": "/segments",
            "list_runs": "/runs",
            "list_answers": "/answers",
            "list_qrels_sources": "/qrels",
            "list_grades": "/qrels/{source}/grades",
            "list_nuggets": "/conditions/{nuggets}/nuggets",
            "list_questions": "/conditions/{questions}/questions",
            "list_assignments": "/conditions/{assignment}/assignments",
            "list_question_grades": "/conditions/{grading}/question_grades",
            "list_argue_judgments": "/conditions/{argue}/argue_judgments",
            "list_support": "/conditions/{support}/support",
            "list_preferences": "/conditions/{preference}/preferences",
            "get_scores": "/conditions/{assignment}/scores",
            "list_topic_scores": "/conditions/{support}/scores/topics",
            "list_comparisons": "/comparisons",
            "get_comparison": "/comparisons/{comparison}",
            "get_label_judges": "/conditions/{assignment}/judges",
            "get_grade_judges": "/qrels/{source}/judges",
            "list_hybrids": "/hybrids",
            "get_hybrid_scores": "/hybrids/{hybrid}/scores",
            "list_calibrations": "/calibrations",
            "get_calibration": "/calibrations/{calibration}",
            "list_tasks": "/tasks",
            "list_progress": "/progress",
            "list_events": "/events",
        }.items()
    },
}

# For tokens that may send: test_imports.py.
SENT = {"send_import": ("POST", "/campaigns/study/imports"), "get_import": ("GET", "/campaigns/study/imports/{import}")}


def keys(campaign: Campaign) -> dict[str, int]:
    """Return what goes into addresses."""
    by_kind = {
        kind: campaign.conditions.filter(kind=kind, method="imported").earliest("pk").pk
        for kind in ("nuggets", "questions", "assignment", "grading", "argue", "support", "preference")
    }
    source, comparison = campaign.qrels_sources.earliest("pk"), campaign.comparisons.get()
    of = {"hybrid": campaign.hybrids.get().pk, "calibration": campaign.calibrations.get().pk}
    return by_kind | of | {"source": source.pk, "comparison": comparison.pk}


@pytest.fixture
def addresses(study: Campaign) -> dict[str, str]:
    return {name: address.format(**keys(study)) for name, (address, _) in TABLE.items()}


def test_the_tables_name_every_operation():
    described = {
        operation["operationId"]: (method.upper(), re.sub(r"{\w+}", "{}", address))
        for address, methods in api.get_openapi_schema()["paths"].items()
        for method, operation in methods.items()
    }
    named = SENT | {name: ("GET", address) for name, (address, _) in TABLE.items()}
    assert described == {
        name: (method, "/api/v1" + re.sub(r"{\w+}", "{}", address.replace("/campaigns/study", "/campaigns/{}")))
        for name, (method, address) in named.items()
    }


@pytest.mark.parametrize("lines", [False, True])
def test_every_address_by_every_role(addresses: dict[str, str], ask: Ask, lines: bool):
    make_inactive = Person.objects.get(username="gone")
    Person.objects.filter(pk=make_inactive.pk).update(is_active=False)
    found = {
        name: (*(ask(address, role, lines=lines).status_code for role in ROLES),) for name, address in addresses.items()
    }
    assert found == {name: expected for name, (_, expected) in TABLE.items()}
    out = {ask(address, role, lines=lines).status_code for address in addresses.values() for role in OUT}
    assert out == {401}


def test_what_is_not_ones_own_looks_like_what_is_not_there(addresses: dict[str, str], ask: Ask):
    for address in addresses.values():
        there = ask(address, "another")
        absent = ask(address.replace("/study", "/nothing"), "another")
        if there.status_code == 404:
            apart_from_when = [{**one.headers, "Expires": ""} for one in (there, absent)]
            assert there.content == absent.content
            assert apart_from_when[0] == apart_from_when[1]
    assert ask("/campaigns", "another").json() == {"items": [], "next": None}


def test_records_of_one_campaign_are_not_reached_by_way_of_another(study: Campaign, otto: Person, ask: Ask):
    create_campaign(name="Other", slug="other", acting_user=otto)
    assert [one["slug"] for one in ask("/campaigns", "another").json()["items"]] == ["other"]
    for name, (address, _) in TABLE.items():
        if "{" in address:
            path = address.format(**keys(study)).replace("/study/", "/other/")
            assert ask(path, "another").status_code == 404, name
    assert ask("/campaigns/other/topics", "another").json()["items"] == []
    assert ask("/campaigns/other/answers", "another", run="r1").status_code == 422


def test_who_organizes_no_longer_reads_no_longer(study: Campaign, olga: Person, ask: Ask):
    assert ask("/campaigns/study/topics").status_code == 200
    end_membership(membership=Membership.objects.get(role="organizer", person=olga), acting_user=None)
    assert ask("/campaigns/study/topics").status_code == 404
    assert ask("/campaigns").json()["items"] == []


def test_who_is_an_organizer_no_longer_reads_no_longer(study: Campaign, olga: Person, ask: Ask):
    end_roles(olga)
    assert ask("/campaigns/study/topics").status_code == 404
    assert ask("/campaigns").json()["items"] == []


def test_a_cookie_lets_nobody_in(study: Campaign, signed_in: Client):
    assert signed_in.get("/campaigns/study/").status_code == 200
    response = signed_in.get("/api/v1/campaigns/study/topics")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.json() == {"detail": "This needs a token that is good: Authorization: Bearer ..."}


def test_a_token_opens_no_page(study: Campaign, secrets: dict[str, str]):
    response = Client().get("/campaigns/study/", headers={"Authorization": f"Bearer {secrets['organizer']}"})
    assert response.status_code == 302


ODD_HEADERS = ("{}", "Basic {}", "Bearer", "Bearer ", "Bearer {}x", "Bearer é", "Token {}", "{} Bearer")


@pytest.mark.parametrize("header", ODD_HEADERS)
def test_odd_headers_are_401(study: Campaign, secrets: dict[str, str], header: str, caplog: Any):
    told = header.format(secrets["organizer"]).encode().decode("latin-1")
    response = Client().get("/api/v1/campaigns", headers={"Authorization": told})
    assert response.status_code == 401
    assert secrets["organizer"] not in caplog.text


def test_whoever_is_made_inactive_has_no_token_left_even_when_active_again(olga: Person, admin: Person, ask: Ask):
    assert ask("/campaigns").status_code == 200
    for is_active in (False, True):
        olga.is_active = is_active
        olga.save()
        note_activity(person=olga, acting_user=admin)
        assert ask("/campaigns").status_code == 401
    assert not Token.objects.filter(person=olga, revoked_at=None).exists()
    assert ask("/campaigns", "another").status_code == 200


def test_a_token_keeps_its_person(olga: Person, admin: Person):
    person = make_person("somebody", "organizer")
    token(person)
    page = client_of(admin).post(f"/admin/accounts/person/{person.pk}/delete/", {"post": "yes"}).content.decode()
    assert "1 tokens" in page
    assert Person.objects.filter(pk=person.pk).exists()


def test_use_is_noted_once_a_minute(olga: Person, ask: Ask, time_machine: Any):
    def used() -> str | None:
        at = Token.objects.filter(person=olga, name="notebook").latest("-pk").used_at
        return at and f"{at:%H:%M:%S}"

    times = {"10:00:00": "10:00:00", "10:00:59": "10:00:00", "10:01:00": "10:01:00", "10:01:30": "10:01:00"}
    for now, noted in times.items():
        time_machine.move_to(f"2027-01-01T{now}Z", tick=False)
        assert ask("/campaigns").status_code == 200
        assert used() == noted


def test_more_requests_than_the_limit_wait(olga: Person, ask: Ask, settings: Any, time_machine: Any):
    settings.API_REQUESTS_A_MINUTE = 3
    time_machine.move_to("2027-01-01T10:00:45Z", tick=False)
    assert [ask("/campaigns").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    assert ask("/campaigns")["Retry-After"] == "15"
    assert ask("/campaigns", "another").status_code == 200
    time_machine.move_to("2027-01-01T10:01:00Z", tick=False)
    assert ask("/campaigns").status_code == 200


def test_a_cache_that_forgot_how_many_there_were_refuses_nobody(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache, "add", lambda *args, **more: True)  # and what was added is pushed out at once
    assert ask("/campaigns").status_code == 200


def test_a_token_is_made_shown_once_and_revoked_on_its_owners_page(olga: Person, signed_in: Client, admin: Person):
    page = signed_in.post("/tokens/", {"name": "<b>note</b>", "may": "read", "days": "3"}).content.decode()
    [secret] = re.findall(r'<code id="secret">(assay_[\w-]{43})</code>', page)
    assert "<b>note" not in page
    made = Token.objects.get()
    assert secret not in str(Token.objects.values())
    assert (made.person, made.prefix, made.may) == (olga, secret[:14], "read")
    assert round((made.expires_at - made.created_at).total_seconds() / 3600) == 72
    again = signed_in.get("/tokens/").content.decode()
    assert secret not in again
    assert secret[:14] in again
    by_token = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/campaigns", headers=by_token).status_code == 200
    assert client_of(admin).post(f"/tokens/{made.pk}/revoke/").status_code == 404
    assert Client().get("/api/v1/campaigns", headers=by_token).status_code == 200
    for _ in range(2):
        assert signed_in.post(f"/tokens/{made.pk}/revoke/").status_code == 302
    assert Client().get("/api/v1/campaigns", headers=by_token).status_code == 401
    told = Event.objects.order_by("pk").values_list("verb", "subject", "person__username", "campaign")
    name = f"<b>note</b> ({secret[:14]}…)"
    assert [*told] == [("token made", name, "olga", None), ("token revoked", name, "olga", None)]
    assert secret not in str([*Event.objects.values()])


def test_a_token_for_sending_is_told_apart(olga: Person, signed_in: Client):
    signed_in.post("/tokens/", {"name": "pipeline", "may": "import", "days": ""})
    assert Token.objects.get().may == Token.May.IMPORT
    assert "<td>send labels and drafts, and read nothing</td>" in signed_in.get("/tokens/").content.decode()
    assert Event.objects.get(verb="token made").details == {"of": "olga", "may": "import"}


@pytest.mark.parametrize(
    "data", [{"name": ""}, {"name": "x" * 121}, {"days": "0"}, {"days": "9" * 40}, {"may": ""}, {"may": "all"}]
)
def test_an_odd_form_makes_no_token(signed_in: Client, data: dict[str, str]):
    assert signed_in.post("/tokens/", {"name": "x", "may": "read"} | data).status_code == 200
    assert not Token.objects.exists()


def test_only_get_is_answered(addresses: dict[str, str], secrets: dict[str, str]):
    by_token = {"Authorization": f"Bearer {secrets['organizer']}"}
    for address in (*addresses.values(), "/openapi.json", "/nothing", "/"):
        for method in ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"):
            response = Client().generic(method, f"/api/v1{address}", headers=by_token)
            assert response.status_code == (404 if method == "POST" and address in ("/nothing", "/") else 405)
            assert (response.get("Allow") or "GET") in ("GET", "GET, POST"), (method, address)
