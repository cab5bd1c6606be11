"""An organizer gives a finished bank back; finished again, it says what that changed for labels."""

import json
from collections.abc import Callable
from uuid import UUID

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign, end_membership
from assessor.campaigns.models import Condition, Event, Protocol, Role, Topic
from assessor.work.actions import PlanError, give_tasks, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from nuggets import actions
from nuggets.actions import ReopenError
from nuggets.exports import condition_lines
from nuggets.models import NuggetBank
from nuggets.queries import Lineage, lineage, nuggets_in_order, reopening
from tests.conftest import client_of, end_roles, make_person
from tests.nuggets.conftest import (
    EDITED,
    NEW,
    NEWER,
    WRITES,
    A,
    B,
    C,
    do,
    everything,
    fill,
    listed,
    restored,
    send,
    shown,
    url,
)

REASON = "please look at b <again> & again"
SAY_WHY = "Say why, in at most 500 characters: the maker will read it."
FORM = '<label for="reason">'


def reopen(client: Client, bank: NuggetBank, reason: str = REASON) -> HttpResponse:
    return client.post(url(bank, "reopen"), {"reason": reason})


def page_of(client: Client, bank: NuggetBank) -> str:
    return client.get(url(bank, "editor")).content.decode()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def reopened(finished: NuggetBank, as_olga: Client) -> NuggetBank:
    """Anna's bank with two vital nuggets, handed in and given back: two versions further than `edited`."""
    assert reopen(as_olga, finished).status_code == 302
    return restored(finished)


# Given back


def test_an_organizer_reopens_a_finished_bank(finished: NuggetBank, as_olga: Client, olga: Person):
    assert FORM in as_olga.get(url(finished, "editor")).content.decode()
    response = reopen(as_olga, finished, f"  {REASON}\r\n ")
    assert (response.status_code, response["Location"]) == (302, url(finished, "editor"))
    bank = restored(finished)
    assert (bank.state, bank.version, bank.edition, bank.finished_at) == ("open", EDITED + 2, 1, None)
    assert (bank.head, bank.order) == (finished.head, finished.order)
    assert (bank.task.state, bank.task.done, bank.task.total) == ("open", 2, 0)
    edit = bank.edits.get(version=EDITED + 2)
    assert (edit.verb, edit.changes, edit.judge.person) == ("reopen", {"reason": REASON}, olga)
    assert (edit.parent, edit.about) == (None, None)
    event = Event.objects.get(verb="bank reopened")
    assert (event.person, event.campaign, event.subject) == (olga, bank.condition.campaign, str(bank))
    assert event.details == {"reason": REASON, "bank": "anna"}
    assert bank.editions.count() == 1, "what was handed in stays"
    page = page_of(as_olga, bank)
    assert "Reopened: anna finds the topic among their open work." in page
    assert FORM not in page
    assert "Read-only view of anna's work" in page


def test_the_maker_reads_why_and_goes_on(reopened: NuggetBank, as_anna: Client):
    home = as_anna.get("/").content.decode()
    assert f'href="{url(reopened, "editor")}"' in home
    page = as_anna.get(url(reopened, "editor"))
    assert "Reopened by olga: <bdi>please look at b &lt;again&gt; &amp; again</bdi>" in page.content.decode()
    assert "textarea" in shown(page).tags
    assert (shown(page).version, shown(page).state, shown(page).redo) == (EDITED + 2, "open", True)
    assert send(as_anna, reopened, "reword", on=B, text="better").status_code == 200
    assert listed(reopened) == [("a", "vital"), ("better", "vital")]
    assert "Reopened by olga" in page_of(as_anna, reopened), "for as long as it is open"


@pytest.mark.parametrize("verb", WRITES)
def test_every_write_is_taken_again(reopened: NuggetBank, as_anna: Client, verb: str):
    response = send(as_anna, reopened, verb, **WRITES[verb])
    assert (response.status_code, shown(response).version) == (200, EDITED + 3)


