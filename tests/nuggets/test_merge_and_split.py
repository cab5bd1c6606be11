"""Merging and splitting: what the new nuggets are made of, what is refused, and that undo knows the way back."""

from uuid import UUID

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Topic
from assessor.work.actions import give_tasks
from nuggets import actions
from nuggets.actions.edits import MAX_MERGED
from nuggets.models import BankEdit, Nugget, NuggetBank
from tests.nuggets.conftest import (
    EDITED,
    NEW,
    NEWER,
    NOT_ON_LIST,
    TOO_LONG,
    A,
    B,
    C,
    do,
    everything,
    evidence_of,
    fill,
    listed,
    restored,
    send,
    shown,
)

D, E = UUID(int=20), UUID(int=21)
COUNT = f"Two to {MAX_MERGED} different nuggets can be merged."
TWO = "A nugget is split into two."
EXISTS = "There is a nugget with this uid already."
NO_TEXT = "A nugget needs a text."


def place(docid: str, start: int | None = None, end: int | None = None) -> dict[str, object]:
    return {"docid": docid, "start": start, "end": end}


@pytest.fixture
def five(bank: NuggetBank) -> NuggetBank:
    """Anna's bank with a, b, c, d, e; all but e vital."""
    fill(bank, *((uid, text, "vital") for uid, text in zip((A, B, C, D), "abcd", strict=True)), (E, "e", "okay"))
    return bank


def texts(bank: NuggetBank) -> list[str]:
    return [text for text, _ in listed(bank)]


def merge(bank: NuggetBank, *uids: UUID, text: str = "m") -> Nugget:
    do(bank, actions.merge_nuggets, uids=uids, uid=NEW, text=text)
    return bank.nuggets.get(uid=NEW)


def split(bank: NuggetBank, uid: UUID) -> tuple[Nugget, Nugget]:
    do(bank, actions.split_nugget, uid=uid, into=[(NEW, "one"), (NEWER, "two")])
    return bank.nuggets.get(uid=NEW), bank.nuggets.get(uid=NEWER)


# What comes of it


@pytest.mark.parametrize(
    ("uids", "after"),
    [
        ([A, B], ["m", "c", "d", "e"]),
        ([B, A], ["m", "c", "d", "e"]),
        ([D, B], ["a", "m", "c", "e"]),
        ([E, C], ["a", "b", "m", "d"]),
        ([E, A, C], ["m", "b", "d"]),
        ([E, D, C, B, A], ["m"]),
    ],
)
def test_a_merged_nugget_stands_where_the_first_of_them_stood(five: NuggetBank, uids: list[UUID], after: list[str]):
    merge(five, *uids)
    assert texts(five) == after


@pytest.mark.parametrize(
    ("uid", "after"),
    [
        (A, ["one", "two", "b", "c", "d", "e"]),
        (C, ["a", "b", "one", "two", "d", "e"]),
        (E, ["a", "b", "c", "d", "one", "two"]),
    ],
)
def test_the_halves_stand_where_the_whole_stood(five: NuggetBank, uid: UUID, after: list[str]):
    split(five, uid)
    assert texts(five) == after


def test_a_merged_nugget_remembers_all_of_them_in_list_order(five: NuggetBank, anna: Person):
    do(five, actions.move_nugget, uid=E, to=0)
    merged = merge(five, A, C, E, text=" a \n and c ")
    assert (merged.text, merged.origin, merged.made_by.person) == ("a and c", "merged", anna)
    assert merged.parents == [str(E), str(A), str(C)]
    assert five.nuggets.count() == 6, "they stay on record"


def test_the_halves_remember_the_whole(five: NuggetBank, anna: Person):
    halves = split(five, B)
    for half in halves:
        assert (half.origin, half.parents, half.made_by.person) == ("split", [str(B)], anna)
    assert [half.text for half in halves] == ["one", "two"]
    assert five.nuggets.get(uid=B).text == "b"


def test_what_was_merged_or_split_can_be_merged_and_split_again(five: NuggetBank):
    halves = split(five, A)
    do(five, actions.merge_nuggets, uids=[NEWER, B], uid=UUID(int=30), text="m")
    merged = five.nuggets.get(uid=UUID(int=30))
    assert merged.parents == [halves[1].name, str(B)]
    do(five, actions.split_nugget, uid=UUID(int=30), into=[(UUID(int=31), "x"), (UUID(int=32), "y")])
    assert texts(five) == ["one", "x", "y", "c", "d", "e"]
    assert five.nuggets.get(uid=UUID(int=32)).parents == [merged.name]


def test_the_evidence_of_all_is_united_in_order_each_place_once(five: NuggetBank):
    shared = place("d1", 0, 4)
    for uid, places in [
        (A, [place("d2"), shared]),
        (B, [place("d1"), shared, place("d1", 0, 9)]),
        (C, [place("d2", 0, 4), place("d2")]),
    ]:
        for one in places:
            do(five, actions.attach_evidence, uid=uid, evidence=one)
    merge(five, C, B, A)
    united = [("d2", None, None), ("d1", 0, 4), ("d1", None, None), ("d1", 0, 9), ("d2", 0, 4)]
    assert evidence_of(five, NEW) == united
    assert evidence_of(five, B) == [("d1", None, None), ("d1", 0, 4), ("d1", 0, 9)], "theirs is left as it was"


