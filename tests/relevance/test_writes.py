"""What people say: each grade is stored once, on the version that was seen, and stands as a grade of the source."""

import json
import re
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client

from assessor.collection.exports import qrels_lines
from assessor.collection.models import Event, Person
from assessor.relevance.models import Item, Judgment
from assessor.relevance.queries import version_of
from assessor.work.actions import withdraw_task
from assessor.work.models import Task, Write
from tests.relevance.conftest import at_hand, said, send


def item(task: Task, docid: str) -> Item:
    return Item.objects.get(condition=task.condition, topic=task.topic, docid=docid)


def qrels(task: Task) -> str:
    return "".join(qrels_lines(task.condition.grades_made))


def everything(task: Task) -> list[object]:
    """Return all that a write could touch, to show that it touched nothing."""
    stored = [list(model.objects.order_by("pk").values()) for model in (Item, Judgment, Event, Write)]
    return [*stored, Task.objects.values().get(pk=task.pk), qrels(task)]


def test_a_grade_is_kept_with_who_gave_it_and_stands_in_the_qrels(task: Task, anna: Person, as_anna: Client):
    response = send(as_anna, task, "judge", item=item(task, "d1").pk, grade=3, seconds=12)
    assert (response.status_code, response["X-Assay-Write"]) == (200, "1")
    assert response.json() == {"version": 1, "graded": 1, "total": 4}
    judgment = Judgment.objects.get()
    assert (judgment.docid, judgment.grade, judgment.state, judgment.version) == ("d1", 3, "graded", 1)
    assert (judgment.judge.person, judgment.task, judgment.job) == (anna, task, None)
    assert (judgment.seconds, judgment.shown, judgment.reason) == (12, None, "")
    assert qrels(task) == "t1 0 d1 3\n"
    task.refresh_from_db()
    assert (task.done, task.total, task.state) == (1, 4, "open")
    assert task.worked_at is not None
    assert task.condition.grades_made.changed_at is not None