def test_undo_goes_back_beyond_the_handing_in(reopened: NuggetBank):
    for _ in range(4):
        do(reopened, actions.undo)
    assert (listed(reopened), restored(reopened).head) == ([], None)
    for _ in range(5):
        do(reopened, actions.redo)
    assert listed(reopened) == [("a", "vital"), ("b", "vital"), ("c", "")]


def test_a_tab_from_before_is_late(finished: NuggetBank, as_olga: Client, as_anna: Client):
    version = finished.version
    reopen(as_olga, finished)
    response = send(as_anna, finished, "delete", version=version)
    assert (response.status_code, shown(response).version, shown(response).state) == (409, EDITED + 2, "open")


def test_reopening_is_not_the_makers_work(
    finished: NuggetBank, anna: Person, olga: Person, as_olga: Client, as_anna: Client
):
    """Who has gone on to another topic continues there, not where an organizer was last."""
    condition, topic = finished.condition, Topic.objects.get(qid="t2")
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    other = NuggetBank.objects.get(task=task)
    fill(other, (A, "a", ""))
    worked_at = restored(finished).task.worked_at
    assert worked_at is not None
    reopen(as_olga, finished)
    assert (restored(finished).task.worked_at, restored(finished).task.state) == (worked_at, "open")
    assert as_anna.get("/").context["next_task"].task == task


def test_the_reason_is_the_last_one_and_gone_once_finished(reopened: NuggetBank, as_olga: Client, as_anna: Client):
    do(reopened, actions.finish_bank)
    assert reopening(restored(reopened)) is None
    assert "Reopened by" not in page_of(as_anna, reopened)
    assert FORM in page_of(as_olga, reopened)
    reopen(as_olga, reopened, "a second time")
    page = page_of(as_anna, reopened)
    assert "Reopened by olga: <bdi>a second time</bdi>" in page
    assert "again" not in page.split("Reopened by")[1].split("</p>")[0]
    assert reopening(restored(reopened)).changes == {"reason": "a second time"}


def test_a_bank_never_reopened_says_nothing_of_it(edited: NuggetBank, as_anna: Client):
    assert reopening(edited) is None
    assert "Reopened by" not in page_of(as_anna, edited)


# Refused


@pytest.fixture
def refuses_reopening(finished: NuggetBank, as_olga: Client) -> Callable[..., None]:
    """Show that the bank is not reopened, that the page says why, and that nothing changed."""

    def show(message: str, reason: str = REASON) -> None:
        before = everything(finished)
        assert reopen(as_olga, finished, reason).status_code == 302
        assert everything(finished) == before
        assert message in page_of(as_olga, finished)

    return show


@pytest.mark.parametrize("reason", ["", " \t\n\u2003", "x" * 501, "a\x00b", "x " * 251])
def test_without_a_reason_nothing_is_reopened(refuses_reopening, reason: str):
    refuses_reopening(SAY_WHY, reason)


def test_without_the_field_nothing_is_reopened(finished: NuggetBank, as_olga: Client):
    as_olga.post(url(finished, "reopen"))
    assert SAY_WHY in page_of(as_olga, finished)
    assert restored(finished).state == "finished"


def test_a_reason_may_be_as_long_as_said(finished: NuggetBank, as_olga: Client):
    reopen(as_olga, finished, "x" * 500 + " ")
    assert reopening(restored(finished)).changes == {"reason": "x" * 500}


def test_what_is_not_finished_is_not_reopened(edited: NuggetBank, as_olga: Client):
    before = everything(edited)
    assert FORM not in page_of(as_olga, edited)
    reopen(as_olga, edited)
    assert "These nuggets are not finished: there is nothing to reopen." in page_of(as_olga, edited)
    assert everything(edited) == before


def test_reopening_twice_is_once(reopened: NuggetBank, as_olga: Client):
    before = everything(reopened)
    reopen(as_olga, reopened, "and again")
    assert "These nuggets are not finished: there is nothing to reopen." in page_of(as_olga, reopened)
    assert everything(reopened) == before


