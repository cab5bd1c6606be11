"""What a maker notes for themselves: kept, told in the history, shown again to them, and to nobody else."""

import json
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event
from assessor.work.actions import give_tasks, withdraw_task
from nuggets import actions
from nuggets.exports import bank_lines, condition_lines
from nuggets.models import NuggetBank
from nuggets.queries import next_redo
from tests.conftest import client_of
from tests.nuggets.conftest import (
    EDITED,
    NOT_ON_LIST,
    TOO_LONG,
    A,
    B,
    C,
    do,
    everything,
    known_list,
    listed,
    restored,
    send,
    shown,
    url,
)

NOTE, READING = "ask olga about zebras", "causes, not the zoology of it"
UNCHANGED = [("a", "vital"), ("b", "vital")]


@pytest.fixture
def noted(edited: NuggetBank) -> NuggetBank:
    """Anna's bank with a note on A, her reading of the topic, and d1 marked as read: three versions further."""
    do(edited, actions.set_note, uid=A, text=NOTE)
    do(edited, actions.set_reading, text=READING)
    do(edited, actions.mark_passage, docid="d1", is_read=True)
    return edited


def kept(bank: NuggetBank) -> tuple[str, str, list[str]]:
    bank = restored(bank)
    return bank.nuggets.get(uid=A).note, bank.reading, bank.read_passages


def test_what_is_noted_is_kept_and_told_with_what_stood_before(noted: NuggetBank, as_anna: Client, anna: Person):
    assert kept(noted) == (NOTE, READING, ["d1"])
    for verb, fields in [
        ("note", {"text": " other\r\n note "}),
        ("reading", {"text": ""}),
        ("read", {"docid": "d2", "read": "1"}),
        ("read", {"docid": "d1", "read": "0"}),
    ]:
        assert send(as_anna, noted, verb, **fields).status_code == 200
    assert kept(noted) == ("other note", "", ["d2"])
    told = noted.edits.filter(version__gt=EDITED).order_by("version")
    assert [(edit.version, edit.verb, edit.changes) for edit in told] == [
        (EDITED + 1, "note", {"nuggets": {str(A): {"note": ["", NOTE]}}}),
        (EDITED + 2, "reading", {"reading": ["", READING]}),
        (EDITED + 3, "read", {"passage": "d1", "read": [False, True]}),
        (EDITED + 4, "note", {"nuggets": {str(A): {"note": [NOTE, "other note"]}}}),
        (EDITED + 5, "reading", {"reading": [READING, ""]}),
        (EDITED + 6, "read", {"passage": "d2", "read": [False, True]}),
        (EDITED + 7, "read", {"passage": "d1", "read": [True, False]}),
    ]
    assert {edit.judge.person for edit in told} == {anna}
    assert {(edit.parent, edit.about) for edit in told} == {(None, None)}


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("note", {"text": f" {NOTE} "}),
        ("reading", {"text": READING}),
        ("read", {"docid": "d1", "read": "1"}),
        ("read", {"docid": "d2", "read": "0"}),
    ],
)
def test_what_is_noted_already_makes_no_version(noted: NuggetBank, as_anna: Client, verb: str, fields: dict[str, str]):
    before = everything(noted)[:4]
    response = send(as_anna, noted, verb, **fields)
    assert (response.status_code, shown(response).version) == (200, EDITED + 3)
    assert everything(noted)[:4] == before


@pytest.mark.parametrize("at_the_start", [False, True], ids=["after edits", "all undone"])
def test_undo_and_redo_leave_notes_alone_and_notes_them(edited: NuggetBank, at_the_start: bool):
    """All undone, notes and the first edit have the same parent: none."""
    while at_the_start and restored(edited).head is not None:
        do(edited, actions.undo)
    if at_the_start:
        do(edited, actions.redo)
    head, again = restored(edited).head, next_redo(restored(edited))
    assert again is not None
    do(edited, actions.set_note, uid=A, text=NOTE)
    do(edited, actions.set_reading, text=READING)
    do(edited, actions.mark_passage, docid="d1", is_read=True)
    assert (restored(edited).head, next_redo(restored(edited))) == (head, again)
    texts = [text for text, _ in listed(edited)]
    do(restored(edited), actions.undo)
    do(restored(edited), actions.redo)
    assert [text for text, _ in listed(edited)] == texts
    while restored(edited).head is not None:
        do(restored(edited), actions.undo)
    assert (listed(edited), kept(edited)) == ([], (NOTE, READING, ["d1"]))
    do(edited, actions.set_reading, text="other")
    do(edited, actions.mark_passage, docid="d2", is_read=True)
    while next_redo(restored(edited)):
        do(restored(edited), actions.redo)
    assert [*listed(edited)] == [*UNCHANGED, ("c", "")]
    assert kept(edited) == (NOTE, "other", ["d1", "d2"])


