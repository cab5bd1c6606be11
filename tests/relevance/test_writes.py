"""What people say of passages, beyond what holds for labels of all kinds (tests/labels): grades of the source."""

from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Event
from assessor.relevance.models import LabelEvent, RelevanceJudgment
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


def test_a_grade_stands_in_the_qrels(task: Task, anna: Person, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d1").pk, grade=3, seconds=12)
    judgment = item(task, "d1")
    for row in (judgment, LabelEvent.objects.get()):
        assert (row.value, row.state, row.version) == ("3", "given", 1)
        assert (row.judge.person, row.task, row.job) == (anna, task, None)
        assert (row.seconds, row.shown_value, row.reason) == (12, None, "")
    assert judgment.at
    assert qrels(task) == "t1 0 d1 3\n"
    task.refresh_from_db()
    assert task.condition.grades_made.changed_at is not None
    send(as_anna, task, "judge", item=judgment.pk, grade=1)
    assert qrels(task) == "t1 0 d1 1\n"


def test_grade_nought_is_a_grade(task: Task, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d2").pk, grade=0)
    assert qrels(task) == "t1 0 d2 0\n"


def test_what_cannot_be_judged_has_a_reason_and_no_grade(task: Task, as_anna: Client):
    send(as_anna, task, "judge", item=item(task, "d1").pk, reason=" all   Greek to me ")
    assert said(task)["d1"] == "can't be judged: all Greek to me"
    assert qrels(task) == ""


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
    for none in ({}, {"item": "x"}):
        refused = send(as_anna, task, "undo", **none)
        assert (refused.status_code, refused.content) == (400, b"item must be a whole number, from 0.")
    assert everything(task) == before
    send(as_anna, task, "judge", item=order[1], grade=1)
    assert send(as_anna, task, "undo", item=order[0]).status_code == 200, "whatever was said of others since"
    assert set(said(task).values()) == {"", "1"}


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


def test_what_cannot_be_opened_cannot_be_judged(task: Task, as_anna: Client):
    before = everything(task)
    response = send(as_anna, task, "judge", item=item(task, "d4").pk, grade=1)
    assert (response.status_code, b"can't be opened yet" in response.content) == (400, True)
    assert everything(task) == before


def test_texts_are_shown_as_text(task: Task, as_anna: Client, import_file):
    nasty = {"docid": "d4", "title": "<b>t", "headings": "<i>h", "segment": "<script>alert(1)</script>"}
    import_file(task.campaign, "segments", [nasty])
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    for shown in ("&lt;b&gt;t", "&lt;i&gt;h", "&lt;script&gt;alert(1)"):
        assert shown in page