def test_an_imported_bank_has_nobody_to_give_it_back_to(finished: NuggetBank, as_olga: Client):
    NuggetBank.objects.filter(pk=finished.pk).update(task=None)
    before = list(NuggetBank.objects.values())
    assert FORM not in page_of(as_olga, finished)
    assert reopen(as_olga, finished).status_code == 302
    assert "Nobody works on these nuggets here: they came from a file." in page_of(as_olga, finished)
    assert list(NuggetBank.objects.values()) == before


def test_a_maker_who_has_become_an_organizer_does_not_get_it_back(
    finished: NuggetBank, anna: Person, olga: Person, refuses_reopening
):
    organizer = add_member(campaign=finished.condition.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    message = "anna organizes Study, or did; an organizer isn&#x27;t an assessor in the same campaign."
    refuses_reopening(message)
    end_membership(membership=organizer, acting_user=olga)
    refuses_reopening(message)


def test_a_maker_who_has_become_an_administrator_does_not_get_it_back(anna: Person, refuses_reopening):
    Person.objects.filter(pk=anna.pk).update(is_superuser=True)
    refuses_reopening("anna is an administrator, who can see every record; an administrator isn&#x27;t an assessor.")


def test_a_maker_who_is_no_assessor_any_more_does_not_get_it_back(anna: Person, refuses_reopening):
    end_roles(anna)
    refuses_reopening("anna is not an assessor of Study.")


def test_a_maker_who_is_inactive_does_not_get_it_back(anna: Person, refuses_reopening):
    Person.objects.filter(pk=anna.pk).update(is_active=False)
    refuses_reopening("anna is not an assessor of Study.")


def test_a_maker_who_has_seen_llm_nuggets_meanwhile_does_not_get_it_back(
    finished: NuggetBank, anna: Person, refuses_reopening
):
    record_exposure(anna, [finished.topic], "nuggets", "drafts")
    refuses_reopening("anna has seen LLM output of this kind on t1 meanwhile.")


@pytest.mark.parametrize("seen", ["another topic", "another kind", "another person"])
def test_what_else_was_seen_does_not_matter(
    finished: NuggetBank, anna: Person, ben: Person, as_olga: Client, seen: str
):
    topic = Topic.objects.get(qid="t2") if seen == "another topic" else finished.topic
    kind = "assignment" if seen == "another kind" else "nuggets"
    record_exposure(ben if seen == "another person" else anna, [topic], kind, "somewhere")
    reopen(as_olga, finished)
    assert restored(finished).state == "open"


def test_a_campaign_may_not_care_what_was_seen(finished: NuggetBank, anna: Person, olga: Person, as_olga: Client):
    Protocol.objects.update(blind_after_seeing=False)
    record_exposure(anna, [finished.topic], "nuggets", "drafts")
    add_member(campaign=finished.condition.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    reopen(as_olga, finished)
    assert restored(finished).state == "open"


@pytest.mark.parametrize("who", ["anna", "ben", "otto", "admin"])
def test_nobody_else_reopens(finished: NuggetBank, who: str, request: pytest.FixtureRequest):
    person = request.getfixturevalue(who)
    if who == "otto":
        create_campaign(name="His own", slug="his-own", acting_user=person)
    before = everything(finished)
    assert reopen(client_of(person), finished).status_code == 404
    assert everything(finished) == before
    assert FORM not in client_of(person).get(url(finished, "editor")).content.decode()


def test_nobody_signed_in_reopens(finished: NuggetBank, client: Client):
    assert reopen(client, finished).status_code == 401
    assert restored(finished).state == "finished"


def test_no_organizer_reopens_their_own_work(finished: NuggetBank, anna: Person, olga: Person, as_olga: Client):
    """Where a campaign lets its organizers assess, another organizer has to say why."""
    Protocol.objects.update(blind_after_seeing=False)
    add_member(campaign=finished.condition.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    before = everything(finished)
    client = client_of(anna)
    assert reopen(client, finished).status_code == 404
    assert everything(finished) == before
    assert FORM not in client.get(url(finished, "editor")).content.decode()
    assert reopen(as_olga, finished).status_code == 302
    assert restored(finished).state == "open"


def test_former_organizers_and_those_without_the_role_reopen_nothing(finished: NuggetBank, olga: Person):
    campaign = finished.condition.campaign
    second = make_person("oskar", "organizer")
    organizer = add_member(campaign=campaign, person=second, role=Role.ORGANIZER, acting_user=olga)
    end_membership(membership=organizer, acting_user=olga)
    end_roles(olga)
    for person in (second, olga):
        assert reopen(client_of(person), finished).status_code == 404
    assert restored(finished).state == "finished"


def test_reopening_is_a_post(finished: NuggetBank, as_olga: Client):
    assert as_olga.get(url(finished, "reopen")).status_code == 405
    assert restored(finished).state == "finished"


def test_the_action_itself_refuses_too(edited: NuggetBank, olga: Person):
    with pytest.raises(ReopenError, match="not finished"):
        actions.reopen_bank(edited, reason=REASON, acting_user=olga)


def test_a_reopened_topic_is_still_its_makers(reopened: NuggetBank, ben: Person, olga: Person):
    give = {"campaign": reopened.condition.campaign, "topics": [reopened.topic], "condition": reopened.condition}
    with pytest.raises(PlanError, match="somebody else's already"):
        give_tasks(**give, person=ben, acting_user=olga)
    withdraw_task(task=restored(reopened).task, acting_user=olga)
    [task] = give_tasks(**give, person=ben, acting_user=olga)
    assert NuggetBank.objects.get(task=task).order == []
    assert restored(reopened).editions.count() == 1


# Finished again


@pytest.fixture
def again(bank: NuggetBank, olga: Person) -> Callable[..., dict[str, list[str]]]:
    """Reopen a bank, carry out edits, finish it, and return its consequences with texts for ids."""

    def run(*edits: tuple[Callable[..., object], dict[str, object]]) -> dict[str, list[str]]:
        actions.reopen_bank(restored(bank), reason=REASON, acting_user=olga)
        for action, fields in edits:
            do(restored(bank), action, **fields)
        do(restored(bank), actions.finish_bank)
        edition = bank.editions.latest("edition")
        assert list(edition.consequences) == ["stale", "missing", "gone", "rescored"]
        return {kind: [str(UUID(uid).int) for uid in uids] for kind, uids in edition.consequences.items() if uids}

    return run


def reword(uid: UUID, text: str) -> tuple[Callable[..., object], dict[str, object]]:
    return actions.reword_nugget, {"uid": uid, "text": text}


def weigh(uid: UUID, importance: str) -> tuple[Callable[..., object], dict[str, object]]:
    return actions.set_importance, {"uid": uid, "importance": importance}


def delete(uid: UUID) -> tuple[Callable[..., object], dict[str, object]]:
    return actions.delete_nugget, {"uid": uid}


def add(uid: UUID, text: str) -> list[tuple[Callable[..., object], dict[str, object]]]:
    return [(actions.add_nugget, {"uid": uid, "text": text, "evidence": None}), weigh(uid, "okay")]


SPAN = {"docid": "d1", "start": 0, "end": 4}
UNDO: tuple[Callable[..., object], dict[str, object]] = (actions.undo, {})
NAMES = {A: "10", B: "11", C: "12", NEW: "13", NEWER: "14"}
EDITS: dict[str, tuple[list[tuple[Callable[..., object], dict[str, object]]], dict[str, list[UUID]]]] = {
    "nothing": ([], {}),
    "text": ([reword(A, "other")], {"stale": [A]}),
    "text and back": ([reword(A, "other"), reword(A, "a")], {}),
    "text and undone": ([reword(A, "other"), UNDO], {}),
    "importance": ([weigh(B, "okay")], {"rescored": [B]}),
    "importance and back": ([weigh(B, "okay"), weigh(B, "vital")], {}),
    "text and importance": ([reword(A, "other"), weigh(A, "okay")], {"stale": [A]}),
    "order": ([(actions.move_nugget, {"uid": C, "to": 0})], {}),
    "evidence": ([(actions.attach_evidence, {"uid": A, "evidence": SPAN})], {}),
    "notes": ([(actions.set_note, {"uid": A, "text": "n"}), (actions.set_reading, {"text": "r"})], {}),
    "added": (add(NEW, "new"), {"missing": [NEW]}),
    "added and deleted": ([*add(NEW, "new"), delete(NEW)], {}),
    "deleted": ([delete(B)], {"gone": [B]}),
    "deleted and undone": ([delete(B), UNDO], {}),
    "merged": (
        [(actions.merge_nuggets, {"uids": [A, B], "uid": NEW, "text": "a"})],
        {"missing": [NEW], "gone": [A, B]},
    ),
    "split": (
        [
            (actions.split_nugget, {"uid": C, "into": [(NEW, "x"), (NEWER, "c")]}),
            weigh(NEW, "okay"),
            weigh(NEWER, "okay"),
        ],
        {"missing": [NEW, NEWER], "gone": [C]},
    ),
    "all at once": (
        [reword(B, "other"), weigh(A, "okay"), delete(C), *add(NEW, "c"), (actions.move_nugget, {"uid": B, "to": 0})],
        {"stale": [B], "missing": [NEW], "gone": [C], "rescored": [A]},
    ),
}


@pytest.mark.parametrize(("edits", "expected"), EDITS.values(), ids=EDITS)
def test_finishing_again_says_what_it_changed(bank: NuggetBank, again, edits, expected: dict[str, list[UUID]]):
    fill(bank, (A, "a", "vital"), (B, "b", "vital"), (C, "c", "okay"))
    do(bank, actions.finish_bank)
    assert again(*edits) == {kind: [NAMES[uid] for uid in uids] for kind, uids in expected.items()}
    assert restored(bank).edition == 2
    told = Event.objects.filter(verb="bank finished").order_by("pk")
    consequences = bank.editions.get(edition=2).consequences
    assert [event.details for event in told] == [
        {"edition": 1, "bank": "anna", "consequences": {}},
        {"edition": 2, "bank": "anna", "consequences": consequences},
    ]


def test_each_edition_is_compared_with_the_one_before(bank: NuggetBank, again):
    fill(bank, (A, "a", "vital"), (B, "b", "vital"))
    do(bank, actions.finish_bank)
    assert again(reword(A, "other"), delete(B)) == {"stale": ["10"], "gone": ["11"]}
    assert again(reword(A, "a")) == {"stale": ["10"]}
    assert again(UNDO, UNDO) == {"stale": ["10"], "missing": ["11"]}
    assert restored(bank).edition == 4
    assert list(bank.editions.values_list("edition", flat=True)) == [1, 2, 3, 4]


def test_an_edition_keeps_the_nuggets_as_they_were_handed_in(finished: NuggetBank, olga: Person):
    first = [
        {"uid": str(A), "text": "a", "importance": "vital", "evidence": [{"docid": "d2", "start": None, "end": None}]},
        {"uid": str(B), "text": "b", "importance": "vital", "evidence": []},
    ]
    edition = finished.editions.get()
    assert (edition.edition, edition.version, edition.consequences) == (1, EDITED + 1, {})
    assert edition.nuggets == first
    actions.reopen_bank(restored(finished), reason=REASON, acting_user=olga)
    do(finished, actions.reword_nugget, uid=A, text="other")
    do(finished, actions.move_nugget, uid=B, to=0)
    assert finished.editions.count() == 1, "none before it is handed in again"
    do(finished, actions.finish_bank)
    second = finished.editions.get(edition=2)
    assert (second.version, second.nuggets) == (EDITED + 5, [first[1], first[0] | {"text": "other"}])
    assert finished.editions.get(edition=1).nuggets == first
    bank = restored(finished)
    assert (bank.state, bank.edition, bank.task.state, bank.task.total) == ("finished", 2, Task.State.FINISHED, 2)
    assert bank.finished_at is not None


def test_a_reopened_bank_that_lacks_something_is_not_finished(reopened: NuggetBank, as_anna: Client):
    send(as_anna, reopened, "reword", text="")
    assert send(as_anna, reopened, "finish").status_code == 422
    bank = restored(reopened)
    assert (bank.state, bank.edition, bank.editions.count(), bank.task.state) == ("open", 1, 1, "open")


def test_a_reopened_bank_is_in_no_export_until_it_is_finished_again(
    finished: NuggetBank, condition: Condition, as_olga: Client
):
    def exported() -> list[list[str]]:
        return [[nugget["text"] for nugget in json.loads(line)["nuggets"]] for line in condition_lines(condition)]

    assert exported() == [["a", "b"]]
    reopen(as_olga, finished)
    assert exported() == []
    downloaded = as_olga.get(f"/campaigns/study/exports/nuggets/file/?of={condition}")
    assert b"".join(downloaded.streaming_content) == b""
    do(restored(finished), actions.delete_nugget, uid=A)
    assert exported() == []
    do(restored(finished), actions.finish_bank)
    assert exported() == [["b"]]


# Where a nugget comes from


def told(bank: NuggetBank) -> list[Lineage]:
    return lineage(restored(bank), nuggets_in_order(restored(bank)))


def test_the_lineage_names_what_was_merged_and_split_nested_too(bank: NuggetBank, as_olga: Client, as_anna: Client):
    fill(bank, (A, "a", "vital"), (B, "<b>", "vital"), (C, "c", "vital"))
    do(bank, actions.split_nugget, uid=A, into=[(UUID(int=31), "a1"), (UUID(int=32), "a2")])
    do(bank, actions.merge_nuggets, uids=[UUID(int=32), B], uid=UUID(int=33), text="a2 and b")
    do(bank, actions.merge_nuggets, uids=[C, UUID(int=33)], uid=UUID(int=34), text="all")
    assert told(bank) == [
        Lineage("a1", "split from another", ["a"]),
        Lineage("all", "merged from others", ["a2 and b (from: a2 (from: a); <b>)", "c"]),
    ]
    page = as_olga.get(url(bank, "editor")).content.decode()
    assert "<bdi>all</bdi>: merged from others:" in page
    assert "<li><bdi>a2 and b (from: a2 (from: a); &lt;b&gt;)</bdi></li><li><bdi>c</bdi></li>" in page
    assert "Lineage" not in as_anna.get(url(bank, "editor")).content.decode()


def test_the_lineage_has_parents_in_list_order_with_their_present_texts(bank: NuggetBank):
    fill(bank, (A, "a", ""), (B, "b", ""))
    do(bank, actions.move_nugget, uid=B, to=0)
    do(bank, actions.reword_nugget, uid=B, text="b, reworded")
    do(bank, actions.merge_nuggets, uids=[A, B], uid=NEW, text="m")
    fill(bank, (C, "c", ""))
    assert told(bank) == [
        Lineage("m", "merged from others", ["b, reworded", "a"]),
        Lineage("c", "written by a person", []),
    ]
    do(bank, actions.undo)
    do(bank, actions.undo)
    assert [one.text for one in told(bank)] == ["b, reworded", "a"]


def test_a_text_is_told_with_its_own_past_once_however_often_it_was_split_and_merged(bank: NuggetBank):
    """Told each time, 12 rounds would fill megabytes, and 30 would never end."""
    fill(bank, (A, "n0", ""))
    last = A
    for number in range(1, 31):
        halves = [UUID(int=100 * number), UUID(int=100 * number + 1)]
        do(bank, actions.split_nugget, uid=last, into=[(half, f"h{number}") for half in halves])
        last = UUID(int=100 * number + 2)
        do(bank, actions.merge_nuggets, uids=halves, uid=last, text=f"n{number}")
        if number == 3:
            [one] = told(bank)
            first = "h3 (from: n2 (from: h2 (from: n1 (from: h1 (from: n0); h1 (from: n0))); h2 (from: n1)))"
            assert one.made_from == [first, "h3 (from: n2)"]
    [one] = told(bank)
    assert one.made_from[1] == "h30 (from: n29)"
    assert one.made_from[0].count("from: ") == 1 + 3 * 29
