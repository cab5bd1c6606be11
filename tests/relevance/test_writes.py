"""What people say: each grade is stored once, on the version that was seen, and stands as a grade of the source."""

from uuid import uuid4

import pytest
from django.test import Client

from assessor.collection.exports import qrels_lines
from assessor.collection.models import Event, Person
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.work.actions import withdraw_task
from assessor.work.models import Task, Write
from tests.relevance.conftest import at_hand, give_relevance, queue_of, said, send


def item(task: Task, docid: str) -> RelevanceJudgment:
    return RelevanceJudgment.objects.get(condition=task.condition, topic=task.topic, docid=docid)


def qrels(task: Task) -> str:
    return "".join(qrels_lines(task.condition.grades_made))


def everything(task: Task) -> list[object]:
    """Return all that a write could touch, to show that it touched nothing."""
    stored = [list(model.objects.order_by("pk").values()) for model in (RelevanceJudgment, LabelEvent, Event, Write)]
    return [*stored, Task.objects.values().get(pk=task.pk), qrels(task)]


def test_a_grade_is_kept_with_who_gave_it_and_stands_in_the_qrels(task: Task, anna: Person, as_anna: Client):
    response = send(as_anna, task, "judge", item=item(task, "d1").pk, grade=3, seconds=12)
    assert (response.status_code, response["X-Assay-Write"]) == (200, "1")
    assert response.json() == {"version": 1, "others": 0, "total": 4, "to_do": 0}
    event = LabelEvent.objects.get()
    judgment = item(task, "d1")
    assert (event.judgment, event.verb, event.state_before, event.value_before) == (judgment, "label", "open", None)
    for row in (judgment, event):
        assert (row.value, row.state, row.version) == ("3", "given", 1)
        assert (row.judge.person, row.task, row.job) == (anna, task, None)
        assert (row.seconds, row.shown_value, row.reason) == (12, None, "")
    assert judgment.at
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
    positions = [RelevanceJudgment.objects.get(pk=pk).position for pk in order]
    assert positions == sorted(positions)
    assert len(order) == 3, "d4 has no text"
    assert queue_of(page) == {pk: [1, 0] for pk in order}
    send(as_anna, task, "judge", item=order[0], grade=1)
    fresh = send(as_anna, task, "draw")
    assert at_hand(fresh) == order[1:]
    assert queue_of(fresh) == {pk: [1, 0] for pk in order[1:]} | {order[0]: [0, 1]}
    judged = as_anna.get(f"/relevance/{task.pk}/answers/{order[0]}/").content.decode()
    assert f'data-version="1" data-said="{{&quot;labels&quot;: {{&quot;{order[0]}&quot;: &quot;1&quot;}}' in judged


