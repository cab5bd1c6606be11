"""Every write of the editor over HTTP: what is saved, what is refused, and what comes back."""

import html
import json
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event, Protocol, Topic
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.models import Task
from assessor.work.write_protocol import Closed
from nuggets import actions
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.nuggets.conftest import (
    EDITED,
    NEW,
    NEWER,
    NOT_ON_LIST,
    ON_A_NUGGET,
    TOO_LONG,
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
    "attach": UNCHANGED,
    "detach": UNCHANGED,
    "split": [(str(NEW), "a1", ""), (str(NEWER), "a2", ""), (str(B), "b", "vital")],
    "merge": [(str(NEW), "a and b", "vital")],
    "note": UNCHANGED,
    "reading": UNCHANGED,
    "read": UNCHANGED,
    "undo": [(str(A), "a", "vital"), (str(B), "b", "")],
    "redo": [*UNCHANGED, (str(C), "c", "")],
    "finish": UNCHANGED,
}
KEY = UUID(int=77)
NO_KEY = "A write needs a key (UUID) and the version that it was made on."
OTHER_WRITE = "This key was used for another write."
each_write = pytest.mark.parametrize("verb", WRITES)


def add(client: Client, bank: NuggetBank, text: str, uid: UUID | None = None) -> HttpResponse:
    return send(client, bank, "add", uid=str(uid or uuid4()), text=text)


# Saved


@pytest.mark.parametrize("importance", ["vital", "okay", ""])
def test_a_nugget_is_added_with_its_importance_in_one_write(bank: NuggetBank, as_anna: Client, importance: str):
    response = send(as_anna, bank, "add", uid=str(A), text="a", importance=importance)
    assert (response.status_code, shown(response).version) == (200, 1)
    assert listed(bank) == [("a", importance)]
    do(bank, actions.undo)
    do(bank, actions.redo)
    assert listed(bank) == [("a", importance)]


@each_write
def test_a_write_is_saved_and_answered_with_the_list(edited: NuggetBank, as_anna: Client, verb: str):
    response = send(as_anna, edited, verb, **WRITES[verb])
    assert response.status_code == 200
    back = shown(response)
    assert (back.version, back.rows) == (EDITED + 1, AFTER[verb])
    assert back.state == ("finished" if verb == "finish" else "open")
    assert listed(edited) == [(text, importance) for _, text, importance in AFTER[verb]]
    assert NuggetBank.objects.get().version == EDITED + 1


@each_write
def test_a_page_loaded_after_a_write_shows_the_same_list(edited: NuggetBank, as_anna: Client, verb: str):
    back = shown(send(as_anna, edited, verb, **WRITES[verb]))
    page = shown(as_anna.get(url(edited, "editor")))
    assert page[:5] == back[:5]


def test_what_can_be_undone_and_redone_is_told(bank: NuggetBank, as_anna: Client):
    responses = [
        as_anna.get(url(bank, "editor")),
        add(as_anna, bank, "a"),
        send(as_anna, bank, "undo"),
        send(as_anna, bank, "redo"),
        send(as_anna, bank, "undo"),
        add(as_anna, bank, "b"),
    ]
    can = [(shown(response).undo, shown(response).redo) for response in responses]
    assert can == [(False, False), (True, False), (False, True), (True, False), (False, True), (True, False)]


@pytest.mark.parametrize(("sent", "stored"), [("7", 1), ("1", 1), ("0", 0), ("99999", 1)])
def test_a_place_beyond_the_end_is_the_end(edited: NuggetBank, as_anna: Client, sent: str, stored: int):
    assert send(as_anna, edited, "move", to=sent).status_code == 200
    assert [text for text, _ in listed(edited)].index("a") == stored


def test_a_text_is_kept_on_one_line_with_its_blanks_folded(bank: NuggetBank, as_anna: Client):
    add(as_anna, bank, "  cats\tpurr \n when\u2003content ", A)
    assert listed(bank) == [("cats purr when content", "")]
    send(as_anna, bank, "reword", on=A, text=" cats\r\n")
    assert listed(bank) == [("cats", "")]