def test_both_halves_have_the_evidence_each_to_itself(edited: NuggetBank):
    do(edited, actions.attach_evidence, uid=A, evidence=place("d1", 0, 4))
    split(edited, A)
    both = [("d2", None, None), ("d1", 0, 4)]
    assert (evidence_of(edited, NEW), evidence_of(edited, NEWER)) == (both, both)
    do(edited, actions.detach_evidence, uid=NEW, evidence=place("d2"))
    assert (evidence_of(edited, NEW), evidence_of(edited, NEWER)) == (both[1:], both)
    assert evidence_of(edited, A) == both


@pytest.mark.parametrize(
    ("importances", "merged"),
    [
        (("vital", "vital"), "vital"),
        (("okay", "okay", "okay"), "okay"),
        (("vital", "okay"), ""),
        (("vital", ""), ""),
        (("", ""), ""),
        (("okay", "vital", "okay"), ""),
    ],
)
def test_importance_is_kept_where_they_agree(bank: NuggetBank, importances: tuple[str, ...], merged: str):
    uids = [UUID(int=50 + number) for number in range(len(importances))]
    fill(bank, *((uid, "n", importance) for uid, importance in zip(uids, importances, strict=True)))
    assert merge(bank, *uids).importance == merged


@pytest.mark.parametrize("importance", ["vital", "okay", ""])
def test_how_important_the_halves_are_is_decided_anew(bank: NuggetBank, importance: str):
    fill(bank, (A, "a", importance))
    assert [half.importance for half in split(bank, A)] == ["", ""]
    assert bank.nuggets.get(uid=A).importance == importance


def test_notes_are_joined_in_list_order_and_copied_to_both_halves(five: NuggetBank):
    for uid, note in ((C, "third"), (A, "first")):
        do(five, actions.set_note, uid=uid, text=note)
    assert merge(five, C, B, A).note == "first / third"
    assert [half.note for half in _split_again(five)] == ["first / third", "first / third"]
    assert five.nuggets.get(uid=A).note == "first"


def _split_again(bank: NuggetBank) -> list[Nugget]:
    parts = (UUID(int=40), UUID(int=41))
    do(bank, actions.split_nugget, uid=NEW, into=[(parts[0], "x"), (parts[1], "y")])
    return list(bank.nuggets.filter(uid__in=parts))


def test_halves_that_are_merged_again_have_their_common_note_once(five: NuggetBank):
    do(five, actions.set_note, uid=A, text="ask")
    halves = split(five, A)
    again = UUID(int=30)
    do(five, actions.merge_nuggets, uids=[half.uid for half in halves], uid=again, text="m")
    assert five.nuggets.get(uid=again).note == "ask"


def test_nuggets_without_notes_merge_into_one_without(five: NuggetBank):
    assert merge(five, A, B).note == ""


def test_as_many_as_allowed_can_be_merged(bank: NuggetBank):
    uids = [UUID(int=1000 + number) for number in range(MAX_MERGED)]
    fill(bank, *((uid, "n", "") for uid in uids))
    assert merge(bank, *uids).parents == [nugget.name for nugget in bank.nuggets.order_by("pk")][:-1]
    assert texts(bank) == ["m"]


# The history, and back


@pytest.mark.parametrize("verb", ["merge", "split"])
def test_it_is_one_edit_that_undo_and_redo_know_after_a_reload(five: NuggetBank, verb: str):
    before, started = listed(five), restored(five)
    if verb == "merge":
        merge(five, D, B, text="b and d")
        after = [("a", "vital"), ("b and d", "vital"), ("c", "vital"), ("e", "okay")]
    else:
        split(five, E)
        after = [*before[:4], ("one", ""), ("two", "")]
    edit = five.edits.get(version=started.version + 1)
    changed = restored(five)
    assert (edit.verb, edit.changes) == (verb, {"order": [started.order, changed.order]})
    assert (edit.parent, changed.head) == (started.head, edit)
    made = list(five.nuggets.values())
    for name, expected in [("undo", before), ("redo", after), ("undo", before), ("redo", after)]:
        do(restored(five), getattr(actions, name))
        assert listed(five) == expected
        assert list(five.nuggets.values()) == made, "no nugget is made or changed on the way"
        assert restored(five).task.done == len(expected)
    assert restored(five).version == started.version + 5
    while restored(five).head is not None:
        do(restored(five), actions.undo)
    assert listed(five) == []


