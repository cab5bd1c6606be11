"""What holds for a label of any kind: it is stored once, on the version that was seen, with an event that says so."""

from typing import Any
from uuid import uuid4

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Event
from assessor.work.models import Exposure, Task
from tests.judging import answers, counters, put, queue, said
from tests.labels.conftest import can, of_kinds, signs_off
from tests.labels.screens import Screen, everything

CLOSED = "This topic is signed off: its labels can be read, no longer changed."


def writes(screen: type[Screen]) -> list[tuple[str]]:
    return [(name,) for name in screen.writes]


# Labels


def test_a_label_is_kept_with_who_gave_it(screen: Screen, anna: Person, as_anna: Client):
    item, to_do = screen.one, len(screen.answers[0])
    response = screen.label(as_anna, item, screen.labels[1], seconds=12)
    assert (response.status_code, response["X-Assay-Write"]) == (200, "1")
    assert response.json() == screen.saved(version=1, to_do=to_do - 1)
    assert screen.stands(item) == {"label": screen.labels[1]}
    [event] = screen.events(item)
    assert (event.version, event.judge.person, event.task, event.job) == (1, anna, screen.task, None)
    assert (event.seconds, event.reason, event.guidelines_version) == (12, "", 1)
    assert (event.state_before, event.value_before) == ("open", None)
    assert screen.history(item) == [("label", {}, {"label": screen.labels[1]}, 12)]
    assert Task.objects.get(pk=screen.task.pk).worked_at is not None
    assert not Exposure.objects.exists()


def test_every_label_can_be_given(screen: Screen, as_anna: Client):
    for label in screen.labels:
        assert screen.label(as_anna, screen.one, label).status_code == 200
        assert screen.stands(screen.one) == {"label": label}


def test_a_task_counts_what_is_done(screen: Screen, as_anna: Client):
    first = screen.answers[0]
    counted = [counters(screen.task)]
    for number, item in enumerate(first):
        to_do = screen.label(as_anna, item, screen.labels[number]).json()["to_do"]
        assert to_do == len(first) - number - 1
        counted.append(counters(screen.task))
    assert counted == [("open", done, screen.total) for done in screen.done]
    screen.label(as_anna, first[0], screen.labels[-1])
    screen.write(as_anna, first[-1], "cannot")
    assert counters(screen.task) == counted[-1], "said anew, it is as done"
    assert screen.write(as_anna, first[-1], "take back").json()["to_do"] == 1
    assert counters(screen.task) == counted[-2]


def test_a_label_takes_the_reason_away_and_a_reason_the_label(screen: Screen, as_anna: Client):
    item, label, verbs = screen.one, screen.labels[0], screen.verbs
    screen.write(as_anna, item, "cannot", reason=" all \n Greek ", seconds=3)
    assert screen.stands(item) == {"cannot": "all Greek"}
    screen.label(as_anna, item, label, seconds=5)
    assert screen.stands(item) == {"label": label}
    screen.write(as_anna, item, "cannot", reason="after all", seconds=7)
    assert screen.stands(item) == {"cannot": "after all"}
    screen.write(as_anna, item, "take back")
    assert screen.stands(item) == {}
    assert screen.history(item) == [
        (verbs["cannot"], {}, {"cannot": "all Greek"}, 3),
        (verbs["label"], {"cannot": "all Greek"}, {"label": label}, 5),
        (verbs["cannot"], {"label": label}, {"cannot": "after all"}, 7),
        (verbs["take back"], {"cannot": "after all"}, {}, None),
    ]
    assert [event.version for event in screen.events(item)] == [1, 2, 3, 4]


@of_kinds("write", cases=lambda _: [("label",), ("take back",)], where=lambda screen: screen.resolves)
def test_who_judges_after_all_is_not_spoken_for_any_more(screen: Screen, as_anna: Client, write: str):
    one, other = screen.answers[0][:2]
    for item in (one, other):
        screen.write(as_anna, item, "cannot", reason="garbled")
    put([one.of], adopted={str(item.key): screen.labels[-1] for item in (one, other)})
    screen.write(as_anna, other, "cannot", reason="quite garbled")
    assert screen.stands(other) == {"cannot": "quite garbled", "adopted": screen.labels[-1]}
    assert screen.write(as_anna, one, write).status_code == 200
    assert screen.stands(one) == ({"label": screen.labels[0]} if write == "label" else {})
    _, before, after, _ = screen.history(one)[-1]
    assert (before["adopted"], "adopted" in after) == (screen.labels[-1], False)