def test_grade_nought_is_a_grade(task: Task, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d2").pk, grade=0)
    assert qrels(task) == "t1 0 d2 0\n"


def test_what_cannot_be_judged_has_a_reason_and_no_grade(task: Task, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d1").pk, reason=" all   Greek to me ")
    assert said(task)["d1"] == "can't be judged: all Greek to me"
    assert qrels(task) == ""
    task.refresh_from_db()
    assert task.done == 1


def test_after_a_grade_the_next_passages_are_there(task: Task, as_anna: Client):
    page = as_anna.get(f"/relevance/{task.pk}/")
    order = at_hand(page)
    assert [Item.objects.get(pk=pk).place for pk in order] == sorted(Item.objects.get(pk=pk).place for pk in order)
    assert len(order) == 3, "d4 has no text"
    assert page.content.decode().count(" hidden>\n                <h2") == 2
    send(as_anna, task, "judge", item=order[0], grade=1)
    assert at_hand(send(as_anna, task, "draw")) == order[1:]


def test_undo_brings_the_passage_back_first_and_is_a_revision(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    for pk in order[:2]:
        send(as_anna, task, "judge", item=pk, grade=2)
    assert at_hand(send(as_anna, task, "undo", item=order[1])) == order[1:]
    assert at_hand(send(as_anna, task, "undo", item=order[0])) == order
    assert qrels(task) == ""
    send(as_anna, task, "judge", item=order[0], grade=0)
    first = Item.objects.get(pk=order[0])
    versions = Judgment.objects.filter(docid=first.docid).values_list("version", "state", "grade")
    assert list(versions) == [(1, "graded", 2), (2, "back", None), (3, "graded", 0)]
    assert (qrels(task), version_of(task)) == (f"t1 0 {first.docid} 0\n", 5)
    assert send(as_anna, task, "undo", item=order[0]).status_code == 200
    assert Task.objects.get(pk=task.pk).done == 0
    assert send(as_anna, task, "undo", item=order[0]).status_code == 409, "nothing is left to take back"
    assert Judgment.objects.count() == 6


def test_an_undo_takes_back_what_it_was_meant_for_and_nothing_else(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    send(as_anna, task, "judge", item=order[0], grade=2)
    assert f'data-undo="{order[0]}"' in send(as_anna, task, "draw").content.decode()
    before = everything(task)
    assert send(as_anna, task, "undo", item=order[1]).status_code == 409, "that one's judgment was refused"
    assert send(as_anna, task, "undo").status_code == 400
    assert everything(task) == before
    send(as_anna, task, "judge", item=order[1], grade=1)
    assert f'data-undo="{order[1]} {order[0]}"' in send(as_anna, task, "draw").content.decode()
    assert send(as_anna, task, "undo", item=order[0]).status_code == 409, "not the last any more"


def test_all_that_was_said_since_comes_with_a_refusal(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    for pk, grade in zip(order, (1, 2, 3), strict=True):
        send(as_anna, task, "judge", item=pk, grade=grade)
    for version, since in (("1", order[1:]), ("9" * 30, []), ("-1", order)):
        response = send(as_anna, task, "judge", version=version, item=order[2], grade=0)
        shown = json.loads(unescape(re.findall('data-said="(.*?)"', response.content.decode())[0]))
        assert (response.status_code, shown) == (409, {str(pk): str(order.index(pk) + 1) for pk in since})


def test_a_write_sent_twice_counts_once(task: Task, as_anna: Client):
    key, fields = uuid4(), {"item": item(task, "d1").pk, "grade": 2}
    first = send(as_anna, task, "judge", key=key, version=0, **fields)
    before = everything(task)
    second = send(as_anna, task, "judge", key=key, version=0, **fields)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content
    assert everything(task) == before
    send(as_anna, task, "judge", item=item(task, "d2").pk, grade=1)
    third = send(as_anna, task, "judge", key=key, version=0, **fields)
    assert third.json() == {"version": 1, "graded": 1, "total": 4}, "what this very write made"
    other = send(as_anna, task, "judge", key=key, version=0, item=item(task, "d3").pk, grade=2)
    assert (other.status_code, other.content) == (400, b"This key was used for another write.")


def test_a_stale_write_is_refused_with_what_stands(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    send(as_anna, task, "judge", item=order[0], grade=2)
    before = everything(task)
    response = send(as_anna, task, "judge", version=0, item=order[0], grade=3)
    assert (response.status_code, at_hand(response)) == (409, order[1:])
    assert 'data-version="1"' in response.content.decode()
    assert f'data-said="{{&quot;{order[0]}&quot;: &quot;2&quot;}}"' in response.content.decode()
    assert send(as_anna, task, "undo", version=0, item=order[0]).status_code == 409
    assert send(as_anna, task, "undo", version=0, item="x").status_code == 400
    assert everything(task) == before
    # Said again on the version that is there, it is a revision.
    assert send(as_anna, task, "judge", item=order[0], grade=3).status_code == 200
    docid = Item.objects.get(pk=order[0]).docid
    assert list(Judgment.objects.values_list("docid", "version", "grade")) == [(docid, 1, 2), (docid, 2, 3)]
    assert qrels(task) == f"t1 0 {docid} 3\n"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"grade": "4"}, "A grade is one of 0, 1, 2, 3."),
        ({"grade": "-1"}, "grade must be a whole number, from 0."),
        ({"grade": ""}, "grade must be a whole number, from 0."),
        ({"grade": "2", "seconds": "soon"}, "seconds must be a whole number, from 0."),
        ({}, "Say in at most 500 characters why it can't be judged."),
        ({"reason": "   "}, "Say in at most 500 characters why it can't be judged."),
        ({"reason": "x" * 501}, "Say in at most 500 characters why it can't be judged."),
        ({"reason": "a\x00b"}, "Say in at most 500 characters why it can't be judged."),
        ({"grade": "2", "item": "999"}, "There is no such passage on this topic."),
        ({"grade": "2", "item": "x"}, "item must be a whole number, from 0."),
        ({"grade": "2", "version": "x"}, "A write needs a key (UUID) and the version that it was made on."),
    ],
)
def test_an_impossible_write_changes_nothing(task: Task, as_anna: Client, fields: dict[str, str], message: str):
    before = everything(task)
    response = send(as_anna, task, "judge", **{"item": item(task, "d1").pk} | fields)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert response["Content-Type"] == "text/plain"
    assert everything(task) == before


def test_the_last_grade_finishes_the_task_and_undo_opens_it(task: Task, as_anna: Client, import_file):
    segments = [{"docid": "d4", "title": "Late", "segment": "A text that came late."}]
    for pk in at_hand(as_anna.get(f"/relevance/{task.pk}/")):
        send(as_anna, task, "judge", item=pk, grade=1)
    response = send(as_anna, task, "draw")
    assert "1 passage can't be opened yet: the text is not there." in " ".join(response.content.decode().split())
    assert Task.objects.get(pk=task.pk).state == "open"
    import_file(task.campaign, "segments", segments)
    [late] = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    assert send(as_anna, task, "judge", item=late, reason="late").json() == {"version": 4, "graded": 4, "total": 4}
    response = send(as_anna, task, "draw")
    assert "All 4 passages of this topic are judged." in response.content.decode()
    assert "<bdi>can&#x27;t be judged: late</bdi>" in response.content.decode()
    done = Task.objects.get(pk=task.pk)
    assert (done.state, done.done, done.total) == ("finished", 4, 4)
    assert as_anna.get(f"/relevance/{task.pk}/").status_code == 200
    assert at_hand(send(as_anna, task, "undo", item=late)) == [late]
    assert Task.objects.get(pk=task.pk).state == "open"
    verbs = Event.objects.filter(verb__startswith="relevance").order_by("pk").values_list("verb", "person__username")
    assert list(verbs) == [("relevance finished", "anna"), ("relevance opened again", "anna")]


def test_a_withdrawn_task_takes_nothing_more(task: Task, as_anna: Client, olga: Person):
    withdraw_task(task=task, acting_user=olga)
    before = everything(task)
    assert send(as_anna, task, "judge", item=item(task, "d1").pk, grade=1).status_code == 404
    assert everything(task) == before


def test_what_cannot_be_opened_cannot_be_judged(task: Task, as_anna: Client):
    before = everything(task)
    response = send(as_anna, task, "judge", item=item(task, "d4").pk, grade=1)
    assert (response.status_code, b"can't be opened yet" in response.content) == (400, True)
    assert everything(task) == before


def test_active_seconds_have_a_limit(task: Task, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d1").pk, grade=1, seconds=999_999)
    assert Judgment.objects.get().seconds == 3_600


def test_texts_are_shown_as_text(task: Task, as_anna: Client, import_file):
    nasty = {"docid": "d4", "title": "<b>t", "headings": "<i>h", "segment": "<script>alert(1)</script>"}
    import_file(task.campaign, "segments", [nasty])
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    for shown in ("&lt;b&gt;t", "&lt;i&gt;h", "&lt;script&gt;alert(1)"):
        assert shown in page
