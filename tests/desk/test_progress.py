"""The page of progress: numbers from counters, pace and expected end, who is stuck, and live without being a burden."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.flags import open_by_task
from assessor.desk.pace import Pace, Recent, days_of, expected_end, last_end
from assessor.desk.progress import progress
from assessor.desk.stalled_work import stuck
from assessor.llm.models import Job
from assessor.plan.models import Planned
from assessor.runtime.process_cache import cache
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.models import Task, TimeSpent
from assessor.work.queries import counted
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.judging import change, give
from tests.nuggets.model import draft, make_condition, make_model
from tests.support.judging_helpers import load_runs, post_edited

ADDRESS = "/campaigns/study/progress/"


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterable[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def spend(on: Task, seconds: int, days_ago: float = 0, **counters: Any) -> None:
    """Have a task's person been at work on it, and its counters be so."""
    time = TimeSpent.objects.create(task=on, key=uuid4(), seconds=seconds)
    at = timezone.now() - timedelta(days=days_ago)
    QuerySet(TimeSpent).filter(pk=time.pk).update(at=at)  # which our own records refuse
    for name, value in {"seconds": on.seconds + seconds, "worked_at": at, **counters}.items():
        setattr(on, name, value)
    on.save()


def found(campaign: Campaign) -> Any:
    cache.clear()
    return progress(campaign, list(counted(campaign)))


def reasons(campaign: Campaign) -> list[tuple[str, str, str]]:
    return [tuple(one) for one in stuck(campaign, list(counted(campaign)), open_by_task(campaign))]


def test_without_work_the_end_is_not_known(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    told = found(campaign)
    [step] = told.steps
    assert (step.topics, step.finished, step.left, step.unit, step.per_hour, step.end) == (
        *(1, 0, 1, "topics"),
        *(None, None),
    )
    page = as_olga.get(ADDRESS).content.decode()
    assert page.count("too early to tell") == 3  # the end of all, the step's pace and its end
    assert "why do cats purr" in page


def test_pace_and_end_of_a_step_in_items(task: Task, campaign: Campaign, anna: Person):  # noqa: F811
    # An hour and a half of two in the last week: half a week ago began all of it.
    spend(task, 5400, days_ago=3.5, done=15, total=45)
    told = found(campaign)
    step = next(step for step in told.steps if step.items == "answers")
    assert (told.days, step.done, step.total, step.left) == (4, 15, 45, 30)
    assert step.per_hour == pytest.approx(10)
    assert step.per_day == pytest.approx(15 / 4)
    assert step.end == timezone.localdate() + timedelta(days=8)  # 30 answers at 3.75 a day
    assert step.time == "1 h 30 min"
    [person] = told.people
    assert (person.name, person.open, person.recently) == ("anna", 1, "1 h 30 min")
    assert ("answers", 15, pytest.approx(10)) in [tuple(said) for said in person.said]


def test_work_of_before_counts_by_its_share_of_the_time(task: Task, campaign: Campaign):  # noqa: F811
    spend(task, 3000, days_ago=30, done=10, total=45)
    spend(task, 9000, days_ago=1, done=12, total=45)
    step = next(step for step in found(campaign).steps if step.items == "answers")
    assert step.per_day == pytest.approx(12 * 3 / 4 / 7)  # three quarters of its time, over seven days
    assert step.per_hour == pytest.approx(9 / (9000 / 3600))


def test_nothing_is_extrapolated_from_less_than_half_an_hour(
    task: Task,  # noqa: F811
    campaign: Campaign,
    as_olga: Client,
):
    spend(task, 1799, days_ago=0.5, done=15, total=45)
    early = found(campaign)
    step = next(step for step in early.steps if step.items == "answers")
    assert (step.per_hour, step.end, step.is_too_early, early.end, early.is_too_early) == (None, None, True, None, True)
    assert [said.per_hour for said in early.people[0].said] == [None, None]
    page = as_olga.get(ADDRESS).content.decode()
    assert "too early to tell: less than 30 minutes of active time" in page
    assert "an active hour;" not in page
    assert "answers 30: too early to tell" in page
    spend(task, 1, days_ago=0.5)
    step = next(step for step in found(campaign).steps if step.items == "answers")
    assert (step.per_hour, step.per_day) == (pytest.approx(30), 15)
    assert step.end == timezone.localdate() + timedelta(days=2)
    cache.clear()
    assert "answers: 30.0 an active hour; answers: 15.0 a day" in as_olga.get(ADDRESS).content.decode()


def test_nuggets_are_told_in_topics(bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, days_ago=0.5, state="finished", done=14, total=14)
    [step] = found(campaign).steps
    assert (step.unit, step.finished, step.left, step.per_day, step.per_hour) == ("topics", 1, 1, 1, pytest.approx(14))
    assert step.end == timezone.localdate() + timedelta(days=1)


def test_how_many_nuggets_there_are_is_told_once_all_topics_are_finished(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person, as_olga: Client
):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    [given] = give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, state="finished", done=6, total=6)
    spend(given, 60, done=9)
    [step] = found(campaign).steps
    assert (step.done, step.total) == (15, 0), "of 15 nuggets none is more than there are"
    assert '<td class="tight">nuggets 15</td>' in as_olga.get(ADDRESS).content.decode()
    spend(given, 60, state="finished", done=9, total=9)
    [step] = found(campaign).steps
    assert (step.done, step.total) == (15, 15)