def test_edits_of_a_merged_nugget_are_taken_back_before_the_merge(five: NuggetBank):
    merge(five, A, B)
    do(five, actions.reword_nugget, uid=NEW, text="other")
    do(five, actions.attach_evidence, uid=NEW, evidence=place("d1"))
    for _ in range(3):
        do(restored(five), actions.undo)
    assert texts(five) == ["a", "b", "c", "d", "e"]
    for _ in range(3):
        do(restored(five), actions.redo)
    assert texts(five) == ["other", "c", "d", "e"]
    assert evidence_of(five, NEW) == [("d1", None, None)]


def test_a_merge_over_http_comes_back_as_the_list(five: NuggetBank, as_anna: Client):
    response = send(as_anna, five, "merge", uids=f"{D} {A}", uid=str(NEW), text="a and d")
    assert response.status_code == 200
    rows = [(str(NEW), "a and d", "vital"), (str(B), "b", "vital"), (str(C), "c", "vital"), (str(E), "e", "okay")]
    assert shown(response).rows == rows


# Refused


WRONG_MERGES = {
    "none": (COUNT, {"uids": ""}),
    "one": (COUNT, {"uids": str(A)}),
    "one twice": (COUNT, {"uids": f"{A} {A}"}),
    "one of three twice": (COUNT, {"uids": f"{A} {B} {str(A).upper()}"}),
    "too many": (COUNT, {"uids": " ".join(str(UUID(int=number)) for number in range(1000, 1001 + MAX_MERGED))}),
    "unknown": (NOT_ON_LIST, {"uids": f"{A} {UUID(int=99)}"}),
    "taken off": (NOT_ON_LIST, {"uids": f"{A} {C}"}),
    "no uid": ("uid must be a UUID.", {"uids": f"{A} b"}),
    "no new uid": ("uid must be a UUID.", {"uid": ""}),
    "uid on the list": (EXISTS, {"uid": str(B)}),
    "uid taken off": (EXISTS, {"uid": str(C)}),
    "no text": (NO_TEXT, {"text": ""}),
    "blank text": (NO_TEXT, {"text": " \t\u2003\r\n"}),
    "long text": (TOO_LONG, {"text": "x" * 2_001}),
    "NUL": (TOO_LONG, {"text": "a\x00"}),
}


@pytest.mark.parametrize(("message", "wrong"), WRONG_MERGES.values(), ids=WRONG_MERGES)
def test_a_merge_that_makes_no_sense_changes_nothing(refuses, message: str, wrong: dict[str, str]):
    refuses(message, "merge", **{"uids": f"{A} {B}", "uid": str(NEW), "text": "a and b"} | wrong)


WRONG_SPLITS = {
    "one uid for both": (TWO, {"uid2": str(NEW)}),
    "no first uid": ("uid must be a UUID.", {"uid1": ""}),
    "no second uid": ("uid must be a UUID.", {"uid2": "x"}),
    "its own uid": (EXISTS, {"uid1": str(A)}),
    "second uid on the list": (EXISTS, {"uid2": str(B)}),
    "second uid taken off": (EXISTS, {"uid2": str(C)}),
    "no first text": (NO_TEXT, {"text1": ""}),
    "blank second text": (NO_TEXT, {"text2": " \u2003"}),
    "long second text": (TOO_LONG, {"text2": "x" * 2_001}),
    "NUL": (TOO_LONG, {"text1": "\x00"}),
}


@pytest.mark.parametrize(("message", "wrong"), WRONG_SPLITS.values(), ids=WRONG_SPLITS)
def test_a_split_that_makes_no_sense_changes_nothing(refuses, message: str, wrong: dict[str, str]):
    refuses(message, "split", **{"uid1": str(NEW), "text1": "a1", "uid2": str(NEWER), "text2": "a2"} | wrong)


@pytest.mark.parametrize("on", [UUID(int=99), C], ids=["unknown", "taken off"])
def test_only_a_nugget_on_the_list_is_split(refuses, on: UUID):
    refuses(NOT_ON_LIST, "split", on=on, uid1=str(NEW), text1="a1", uid2=str(NEWER), text2="a2")


def test_nuggets_of_another_bank_are_not_merged_into_this_one(
    edited: NuggetBank, anna: Person, olga: Person, refuses, as_anna: Client
):
    topic, condition = Topic.objects.get(qid="t2"), edited.condition
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    other = NuggetBank.objects.get(task=task)
    fill(other, (E, "elsewhere", ""))
    before = everything(other)
    refuses(NOT_ON_LIST, "merge", uids=f"{A} {E}", uid=str(NEW), text="m")
    assert everything(other) == before
    assert send(as_anna, edited, "split", uid1=str(E), text1="x", uid2=str(NEW), text2="y").status_code == 200, (
        "a uid is one nugget's within its bank"
    )


def test_a_refused_merge_leaves_redo_as_it_was(edited: NuggetBank, refuses, as_anna: Client):
    refuses(EXISTS, "merge", uids=f"{A} {B}", uid=str(C), text="m")
    assert shown(send(as_anna, edited, "redo")).rows[-1] == (str(C), "c", "")
    assert BankEdit.objects.filter(verb="redo", version=EDITED + 1).exists()
