"""The queue: however people race, a passage is on one screen at a time, and comes back when its lease runs out."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.relevance import leases
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from tests.conftest import client_of, make_person
from tests.relevance.conftest import at_hand, give_relevance, said, send
from tests.work.conftest import at_once

THREADS = 20


@pytest.fixture
def bens(queue: Task, ben: Person) -> Task:
    """Ben's task in the queue on the same topic."""
    return give_relevance(queue.campaign, ben, from_queue=True)


def page(client: Client, task: Task) -> list[int]:
    return at_hand(client.get(f"/relevance/{task.pk}/"))


def run_out(*pks: int) -> None:
    """Let the leases of passages run out."""
    RelevanceJudgment.objects.filter(pk__in=pks).update(held_until=timezone.now() - timedelta(seconds=1))


def test_two_people_have_different_passages(queue: Task, bens: Task, as_anna: Client, ben: Person):
    annas = page(as_anna, queue)
    assert len(annas) == 2
    assert page(as_anna, queue) == annas, "a reload draws nothing more"
    as_ben = client_of(ben)
    [rest] = page(as_ben, bens)
    assert rest not in annas
    text = " ".join(as_ben.get(f"/relevance/{bens.pk}/").content.decode().split())
    assert 'data-others="0" data-total="4"' in text
    send(as_ben, bens, "judge", item=rest, grade=1)
    text = " ".join(send(as_ben, bens, "draw").content.decode().split())
    assert "2 passages are on the screens of others." in text
    assert "ten minutes after the last key or move of the mouse this page stops looking" in text
    assert "1 passage can't be opened yet" in text


def test_the_page_renews_its_leases(queue: Task, as_anna: Client):
    annas = page(as_anna, queue)
    soon = timezone.now() + timedelta(seconds=5)
    RelevanceJudgment.objects.filter(pk__in=annas).update(held_until=soon)
    assert at_hand(send(as_anna, queue, "draw")) == annas
    least = timezone.now() + leases.LEASE - timedelta(seconds=30)
    assert all(item.held_until > least for item in RelevanceJudgment.objects.filter(pk__in=annas))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="on SQLite all processes share one machine")
def test_a_passage_stays_with_its_person_on_a_machine_whose_clock_is_ahead(
    queue: Task, bens: Task, as_anna: Client, ben: Person, time_machine
):
    annas = page(as_anna, queue)
    time_machine.move_to(timezone.now() + timedelta(hours=1))
    assert not {*page(client_of(ben), bens)} & {*annas}


def test_a_lease_that_runs_out_returns_the_passage_and_a_late_grade_is_refused(
    queue: Task, bens: Task, as_anna: Client, ben: Person
):
    first, second = page(as_anna, queue)
    run_out(first)
    as_ben = client_of(ben)
    assert first in page(as_ben, bens)
    late = send(as_anna, queue, "judge", item=first, grade=3)
    assert late.status_code == 410
    assert late["X-Assay-Write"] == "1"
    assert "went back to the queue, and somebody else has it on their screen now" in late.content.decode()
    assert not LabelEvent.objects.exists()
    # What was said of the other one after it counts.
    assert send(as_anna, queue, "judge", item=second, grade=1).status_code == 200
    assert send(as_ben, bens, "judge", item=first, grade=0).status_code == 200
    late = send(as_anna, queue, "judge", item=first, grade=3)
    assert (late.status_code, "Somebody else has graded this passage" in late.content.decode()) == (410, True)
    assert Counter(said(queue).values()) == {"": 2, "0": 1, "1": 1}


def test_a_late_grade_counts_while_nobody_else_has_the_passage(queue: Task, bens: Task, as_anna: Client):
    first, second = page(as_anna, queue)
    run_out(first, second)
    assert send(as_anna, queue, "judge", item=first, grade=3).status_code == 200


def test_what_is_taken_back_is_there_again_and_nobody_elses(queue: Task, bens: Task, as_anna: Client, ben: Person):
    first, second = page(as_anna, queue)
    send(as_anna, queue, "judge", item=first, grade=3)
    assert send(as_anna, queue, "undo", item=first).status_code == 200
    assert at_hand(send(as_anna, queue, "draw"))[:2] == [first, second]
    assert first not in page(client_of(ben), bens)
    send(as_anna, queue, "judge", item=first, grade=3)
    response = send(client_of(ben), bens, "undo", item=first)
    assert (response.status_code, said(queue)[RelevanceJudgment.objects.get(pk=first).docid]) == (410, "3"), (
        "not Ben's to take back"
    )
    assert client_of(ben).get(f"/relevance/{bens.pk}/answers/{first}/").status_code == 404