def test_paused_work_is_told_apart_from_what_is_left_and_is_in_no_end(
    task: Task,  # noqa: F811
    manual: Condition,  # noqa: F811
    campaign: Campaign,
    import_file,
    ben: Person,
    as_olga: Client,
):
    # 30 answers are left at hand and 20 are paused: 15 of 45 done in half a week.
    spend(task, 5400, days_ago=3.5, done=15, total=45)
    other = Topic.objects.get(campaign=campaign, qid="t2")
    Task.objects.create(campaign=campaign, topic=other, condition=manual, kind="assignment", person=ben)
    Task.objects.filter(person=ben).update(done=5, total=25, paused=True)
    told = found(campaign)
    step = next(step for step in told.steps if step.items == "answers")
    assert (step.left, step.paused, step.rests, step.done, step.total) == (30, 1, 20, 20, 70)
    assert step.end == told.end == timezone.localdate() + timedelta(days=8)  # 30 answers at 3.75 a day
    assert [(person.name, person.open, person.paused) for person in told.people] == [("anna", 1, 0), ("ben", 0, 1)]
    page = as_olga.get(ADDRESS).content.decode()
    assert "for what is planned now, without 1 paused topic</small>" in page
    assert "<div>paused: 1 topic, answers 20</div>" in page
    assert "<td>0, 1 paused</td>" in page
    assert "answers 5/25</a>, open, paused, —" in page


def test_where_all_that_is_left_is_paused_there_is_no_end(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    Task.objects.update(paused=True)
    [step] = found(campaign).steps
    assert (step.left, step.paused, step.rests, step.is_to_be_signed_off) == (0, 1, 1, False)
    page = as_olga.get(ADDRESS).content.decode()
    assert "<dd>— <small>all that is left is paused</small></dd>" in page
    assert "<td><div>paused: 1 topic</div></td>" in page
    Task.objects.update(state="finished")  # by a save that was on its way
    told = found(campaign)
    assert (told.paused, told.is_only_paused, told.people[0].paused) == (0, False, 0)
    assert "paused" not in as_olga.get(ADDRESS).content.decode().split("By topic")[1]


def test_the_end_of_topics_is_without_the_paused_ones(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person
):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    [given] = give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, days_ago=0.5, state="finished", done=14, total=14)
    Task.objects.filter(pk=given.pk).update(paused=True)
    [step] = found(campaign).steps
    assert (step.left, step.rests, step.end) == (0, 1, timezone.localdate())