def test_the_list_itself_is_not_touched(noted: NuggetBank, as_anna: Client):
    assert listed(noted) == UNCHANGED
    assert (restored(noted).task.done, restored(noted).head.verb) == (2, "vital")
    assert shown(as_anna.get(url(noted, "editor"))).redo


# Refused


def test_a_note_is_on_a_nugget_on_the_list(refuses):
    for on in (UUID(int=99), C):
        refuses(NOT_ON_LIST, "note", on=on, text=NOTE)


@pytest.mark.parametrize("verb", ["note", "reading"])
@pytest.mark.parametrize("text", ["x" * 2_001, "a\x00b"])
def test_what_cannot_be_kept_is_refused(refuses, verb: str, text: str):
    refuses(TOO_LONG, verb, text=text)


@pytest.mark.parametrize("verb", ["note", "reading"])
def test_as_much_as_a_nugget_may_have_is_kept(edited: NuggetBank, as_anna: Client, verb: str):
    assert send(as_anna, edited, verb, text="x" * 2_000).status_code == 200
    assert "x" * 2_000 in kept(edited)


@pytest.mark.parametrize("is_read", ["", "2", "true", "01", "\x00"])
def test_a_mark_is_set_or_taken_away(refuses, is_read: str):
    refuses("read must be 0 or 1.", "read", docid="d1", read=is_read)
    refuses("read must be 0 or 1.", "read", docid="d1")


# Shown again to the maker


def test_the_maker_finds_it_all_again(noted: NuggetBank, as_anna: Client):
    page = as_anna.get(url(noted, "editor")).content.decode()
    assert [row["note"] for row in known_list(as_anna.get(url(noted, "editor")))].count(NOTE) == 1
    assert f'data-reading="{READING}" data-read="[&quot;d1&quot;]"' in page
    assert f">{READING}</textarea>" in page
    told = send(as_anna, noted, "undo").json()
    assert NOTE in [row["note"] for row in told["nuggets"]]
    assert (told["about"]["reading"], told["about"]["read"]) == (READING, '["d1"]')


def test_the_maker_reads_it_when_the_bank_is_finished(noted: NuggetBank, as_anna: Client):
    do(noted, actions.finish_bank)
    page = as_anna.get(url(noted, "editor")).content.decode()
    assert f"Your note: {NOTE}</p>" in page
    assert page.count("Your note:") == 1, "only where there is one"
    assert f"How you read the topic: {READING}</p>" in page
    assert "<textarea" not in page


def test_the_maker_finds_it_again_in_a_reopened_bank(noted: NuggetBank, olga: Person, as_anna: Client):
    do(noted, actions.finish_bank)
    actions.reopen_bank(restored(noted), reason="one more", acting_user=olga)
    page = as_anna.get(url(noted, "editor"))
    assert [row["note"] for row in known_list(page)].count(NOTE) == 1
    assert f">{READING}</textarea>" in page.content.decode()
    assert kept(noted) == (NOTE, READING, ["d1"])


@pytest.mark.parametrize("text", ["<script>x</script>", "</textarea><img src=x>", '" onfocus="x'])
def test_hostile_notes_come_back_as_text(edited: NuggetBank, as_anna: Client, text: str):
    plain = shown(as_anna.get(url(edited, "editor"))).tags
    do(edited, actions.set_note, uid=A, text=text)
    do(edited, actions.set_reading, text=text)
    assert shown(as_anna.get(url(edited, "editor"))).tags == plain
    do(edited, actions.finish_bank)
    page = as_anna.get(url(edited, "editor"))
    assert "img" not in shown(page).tags
    assert text not in page.content.decode()


