"""Writing questions over HTTP: gold answers, any or all of them, parts of questions, and what finishing asks."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event, Protocol
from assessor.work.actions import give_tasks
from assessor.work.models import Task, Write
from nuggets.actions import create_manual_nuggets
from nuggets.models import Nugget, NuggetBank
from nuggets.questions.exports import condition_lines
from tests.conftest import client_of
from tests.questions.conftest import A, B, C, D, address, ask, done, send

E, NEW, NEWER = UUID(int=14), UUID(int=30), UUID(int=31)
PLACE = {"docid": "d1", "start": 0, "end": 23}
WHOLE = {"docid": "d2", "start": None, "end": None}
# Every write of questions alone, and what is sent with it; each changes the bank `asked`.
WRITES: dict[str, dict[str, str]] = {
    "gold_add": {"text": "hunger"},
    "gold_reword": {"gold": "g2", "text": "being in pain"},
    "gold_remove": {"gold": "g1"},
    "gold_cite": {"gold": "g2", "docid": "d2"},
    "gold_uncite": {"gold": "g1", "docid": "d1", "start": "0", "end": "23"},
    "aggregate": {"aggregator": "AND"},
    "nest": {"deeper": "1", "on": str(B)},
}
KEY = UUID(int=77)
each_write = pytest.mark.parametrize("verb", WRITES)


def write(client: Client, bank: NuggetBank, verb: str, **more: Any) -> HttpResponse:
    """Send the write of this verb."""
    fields = dict(WRITES[verb])
    return send(client, bank, verb, on=UUID(fields.pop("on", str(A))), **fields, **more)


def answer(identifier: str, text: str, *references: dict[str, Any]) -> dict[str, Any]:
    return {"id": identifier, "text": text, "references": list(references)}


def told(response: HttpResponse) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(response.content)
    return found


def questions(bank: NuggetBank) -> list[tuple[str, list[Any], str, str | None]]:
    """Return the questions on the list as stored: text, gold answers, aggregator, and what they are under."""
    order = NuggetBank.objects.get(pk=bank.pk).order
    found = {one.name: one for one in bank.nuggets.all()}
    listed = [found[name] for name in order]
    return [
        (one.text, [list(answer.values())[:3] for answer in one.gold], one.aggregator, one.under and str(one.under))
        for one in listed
    ]


def everything(bank: NuggetBank) -> list[Any]:
    """Return all that a write could touch, to show that it touched nothing."""
    tables = (NuggetBank.objects, Nugget.objects, bank.edits, Event.objects, Write.objects, Task.objects, bank.editions)
    return [list(table.order_by("pk").values()) for table in tables]


@pytest.fixture
def refuses(asked: NuggetBank, as_anna: Client) -> Callable[..., None]:
    """Show that a write is refused with 400 and this message, and changes nothing at all."""

    def show(message: str, verb: str, **fields: Any) -> None:
        before = everything(asked)
        response = send(as_anna, asked, verb, **fields)
        assert (response.status_code, response.content.decode()) == (400, message)
        assert everything(asked) == before

    return show


# Saved


def test_a_new_question_has_no_gold_answer_yet(bank: NuggetBank, as_anna: Client):
    [one] = done(as_anna, bank, "add", uid=str(A), text="Why?", importance="vital", docid="d1")
    assert {name: one[name] for name in ("text", "importance", "gold", "last_gold", "aggregator", "under")} == {
        "text": "Why?",
        "importance": "vital",
        "gold": [],
        "last_gold": 0,
        "aggregator": "",
        "under": None,
    }
    assert one["evidence"] == [{"docid": "d1", "start": None, "end": None}]


AFTER: dict[str, dict[str, Any]] = {
    "gold_add": {"gold": [answer("g1", "contentment", PLACE), answer("g2", "pain"), answer("g3", "hunger")]},
    "gold_reword": {"gold": [answer("g1", "contentment", PLACE), answer("g2", "being in pain")]},
    "gold_remove": {"gold": [answer("g2", "pain")]},
    "gold_cite": {"gold": [answer("g1", "contentment", PLACE), answer("g2", "pain", WHOLE)]},
    "gold_uncite": {"gold": [answer("g1", "contentment"), answer("g2", "pain")]},
    "aggregate": {"aggregator": "AND"},
    "nest": {"under": str(A)},
}


@each_write
def test_a_write_is_saved_undone_and_done_again(asked: NuggetBank, as_anna: Client, verb: str):
    asked.refresh_from_db()
    version, place = asked.version, 1 if verb == "nest" else 0
    before = questions(asked)
    response = write(as_anna, asked, verb)
    assert response.status_code == 200
    assert told(response)["about"]["version"] == version + 1
    after = told(response)["nuggets"]
    assert {name: after[place][name] for name in AFTER[verb]} == AFTER[verb]
    edit = asked.edits.get(version=version + 1)
    assert (edit.verb, set(edit.changes)) == (verb, {"nuggets"})
    done_once = questions(asked)
    assert done_once != before
    done(as_anna, asked, "undo")
    assert questions(asked) == before
    assert done(as_anna, asked, "redo") == after
    assert questions(asked) == done_once


@each_write
def test_a_page_loaded_after_a_write_has_the_same_list(asked: NuggetBank, as_anna: Client, verb: str):
    listed = told(write(as_anna, asked, verb))["nuggets"]
    page = as_anna.get(address(asked, "editor"))
    assert json.loads(page.context["known"])["nuggets"] == listed


@each_write
def test_a_write_sent_twice_counts_once_and_is_answered_alike(asked: NuggetBank, as_anna: Client, verb: str):
    version = NuggetBank.objects.get(pk=asked.pk).version
    first = write(as_anna, asked, verb, key=KEY, version=version)
    after = everything(asked)
    second = write(as_anna, asked, verb, key=KEY, version=version)
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.content == first.content
    assert everything(asked) == after


@each_write
def test_a_write_on_another_version_is_refused_with_the_present_list(asked: NuggetBank, as_anna: Client, verb: str):
    before = everything(asked)
    version = NuggetBank.objects.get(pk=asked.pk).version
    for other in (0, version - 1, version + 1):
        response = write(as_anna, asked, verb, version=other)
        assert response.status_code == 409
        assert told(response)["about"]["version"] == version
        assert told(response)["nuggets"][0]["gold"] == [answer("g1", "contentment", PLACE), answer("g2", "pain")]
    assert everything(asked) == before


@each_write
def test_a_write_is_its_makers_alone(asked: NuggetBank, ben: Person, olga: Person, verb: str):
    before = everything(asked)
    assert [write(client_of(person), asked, verb).status_code for person in (ben, olga)] == [404, 404]
    assert everything(asked) == before


@each_write
def test_a_bank_of_facts_has_none_of_this(campaign: Campaign, anna: Person, olga: Person, as_anna: Client, verb: str):
    source, topic = campaign.qrels_sources.get(name="NIST"), campaign.topics.get(qid="t1")
    condition = create_manual_nuggets(campaign=campaign, name="Facts", qrels_source=source, acting_user=olga)
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    facts = NuggetBank.objects.get(task=task)
    for uid in (A, B):
        done(as_anna, facts, "add", uid=str(uid), text="a fact")
    before = everything(facts)
    response = write(as_anna, facts, verb)
    assert (response.status_code, response.content.decode()) == (
        400,
        "These nuggets are no questions: they have no gold answers.",
    )
    assert everything(facts) == before


# Refused


def test_a_gold_answer_has_a_text_when_it_is_added_and_may_be_emptied_later(
    asked: NuggetBank, as_anna: Client, refuses: Callable[..., None]
):
    for text in ("", " \t\n"):
        refuses("A gold answer needs a text.", "gold_add", text=text)
    for text in ("x" * 2_001, "a\x00b"):
        refuses("A text has at most 2,000 characters and no NUL.", "gold_add", text=text)
        refuses("A text has at most 2,000 characters and no NUL.", "gold_reword", gold="g1", text=text)
    [one, _] = done(as_anna, asked, "gold_reword", gold="g1", text="  ")
    assert one["gold"][0] == answer("g1", "", PLACE)
    assert done(as_anna, asked, "gold_add", text=" two \n words ")[0]["gold"][-1] == answer("g3", "two words")


@pytest.mark.parametrize("gold", ["", "g3", "g01", "1"])
def test_only_gold_answers_that_are_there_are_edited(refuses: Callable[..., None], gold: str):
    message = "There is no such gold answer of this question."
    for verb in ("gold_reword", "gold_remove", "gold_cite", "gold_uncite"):
        refuses(message, verb, **WRITES[verb] | {"gold": gold})
        refuses(message, verb, **WRITES[verb], on=B)


@each_write
def test_only_questions_on_the_list_are_edited(refuses: Callable[..., None], verb: str):
    refuses("There is no such question on the list.", verb, **WRITES[verb] | {"on": UUID(int=99)})


def test_a_reference_is_a_place_in_a_passage_beside_the_list(
    asked: NuggetBank, as_anna: Client, refuses: Callable[..., None]
):
    message = "start and end must be characters of the passage, which has 47."
    for start, end in (("0", "0"), ("0", "48"), ("5", "4")):
        refuses(message, "gold_cite", gold="g1", docid="d1", start=start, end=end)
    for docid in ("d3", "d5", "", "none", "a\x00"):
        refuses("There is no such passage on this topic.", "gold_cite", gold="g1", docid=docid)
    version = NuggetBank.objects.get(pk=asked.pk).version
    done(as_anna, asked, "gold_cite", gold="g1", docid="d1", start="0", end="23")  # that it has already
    assert NuggetBank.objects.get(pk=asked.pk).version == version


def test_at_most_a_hundred_gold_answers(asked: NuggetBank, as_anna: Client, refuses: Callable[..., None]):
    hundred = [answer(f"g{number}", str(number)) | {"extras": {}} for number in range(1, 101)]
    Nugget.objects.filter(uid=B).update(gold=hundred, last_gold=100)
    refuses("A question has at most 100 gold answers.", "gold_add", on=B, text="one more")
    refuses("Together they have more than 100 gold answers.", "merge", uids=f"{A} {B}", uid=str(C), text="Both?")
    done(as_anna, asked, "gold_remove", on=B, gold="g100")
    assert done(as_anna, asked, "gold_add", on=B, text="one more")[1]["gold"][-1]["id"] == "g101"


def test_any_or_all_takes_two_gold_answers(asked: NuggetBank, as_anna: Client, refuses: Callable[..., None]):
    for aggregator in ("", "and", "NOT"):
        refuses("aggregator must be OR or AND.", "aggregate", aggregator=aggregator)
    done(as_anna, asked, "gold_add", on=B, text="as a conversation")
    for aggregator in ("OR", "AND"):
        message = "Any or all of the gold answers: that takes two of them at least."
        refuses(message, "aggregate", on=B, aggregator=aggregator)
    done(as_anna, asked, "aggregate", aggregator="AND")
    done(as_anna, asked, "gold_remove", gold="g1")
    assert done(as_anna, asked, "aggregate", aggregator="OR")[0]["aggregator"] == "OR"


# Ids


def test_an_id_is_given_once(asked: NuggetBank, as_anna: Client):
    def ids() -> list[str]:
        return [one[0] for one in questions(asked)[0][1]]

    done(as_anna, asked, "gold_remove", gold="g2")
    done(as_anna, asked, "gold_add", text="hunger")
    assert ids() == ["g1", "g3"]
    done(as_anna, asked, "undo")
    done(as_anna, asked, "gold_add", text="stress")
    assert ids() == ["g1", "g4"]


# Merging and splitting


def test_merging_unites_gold_answers(asked: NuggetBank, as_anna: Client):
    Nugget.objects.filter(uid=B).update(gold=[answer("g1", "pain\u2003", WHOLE) | {"extras": {}}], last_gold=1)
    done(as_anna, asked, "gold_add", on=B, text="hunger")
    for uid in (A, B):
        done(as_anna, asked, "aggregate", on=uid, aggregator="AND")
    done(as_anna, asked, "gold_cite", gold="g2", docid="d1")
    before = questions(asked)
    [merged] = done(as_anna, asked, "merge", uids=f"{A} {B}", uid=str(C), text="Why, and how loud?")
    whole = {"docid": "d1", "start": None, "end": None}
    assert merged["gold"] == [
        answer("g1", "contentment", PLACE),
        answer("g2", "pain", whole, WHOLE),
        answer("g3", "hunger"),
    ]
    assert (merged["aggregator"], merged["last_gold"], merged["importance"]) == ("AND", 3, "vital")
    done(as_anna, asked, "undo")
    assert questions(asked) == before
    done(as_anna, asked, "aggregate", on=B, aggregator="OR")
    [merged] = done(as_anna, asked, "merge", uids=f"{B} {A}", uid=str(D), text="Why, and how loud?")
    assert merged["aggregator"] == ""


def test_both_halves_have_the_gold_answers(asked: NuggetBank, as_anna: Client):
    done(as_anna, asked, "aggregate", aggregator="AND")
    done(as_anna, asked, "gold_remove", gold="g2")
    halves = done(as_anna, asked, "split", uid1=str(C), text1="Why purr?", uid2=str(D), text2="Why loud?")[:2]
    for half in halves:
        assert (half["gold"], half["aggregator"]) == ([answer("g1", "contentment", PLACE)], "AND")
    assert done(as_anna, asked, "gold_add", on=D, text="pain")[1]["gold"][1]["id"] == "g3"


# Parts of questions


def outline(bank: NuggetBank) -> str:
    """Return the list as its texts, each behind as many dots as there are questions above it."""
    levels: dict[str | None, int] = {None: 0}
    told = []
    names = NuggetBank.objects.get(pk=bank.pk).order
    for name, (text, _, _, under) in zip(names, questions(bank), strict=True):
        assert under in levels, "what is under another follows it"
        levels[name] = levels[under] + 1
        told.append("." * levels[under] + text)
    return " ".join(told)


@pytest.fixture
def tree(bank: NuggetBank, as_anna: Client) -> NuggetBank:
    """Questions a to e: b and d are parts of a, c is one of b, e stands alone."""
    for uid, text in zip((A, B, C, D, E), "abcde", strict=True):
        ask(as_anna, bank, uid, text)
    for uid, times in ((B, 1), (C, 1), (C, 1), (D, 1)):
        for _ in range(times):
            done(as_anna, bank, "nest", on=uid, deeper="1")
    assert outline(bank) == "a .b ..c .d e"
    return bank


NESTED: dict[str, tuple[str, UUID, dict[str, str], str]] = {
    "in": ("nest", E, {"deeper": "1"}, "a .b ..c .d .e"),
    "in, below its sibling": ("nest", D, {"deeper": "1"}, "a .b ..c ..d e"),
    "out, with what is under it, behind its siblings": ("nest", B, {"deeper": "0"}, "a .d b .c e"),
    "out of the second level": ("nest", C, {"deeper": "0"}, "a .b .c .d e"),
    "deleted: those under it go up": ("delete", A, {}, "b .c d e"),
    "deleted in the middle": ("delete", B, {}, "a .c .d e"),
    "moved with what is under it": ("move", A, {"to": "1"}, "e a .b ..c .d"),
    "moved among others' parts": ("move", E, {"to": "2"}, "a .b ..e ..c .d"),
    "moved behind its siblings": ("move", B, {"to": "2"}, "a .d .b ..c e"),
    "moved to the front, under nothing": ("move", C, {"to": "0"}, "c a .b .d e"),
    "moved below a question that stands alone": ("move", D, {"to": "4"}, "a .b ..c e .d"),
    "merged with one of its parts": (
        "merge",
        A,
        {"uids": f"{A} {B}", "uid": str(NEW), "text": "m"},
        "m .c .d e",
    ),
    "merged with another": ("merge", A, {"uids": f"{B} {E}", "uid": str(NEW), "text": "m"}, "a .m ..c .d"),
    "merged, the later one with parts": (
        "merge",
        A,
        {"uids": f"{B} {D}", "uid": str(NEW), "text": "m"},
        "a .m ..c e",
    ),
    "split: parts stay with the second half": (
        "split",
        B,
        {"uid1": str(NEW), "text1": "x", "uid2": str(NEWER), "text2": "y"},
        "a .x .y ..c .d e",
    ),
}


@pytest.mark.parametrize(("verb", "on", "fields", "after"), NESTED.values(), ids=NESTED)
def test_parts_follow_the_question_that_they_are_parts_of(
    tree: NuggetBank, as_anna: Client, verb: str, on: UUID, fields: dict[str, str], after: str
):
    before = questions(tree)
    done(as_anna, tree, verb, on=on, **fields)
    assert outline(tree) == after
    done(as_anna, tree, "undo")
    assert questions(tree) == before
    done(as_anna, tree, "redo")
    assert outline(tree) == after


def test_what_can_be_no_part_is_refused(tree: NuggetBank, as_anna: Client):
    for on, deeper, message in (
        (A, "1", "There is no question above that this one could be a part of."),
        (B, "1", "There is no question above that this one could be a part of."),
        (C, "1", "There is no question above that this one could be a part of."),
        (A, "0", "This question is not a part of another."),
        (A, "2", "deeper must be 0 or 1."),
        (A, "", "deeper must be 0 or 1."),
    ):
        response = send(as_anna, tree, "nest", on=on, deeper=deeper)
        assert (response.status_code, response.content.decode()) == (400, message)
    done(as_anna, tree, "nest", on=D, deeper="1")
    done(as_anna, tree, "nest", on=E, deeper="1")
    done(as_anna, tree, "nest", on=E, deeper="1")
    assert outline(tree) == "a .b ..c ..d ..e"
    response = send(as_anna, tree, "nest", on=E, deeper="1")
    assert (response.status_code, response.content.decode()) == (
        400,
        "Questions are parts of others down to level 3.",
    )


# Finishing


@pytest.mark.parametrize(
    ("texts", "lacking"),
    [
        ([], ["There is no question yet."]),
        (["Why?", ""], ["Question 2 has no text."]),
        (["Why do cats purr?", "why do CATS purr?"], ["Question 2 is the same as question 1."]),
    ],
    ids=["none", "empty", "twice"],
)
def test_a_bank_that_lacks_something_is_not_finished(
    bank: NuggetBank, as_anna: Client, texts: list[str], lacking: list[str]
):
    for number, text in enumerate(texts):
        uid = UUID(int=50 + number)
        ask(as_anna, bank, uid, text or "to be emptied")
        send(as_anna, bank, "reword", on=uid, text=text)
    response = send(as_anna, bank, "finish")
    assert response.status_code == 422
    found = told(response)["findings"]
    assert [message for message in lacking if message in found] == lacking
    assert found.count("<li>") == len(lacking)


def test_gold_answers_that_no_file_could_tell_apart_are_not_finished(asked: NuggetBank, as_anna: Client):
    done(as_anna, asked, "aggregate", aggregator="AND")
    for fields, message in (
        ({"gold": "g2", "text": ""}, "Question 1 has a gold answer without a text."),
        ({"gold": "g2", "text": "contentment"}, "Question 1 has a gold answer twice."),
    ):
        done(as_anna, asked, "gold_reword", **fields)
        response = send(as_anna, asked, "finish")
        assert (response.status_code, told(response)["findings"].count("<li>")) == (422, 1)
        assert f'<a href="#n-{A}">{message}</a>' in told(response)["findings"]
    done(as_anna, asked, "gold_remove", gold="g2")
    response = send(as_anna, asked, "finish")
    assert response.status_code == 422
    assert "Question 1 asks for all of several gold answers, and has 1." in told(response)["findings"]
    done(as_anna, asked, "aggregate", aggregator="OR")
    assert send(as_anna, asked, "finish").status_code == 200


def test_an_importance_is_asked_for_as_with_facts(bank: NuggetBank, as_anna: Client):
    ask(as_anna, bank, A, "Why?", importance="")
    response = send(as_anna, bank, "finish")
    assert "Question 1 is neither vital nor okay yet." in told(response)["findings"]


def test_what_is_unusual_is_said_and_can_be_finished(asked: NuggetBank, as_anna: Client):
    Protocol.objects.update(max_nuggets=2)
    ask(as_anna, asked, C, "Tell about purring", importance="okay")
    response = as_anna.get(address(asked, "editor"))
    assert json.loads(response.context["known"])["facts"] == (
        "3 questions: 2 vital, 1 okay. 1 without a question mark. 1 more than the usual 2. 2 without a gold answer. "
        "1 with a gold answer that has no reference."
    )
    assert send(as_anna, asked, "finish").status_code == 200


def test_an_edition_has_all_of_a_question_and_only_its_text_makes_labels_stale(
    asked: NuggetBank, as_anna: Client, olga: Person
):
    def finished() -> dict[str, Any]:
        assert send(as_anna, asked, "finish").status_code == 200
        edition = asked.editions.order_by("edition").last()
        assert client_of(olga).post(address(asked, "editor") + "reopen/", {"reason": "again"}).status_code == 302
        return {"nuggets": edition.nuggets, "consequences": edition.consequences}

    first = finished()
    assert first["nuggets"][0] == {
        "uid": str(A),
        "text": "Why do cats purr?",
        "importance": "vital",
        "evidence": [],
        "gold": [answer("g1", "contentment", PLACE) | {"extras": {}}, answer("g2", "pain") | {"extras": {}}],
        "aggregator": "",
        "under": None,
    }
    nothing: dict[str, list[str]] = {"stale": [], "missing": [], "gone": [], "rescored": []}
    done(as_anna, asked, "gold_add", text="hunger")
    done(as_anna, asked, "gold_reword", gold="g2", text="hurting")
    done(as_anna, asked, "gold_remove", gold="g1")
    done(as_anna, asked, "gold_cite", gold="g2", docid="d2")
    assert finished()["consequences"] == nothing
    done(as_anna, asked, "aggregate", aggregator="AND")
    done(as_anna, asked, "nest", on=B, deeper="1")
    assert finished()["consequences"] == nothing | {"rescored": [str(A), str(B)]}
    done(as_anna, asked, "reword", text="Why do cats purr at all?")
    assert finished()["consequences"] == nothing | {"stale": [str(A)]}


@each_write
def test_a_finished_bank_takes_no_write(asked: NuggetBank, as_anna: Client, verb: str):
    assert send(as_anna, asked, "finish").status_code == 200
    before = everything(asked)
    response = write(as_anna, asked, verb)
    assert (response.status_code, told(response)["about"]["state"]) == (409, "finished")
    assert everything(asked) == before


def test_a_finished_bank_shows_its_gold_answers(asked: NuggetBank, as_anna: Client, olga: Person):
    done(as_anna, asked, "nest", on=B, deeper="1")
    send(as_anna, asked, "finish")
    for client in (as_anna, client_of(olga)):
        page = client.get(address(asked, "editor")).content.decode()
        assert '<span dir="auto">contentment</span>' in page
        assert 'title="d1, characters 0 to 23">¶1</a>' in page
        assert "Any of them will do." in page
        assert f'data-uid="{B}" data-level="2"' in page
        assert "textarea" not in page.split("<main")[1].split("</main>")[0].replace('textarea id="reason"', "")


# Files


def test_files_say_where_a_gold_answer_was_found(asked: NuggetBank, as_anna: Client):
    done(as_anna, asked, "gold_cite", gold="g1", docid="d1", start="24", end="47")
    done(as_anna, asked, "gold_cite", gold="g1", docid="d2")
    done(as_anna, asked, "nest", on=B, deeper="1")
    assert send(as_anna, asked, "finish").status_code == 200

    def written(form: str) -> dict[str, Any]:
        [line] = condition_lines(asked.condition, None, form)
        found: dict[str, Any] = json.loads(line)
        return found

    question = written("v3")["nugget_bank"]["Why do cats purr?"]
    offsets = [{"start_offset": start, "end_offset": end, "encoding": "unicode"} for start, end in ((0, 23), (24, 47))]
    references = [*({"doc_id": "d1", "offsets": each} for each in offsets), {"doc_id": "d2"}]
    assert question["answers"]["contentment"] == {"answer": "contentment", "references": references}
    assert [one["question"] for one in question["sub_nuggets"]] == ["How loud is it?"]
    alone = [{"doc_id": "d1"}, {"doc_id": "d2"}]
    assert written("ragtime26")["nugget_bank"][0]["answers"][0] == {"answer": "contentment", "references": alone}
    assert written("ragtime")["Why do cats purr?"] == ["OR", {"contentment": ["d1", "d2"], "pain": []}]
    assert written("argue")["items"][0]["gold_answers"] == ["contentment", "pain"]


# Queries


def test_the_page_asks_as_much_of_many_questions_as_of_one(bank: NuggetBank, as_anna: Client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert as_anna.get(address(bank, "editor")).status_code == 200
        return len(captured)

    ask(as_anna, bank, A, "Why?", "one")
    before = queries()
    for number in range(6):
        ask(as_anna, bank, UUID(int=60 + number), f"Why {number}?", "one", "two", "three")
        done(as_anna, bank, "nest", on=UUID(int=60 + number), deeper="1")
    assert queries() == before
