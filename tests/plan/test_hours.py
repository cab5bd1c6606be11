"""Hours to come, from medians of what was measured."""

from datetime import date, timedelta
from uuid import uuid4

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition
from assessor.plan.hours import (
    WEEKS,
    Load,
    Measured,
    Pace,
    Week,
    Work,
    loads,
    longest_usual,
    pace,
    per_item,
    seconds_of,
    total,
    weeks,
)
from assessor.plan.workload import workload
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.support.judging_helpers import from_scratch


def test_a_published_figure_stands_until_something_is_measured():
    assert pace("ManualNuggets", [], by_item=False) == Pace(9_000, None, 0)
    assert pace("AutoNuggets+Edits", [Measured(0, 5)], by_item=False) == Pace(3_600, None, 0)
    assert pace("ManualNuggets", [Measured(1_000, 3), Measured(3_000, 9), Measured(8_000, 0)], by_item=False) == (
        3_000,
        None,
        3,
    )


def test_without_either_nothing_is_guessed():
    assert pace("ManualAssign", [], by_item=True) is None
    assert pace("ManualAssign", [Measured(6_000, 0)], by_item=True) is None
    assert seconds_of(Work(1, 1, 5, 0), None) is None


def test_nothing_is_extrapolated_from_less_than_half_an_hour():
    assert pace("ManualAssign", [Measured(900, 10), Measured(899, 10)], by_item=True) is None
    assert pace("ManualAssign", [Measured(900, 10), Measured(900, 10)], by_item=True) == Pace(900, 90, 2)
    assert pace("ManualNuggets", [Measured(1_799, 10)], by_item=False) == Pace(9_000, None, 0), "as published"


def test_labels_take_the_median_of_an_item():
    known = pace("ManualAssign", [Measured(1_000, 10), Measured(3_000, 10), Measured(900, 3)], by_item=True)
    assert known == Pace(1_000, 300, 3)
    assert seconds_of(Work(1, 1, 4, 50), known) == 1_200
    assert seconds_of(Work(1, 1, None, 0), known) == 1_000, "how many there will be is not known yet"


@pytest.mark.parametrize(("spent", "left"), [(0, 9_000), (1_000, 8_000), (10_000, 0)])
def test_what_a_topic_has_taken_already_is_not_to_come(spent: int, left: int):
    assert seconds_of(Work(1, 1, None, spent), Pace(9_000, None, 0)) == left


def test_loads_by_person_and_in_all():
    works = [Work(1, 1, None, 0), Work(1, 2, 3, 0), Work(2, 1, None, 0)]
    found = loads(works, {1: Pace(600, None, 0), 2: None})
    assert found == {1: Load(600, 2, 1), 2: Load(600, 1, 0)}
    assert total(found.values()) == Load(1_200, 3, 1)


def test_the_workload_of_a_campaign(manual: Condition, task: Task, campaign, topic):
    Task.objects.filter(condition=manual.nuggets).update(seconds=1_800)  # finished
    judging = from_scratch(campaign)
    Task.objects.create(campaign=campaign, topic=topic, condition=judging, kind="support", person=task.person)
    found = workload(campaign)
    assert [tuple(row) for row in found.people] == [("anna", "0.0 h", 2, 2, 0, 1_800)]
    told = {row.condition.name: row.told for row in found.paces}
    nothing = "no estimate yet: nothing measured"
    assert told == {"Manual/Manual": nothing, "from scratch": nothing}
    Task.objects.filter(pk=task.pk).update(state="finished", seconds=720, done=2)
    other = campaign.topics.get(qid="t2")
    Task.objects.create(campaign=campaign, topic=other, condition=manual, kind="assignment", person=task.person)
    early = {row.condition.name: row.told for row in workload(campaign).paces}["Manual/Manual"]
    assert early == "no estimate yet: less than 30 minutes of active time on finished tasks"
    Task.objects.filter(topic__qid="t2").delete()
    Task.objects.filter(condition=manual.nuggets).update(state="open", seconds=0)
    found = workload(campaign)
    assert [tuple(row) for row in found.people] == [("anna", "2.5 h", 2, 1, 9_000, 720)]
    assert {row.condition.name: row.told for row in found.paces}["ManualNuggets"] == "2.5 h a topic, as published"
    topic.is_practice = True
    topic.save()
    assert workload(campaign).whole == ("all", "0.0 h", 0, 0, 0, 0)


def times(*seconds: int) -> list[Measured]:
    return [Measured(one, 1) for one in seconds]


def test_an_outlier_is_what_is_far_above_the_upper_quartile():
    assert longest_usual(times(100, 10, 40, 20, 30)) == 70  # quartiles 20 and 40
    assert longest_usual(times(1000, 10, 40, 20, 30)) == 70, "however long it took"
    assert longest_usual(times(10, 20, 30, 40, 50, 60)) == 47.5 + 1.5 * 25  # quartiles between two times


def test_of_few_tasks_there_is_no_outlier():
    assert longest_usual(times(10, 20, 30, 40)) is None
    assert longest_usual(times(0, 10, 20, 30, 40)) is None
    assert longest_usual([]) is None


def test_an_item_takes_the_median_over_tasks_that_have_any():
    assert per_item([Measured(100, 10), Measured(300, 10), Measured(90, 0), Measured(0, 5)]) == 20
    assert per_item([Measured(90, 0)]) is None


def test_weeks_to_come_are_filled_with_what_is_given_first():
    monday, a_day = date(2024, 7, 29), timedelta(days=1)
    assert weeks(50, 15, 30, monday) == [
        Week(monday, 30, 0),
        Week(monday + 7 * a_day, 20, 10),
        Week(monday + 14 * a_day, 0, 5),
    ]
    assert (weeks(50, 15, 0, monday), weeks(0, 0, 30, monday)) == ([], [])
    assert len(weeks(10_000, 0, 1, monday)) == WEEKS


def test_weeks_to_come_need_half_an_hour_of_measured_time(bank: NuggetBank, olga: Person):
    def page() -> str:
        return client_of(olga).get("/campaigns/study/plan/hours/").content.decode()

    TimeSpent.objects.create(task=bank.task, seconds=1_799, key=uuid4())
    cache.clear()
    assert "Less than half an hour of work in the last 7 days" in page()
    TimeSpent.objects.create(task=bank.task, seconds=1, key=uuid4())
    cache.clear()
    assert 'id="weeks-table"' in page()
