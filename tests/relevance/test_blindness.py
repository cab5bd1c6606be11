"""From scratch nothing of a model shows; in post-editing its grade shows once it is recorded that it does."""

from html import unescape

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Campaign, Condition, Grade
from assessor.llm.models import Job
from assessor.llm.models import Unit as JobUnit
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.relevance.umbrela import Umbrela
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from tests.conftest import client_of
from tests.relevance.conftest import at_hand, give_relevance, judge_item, said, send


def page(client: Client, task: Task) -> HttpResponse:
    return client.get(f"/relevance/{task.pk}/")


def item(task: Task, docid: str) -> int:
    return RelevanceJudgment.objects.get(condition=task.condition, topic=task.topic, docid=docid).pk


# From scratch


@pytest.mark.parametrize("from_queue", [False, True])
def test_a_models_grades_leave_no_trace_on_the_blind_screen(
    pooled: Campaign, anna: Person, as_anna: Client, import_file, umbrela: Condition, job: Job, from_queue: bool
):
    task = give_relevance(pooled, anna, from_queue=from_queue)
    first = at_hand(page(as_anna, task))[0]
    send(as_anna, task, "judge", item=first, grade=1)

    def answers() -> list[tuple[int, bytes, dict[str, str]]]:
        responses = [
            page(as_anna, task),
            send(as_anna, task, "judge", item=first, grade=1, version=0),  # 409
            send(as_anna, task, "judge", item=first, grade=9),  # 400
            send(as_anna, task, "show", item=first),  # 400
            send(as_anna, task, "draw"),
            page(client_of(anna), Task(pk=task.pk + 1000)),  # 404
            as_anna.get("/"),
        ]
        return [
            (response.status_code, response.content, dict(response.items()) | {"Expires": ""}) for response in responses
        ]

    before = answers()
    assert [status for status, _, _ in before] == [200, 409, 400, 400, 200, 404, 200]
    grades = "t1 0 d1 3\nt1 0 d2 0\nt1 0 d3 2\nt1 0 d4 2\n"
    assert import_file(pooled, "qrels", grades, source="Secret model", by="model").state == "done"
    unit = JobUnit.objects.create(job=job, topic=task.topic, item="d1")
    Umbrela().store(job, [(unit, 3)])
    after = answers()
    for (status, content, headers), (status_before, content_before, headers_before) in zip(after, before, strict=True):
        assert (status, headers.keys()) == (status_before, headers_before.keys())
        for hidden in ("Secret model", "UMBRELA", "Mia"):
            assert hidden not in content.decode()
            assert hidden not in str(headers)
        if b"csrfmiddlewaretoken" not in content:
            assert content == content_before


def test_a_finished_task_draws_nothing_whatever_came_into_its_topic(
    queue: Task, anna: Person, as_anna: Client, import_file
):
    for one in RelevanceJudgment.objects.all():
        judge_item(one, 1)
    RelevanceJudgment.objects.create(condition=queue.condition, topic=queue.topic, docid="d5", position=9)
    import_file(queue.campaign, "segments", [{"docid": "d5", "segment": "text"}])
    record_exposure(anna, [queue.topic], "relevance", "test")
    assert at_hand(page(as_anna, queue)) == []
    assert RelevanceJudgment.objects.get(docid="d5").holder is None


def test_an_organizer_sees_what_was_said_and_draws_nothing(queue: Task, olga: Person, as_anna: Client):
    first, _ = at_hand(page(as_anna, queue))
    send(as_anna, queue, "judge", item=first, reason="<b>unreadable")
    RelevanceJudgment.objects.update(held_until=None, holder=None)
    text = page(client_of(olga), queue).content.decode()
    assert "Read-only view of what anna said under from a queue" in text
    assert "can&#x27;t be judged: &lt;b&gt;unreadable" in text
    assert not RelevanceJudgment.objects.exclude(holder=None).exists()


# Post-editing


def test_a_passage_opens_only_when_the_model_has_graded_it(edited: Task, as_anna: Client, import_file):
    order = at_hand(page(as_anna, edited))
    assert {RelevanceJudgment.objects.get(pk=pk).docid for pk in order} == {"d1", "d2"}, "d3 has no grade, d4 no text"
    text = " ".join(page(as_anna, edited).content.decode().split())
    assert '<p class="suggestion" role="status">The model says: <strong data-shown>' in text
    assert "Mia" not in text, "which model it is, is not the assessor's to know"
    import_file(edited.campaign, "qrels", "t1 0 d3 2\n", source="Mia's", by="model")
    assert item(edited, "d3") in at_hand(page(as_anna, edited))


