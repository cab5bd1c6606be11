"""Filling a bank, sending writes as the browser does, and reading what comes back."""

import json
import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from assessor.campaigns.models import Event
from assessor.work.models import Write
from assessor.work.write_protocol import Result, Sent, once
from nuggets import actions
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order

A, B, C = (UUID(int=number) for number in (10, 11, 12))
NEW, NEWER = UUID(int=13), UUID(int=14)
# Every write, with what goes with it; those on a nugget are on A. Each makes one version of the bank `edited`.
WRITES: dict[str, dict[str, str]] = {
    "add": {"uid": str(NEW), "text": "new", "docid": "d1"},
    "reword": {"text": "other"},
    "importance": {"importance": "okay"},
    "move": {"to": "1"},
    "delete": {},
    "attach": {"docid": "d1", "start": "0", "end": "4"},
    "detach": {"docid": "d2"},
    "split": {"uid1": str(NEW), "text1": "a1", "uid2": str(NEWER), "text2": "a2"},
    "merge": {"uids": f"{A} {B}", "uid": str(NEW), "text": "a and b"},
    "note": {"text": "ask about this"},
    "reading": {"text": "why, not how"},
    "read": {"docid": "d1", "read": "1"},
    "undo": {},
    "redo": {},
    "finish": {},
}
ON_A_NUGGET = ("keep", "reword", "importance", "move", "delete", "attach", "detach", "split", "note")
NOT_ON_LIST = "There is no such nugget on the list."
TOO_LONG = "A text has at most 2,000 characters and no NUL."
EDITED = 6  # the version of the bank `edited`


def do(bank: NuggetBank, action: Callable[..., Result], **fields: Any) -> Result:
    """Carry out an action as the task's person, on the bank's present version."""
    bank.refresh_from_db()
    assert bank.task is not None
    person = bank.task.person
    write = Sent(uuid4(), bank.version, "")
    result = once(bank.task, write, lambda: action(bank, **fields, acting_user=person, seen=write.seen))
    bank.refresh_from_db()
    return result


def fill(bank: NuggetBank, *nuggets: tuple[UUID, str, str]) -> None:
    """Add nuggets: uid, text, importance (or "")."""
    for uid, text, importance in nuggets:
        do(bank, actions.add_nugget, uid=uid, text=text, evidence=None)
        if importance:
            do(bank, actions.set_importance, uid=uid, importance=importance)


@pytest.fixture
def edited(bank: NuggetBank) -> NuggetBank:
    """Anna's bank with two vital nuggets, "a" and "b", and a third one, "c", whose adding was undone."""
    do(bank, actions.add_nugget, uid=A, text="a", evidence={"docid": "d2", "start": None, "end": None})
    do(bank, actions.set_importance, uid=A, importance="vital")
    fill(bank, (B, "b", "vital"), (C, "c", ""))
    do(bank, actions.undo)
    assert bank.version == EDITED
    return bank


@pytest.fixture
def finished(edited: NuggetBank) -> NuggetBank:
    """Anna's bank with two vital nuggets, handed in: one version further than `edited`."""
    do(edited, actions.finish_bank)
    return edited


def url(bank: NuggetBank, verb: str, on: UUID = A) -> str:
    return reverse(f"nugget_{verb}", args=[bank.pk, on] if verb in ON_A_NUGGET else [bank.pk])


def send(
    client: Client,
    bank: NuggetBank,
    verb: str,
    *,
    on: UUID = A,
    key: object = None,
    version: object = None,
    **fields: str,
) -> HttpResponse:
    """Send a write as the browser does: with a new key, and the bank's present version, where none is given."""
    if version is None:
        version = NuggetBank.objects.get(pk=bank.pk).version
    data = {"key": str(key or uuid4()), "version": str(version), **fields}
    return client.post(url(bank, verb, on), data, headers={"X-Assay-Write": "1"})


