"""Every write of the editor over HTTP: what is saved, what is refused, and what comes back."""

import html
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.collection.actions import judge_of
from assessor.collection.models import Condition, Event, Person, Protocol, Topic
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.models import Task, Write
from assessor.work.writes import Closed
from nuggets import actions
from nuggets.models import Nugget, NuggetBank
from tests.conftest import client_of
from tests.nuggets.conftest import (
    EDITED,
    NEW,
    ON_A_NUGGET,
    WRITES,
    A,
    B,
    C,
    do,
    everything,
    fill,
    listed,
    send,
    shown,
    url,
)

UNCHANGED = [(str(A), "a", "vital"), (str(B), "b", "vital")]
AFTER = {
    "add": [*UNCHANGED, (str(NEW), "new", "")],
    "reword": [(str(A), "other", "vital"), (str(B), "b", "vital")],
    "importance": [(str(A), "a", "okay"), (str(B), "b", "vital")],
    "move": [(str(B), "b", "vital"), (str(A), "a", "vital")],
    "delete": [(str(B), "b", "vital")],
    "undo": [(str(A), "a", "vital"), (str(B), "b", "")],
    "redo": [*UNCHANGED, (str(C), "c", "")],
    "finish": UNCHANGED,
}
KEY = UUID(int=77)
each_write = pytest.mark.parametrize("verb", WRITES)


def refused(response: HttpResponse, message: str) -> None:
    assert response.status_code == 400
    assert response.content.decode() == message
    assert response["Content-Type"] == "text/plain"


# Saved


@each_write
def test_a_write_is_saved_and_answered_with_the_list(edited: NuggetBank, as_anna: Client, verb: str):
    response = send(as_anna, edited, verb, **WRITES[verb])
    assert response.status_code == 200
    back = shown(response)
    assert (back.version, back.rows) == (EDITED + 1, AFTER[verb])
    assert back.state == ("finished" if verb == "finish" else "open")
    assert "html" not in back.tags
    assert listed(edited) == [(text, importance) for _, text, importance in AFTER[verb]]
    assert NuggetBank.objects.get().version == EDITED + 1


@each_write
def test_a_page_loaded_after_a_write_shows_the_same_list(edited: NuggetBank, as_anna: Client, verb: str):
    back = shown(send(as_anna, edited, verb, **WRITES[verb]))
    page = shown(as_anna.get(url(edited, "editor")))
    assert page[:5] == back[:5]


def test_what_can_be_undone_and_redone_is_told(bank: NuggetBank, as_anna: Client):
    def can(response: HttpResponse) -> tuple[bool, bool]:
        return shown(response).undo, shown(response).redo

    assert can(as_anna.get(url(bank, "editor"))) == (False, False)
    assert can(send(as_anna, bank, "add", uid=A, text="a", **{"uid": str(A)}) if False else _add(as_anna, bank, A)) == (
        True,
        False,
    )
    assert can(send(as_anna, bank, "undo")) == (False, True)
    assert can(send(as_anna, bank, "redo")) == (True, False)
    assert can(send(as_anna, bank, "undo")) == (False, True)
    assert can(_add(as_anna, bank, B)) == (True, False)


def _add(client: Client, bank: NuggetBank, uid: UUID, text: str = "a", **fields: str) -> HttpResponse:
    key = fields.pop("key", None)
    return send(client, bank, "add", key=key, **({"text": text} | fields | {"new": str(uid)}))