@of_kinds(where=can("flag"))
def test_a_flag_stands_beside_a_label_and_goes_again(screen: Screen, as_anna: Client):
    item, label = screen.one, screen.labels[1]
    to_do = screen.write(as_anna, item, "flag", note="  is this <b>meant</b>? ").json()["to_do"]
    assert to_do == len(screen.answers[0]), "a question is no label"
    assert screen.stands(item) == {"flag": "is this <b>meant</b>?"}
    screen.label(as_anna, item, label)
    assert screen.stands(item) == {"flag": "is this <b>meant</b>?", "label": label}
    screen.write(as_anna, item, "flag", note="")
    assert screen.stands(item) == {"label": label}
    assert len(screen.events(item)) == 3


@of_kinds(where=can("later"))
def test_what_is_put_off_comes_last_and_can_come_back(screen: Screen, as_anna: Client):
    def order() -> list[int]:
        return [row[0] for row in queue(as_anna.get(screen.page))]

    first, second = order()
    item_of = {items[0].of.pk: items[0] for items in screen.answers}
    before = counters(screen.task)
    to_do = item_of[first].of.to_do
    assert screen.write(as_anna, item_of[first], "later").json() == screen.saved(version=1, to_do=to_do)
    page = as_anna.get(screen.page)
    of_second = item_of[second].of.to_do
    # Key, number, to do, version and how often put off: each keeps its number.
    assert [row[:5] for row in queue(page)] == [[second, 2, of_second, 0, 0], [first, 1, to_do, 1, 1]]
    assert answers(page) == [second, first]
    screen.write(as_anna, item_of[second], "later")
    assert order() == [first, second]
    screen.write(as_anna, item_of[second], "later", to=0)
    assert order() == [second, first]
    assert screen.write(as_anna, item_of[second], "later", to=2).status_code == 400
    assert screen.write(as_anna, item_of[first], "later", to=0).status_code == 200
    assert order() == [first, second]
    assert counters(screen.task) == before


def test_active_seconds_have_a_limit(screen: Screen, as_anna: Client):
    screen.label(as_anna, screen.one, screen.labels[0], seconds=999_999)
    assert screen.events(screen.one)[0].seconds == 3_600


# Writes


@of_kinds("write", cases=writes)
def test_a_write_sent_twice_counts_once(screen: Screen, as_anna: Client, write: str):
    first, last = screen.answers[0][0], screen.answers[0][-1]
    screen.label(as_anna, last, screen.labels[1])
    key = uuid4()
    saved = screen.write(as_anna, first, write, key=key, version=1)
    assert (saved.status_code, saved.json()["version"]) == (200, 2)
    before = everything()
    again = screen.write(as_anna, first, write, key=key, version=1)
    assert (again.status_code, again.json()) == (200, saved.json())
    assert everything() == before
    screen.label(as_anna, last, screen.labels[0])
    late = screen.write(as_anna, first, write, key=key, version=1)
    assert (late.status_code, late.json()["version"]) == (200, 2), "the version that this very write made"


def test_a_key_is_good_for_one_write(screen: Screen, as_anna: Client):
    key = uuid4()
    screen.label(as_anna, screen.one, screen.labels[0], key=key, version=0)
    before = everything()
    for item, label, version in (
        (screen.one, screen.labels[1], 0),
        (screen.one, screen.labels[0], 1),
        (screen.elsewhere, screen.labels[0], 0),
    ):
        other = screen.label(as_anna, item, label, key=key, version=version)
        assert (other.status_code, other.content) == (400, b"This key was used for another write.")
    assert everything() == before


@of_kinds("write", cases=writes)
def test_a_stale_write_is_refused_with_what_stands(screen: Screen, as_anna: Client, write: str):
    first, last = screen.answers[0][0], screen.answers[0][-1]
    screen.label(as_anna, last, screen.labels[-1])
    stands = screen.refused(version=1, to_do=len(screen.answers[0]) - 1, labels={last.key: screen.labels[-1]})
    before = everything()
    for version in (0, 2, -1, "9" * 30):
        response = screen.write(as_anna, first, write, version=version)
        assert (response.status_code, response["X-Assay-Write"]) == (409, "1")
        assert response.json() == stands
    assert everything() == before
    assert screen.write(as_anna, first, write, version=1).status_code == 200


def test_a_label_elsewhere_makes_no_write_stale(screen: Screen, as_anna: Client):
    screen.label(as_anna, screen.elsewhere, screen.labels[0])
    assert screen.label(as_anna, screen.one, screen.labels[0], version=0).status_code == 200