def listed(bank: NuggetBank) -> list[tuple[str, str]]:
    """Return the nuggets on the list as the database has them now: text and importance."""
    return [(nugget.text, nugget.importance) for nugget in nuggets_in_order(NuggetBank.objects.get(pk=bank.pk))]


def restored(bank: NuggetBank) -> NuggetBank:
    """Return the bank as read from the database anew, as after a reload of the page."""
    return NuggetBank.objects.select_related("task__person").get(pk=bank.pk)


def evidence_of(bank: NuggetBank, uid: UUID = A) -> list[tuple[str, int | None, int | None]]:
    """Return what a nugget rests on, as the database has it now: docid, start, end."""
    return [(item["docid"], item["start"], item["end"]) for item in bank.nuggets.get(uid=uid).evidence]


def everything(bank: NuggetBank) -> list[Any]:
    """Return all that a write could touch, to show that it touched nothing."""
    return [
        list(NuggetBank.objects.values().order_by("pk")),
        list(Nugget.objects.values().order_by("pk")),
        list(bank.edits.values_list("pk", "version", "verb")),
        list(Event.objects.values_list("pk", flat=True)),
        list(Write.objects.order_by("pk").values_list("key", flat=True)),
        type(bank.task).objects.filter(pk=bank.task_id).values().get(),
        list(bank.editions.values()),
    ]


@pytest.fixture
def refuses(edited: NuggetBank, as_anna: Client) -> Callable[..., None]:
    """Show that a write is refused with 400 and this message, and that it changed nothing at all."""

    def show(message: str, verb: str, **fields: object) -> None:
        before = everything(edited)
        response = send(as_anna, edited, verb, **fields)
        assert (response.status_code, response.content.decode()) == (400, message)
        assert response["Content-Type"] == "text/plain"
        assert everything(edited) == before

    return show


class Shown(NamedTuple):
    """The list in a response. rows: uid, text, importance; tags: every element of a page, none of a write's answer."""

    version: int
    state: str
    undo: bool
    redo: bool
    rows: list[tuple[str, str, str]]
    tags: list[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.list: dict[str, Any] = {}
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self._inside = False
        self._in_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        if named.get("id") == "nugget-list":
            self.list, self._inside = named, True
        if self._inside and tag == "li":
            self.rows.append([named["data-uid"] or "", "", ""])
        self._in_text = self._inside and named.get("class") == "text"
        if self._inside and "checked" in named:
            self.rows[-1][2] = named["value"] or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "div"
        self._in_text = False

    def handle_data(self, data: str) -> None:
        if self._in_text:
            self.rows[-1][1] += data


def known_list(response: HttpResponse) -> list[dict[str, Any]]:
    """Return the nuggets that a page where they can be edited has as data; none of another page."""
    found = re.search(r'<div id="known" data-list="([^"]*)"', response.content.decode())
    nuggets: list[dict[str, Any]] = json.loads(unescape(found[1]))["nuggets"] if found else []
    return nuggets


def shown(response: HttpResponse) -> Shown:
    """Read the list from a page of its maker's, or from the answer to a write."""
    if response["Content-Type"] == "application/json":
        told = json.loads(response.content)
        about = told["about"]
        rows = [(row["uid"], row["text"], row["importance"]) for row in told["nuggets"]]
        return Shown(about["version"], about["state"], about["undo"] == 1, about["redo"] == 1, rows, [])
    reader = _Reader()
    reader.feed(response.content.decode())
    found = reader.list
    rows = [(uid, text, importance) for uid, text, importance in reader.rows]
    if known := known_list(response):  # where it can be edited, the browser makes the rows
        assert not rows
        rows = [(row["uid"], row["text"], row["importance"]) for row in known]
    # Who only reads is told nothing else of the list.
    version, undo, redo = (int(found.get(f"data-{name}", 0)) for name in ("version", "undo", "redo"))
    return Shown(version, found.get("data-state", ""), undo == 1, redo == 1, rows, reader.tags)