def test_a_new_nugget_keeps_the_passage_it_came_from(bank: NuggetBank, as_anna: Client):
    send(as_anna, bank, "add", uid=str(A), text="a", docid="d1")
    send(as_anna, bank, "add", uid=str(B), text="b")
    evidence = list(bank.nuggets.values_list("evidence", flat=True))
    assert evidence == [[{"docid": "d1", "start": None, "end": None}], []]
    assert set(bank.nuggets.values_list("made_by__person__username", "origin")) == {("anna", "written")}


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("reword", {"text": " a  "}),
        ("importance", {"importance": "vital"}),
        ("move", {"to": "0"}),
    ],
)
def test_an_edit_without_effect_makes_no_version(
    edited: NuggetBank, as_anna: Client, verb: str, fields: dict[str, str]
):
    before = everything(edited)[:4]
    response = send(as_anna, edited, verb, **fields)
    assert response.status_code == 200
    assert (shown(response).version, shown(response).rows) == (EDITED, UNCHANGED)
    assert shown(response).redo, "what was undone can still be made again"
    assert everything(edited)[:4] == before


@pytest.mark.parametrize("verb", ["undo", "redo"])
def test_undo_and_redo_of_nothing_make_no_version(bank: NuggetBank, as_anna: Client, verb: str):
    response = send(as_anna, bank, verb)
    assert (response.status_code, shown(response).version, bank.edits.count()) == (200, 0, 0)


# Sent twice


@each_write
def test_a_write_sent_twice_counts_once_and_is_answered_alike(edited: NuggetBank, as_anna: Client, verb: str):
    first = send(as_anna, edited, verb, key=KEY, version=EDITED, **WRITES[verb])
    after = everything(edited)
    second = send(as_anna, edited, verb, key=KEY, version=EDITED, **WRITES[verb])
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.content == first.content
    assert second.headers.get("HX-Redirect") == first.headers.get("HX-Redirect")
    assert everything(edited) == after


def test_a_write_sent_again_late_is_answered_with_the_list_as_it_is_now(edited: NuggetBank, as_anna: Client):
    send(as_anna, edited, "move", key=KEY, version=EDITED, to="1")
    send(as_anna, edited, "reword", text="later")
    again = send(as_anna, edited, "move", key=KEY, version=EDITED, to="1")
    assert again.status_code == 200
    rows = [(str(B), "b", "vital"), (str(A), "later", "vital")]
    assert (shown(again).version, shown(again).rows) == (EDITED + 2, rows)


@each_write
def test_a_key_is_refused_for_another_body(edited: NuggetBank, as_anna: Client, refuses, verb: str):
    assert send(as_anna, edited, verb, key=KEY, version=EDITED, **WRITES[verb]).status_code == 200
    refuses(OTHER_WRITE, verb, key=KEY, version=EDITED, **WRITES[verb] | {"other": "1"})
    refuses(OTHER_WRITE, verb, key=KEY, version=EDITED + 1, **WRITES[verb])


def test_a_key_is_refused_at_another_address(edited: NuggetBank, as_anna: Client, refuses):
    assert send(as_anna, edited, "delete", on=A, key=KEY, version=EDITED).status_code == 200
    refuses(OTHER_WRITE, "delete", on=B, key=KEY, version=EDITED)
    refuses(OTHER_WRITE, "undo", key=KEY, version=EDITED)


def test_a_key_is_refused_for_another_person(edited: NuggetBank, as_anna: Client, ben: Person, olga: Person):
    condition = edited.condition
    topic = Topic.objects.get(qid="t2")
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=ben, acting_user=olga)
    bens = NuggetBank.objects.get(task=task)
    assert send(as_anna, edited, "undo", key=KEY, version=0).status_code == 409
    assert send(as_anna, edited, "undo", key=KEY).status_code == 200
    response = add(client_of(ben), bens, "b")
    assert (response.status_code, listed(bens)) == (200, [("b", "")])
    response = send(client_of(ben), bens, "undo", key=KEY)
    assert (response.status_code, response.content.decode()) == (400, OTHER_WRITE)
    assert listed(bens) == [("b", "")]


# Old versions


@each_write
def test_a_write_on_another_version_is_refused_with_the_present_list(edited: NuggetBank, as_anna: Client, verb: str):
    before = everything(edited)
    for version in (0, EDITED - 1, EDITED + 1, -1):
        response = send(as_anna, edited, verb, version=version, **WRITES[verb])
        assert response.status_code == 409
        assert (shown(response).version, shown(response).rows) == (EDITED, UNCHANGED)
    assert everything(edited) == before