def test_undo_brings_the_passage_back_first_and_is_a_revision(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    for pk in order[:2]:
        send(as_anna, task, "judge", item=pk, grade=2)
    for pk in (order[1], order[0]):
        assert send(as_anna, task, "undo", item=pk).json() == {"version": 2, "others": 0, "total": 4, "to_do": 1}
    assert at_hand(send(as_anna, task, "draw")) == order
    assert qrels(task) == ""
    send(as_anna, task, "judge", item=order[0], grade=0)
    first = RelevanceJudgment.objects.get(pk=order[0])
    versions = first.events.values_list("version", "verb", "value_before", "state", "value")
    assert list(versions) == [
        (1, "label", None, "given", "2"),
        (2, "undo", "2", "open", None),
        (3, "label", None, "given", "0"),
    ]
    assert qrels(task) == f"t1 0 {first.docid} 0\n"
    assert send(as_anna, task, "undo", item=order[0]).status_code == 200
    assert Task.objects.get(pk=task.pk).done == 0
    first.refresh_from_db()
    assert (first.judge, first.task, first.at, first.version) == (None, None, None, 4)
    assert send(as_anna, task, "undo", item=order[0]).status_code == 400, "nothing is left to take back"
    assert LabelEvent.objects.count() == 6


def test_an_undo_takes_back_what_it_was_meant_for_and_nothing_else(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    send(as_anna, task, "judge", item=order[0], grade=2)
    before = everything(task)
    refused = send(as_anna, task, "undo", item=order[1])
    assert (refused.status_code, b"Nothing is said of this passage" in refused.content) == (400, True)
    assert send(as_anna, task, "undo").status_code == 400
    assert send(as_anna, task, "undo", version=0, item=order[0]).status_code == 409
    assert everything(task) == before
    send(as_anna, task, "judge", item=order[1], grade=1)
    assert send(as_anna, task, "undo", item=order[0]).status_code == 200, "whatever was said of others since"
    assert set(said(task).values()) == {"", "1"}


def test_passages_do_not_stand_in_each_others_way(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    for pk, grade in zip(order, (1, 2, 3), strict=True):
        assert send(as_anna, task, "judge", version=0, item=pk, grade=grade).status_code == 200
    for version in ("0", "9" * 30, "-1"):
        response = send(as_anna, task, "judge", version=version, item=order[2], grade=0)
        told = response.json()
        assert (response.status_code, told["version"], told["to_do"], told["closed"]) == (409, 1, 0, "")
        assert told["said"] == {"labels": {str(order[2]): "3"}, "cannot": {}, "flags": {}, "shown": {}}


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
    assert third.json() == {"version": 1, "others": 0, "total": 4, "to_do": 0}, "what this very write made"
    other = send(as_anna, task, "judge", key=key, version=0, item=item(task, "d3").pk, grade=2)
    assert (other.status_code, other.content) == (400, b"This key was used for another write.")


def test_a_stale_write_is_refused_with_what_stands(task: Task, as_anna: Client):
    order = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    send(as_anna, task, "judge", item=order[0], grade=2)
    before = everything(task)
    response = send(as_anna, task, "judge", version=0, item=order[0], grade=3)
    assert (response.status_code, response["X-Assay-Write"]) == (409, "1")
    assert response.json()["said"]["labels"] == {str(order[0]): "2"}
    assert send(as_anna, task, "undo", version=0, item=order[0]).status_code == 409
    assert send(as_anna, task, "undo", version=0, item="x").status_code == 400
    assert everything(task) == before
    # Said again on the version that is there, it is a revision.
    assert send(as_anna, task, "judge", item=order[0], grade=3).status_code == 200
    judgment = RelevanceJudgment.objects.get(pk=order[0])
    assert list(LabelEvent.objects.values_list("judgment", "version", "value")) == [
        (judgment.pk, 1, "2"),
        (judgment.pk, 2, "3"),
    ]
    assert (judgment.value, judgment.version) == ("3", 2)
    assert qrels(task) == f"t1 0 {judgment.docid} 3\n"


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
    assert at_hand(response) == []
    assert "1 passage can't be opened yet: the text is not there." in " ".join(response.content.decode().split())
    assert Task.objects.get(pk=task.pk).state == "open"
    import_file(task.campaign, "segments", segments)
    [late] = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    told = send(as_anna, task, "judge", item=late, reason="late").json()
    assert told == {"version": 1, "others": 0, "total": 4, "to_do": 0}
    response = send(as_anna, task, "draw")
    assert "All 4 passages of this topic are judged." in response.content.decode()
    assert "<bdi>can&#x27;t be judged: late</bdi>" in response.content.decode()
    done = Task.objects.get(pk=task.pk)
    assert (done.state, done.done, done.total) == ("finished", 4, 4)
    assert as_anna.get(f"/relevance/{task.pk}/").status_code == 200
    assert send(as_anna, task, "undo", item=late).status_code == 200
    assert at_hand(send(as_anna, task, "draw")) == [late]
    assert Task.objects.get(pk=task.pk).state == "open"
    verbs = Event.objects.filter(verb__startswith="relevance").order_by("pk").values_list("verb", "person__username")
    assert list(verbs) == [("relevance finished", "anna"), ("relevance opened again", "anna")]


def test_a_passage_of_no_topic_of_ones_own_is_not_there(task: Task, as_anna: Client, anna: Person):
    t2 = give_relevance(task.campaign, anna, [task.campaign.topics.get(qid="t2")])
    other = RelevanceJudgment.objects.get(topic=t2.topic)
    before = everything(task)
    for pk in (999, other.pk):
        refused = send(as_anna, task, "judge", item=pk, grade=1)
        assert (refused.status_code, refused["X-Assay-Write"]) == (404, "1")
        assert as_anna.get(f"/relevance/{task.pk}/answers/{pk}/").status_code == 404
    assert as_anna.get(f"/relevance/{task.pk}/answers/{item(task, 'd4').pk}/").status_code == 404, "without a text"
    assert everything(task) == before


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
    assert LabelEvent.objects.get().seconds == 3_600


def test_texts_are_shown_as_text(task: Task, as_anna: Client, import_file):
    nasty = {"docid": "d4", "title": "<b>t", "headings": "<i>h", "segment": "<script>alert(1)</script>"}
    import_file(task.campaign, "segments", [nasty])
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    for shown in ("&lt;b&gt;t", "&lt;i&gt;h", "&lt;script&gt;alert(1)"):
        assert shown in page