def test_the_last_passage_ends_the_topic_for_all_and_counts_are_each_ones_own(
    queue: Task, bens: Task, as_anna: Client, ben: Person, import_file
):
    import_file(queue.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    as_ben = client_of(ben)
    annas = page(as_anna, queue)[0]
    send(as_anna, queue, "judge", item=annas, grade=1)
    while mine := page(as_ben, bens):
        run_out(*RelevanceJudgment.objects.values_list("pk", flat=True))
        told = send(as_ben, bens, "judge", item=mine[0], grade=2).json()
    assert (told["others"], told["total"]) == (1, 4)
    last = send(as_ben, bens, "draw")
    assert "All 4 passages of this topic are judged." in last.content.decode()
    assert last.content.decode().count("<bdi>") == 3, "one's own judgments alone"
    rows = Task.objects.order_by("pk").values_list("person__username", "state", "done", "total")
    assert list(rows) == [("anna", "finished", 1, 0), ("ben", "finished", 3, 0)]
    send(as_anna, queue, "undo", item=annas)
    assert set(Task.objects.values_list("state", flat=True)) == {"open"}


def test_when_a_topic_has_nothing_more_the_next_one_is_a_key_away(queue: Task, as_anna: Client, anna: Person):
    t2 = queue.campaign.topics.get(qid="t2")
    other = give_relevance(queue.campaign, anna, [t2], from_queue=True)
    for pk in page(as_anna, queue):
        send(as_anna, queue, "judge", item=pk, grade=1)
    response = send(as_anna, queue, "draw")
    [last] = at_hand(response)
    assert "Next topic" not in response.content.decode()
    send(as_anna, queue, "judge", item=last, grade=1)
    response = send(as_anna, queue, "draw")
    link = f'href="/relevance/{other.pk}/" aria-keyshortcuts="n" data-key="n" data-key-label="Next topic"'
    assert link in response.content.decode()
    # Not to a topic of which the person has seen a model's grades, nor to one where all is on others' screens.
    RelevanceJudgment.objects.filter(topic=t2).update(
        holder=make_person("carl"), held_until=timezone.now() + leases.LEASE
    )
    assert link not in send(as_anna, queue, "draw").content.decode()
    RelevanceJudgment.objects.filter(topic=t2).update(held_until=timezone.now())
    assert link in send(as_anna, queue, "draw").content.decode()
    record_exposure(anna, [t2], "relevance", "test")
    assert link not in send(as_anna, queue, "draw").content.decode()
    assert as_anna.get(f"/relevance/{other.pk}/").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_of_many_who_draw_at_once_no_two_have_the_same_passage(pooled: Campaign, import_file):
    """20 people, each drawing, grading and drawing on until nothing is left."""
    many = 60
    import_file(pooled, "topics", "big\twhat is big\n")
    for number in range(many // 2):
        pairs = "".join(f"big Q0 b{2 * number + n} {n} 1 run{number}\n" for n in range(2))
        import_file(pooled, "retrieval", pairs)
    import_file(pooled, "segments", [{"docid": f"b{number}", "segment": "text"} for number in range(many)])
    big = [pooled.topics.get(qid="big")]
    people = [make_person(f"p{number}", "assessor") for number in range(THREADS)]
    tasks = [give_relevance(pooled, person, big, from_queue=True) for person in people]
    clients = [client_of(person) for person in people]

    def work(client: Client, task: Task) -> Callable[[], tuple[list[int], list[int]]]:
        def until_nothing_is_left() -> tuple[list[int], list[int]]:
            had: list[int] = []
            refused: list[int] = []
            response = client.get(f"/relevance/{task.pk}/")
            while mine := at_hand(response):
                had += [pk for pk in mine if pk not in had]
                response = send(client, task, "judge", item=mine[0], grade=1)
                refused += [response.status_code] if response.status_code != 200 else []
                response = send(client, task, "draw")
            return had, refused

        return until_nothing_is_left

    results = at_once([work(*each) for each in zip(clients, tasks, strict=True)])
    assert [result for result in results if isinstance(result, Exception)] == []
    handed = Counter(pk for had, _ in results for pk in had)
    assert [refused for _, refused in results if refused] == []
    assert len(handed) == many
    assert set(handed.values()) == {1}, "each was handed to one person"
    assert LabelEvent.objects.count() == many
    assert RelevanceJudgment.objects.filter(state="open").count() == 0
    assert set(Task.objects.values_list("state", flat=True)) == {"finished"}
    assert sum(Task.objects.values_list("done", flat=True)) == many


@pytest.mark.django_db(transaction=True)
def test_one_passage_that_many_want_at_once_goes_to_one(pooled: Campaign):
    t2 = [pooled.topics.get(qid="t2")]
    people = [make_person(f"p{number}", "assessor") for number in range(THREADS)]
    tasks = [give_relevance(pooled, person, t2, from_queue=True) for person in people]
    for _ in range(5):
        run_out(*RelevanceJudgment.objects.values_list("pk", flat=True))
        drawn = at_once([partial(leases.at_hand, task) for task in tasks])
        assert Counter(map(len, drawn)) == {0: THREADS - 1, 1: 1}


@pytest.mark.django_db(transaction=True)
def test_the_last_two_passages_at_once_end_the_topic(queue: Task, anna: Person, import_file):
    """Neither sees the other's as done, unless one waits for the other."""
    import_file(queue.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    tasks = {anna: queue} | {
        person: give_relevance(queue.campaign, person, from_queue=True)
        for person in (make_person(f"p{number}", "assessor") for number in range(3))
    }
    items = list(RelevanceJudgment.objects.all())
    calls = []
    for (person, task), item in zip(tasks.items(), items, strict=True):
        RelevanceJudgment.objects.filter(pk=item.pk).update(holder=person, held_until=timezone.now() + leases.LEASE)
        calls.append(partial(send, client_of(person), task, "judge", item=item.pk, grade=1))
    assert [response.status_code for response in at_once(calls)] == [200] * 4
    assert set(Task.objects.values_list("state", flat=True)) == {"finished"}