def test_a_key_that_was_refused_as_late_can_be_used_again(edited: NuggetBank, as_anna: Client):
    assert send(as_anna, edited, "delete", key=KEY, version=EDITED - 1).status_code == 409
    assert send(as_anna, edited, "delete", key=KEY, version=EDITED).status_code == 200
    assert listed(edited) == [("b", "vital")]


# Malformed


@each_write
def test_a_write_without_key_or_version_is_refused(edited: NuggetBank, as_anna: Client, verb: str):
    before = everything(edited)
    right = {"key": str(KEY), "version": str(EDITED)} | WRITES[verb]
    keys = [{"key": value} for value in (None, "", "1", "x" * 36)]
    versions = [{"version": value} for value in (None, "", "x", "1.5", "9" * 5000)]
    for wrong in keys + versions:
        data = {name: value for name, value in (right | wrong).items() if value is not None}
        response = as_anna.post(url(edited, verb), data)
        assert (response.status_code, response.content.decode()) == (400, NO_KEY), wrong
    assert everything(edited) == before
    assert as_anna.post(url(edited, verb), right).status_code == 200


def test_importance_is_vital_or_okay(refuses):
    for importance in ("", "VITAL", "maybe", "vital ", "\x00"):
        refuses("importance must be vital or okay.", "importance", importance=importance)
    refuses("importance must be vital or okay.", "importance")
    refuses("importance must be vital, okay or empty.", "add", uid=str(NEW), text="new", importance="Vital")


def test_a_place_is_a_whole_number(refuses):
    for to in ("", "-1", "1.0", "x", "\u0661", "\u00b2", "1000000000", " 1"):
        refuses("to must be a whole number, from 0.", "move", to=to)
    refuses("to must be a whole number, from 0.", "move")


@pytest.mark.parametrize("text", ["x" * 2_001, "a\x00b", " " * 2_001])
def test_a_text_has_a_most_and_no_nul(refuses, text: str):
    refuses(TOO_LONG, "add", uid=str(NEW), text=text)
    refuses(TOO_LONG, "reword", text=text)


@pytest.mark.parametrize("text", ["", "  \t\n"])
def test_only_a_nugget_that_is_there_may_be_empty(edited: NuggetBank, as_anna: Client, refuses, text: str):
    refuses("A nugget needs a text.", "add", uid=str(NEW), text=text)
    assert send(as_anna, edited, "reword", text=text).status_code == 200
    assert listed(edited)[0] == ("", "vital")


def test_a_new_nugget_needs_a_uid(refuses):
    for uid in ("", "1", "x" * 36):
        refuses("uid must be a UUID.", "add", uid=uid, text="new")


@pytest.mark.parametrize("uid", [A, C], ids=["on the list", "taken off"])
def test_a_uid_stands_for_one_nugget(refuses, uid: UUID):
    refuses("There is a nugget with this uid already.", "add", uid=str(uid), text="new")


@pytest.mark.parametrize("verb", ON_A_NUGGET)
@pytest.mark.parametrize("on", [UUID(int=99), C], ids=["unknown", "taken off"])
def test_only_nuggets_on_the_list_are_edited(edited: NuggetBank, as_anna: Client, refuses, verb: str, on: UUID):
    refuses(NOT_ON_LIST, verb, on=on, **WRITES.get(verb, {}))
    assert send(as_anna, edited, verb, on=A, **WRITES.get(verb, {})).status_code == 200
    if verb in ("delete", "split"):
        refuses(NOT_ON_LIST, "reword", on=A, text="other")


def test_a_nugget_of_another_bank_is_none_of_this_one(edited: NuggetBank, anna: Person, olga: Person, refuses):
    topic = Topic.objects.get(qid="t2")
    condition = edited.condition
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    other = NuggetBank.objects.get(task=task)
    fill(other, (NEW, "elsewhere", ""))
    refuses(NOT_ON_LIST, "reword", on=NEW, text="other")
    assert listed(other) == [("elsewhere", "")]


@each_write
def test_writes_are_posts_and_the_page_is_not(edited: NuggetBank, as_anna: Client, verb: str):
    assert as_anna.get(url(edited, verb)).status_code == 405
    assert as_anna.post(url(edited, "editor")).status_code == 405