@of_kinds("verb", "fields", "message", cases=lambda screen: screen.impossible())
def test_an_impossible_write_changes_nothing(screen: Screen, as_anna: Client, verb: str, fields: Any, message: str):
    before = everything()
    response = screen.send(as_anna, screen.one, verb, **fields)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert (response["Content-Type"], response["X-Assay-Write"]) == ("text/plain", "1")
    assert everything() == before


def test_without_key_and_version_nothing_is_written(screen: Screen, as_anna: Client):
    verb, fields = screen.writes["label"]
    before = everything()
    for more in ({}, {"key": str(uuid4())}, {"version": "0"}):
        sent = {"item": screen.one.key, "nugget": screen.one.key, "citation": screen.one.key} | fields | more
        assert as_anna.post(screen.url_of(screen.one, verb), sent).status_code == 400
    assert everything() == before


def test_an_answer_of_another_task_is_not_found(screen: Screen, as_anna: Client):
    other = screen.on_another_topic().one
    before = everything()
    for name in screen.writes:
        response = screen.write(as_anna, other, name, version=0)
        # Said by the view of a write: the browser does not try it again.
        assert (response.status_code, response["X-Assay-Write"]) == (404, "1"), name
    assert as_anna.get(screen.url(other)).status_code == 404
    assert everything() == before


# The end


@of_kinds(where=signs_off)
def test_a_topic_is_signed_off_once_all_is_said(screen: Screen, anna: Person, as_anna: Client):
    before, texts = everything(), f"{screen.task.condition.text_name}s"
    assert screen.sign_off(as_anna).content.decode() == f"There is still something to say of 2 of the {texts}."
    assert everything() == before
    for item in screen.answers[0]:
        screen.label(as_anna, item, screen.labels[0])
    before = everything()
    refused = screen.sign_off(as_anna)
    told = (refused.status_code, refused.content.decode())
    assert told == (400, f"There is still something to say of 1 of the {texts}.")
    assert everything() == before
    for item in screen.answers[1]:
        screen.label(as_anna, item, screen.labels[-1])
    key = uuid4()
    for _ in range(2):  # sent twice it counts once
        response = screen.sign_off(as_anna, key=key)
        assert (response.status_code, response.json(), response["X-Assay-Write"]) == (200, {}, "1")
    assert counters(screen.task) == ("finished", screen.total, screen.total)
    event = Event.objects.get(verb=f"{screen.kind} signed off")
    assert (event.person, event.details) == (anna, {"condition": screen.task.condition.name})
    assert "Signed off: your labels" in as_anna.get("/").content.decode()


@of_kinds(where=signs_off)
def test_signing_off_on_an_old_view_is_refused(screen: Screen, as_anna: Client):
    items = screen.items
    for item in (*items, items[0]):
        screen.label(as_anna, item, screen.labels[0])
    before = everything()
    for version in (len(items), len(items) + 2):
        response = screen.sign_off(as_anna, version=version)
        assert (response.status_code, response.json()) == (409, {"closed": ""})
    assert screen.sign_off(as_anna, version="x").status_code == 400
    assert screen.sign_off(as_anna, version=len(items) + 1, key="x").status_code == 400
    assert everything() == before
    assert screen.sign_off(as_anna, version=len(items) + 1).status_code == 200


@of_kinds(where=signs_off)
def test_a_signed_off_topic_can_be_read_and_no_longer_changed(screen: Screen, as_anna: Client):
    screen.finish(as_anna)
    before = everything()
    for name in screen.writes:
        for version in (None, 0):
            response = screen.write(as_anna, screen.one, name, version=version)
            assert (response.status_code, response.json()["closed"]) == (409, CLOSED), name
    response = screen.sign_off(as_anna)
    assert (response.status_code, response.json()) == (409, {"closed": CLOSED})
    page = as_anna.get(screen.page)
    assert f'data-closed="{CLOSED}"' in page.content.decode()
    assert len(answers(page)) == len(screen.answers)
    assert [{*one["labels"].values()} for one in said(page)] == [{screen.labels[0]}] * len(screen.answers)
    assert as_anna.get(screen.url(screen.one)).status_code == 200
    assert everything() == before


# What it costs


def test_an_answer_and_a_label_ask_the_database_little(screen: Screen, as_anna: Client):
    item = screen.one
    screen.label(as_anna, screen.elsewhere, screen.labels[0])  # the first of all makes who judges
    counted = []
    for ask in (
        lambda: as_anna.get(screen.url(item)),
        lambda: screen.label(as_anna, item, screen.labels[0], version=0),
    ):
        with CaptureQueriesContext(connection) as queries:
            assert ask().status_code == 200
        around = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
        counted.append([query["sql"] for query in queries if not query["sql"].startswith(around)])
    assert tuple(len(statements) for statements in counted) == screen.queries, counted