def test_topics_for_practice_are_no_part_of_the_work(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    campaign.topics.filter(qid="t1").update(is_practice=True)
    spend(bank.task, 3600, done=14)
    told = found(campaign)
    assert (told.topics, told.people, told.time) == (0, [], "—")
    page = as_olga.get(ADDRESS).content.decode()
    assert "t1, for practice" in page
    assert "nuggets 14" in page


def test_practice_makes_no_pace(bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person):
    """The days of a pace begin with real work."""
    other = Topic.objects.get(campaign=campaign, qid="t2")
    [given] = give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    campaign.topics.filter(qid="t1").update(is_practice=True)
    spend(bank.task, 3600, days_ago=5, done=14)
    assert found(campaign).days == 7
    spend(given, 1800, days_ago=0.5, done=7, total=7, state="finished")
    told = found(campaign)
    assert (told.days, told.steps[0].per_day, told.people[0].recently) == (1, 1, "30 min")


def test_what_was_handed_over_tells_no_pace(task: Task, campaign: Campaign, topic: Topic, ben: Person):  # noqa: F811
    """Anna labelled 40 answers in an hour, Ben the last 5 in ten minutes."""
    spend(task, 3600, days_ago=0.5, done=40, total=45)
    withdraw_task(task=task, acting_user=None)
    given = {"topics": [topic], "condition": task.condition, "person": ben, "reason": "ill"}
    [taken] = give_tasks(campaign=campaign, acting_user=None, **given)
    spend(taken, 600, days_ago=0.1, done=45, total=45, state="finished")
    told = found(campaign)
    step = next(step for step in told.steps if step.items == "answers")
    assert (step.done, step.per_hour, step.per_day) == (45, None, 0)
    assert [said.per_hour for person in told.people for said in person.said if person.name == "ben"] == [None]
    assert [one.handed_over for one in counted(campaign) if one.kind == "assignment"] == [True]


def test_what_waits_for_other_work_is_left(
    task: Task,  # noqa: F811
    manual: Condition,  # noqa: F811
    campaign: Campaign,
    anna: Person,
    ben: Person,
    as_olga: Client,
):
    """t2 has no nuggets yet: its assignment is planned, and has as much to do as that of t1."""
    spend(task, 5400, days_ago=3.5, done=15, total=45)
    other = Topic.objects.get(campaign=campaign, qid="t2")
    Planned.objects.create(condition=manual, topic=other, person=anna, waits_for="nuggets")
    told = found(campaign)
    step = next(step for step in told.steps if step.items == "answers")
    assert (step.topics, step.planned, step.left, told.topics) == (1, 1, 75, 3)
    assert step.end == timezone.localdate() + timedelta(days=20)  # 75 answers at 3.75 a day
    assert "0/1, 1 more wait for other work</td>" in as_olga.get(ADDRESS).content.decode()
    # A topic that somebody has, and that is to be another person's, is one topic; practice is none.
    Planned.objects.create(condition=manual, topic=task.topic, person=ben, waits_for="its nuggets")
    assert next(step for step in found(campaign).steps if step.items == "answers").planned == 1
    campaign.topics.filter(qid="t2").update(is_practice=True)
    assert next(step for step in found(campaign).steps if step.items == "answers").planned == 0


def test_a_step_that_only_waits_has_no_end(bank: NuggetBank, manual: Condition, campaign: Campaign, anna: Person):  # noqa: F811
    Planned.objects.create(
        condition=manual, topic=Topic.objects.get(campaign=campaign, qid="t2"), person=anna, waits_for="nuggets"
    )
    step = next(step for step in found(campaign).steps if step.items == "answers")
    assert (step.topics, step.left, step.unit, step.end) == (0, 1, "topics", None)
    assert found(campaign).end is None


def test_the_end_of_all_is_the_last_one_of_its_parts():
    today = date(2024, 8, 1)
    assert last_end([today, date(2024, 8, 9)]) == date(2024, 8, 9)
    assert last_end([today, None]) is None
    assert last_end([]) is None
    assert expected_end(5, Pace(0, 0, 0)) is None
    assert expected_end(0, Pace(0, 0, 0)) == timezone.localdate()
    assert expected_end(10**9, Pace(1, 1, 0.1)) is None  # beyond every calendar
    assert days_of([], Recent({}, None)) == 7


def test_the_live_part_is_sent_only_when_it_differs(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    state = as_olga.get(ADDRESS).context["state"]
    asked = {"HX-Request": "true", "X-Seen": state}
    assert as_olga.get(ADDRESS, headers=asked).status_code == 204
    assert as_olga.get(ADDRESS, headers={"X-Seen": state}).status_code == 200  # somebody who opens the page
    Task.objects.update(done=3)
    answer = as_olga.get(ADDRESS, headers=asked)
    assert answer.status_code == 200
    assert b"<html" not in answer.content
    assert b"nuggets 3" in answer.content


def ago(days: float) -> Any:
    return timezone.now() - timedelta(days=days)


def test_who_left_is_told_once_with_the_topic_they_were_at(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person
):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    assert reasons(campaign) == []
    Task.objects.update(created_at=ago(9))
    Task.objects.filter(pk=bank.task_id).update(worked_at=ago(4))
    since = f"{ago(4):%Y-%m-%d}"
    expected = ("anna: t1, ManualNuggets", f"2 open, and nothing saved on any since {since}", f"/nuggets/{bank.pk}/")
    assert reasons(campaign) == [expected]
    Task.objects.exclude(pk=bank.task_id).update(worked_at=ago(1))  # she works, on the other one
    assert reasons(campaign) == [(expected[0], f"begun, and nothing saved since {since}", expected[2])]
    Task.objects.filter(pk=bank.task_id).update(state="finished")
    assert reasons(campaign) == []


def test_a_paused_topic_is_nobodys_fault(bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    Task.objects.update(created_at=ago(9))
    resting = Task.objects.filter(pk=bank.task_id)
    resting.update(worked_at=ago(8), leased_until=ago(4), paused=True)
    [(about, why, _)] = reasons(campaign)  # the other one, which she has not begun
    assert (about, why[:7]) == ("anna: t2, ManualNuggets", "1 open,")
    Task.objects.exclude(pk=bank.task_id).update(worked_at=ago(1))
    assert reasons(campaign) == []
    resting.update(paused=False)
    assert len(reasons(campaign)) == 2  # begun and left, and its lease ran out
    Task.objects.exclude(pk=bank.task_id).update(paused=True)
    resting.update(paused=True)
    Task.objects.update(worked_at=ago(8))
    assert reasons(campaign) == []  # and whoever has nothing else is not gone


def test_what_takes_over_three_times_the_median_is_told(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person, import_file
):
    import_file(campaign, "topics", "".join(f"x{number}\tquery\n" for number in range(3)))
    topics = list(campaign.topics.filter(qid__startswith="x"))
    import_file(campaign, "qrels", "".join(f"{one.qid} 0 d1 2\n" for one in topics), source="NIST", by="people")
    given = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=None)
    Task.objects.filter(pk__in=[one.pk for one in given]).update(state="finished", seconds=3600)
    Task.objects.filter(pk=bank.task_id).update(seconds=10_800)
    assert reasons(campaign) == []  # three times is not over it
    Task.objects.filter(pk=bank.task_id).update(seconds=10_801)
    [(about, why, _)] = reasons(campaign)
    assert about == "anna: t1, ManualNuggets"
    assert why == "3 h 00 min so far, over 3 times the median of a finished topic, 1 h 00 min"
    Task.objects.filter(pk=bank.task_id).update(paused=True)
    assert reasons(campaign) == []
    Task.objects.filter(pk=bank.task_id).update(paused=False)
    Task.objects.filter(pk=given[0].pk).update(seconds=0)  # two say nothing of what is usual
    assert reasons(campaign) == []


def test_a_lease_that_ran_out_is_told(bank: NuggetBank, campaign: Campaign):
    Task.objects.update(leased_until=ago(0.1))
    [(_, why, _)] = reasons(campaign)
    assert why == f"its lease ran out on {ago(0.1):%Y-%m-%d %H:%M} UTC+0000: anybody can draw it"


def test_many_questions_of_an_assessor_are_told(task: Task, campaign: Campaign, nugget_ids, monkeypatch):  # noqa: F811
    sheet = sheet_of(task, "team.one")
    first, second, _ = nugget_ids.values()
    said = {first: {"cannot": "garbled"}, second: {"flag": "odd"}}
    change(sheet, said, "flag")
    assert open_by_task(campaign) == {task.pk: 2}
    change(sheet, {first: {"adopted": "support"}}, "decided", judge_id=None, task_id=None)
    assert open_by_task(campaign) == {task.pk: 1}
    monkeypatch.setattr("assessor.desk.stalled_work.MANY_QUESTIONS", 1)
    assert ("anna: t1, Manual/Manual", "open questions of the assessor: 1", f"/assign/{task.pk}/") in reasons(campaign)


def test_what_waits_for_a_models_label_leads_to_the_failures_of_its_job(
    campaign: Campaign, import_file, anna: Person, topic: Topic
):
    load_runs(campaign, import_file)
    condition = post_edited(campaign)
    task = give(condition, topic, anna)  # noqa: F811
    told = [one for one in reasons(campaign) if "model's label" in one[1]]
    assert told == [("anna: t1, support post-edited", "1 citation waits for the model's label", f"/support/{task.pk}/")]
    job = draft(make_condition(make_model(campaign)), [topic], ["a"])
    Job.objects.update(condition=condition.shown, units_failed=2, units_total=9)
    failures = f"/campaigns/study/jobs/{job.pk}/failures/"
    found = reasons(campaign)
    assert (told[0][0], told[0][1], failures) in found
    assert (str(Job.objects.get()), "2 of its 9 units failed", failures) in found


def test_a_halted_job_is_told(campaign: Campaign, topic: Topic):
    job = draft(make_condition(make_model(campaign)), [topic], ["a"])
    Job.objects.update(state=Job.State.HALTED, message="no money")
    assert (str(job), "halted: no money", f"/campaigns/study/jobs/{job.pk}/") in reasons(campaign)