# Finishing


FINDINGS = {
    "none": ([], [("", "There is no nugget yet.")]),
    "no importance": ([(A, "a", "")], [(str(A), "Nugget 1 is neither vital nor okay yet.")]),
    "empty": ([(A, "a", "vital"), (B, "", "okay")], [(str(B), "Nugget 2 has no text.")]),
    "too many": (
        [(A, "a", "vital"), (B, "b", "okay"), (C, "c", "okay")],
        [("", "There are 3 nuggets; at most 2 can be handed in.")],
    ),
    "all at once": (
        [(A, "a", "vital"), (B, "", ""), (C, "c", "")],
        [
            (str(B), "Nugget 2 has no text."),
            (str(B), "Nugget 2 is neither vital nor okay yet."),
            (str(C), "Nugget 3 is neither vital nor okay yet."),
            ("", "There are 3 nuggets; at most 2 can be handed in."),
        ],
    ),
}


@pytest.mark.parametrize(("nuggets", "findings"), FINDINGS.values(), ids=FINDINGS)
def test_a_bank_that_lacks_something_is_not_finished(
    bank: NuggetBank, as_anna: Client, nuggets: list[tuple[UUID, str, str]], findings: list[tuple[str, str]]
):
    Protocol.objects.update(max_nuggets=2)
    for uid, text, importance in nuggets:
        fill(bank, (uid, text or "to be emptied", importance))
        do(bank, actions.reword_nugget, uid=uid, text=text)
    before = everything(bank)
    for _ in range(2):
        response = send(as_anna, bank, "finish", key=KEY)
        assert response.status_code == 422
        items = "".join(
            f'<li><a href="#n-{uid}">{message}</a></li>' if uid else f"<li>{message}</li>" for uid, message in findings
        )
        told = response.json()["findings"]
        assert f"<ul>{items}</ul>" in told
        assert told.count("<li>") == len(findings)
        assert "HX-Redirect" not in response.headers
    assert everything(bank) == before
    assert Task.objects.get().state == Task.State.OPEN


def test_a_bank_is_finished_once_nothing_is_lacking(bank: NuggetBank, as_anna: Client, anna: Person):
    Protocol.objects.update(max_nuggets=2)
    fill(bank, (A, "a", "vital"), (B, "b", ""))
    assert send(as_anna, bank, "finish").status_code == 422
    fill(bank, (C, "c", "okay"))
    do(bank, actions.delete_nugget, uid=B)
    version = bank.version
    response = send(as_anna, bank, "finish")
    assert (response.status_code, response["HX-Redirect"]) == (200, "/")
    bank.refresh_from_db()
    assert (bank.state, bank.edition, bank.version) == (NuggetBank.State.FINISHED, 1, version + 1)
    assert bank.finished_at is not None
    edit = bank.edits.last()
    assert (edit.verb, edit.version, edit.changes, edit.judge.person) == ("finish", version + 1, {}, anna)
    event = Event.objects.get(verb="bank finished")
    assert (event.person, event.campaign, event.subject) == (anna, bank.condition.campaign, str(bank))
    assert event.details == {"edition": 1, "bank": "anna", "consequences": {}}
    page = as_anna.get("/").content.decode()
    assert "Finished: the nuggets are handed in and can be read, no longer changed." in page


def test_the_task_follows_the_bank(bank: NuggetBank, as_anna: Client):
    def task() -> tuple[int, int, str]:
        return Task.objects.values_list("done", "total", "state").get()

    assert task() == (0, 0, "open")
    assert Task.objects.get().worked_at is None
    add(as_anna, bank, "a", A)
    assert task() == (1, 0, "open")
    assert Task.objects.get().worked_at is not None
    add(as_anna, bank, "b", B)
    assert task() == (2, 0, "open")
    send(as_anna, bank, "delete", on=B)
    assert task() == (1, 0, "open")
    send(as_anna, bank, "undo")
    assert task() == (2, 0, "open")
    for uid in (A, B):
        send(as_anna, bank, "importance", on=uid, importance="okay")
    send(as_anna, bank, "finish")
    assert task() == (2, 2, "finished")