# And to nobody else

SECRETS = (NOTE, READING, "zebras", "zoology", "Your note", "How you read", "data-reading", "data-read=")


@pytest.mark.parametrize("state", ["open", "finished", "reopened", "withdrawn"])
def test_no_organizer_sees_it(noted: NuggetBank, olga: Person, as_anna: Client, state: str):
    if state in ("finished", "reopened"):
        do(noted, actions.finish_bank)
    if state == "reopened":
        actions.reopen_bank(restored(noted), reason="one more", acting_user=olga)
    if state == "withdrawn":
        withdraw_task(task=noted.task, acting_user=olga)
    else:
        assert NOTE in as_anna.get(url(noted, "editor")).content.decode()
    client = client_of(olga)
    campaign = noted.condition.campaign
    for address in [url(noted, "editor"), "/", *(f"/campaigns/{campaign.slug}/{part}" for part in ("", "plan/"))]:
        page = client.get(address, follow=True)  # home leads to the only campaign
        assert page.status_code == 200
        told = page.content.decode() + str(page.headers)
        assert [secret for secret in SECRETS if secret in told] == [], address
    assert "&quot;d1&quot;" not in client.get(url(noted, "editor")).content.decode(), "nor what was read"


def test_a_merged_or_split_nuggets_note_is_not_told_either(noted: NuggetBank, olga: Person):
    do(noted, actions.set_note, uid=B, text="and giraffes")
    do(noted, actions.merge_nuggets, uids=[A, B], uid=UUID(int=30), text="m")
    do(noted, actions.split_nugget, uid=UUID(int=30), into=[(UUID(int=31), "x"), (UUID(int=32), "y")])
    page = client_of(olga).get(url(noted, "editor")).content.decode()
    assert "m (from: a; b)" in page
    assert "zebras" not in page
    assert "giraffes" not in page


def test_no_history_event_tells_it(noted: NuggetBank, olga: Person):
    do(noted, actions.finish_bank)
    actions.reopen_bank(restored(noted), reason="one more", acting_user=olga)
    told = json.dumps([str(row) for row in Event.objects.values()])
    assert [secret for secret in SECRETS if secret in told] == []
    editions = json.dumps([str(row) for row in noted.editions.values()])
    assert [secret for secret in SECRETS if secret in editions] == []


def test_no_export_has_it(noted: NuggetBank, condition: Condition, olga: Person):
    do(noted, actions.finish_bank)
    out = StringIO()
    call_command("export_nuggets", "study", "--condition=ManualNuggets", stdout=out)
    downloaded = client_of(olga).get(f"/campaigns/study/exports/nuggets/file/?of={condition}")
    exported = [*bank_lines([restored(noted)]), *condition_lines(condition), out.getvalue()]
    exported.append(b"".join(downloaded.streaming_content).decode())
    [line] = condition_lines(condition)
    assert exported == [line] * 4
    assert list(json.loads(line)) == ["query", "qid", "nuggets"]
    assert [list(nugget) for nugget in json.loads(line)["nuggets"]] == [["text", "importance"]] * 2
    [with_lineage] = condition_lines(condition, with_lineage=True)
    assert [secret for secret in SECRETS if secret in line + with_lineage] == []


@pytest.mark.parametrize("state", ["open", "finished", "withdrawn"])
def test_no_other_assessor_sees_it(noted: NuggetBank, ben: Person, olga: Person, state: str):
    """Not even the one who has the topic after her."""
    condition = noted.condition
    client = client_of(ben)
    pages = [url(noted, "editor"), "/"]
    if state == "finished":
        do(noted, actions.finish_bank)
    if state == "withdrawn":
        withdraw_task(task=noted.task, acting_user=olga)
        [task] = give_tasks(
            campaign=condition.campaign, topics=[noted.topic], condition=condition, person=ben, acting_user=olga
        )
        bens = NuggetBank.objects.get(task=task)
        pages.append(url(bens, "editor"))
        assert (bens.reading, bens.read_passages) == ("", [])
    for address in pages:
        told = client.get(address).content.decode()
        assert [secret for secret in (NOTE, READING, "zebras", "zoology") if secret in told] == []
    assert client.get(url(noted, "editor")).status_code == 404
