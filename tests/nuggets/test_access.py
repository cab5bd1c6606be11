"""Whose bank it is: others get nothing, the campaign's organizer may look."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign, end_membership
from assessor.campaigns.models import Role
from assessor.work.actions import give_tasks, withdraw_task
from nuggets.models import NuggetBank
from tests.conftest import client_of, end_roles, make_person
from tests.nuggets.conftest import WRITES, everything, send, shown, url


@pytest.fixture
def writes_answer(edited: NuggetBank) -> Callable[[Client], set[int]]:
    """Send every write, each as good as Anna's, show that nothing changed, and return the statuses."""

    def do(client: Client) -> set[int]:
        before = everything(edited)
        statuses = {send(client, edited, verb, **fields).status_code for verb, fields in WRITES.items()}
        assert everything(edited) == before
        return statuses

    return do


@pytest.mark.parametrize("verb", WRITES)
def test_the_owner_reads_and_writes(edited: NuggetBank, as_anna: Client, verb: str):
    assert as_anna.get(url(edited, "editor")).status_code == 200
    assert send(as_anna, edited, verb, **WRITES[verb]).status_code == 200


@pytest.mark.parametrize("who", ["ben", "otto", "admin"])
def test_strangers_get_nothing(edited: NuggetBank, who: str, request, writes_answer):
    stranger: Person = request.getfixturevalue(who)
    if who == "otto":
        create_campaign(name="His own", slug="his-own", acting_user=stranger)
    client = client_of(stranger)
    page = client.get(url(edited, "editor"))
    assert page.status_code == 404
    assert edited.topic.title not in page.content.decode()
    assert writes_answer(client) == {404}


def test_the_organizer_reads_and_does_not_write(edited: NuggetBank, olga: Person, writes_answer):
    client = client_of(olga)
    page = client.get(url(edited, "editor"))
    assert page.status_code == 200
    assert [text for _, text, _ in shown(page).rows] == ["a", "b"]
    assert "Read-only view of anna's work" in page.content.decode()
    assert {"textarea", "template"}.isdisjoint(shown(page).tags)
    for control in ("outbox.js", "editor.js", "clock.js", "data-act=", 'id="add"', "data-url=", 'id="time"'):
        assert control not in page.content.decode()
    assert writes_answer(client) == {404}


def test_a_former_organizer_reads_no_more(edited: NuggetBank, olga: Person, otto: Person, writes_answer):
    organizer = add_member(campaign=edited.condition.campaign, person=otto, role=Role.ORGANIZER, acting_user=olga)
    client = client_of(otto)
    assert client.get(url(edited, "editor")).status_code == 200
    end_membership(membership=organizer, acting_user=olga)
    assert client.get(url(edited, "editor")).status_code == 404
    assert writes_answer(client) == {404}


def test_who_organized_once_reads_nothing(edited: NuggetBank, olga: Person):
    assert client_of(olga).get(url(edited, "editor")).status_code == 200
    end_roles(olga)
    assert client_of(olga).get(url(edited, "editor")).status_code == 404


def test_who_is_no_assessor_any_more_gets_nothing(edited: NuggetBank, anna: Person, writes_answer):
    end_roles(anna)
    client = client_of(anna)
    assert client.get(url(edited, "editor")).status_code == 404
    assert writes_answer(client) == {404}


def test_an_inactive_person_is_signed_out(edited: NuggetBank, anna: Person, as_anna: Client, writes_answer):
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    assert as_anna.get(url(edited, "editor")).status_code == 302
    assert writes_answer(as_anna) == {401}


def test_a_withdrawn_bank_is_gone_until_it_comes_back(
    edited: NuggetBank, anna: Person, olga: Person, as_anna: Client, writes_answer
):
    withdraw_task(task=edited.task, acting_user=olga)
    assert as_anna.get(url(edited, "editor")).status_code == 404
    assert writes_answer(as_anna) == {404}
    assert client_of(olga).get(url(edited, "editor")).status_code == 200
    condition = edited.condition
    give_tasks(campaign=condition.campaign, topics=[edited.topic], condition=condition, person=anna, acting_user=olga)
    page = as_anna.get(url(edited, "editor"))
    assert [text for _, text, _ in shown(page).rows] == ["a", "b"]
    assert send(as_anna, edited, "delete").status_code == 200


def test_who_got_a_withdrawn_topic_sees_nothing_of_the_earlier_work(
    edited: NuggetBank, ben: Person, olga: Person, writes_answer
):
    withdraw_task(task=edited.task, acting_user=olga)
    condition = edited.condition
    [task] = give_tasks(
        campaign=condition.campaign, topics=[edited.topic], condition=condition, person=ben, acting_user=olga
    )
    client = client_of(ben)
    bens = NuggetBank.objects.get(task=task)
    assert shown(client.get(url(bens, "editor"))).rows == []
    assert client.get(url(edited, "editor")).status_code == 404
    assert writes_answer(client) == {404}


def test_nobody_signed_in_reads_or_writes(edited: NuggetBank, client: Client, writes_answer):
    page = client.get(url(edited, "editor"))
    assert (page.status_code, page["Location"]) == (302, f"/login/?next={url(edited, 'editor')}")
    assert writes_answer(client) == {401}


@pytest.mark.parametrize("bank_id", [0, 987654321, 10**30])
def test_no_bank_is_found_under_an_unknown_number(bank: NuggetBank, olga: Person, as_anna: Client, bank_id: int):
    address = reverse("nugget_editor", args=[bank_id])
    assert as_anna.get(address).status_code == 404
    assert as_anna.post(address + "undo/", {"key": "x", "version": "0"}).status_code == 404
    assert client_of(olga).get(address).status_code == 404


def test_a_bank_that_is_nobodys_task_is_the_organizers_to_read(bank: NuggetBank, as_anna: Client, olga: Person):
    NuggetBank.objects.update(task=None)
    assert as_anna.get(url(bank, "editor")).status_code == 404
    assert send(as_anna, bank, "undo").status_code == 404
    assert client_of(olga).get(url(bank, "editor")).status_code == 200


def test_a_second_organizer_reads_as_well(bank: NuggetBank, olga: Person):
    """Two organizers of one campaign do not double what is found."""
    second = make_person("oskar", "organizer")
    add_member(campaign=bank.condition.campaign, person=second, role=Role.ORGANIZER, acting_user=olga)
    assert client_of(second).get(url(bank, "editor")).status_code == 200
    assert client_of(olga).get(url(bank, "editor")).status_code == 200