@each_write
def test_a_finished_bank_takes_no_write(finished: NuggetBank, as_anna: Client, verb: str):
    before = everything(finished)
    response = send(as_anna, finished, verb, **WRITES[verb])
    assert response.status_code == 409
    back = shown(response)
    assert (back.version, back.state, back.rows) == (EDITED + 1, "finished", UNCHANGED)
    assert everything(finished) == before


def test_a_finished_bank_is_read_only(edited: NuggetBank, as_anna: Client):
    controls = ("clock.js", "data-act=", 'id="add"', 'id="new-row"', "data-url=")
    page = as_anna.get(url(edited, "editor"))
    assert "textarea" in shown(page).tags
    assert [control for control in controls if control in page.content.decode()] == list(controls)
    do(edited, actions.finish_bank)
    page = as_anna.get(url(edited, "editor"))
    assert page.status_code == 200
    assert shown(page).rows == UNCHANGED
    assert "textarea" not in shown(page).tags
    assert [control for control in controls if control in page.content.decode()] == []
    assert "Finished, read-only" in page.content.decode()


def test_a_bank_whose_task_was_withdrawn_meanwhile_is_not_finished(edited: NuggetBank, anna: Person, olga: Person):
    withdraw_task(task=edited.task, acting_user=olga)
    before = everything(edited)
    with pytest.raises(Closed):
        do(edited, actions.finish_bank)
    assert everything(edited) == before


# Hostile text


HOSTILE = {
    "markup": "<script>alert(1)</script></li></ol><img src=x onerror=alert(1)>",
    "textarea": "</textarea><script>alert(1)</script>",
    "quotes": '" onfocus="alert(1)" x=\'`',
    "entities": "&lt;script&gt; &amp; &#x27; &nbsp;",
    "template": "{{ bank }} {% include 'x' %} ${1} <%= 1 %>",
    "bidi": "abc \u202e\u2066txt.exe\u2069\u202c \u200f\u061c",
    "long": "<" * 2_000,
    "astral": "\U0001f431\u200d\U0001f5a4 e\u0301 \ufdfd",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_comes_back_as_text(bank: NuggetBank, as_anna: Client, text: str):
    fill(bank, (A, "harmless", "vital"))
    harmless = as_anna.get(url(bank, "editor"))
    saved = send(as_anna, bank, "reword", on=A, text=text)
    page = as_anna.get(url(bank, "editor"))
    late = send(as_anna, bank, "reword", on=A, text="x", version=0)
    assert (saved.status_code, page.status_code, late.status_code) == (200, 200, 409)
    for response in (saved, page, late):
        assert shown(response).rows == [(str(A), text, "vital")]
    for response in (saved, late):  # no browser takes it for a page
        assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("application/json", "nosniff")
    as_json = json.dumps(text, ensure_ascii=False)[1:-1]
    assert page.content.decode().count(html.escape(as_json)) == 1, "once, in the list as data"
    assert shown(page).tags == shown(harmless).tags
    do(bank, actions.finish_bank)
    read_only = as_anna.get(url(bank, "editor"))
    assert shown(read_only).rows == [(str(A), text, "vital")]
    assert "img" not in shown(read_only).tags


def test_a_hostile_docid_comes_back_as_text(bank: NuggetBank, as_anna: Client, import_file):
    docid = "\"'><script>alert(1)</script>"
    import_file(bank.condition.campaign, "segments", [{"docid": docid, "segment": "text"}])
    import_file(bank.condition.campaign, "qrels", f"t1 0 {docid} 2\n", source="NIST", by="people")
    response = send(as_anna, bank, "add", uid=str(A), text="a", docid=docid, start="1", end="3")
    evidence = [{"docid": docid, "start": 1, "end": 3}]
    assert [row["evidence"] for row in response.json()["nuggets"]] == [evidence]
    page = as_anna.get(url(bank, "editor")).content.decode()
    assert html.escape(f'"evidence": {json.dumps(evidence)}') in page
    assert docid not in page


def test_a_condition_keeps_the_limit_it_was_made_with(bank: NuggetBank, condition: Condition, as_anna: Client):
    """The page names the limit of the condition's own protocol."""
    Protocol.objects.filter(pk=condition.protocol_id).update(max_nuggets=7)
    Protocol.objects.create(campaign=condition.campaign, version=2, max_nuggets=3)
    assert 'data-most="7"' in as_anna.get(url(bank, "editor")).content.decode()