def test_another_models_grade_opens_nothing(edited: Task, as_anna: Client, import_file):
    import_file(edited.campaign, "qrels", "t1 0 d3 2\n", source="Another's", by="model")
    assert item(edited, "d3") not in at_hand(page(as_anna, edited))


def test_the_grade_is_told_at_display_and_recorded_then_not_when_fetched_ahead(
    edited: Task, anna: Person, as_anna: Client
):
    order = at_hand(page(as_anna, edited))
    assert len(order) == 2
    assert not Exposure.objects.exists(), "the passages are fetched, and nobody has seen a grade"
    graded = dict(Grade.objects.filter(source__name="Mia's").values_list("docid", "grade"))
    docid = RelevanceJudgment.objects.get(pk=order[0]).docid
    for _ in range(2):
        response = send(as_anna, edited, "show", item=order[0])
        told = {"version": 0, "shown": str(graded[docid]), "to_do": 1}
        assert (response.status_code, response.json()) == (200, told)
    exposure = Exposure.objects.get()
    assert (exposure.person, exposure.topic, exposure.kind) == (anna, edited.topic, "relevance")
    assert exposure.where == f"post-edited: {docid}"
    refused = send(as_anna, edited, "judge", item=order[1], grade=2)
    assert (refused.status_code, b"has not been shown" in refused.content) == (400, True)


def test_both_grades_are_kept_and_taking_the_shown_one_costs_the_same(edited: Task, as_anna: Client):
    for docid, grade in (("d1", 3), ("d2", 2)):
        send(as_anna, edited, "show", item=item(edited, docid))
        assert send(as_anna, edited, "judge", item=item(edited, docid), grade=grade).status_code == 200
    kept = LabelEvent.objects.order_by("judgment__docid").values_list("judgment__docid", "shown_value", "value")
    assert list(kept) == [("d1", "3", "3"), ("d2", "0", "2")]
    assert "".join(qrels_lines(edited.condition.grades_made)) == "t1 0 d1 3\nt1 0 d2 2\n"
    assert Exposure.objects.count() == 2


def test_the_grade_of_a_passage_that_was_never_drawn_is_not_told(
    pooled: Campaign, anna: Person, ben: Person, import_file
):
    import_file(pooled, "qrels", "t2 0 d5 1\n", source="Mia's", by="model")
    source, t2 = pooled.qrels_sources.get(name="Mia's"), [pooled.topics.get(qid="t2")]
    task = give_relevance(pooled, anna, t2, from_queue=True, shown=source)
    for verb in ("show", "judge"):
        response = send(client_of(anna), task, verb, item=item(task, "d5"), grade=1)
        assert (response.status_code, b"not yours to judge before you draw it" in response.content) == (410, True)
    assert not Exposure.objects.exists()


def test_no_choice_is_made_beforehand(edited: Task, as_anna: Client):
    text = page(as_anna, edited).content.decode()
    assert "checked" not in text
    assert "selected" not in text
    assert "<strong data-shown>…</strong>" in text


def test_who_has_a_passage_next_is_shown_its_grade_anew(pooled: Campaign, anna: Person, ben: Person, import_file):
    import_file(pooled, "qrels", "t2 0 d5 1\n", source="Mia's", by="model")
    source, t2 = pooled.qrels_sources.get(name="Mia's"), [pooled.topics.get(qid="t2")]
    first, second = (give_relevance(pooled, person, t2, from_queue=True, shown=source) for person in (anna, ben))
    [pk] = at_hand(page(client_of(anna), first))
    assert send(client_of(anna), first, "show", item=pk).status_code == 200
    assert send(client_of(ben), second, "show", item=pk).status_code == 410
    RelevanceJudgment.objects.update(held_until=None)
    assert at_hand(page(client_of(ben), second)) == [pk]
    assert "&quot;shown&quot;: {}" in page(client_of(ben), second).content.decode(), "not what Anna was shown"
    assert send(client_of(ben), second, "judge", item=pk, grade=1).status_code == 400
    assert send(client_of(ben), second, "show", item=pk).json()["shown"] == "1"
    assert send(client_of(ben), second, "judge", item=pk, grade=1).status_code == 200
    assert list(Exposure.objects.order_by("pk").values_list("person__username", flat=True)) == ["anna", "ben"]


