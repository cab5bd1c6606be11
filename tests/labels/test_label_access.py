"""Who may not label, or not any more, is shut out of the page and of all that is sent from there; nothing changes."""

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, change_protocol
from assessor.campaigns.models import Role, Topic
from assessor.work.actions import withdraw_task
from assessor.work.blindness import record_exposure
from nuggets.models import NuggetBank
from tests.conftest import client_of, end_roles
from tests.judging import told
from tests.labels.conftest import KINDS
from tests.labels.screens import SCREENS, Screen, everything

SEEN = "You have seen what a language model gave on this topic for this kind of work"
TEXTS = ("Cats purr to heal", "purring heals", "Cats purr when content")  # of answers, nuggets and passages


def responses(screen: Screen, client: Client) -> dict[str, HttpResponse]:
    """Return what all requests of a screen are answered, which must change nothing."""
    before = everything()
    asked = screen.readings(client) | screen.writings(client)
    found = {name: ask() for name, ask in asked.items()}
    assert everything() == before
    return found


def statuses(screen: Screen, client: Client) -> set[int]:
    return {response.status_code for response in responses(screen, client).values()}


def test_a_stranger_is_not_let_in(any_screen: Screen, otto: Person, ben: Person, admin: Person):
    for person in (otto, ben, admin):
        assert statuses(any_screen, client_of(person)) == {404}, person


def test_who_signed_out_is_not_let_in(any_screen: Screen):
    readings = any_screen.readings(Client())
    for name, response in responses(any_screen, Client()).items():
        assert response.status_code == (302 if name in readings else 401), name


def test_who_is_no_assessor_any_more_is_shut_out(any_screen: Screen, anna: Person, as_anna: Client):
    end_roles(anna)
    assert statuses(any_screen, as_anna) == {404}


def test_a_withdrawn_task_opens_and_takes_nothing(any_screen: Screen, olga: Person, as_anna: Client):
    withdraw_task(task=any_screen.task, acting_user=olga)
    for name, response in responses(any_screen, as_anna).items():
        # Not said by the view of a write: the browser keeps what was done until the topic comes back.
        assert (response.status_code, "X-Assay-Write" in response) == (404, False), name


def test_an_organizer_looks_on_and_labels_nothing(any_screen: Screen, olga: Person):
    for name, response in responses(any_screen, client_of(olga)).items():
        assert response.status_code == (200 if name == "page" else 404), name


def test_who_is_no_organizer_any_more_does_not_look_on(any_screen: Screen, olga: Person):
    end_roles(olga)
    assert statuses(any_screen, client_of(olga)) == {404}


def test_who_comes_to_organize_is_shut_out(any_screen: Screen, anna: Person, olga: Person, as_anna: Client):
    add_member(campaign=any_screen.task.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    for name, response in responses(any_screen, as_anna).items():
        assert response.status_code == 403, name
        assert "anna organizes Study, or did" in response.content.decode(), name


def test_who_sees_a_models_labels_later_is_shut_out(screen: Screen, anna: Person, as_anna: Client):
    record_exposure(anna, [screen.task.topic], "nuggets", "test")
    record_exposure(anna, [Topic.objects.get(qid="t2")], screen.kind, "test")
    for name, ask in (screen.readings(as_anna) | screen.writings(as_anna)).items():
        assert ask().status_code != 403, name
    record_exposure(anna, [screen.task.topic], screen.kind, "test")
    for name, response in responses(screen, as_anna).items():
        assert (response.status_code, SEEN in response.content.decode()) == (403, True), name
        # By this the browser knows that it was no proxy that refused.
        assert response["X-Assay-Write"] == "1", name
        assert not [text for text in TEXTS if text in told(response)], name


def test_a_small_team_may_switch_that_off(screen: Screen, anna: Person, olga: Person, as_anna: Client):
    record_exposure(anna, [screen.task.topic], screen.kind, "test")
    change_protocol(campaign=screen.task.campaign, settings={"blind_after_seeing": False}, acting_user=olga)
    for name, ask in (screen.readings(as_anna) | screen.writings(as_anna)).items():
        assert ask().status_code == (400 if name in ("sign off", "show") else 200), name


def test_what_is_done_can_still_be_read(screen: Screen, anna: Person, as_anna: Client):
    screen.finish(as_anna)
    record_exposure(anna, [screen.task.topic], screen.kind, "test")
    readings = screen.readings(as_anna)
    for name, response in responses(screen, as_anna).items():
        if name in readings:
            assert response.status_code == 200, name
        else:
            expected = screen.refused_show_when_done if name == "show" else screen.refused_when_done
            assert (response.status_code, response["X-Assay-Write"]) == (expected, "1"), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_of_another_kind_opens_nothing_here(kind: str, bank: NuggetBank, as_anna: Client):
    assert as_anna.get(f"/{SCREENS[kind].address}/{bank.task_id}/").status_code == 404
