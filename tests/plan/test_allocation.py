"""Topics drawn for conditions and people."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event
from assessor.plan.models import Planned
from assessor.plan.random_allocation import AllocationError, Allotted, Share, allot, second_readers
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from tests.conftest import client_of
from tests.plan.test_page import sent

TOPICS = [f"t{number}" for number in range(30)]
PEOPLE = ["anna", "ben", "carl", "dora"]
SHARES = [Share("Manual", 11), Share("Edits", 14)]


def counts(found: list[Allotted], condition: str) -> list[int]:
    of = Counter(one.person for one in found if one.condition == condition)
    return sorted(of.values())


def test_a_draw_is_balanced_and_can_be_repeated():
    found = allot(7, TOPICS, PEOPLE, SHARES)
    assert (counts(found, "Manual"), counts(found, "Edits")) == ([2, 3, 3, 3], [3, 3, 4, 4])
    assert sorted(Counter(one.person for one in found).values()) == [6, 6, 6, 7]
    assert len({one.topic for one in found}) == 25
    assert allot(7, TOPICS[::-1], PEOPLE[::-1], SHARES) == found
    assert allot(8, TOPICS, PEOPLE, SHARES) != found


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(0, 12), st.integers(0, 12), st.data())
def test_however_it_falls_counts_differ_by_at_most_one(seed, people, first, second, data):
    names = [f"p{number}" for number in range(people)]
    barred = data.draw(st.sets(st.tuples(st.sampled_from(TOPICS[:24]), st.sampled_from(names)), max_size=12))

    def is_barred(topic: str, condition: str, person: str) -> bool:
        return (topic, person) in barred

    shares = [Share("A", first), Share("B", second)]
    try:
        found = allot(seed, TOPICS[:24], names, shares, is_barred)
    except AllocationError:
        assert barred
        return
    assert [sum(one.condition == share.condition for one in found) for share in shares] == [first, second]
    assert not [one for one in found if is_barred(*one)]
    for share in shares:
        of = [sum(one.person == name and one.condition == share.condition for one in found) for name in names]
        assert max(of) - min(of) <= 1


def test_who_is_barred_everywhere_but_there_is_moved_there():
    def is_barred(topic: str, condition: str, person: str) -> bool:
        return topic in ("t0", "t1") and person != "anna"

    found = allot(1, ["t0", "t1", "t2", "t3"], ["anna", "ben"], [Share("A", 4)], is_barred)
    assert {one.topic: one.person for one in found} == {"t0": "anna", "t1": "anna", "t2": "ben", "t3": "ben"}
    with pytest.raises(AllocationError, match="people have seen too much of some of them"):
        allot(1, ["t0", "t1"], ["anna", "ben"], [Share("A", 2)], is_barred)


def test_a_second_person_is_another_one():
    first = allot(7, TOPICS, PEOPLE, SHARES)
    found = second_readers(7, first, PEOPLE, 10)
    owner = {one.topic: one.person for one in first}
    assert len({one.topic for one in found}) == 10
    assert not [one for one in found if owner[one.topic] == one.person]
    assert second_readers(7, first, PEOPLE, 10) == found
    with pytest.raises(AllocationError, match="only one"):
        second_readers(7, first, ["anna"], 1)
    with pytest.raises(AllocationError, match="30 topics are wanted, and there are 2"):
        allot(1, ["a", "b"], PEOPLE, [Share("A", 30)])


@pytest.mark.parametrize("people", [2, 3, 4, 12])
@pytest.mark.parametrize("number", [1, 2, 5, 12, 25])
def test_a_second_person_is_found_whatever_the_seed(people: int, number: int):
    names = [f"p{one}" for one in range(people)]
    for seed in range(60):
        first = allot(seed, TOPICS, names, SHARES)
        owner = {one.topic: one.person for one in first}
        found = second_readers(seed, first, names, number)
        assert len({one.topic for one in found}) == number
        assert not [one for one in found if owner[one.topic] == one.person]
        of = Counter(one.person for one in found)
        assert max(of[name] for name in names) - min(of[name] for name in names) <= 1, seed


def test_conditions_are_drawn_in_one_order_in_every_database():
    assert allot(7, TOPICS, PEOPLE, SHARES[::-1]) == allot(7, TOPICS, PEOPLE, SHARES)


def test_why_nothing_can_be_drawn_is_said_as_it_is():
    def has_seen(topic: str, condition: str, person: str) -> bool:
        return topic == "t1"

    with pytest.raises(AllocationError, match="Nobody can have t1 under A: all have seen too much of it"):
        allot(1, ["t0", "t1"], PEOPLE, [Share("A", 2)], has_seen)
    first = [Allotted(topic, "A", "anna") for topic in ("t0", "t1", "t2")]
    assert {one.person for one in second_readers(1, first, ["anna", "ben"], 3)} == {"ben"}, "nobody else is there"
    with pytest.raises(AllocationError, match="only 2 can have one: of the others everybody else has seen too much"):
        second_readers(1, first, ["anna", "ben"], 3, has_seen)


def test_what_was_drawn_is_shown_then_planned_and_the_seed_is_kept(
    condition: Condition, answered, anna: Person, ben: Person, olga: Person, worker, django_capture_on_commit_callbacks
):
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    client, address = client_of(olga), "/campaigns/study/plan/allocate/"
    form = {f"topics{condition.pk}": 2, "people": [anna.pk, ben.pk], "rule": "1 per team", "seed": 5}
    page = client.post(address, form).content.decode()
    assert "Drawn with seed 5" in page
    assert page.count("<td>Manual/Manual</td>") == page.count("<td>ManualNuggets</td>") == 2
    # Who reads it sees what can't be given yet; which runs are judged is nothing that nuggets have.
    assert page.count('<td>—</td><td class="quiet">—</td>') == 2
    assert page.count('<td>1 per team</td><td class="quiet">The nuggets of t') == 2
    assert not Task.objects.exists()
    record_exposure(anna, [manual.campaign.topics.get(qid="t2")], "nuggets", "elsewhere")
    again = client.post(address, sent(page), follow=True).content.decode()
    assert "The plan changed after you drew. Check the new draw below." in again
    assert not Task.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(address, sent(again), follow=True)
    assert "Drawn with seed 5: 4 pieces of work are being given." in response.content.decode()
    assert (Task.objects.count(), Planned.objects.count(), worker()) == (0, 4, 1)
    assert {task.topic.qid: task.person for task in Task.objects.all()} == {"t1": anna, "t2": ben}
    assert {row.topic.qid: row.person for row in Planned.objects.filter(condition=manual)} == {"t1": anna, "t2": ben}
    details = Event.objects.get(verb="topics allotted").details
    assert (details["seed"], details["shares"], details["people"]) == (5, {"ManualNuggets": 2}, ["anna", "ben"])
    assert "2 topics are wanted, and there are 0" in client.post(address, form).content.decode()
    assert "Enter a number of topics" in client.post(address, form | {f"topics{condition.pk}": ""}).content.decode()