def test_who_post_edited_a_topic_does_not_grade_it_blind(edited: Task, anna: Person, as_anna: Client):
    blind = give_relevance(edited.campaign, anna)
    assert page(as_anna, blind).status_code == 200
    send(as_anna, edited, "show", item=item(edited, "d1"))
    assert page(as_anna, blind).status_code == 403
    assert page(as_anna, edited).status_code == 200


def test_umbrelas_own_grades_are_post_edited_as_they_come(umbrela: Condition, job: Job, anna: Person, as_anna: Client):
    source = umbrela.grades_made
    task = give_relevance(umbrela.campaign, anna, shown=source)
    assert at_hand(page(as_anna, task)) == []
    Umbrela().store(job, [(JobUnit.objects.create(job=job, topic=task.topic, item="d1"), 2)])
    [pk] = at_hand(page(as_anna, task))
    assert send(as_anna, task, "show", item=pk).json()["shown"] == "2"
    send(as_anna, task, "judge", item=pk, grade=3)
    assert said(task)["d1"] == "3"
    assert "".join(qrels_lines(source)) == "t1 0 d1 2\n", "the model's stay as they are"


def test_an_organizer_exports_what_was_shown_and_given(
    edited: Task, anna: Person, as_anna: Client, olga: Person, capsys
):
    for docid, fields in (("d2", {"grade": 2}), ("d1", {"grade": 3}), ("d2", {"reason": '=torn, "half"'})):
        send(as_anna, edited, "show", item=item(edited, docid))
        assert send(as_anna, edited, "judge", item=item(edited, docid), **fields).status_code == 200
    send(as_anna, edited, "undo", item=item(edited, "d2"))
    client, address = client_of(olga), "/campaigns/study/exports/judgments/file/?of=post-edited&form=csv"
    assert address in unescape(client.get("/campaigns/study/exports/").content.decode())
    response = client.get(address)
    exported = b"".join(response.streaming_content).decode()
    events = LabelEvent.objects.order_by("judgment__docid", "version")
    times = [at.isoformat() for at in events.values_list("at", flat=True)]
    assert exported.splitlines() == [
        "topic,docid,judge,grade,shown,differs,reason,taken_back,at,guidelines_version",
        f"t1,d1,anna,3,3,no,,no,{times[0]},1",
        f"t1,d2,anna,2,0,yes,,no,{times[1]},1",
        f't1,d2,anna,,0,,"\'=torn, ""half""",no,{times[2]},1',
        f"t1,d2,anna,,0,,,yes,{times[3]},1",
    ]
    call_command("export_judgments", "study", condition="post-edited")
    assert capsys.readouterr().out == exported
    assert client.get("/campaigns/study/exports/judgments/file/?of=nobody&form=csv").status_code == 404


def queries_of(client: Client, task: Task) -> int:
    page(client, task)
    with CaptureQueriesContext(connection) as queries:
        assert page(client, task).status_code == 200
    return len(queries)


@pytest.mark.parametrize("way", ["given", "drawn", "post-edited"])
def test_the_page_asks_no_more_of_a_larger_topic(pooled, anna, as_anna, import_file, way: str):
    def grow(numbers: range) -> None:
        import_file(pooled, "topics", "".join(f"u{number}\twhat\n" for number in numbers))
        import_file(pooled, "segments", [{"docid": f"x{number}", "segment": "text"} for number in numbers])
        for number in numbers:
            lines = "".join(f"{qid} Q0 x{number} 1 1 u{number}\n" for qid in ("t1", f"u{number}"))
            import_file(pooled, "retrieval", lines)
        grades = "".join(f"t1 0 x{number} 1\n" for number in numbers)
        import_file(pooled, "qrels", grades, source="Mia's", by="model")

    def queries() -> int:
        """Give everything there is anew, and open t1."""
        RelevanceJudgment.objects.all().delete()
        Task.objects.all().delete()
        give_relevance(pooled, anna, list(pooled.topics.exclude(qid="t2")), from_queue=way == "drawn", shown=shown)
        return queries_of(as_anna, Task.objects.get(topic__qid="t1"))

    grow(range(10, 13))
    shown = pooled.qrels_sources.get(name="Mia's") if way == "post-edited" else None
    few = queries()
    grow(range(13, 40))
    assert queries() == few < 30
    assert RelevanceJudgment.objects.filter(topic__qid="t1").count() == 34
