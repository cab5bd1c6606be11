"""Roles, invitations and links that several people change at the same moment, each on a connection of its own."""

import re
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.test import Client

from assessor.accounts.actions import make_link
from assessor.accounts.links import LinkTokens
from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign, people
from assessor.campaigns.models import Campaign, Event, Invitation, Membership, Role
from tests.conftest import client_of, make_person
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = "/campaigns/study/people/"
THREADS = 6


@pytest.fixture
def organizers(empty_campaign: Campaign, olga: Person) -> list[Person]:
    """Olga and others who organize her campaign."""
    others = [make_person(f"organizer{number}") for number in range(THREADS - 1)]
    for person in others:
        add_member(campaign=empty_campaign, person=person, role=Role.ORGANIZER, acting_user=None)
    return [olga, *others]


@pytest.fixture
def dora(empty_campaign: Campaign) -> Person:
    """An assessor of the study alone."""
    person = make_person("dora")
    add_member(campaign=empty_campaign, person=person, role=Role.ASSESSOR, acting_user=None)
    return person


def posting(by: Person, address: str, /, **fields: Any) -> Callable[[], Any]:
    """Return what posts a form, as somebody who is signed in already."""
    return partial(client_of(by).post, address, fields)


def meet_after(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Have two threads wait for each other after a step of both: where a lock lets in one at a time, not for long."""
    barrier, step = threading.Barrier(2), getattr(owner, name)

    def meet(*args: Any, **options: Any) -> Any:
        result = step(*args, **options)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(0.5)
        return result

    monkeypatch.setattr(owner, name, meet)


def roles(person: Person) -> list[str]:
    return sorted(person.memberships.filter(until=None).values_list("role", flat=True))


def verbs(person: Person) -> Counter[str]:
    return Counter(Event.objects.filter(subject=person.username).values_list("verb", flat=True))


def test_of_organizers_who_all_leave_at_once_one_stays(organizers: list[Person]):
    responses = at_once([posting(one, f"{PEOPLE}{one.pk}/role/", role="") for one in organizers])
    assert [response.status_code for response in responses] == [302] * THREADS
    assert sorted(map(roles, organizers)) == [[]] * (THREADS - 1) + [["organizer"]]


def test_organizers_who_take_each_other_off_leave_one(organizers: list[Person]):
    others = organizers[1:] + organizers[:1]
    pairs = zip(organizers, others, strict=True)
    responses = at_once([posting(one, f"{PEOPLE}{other.pk}/role/", role="") for one, other in pairs])
    assert {response.status_code for response in responses} <= {302, 404}
    assert Membership.objects.filter(role=Role.ORGANIZER, until=None).count() >= 1


def test_of_many_role_changes_of_one_person_one_role_is_left(organizers: list[Person], dora: Person):
    wished = ["organizer", "assessor"] * (THREADS // 2)
    at_once([posting(one, f"{PEOPLE}{dora.pk}/role/", role=role) for one, role in zip(organizers, wished, strict=True)])
    assert len(roles(dora)) == 1
    told = verbs(dora)
    [role] = roles(dora)
    for each in Role.values:
        assert told[f"{each} added"] - told[f"{each} removed"] == (each == role)


def test_one_link_used_twice_at_once_sets_one_password(db: None, monkeypatch: pytest.MonkeyPatch):
    invited = Person.objects.create_user("invited")
    address = make_link(person=invited, acting_user=None, site="http://testserver").address
    passwords = ["a long password", "another long password"]

    def using(password: str) -> Callable[[], Any]:
        client = Client()
        opened = client.get(address)["Location"]
        return partial(client.post, opened, {"password1": password, "password2": password})

    calls = [using(password) for password in passwords]
    meet_after(monkeypatch, LinkTokens, "check_token")
    responses = at_once(calls)
    assert Counter(response.status_code for response in responses) == {302: 1, 410: 1}
    [winner] = [each for each, response in zip(passwords, responses, strict=True) if response.status_code == 302]
    assert Person.objects.get(pk=invited.pk).check_password(winner)
    assert verbs(invited)["sign-in link used"] == 1


def test_a_new_name_that_many_invite_at_once_is_one_account(organizers: list[Person]):
    responses = at_once([posting(one, PEOPLE, name="new", role="assessor") for one in organizers])
    assert [response.status_code for response in responses] == [200] * THREADS
    links = [
        found for response in responses for found in re.findall(r"readonly>(http[^<]+)<", response.content.decode())
    ]
    person = Person.objects.get(username="new")
    assert (roles(person), len(links), verbs(person)["account made"]) == (["assessor"], 1, 1)
    assert Client().get(links[0]).status_code == 302


def test_an_invitation_that_is_accepted_and_withdrawn_at_once_is_one_of_both(organizers: list[Person], otto: Person):
    [campaign] = Campaign.objects.all()
    invitation = Invitation.objects.create(campaign=campaign, person=otto, role="assessor", invited_by=organizers[0])
    accepts = [posting(otto, f"/invitations/{invitation.pk}/", accepted="yes") for _ in range(3)]
    withdraws = [posting(one, f"/campaigns/study/invitations/{invitation.pk}/end/") for one in organizers[:3]]
    at_once(accepts + withdraws)
    assert not Invitation.objects.exists()
    told = verbs(otto)
    assert told["assessor added"] + told["invitation withdrawn"] == 1
    assert roles(otto) == ["assessor"] * told["assessor added"]


@pytest.mark.parametrize("is_member", [False, True])
def test_who_is_given_a_role_or_taken_off_while_invited_is_not_both_in_and_invited(
    empty_campaign: Campaign, olga: Person, admin: Person, monkeypatch: pytest.MonkeyPatch, is_member: bool
):
    otto = make_person("otto")
    added = {"campaign": empty_campaign.pk, "person": otto.pk, "role": "assessor"}
    if is_member:
        add_member(campaign=empty_campaign, person=otto, role=Role.ASSESSOR, acting_user=None)
        other = posting(olga, f"{PEOPLE}{otto.pk}/role/", role="")
    else:
        other = posting(admin, "/admin/campaigns/membership/add/", **added)
    invites = posting(olga, PEOPLE, name="otto", role="organizer")
    meet_after(monkeypatch, people, "end_link")
    responses = at_once([invites, other])
    assert {response.status_code for response in responses} <= {200, 302}
    assert roles(otto) == ([] if is_member else ["assessor"])
    assert not (roles(otto) and Invitation.objects.filter(person=otto).exists())


def test_no_link_of_an_organizer_is_left_to_who_gets_a_role_elsewhere(
    organizers: list[Person], dora: Person, otto: Person, admin: Person
):
    """Else it would open what they never answered for."""
    other = create_campaign(name="Other", slug="other", acting_user=otto)
    added = {"campaign": other.pk, "person": dora.pk, "role": "organizer"}
    makes = [posting(one, f"{PEOPLE}{dora.pk}/link/") for one in organizers]
    *made, gave = at_once([*makes, posting(admin, "/admin/campaigns/membership/add/", **added)])
    assert (gave.status_code, {response.status_code for response in made} <= {200, 404}) == (302, True)
    assert roles(dora) == ["assessor", "organizer"]
    assert Person.objects.get(pk=dora.pk).link_until is None


def test_who_gets_a_role_in_the_midst_of_being_invited_is_not_invited_too(
    empty_campaign: Campaign, olga: Person, admin: Person, otto: Person, monkeypatch: pytest.MonkeyPatch
):
    added = {"campaign": empty_campaign.pk, "person": otto.pk, "role": "assessor"}
    invites = posting(olga, PEOPLE, name="otto", role="organizer")
    gives = threading.Thread(target=at_once, args=[[posting(admin, "/admin/campaigns/membership/add/", **added)]])
    create = Invitation.objects.get_or_create

    def create_late(**fields: Any) -> Any:
        gives.start()
        gives.join(0.5)  # a lock holds it up for longer
        return create(**fields)

    monkeypatch.setattr(Invitation.objects, "get_or_create", create_late)
    assert invites().status_code == 200
    gives.join()
    assert (roles(otto), Invitation.objects.exists()) == (["assessor"], False)
