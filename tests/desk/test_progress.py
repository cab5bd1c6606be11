"""The page of progress: numbers from counters, pace and expected end, who is stuck, and live without being a burden."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event, Protocol, Topic
from assessor.desk.burn_up import burn_up, done_by_day, seconds_by_day
from assessor.desk.flags import open_by_task
from assessor.desk.pace import Ends, Pace, days_of, expected_ends, last_end
from assessor.desk.progress import progress
from assessor.desk.stalled_work import stuck
from assessor.llm.models import Job
from assessor.plan.models import Planned
from assessor.plan.recent_time import Recent
from assessor.runtime.process_cache import cache
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Reminder, Task, TimeSpent
from assessor.work.queries import counted
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.judging import change, give
from tests.llm.records import fail_units
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


def reasons(campaign: Campaign) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return what is stuck: the fact, what else is told, and the buttons."""
    return [
        (one.fact, one.more, [(button.label, button.address) for button in one.buttons])
        for one in stuck(campaign, list(counted(campaign)), open_by_task(campaign))
    ]


def buttons_of(one: Task) -> list[tuple[str, str]]:
    """Return those that remind a task's person, and that give it to somebody else."""
    piece = f"/campaigns/study/plan/work/{one.condition_id}/{one.topic_id}/?person={one.person_id}"
    return [("Remind", f"/campaigns/study/tasks/{one.pk}/remind/"), ("Give to somebody else", piece)]


def in_days(earliest: int, latest: int | None = None) -> Ends:
    """Return the days so far from today."""
    today = timezone.localdate()
    return Ends(*(today + timedelta(days=days) for days in (earliest, earliest if latest is None else latest)))


def test_without_work_the_end_is_not_known(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    told = found(campaign)
    [step] = told.steps
    assert (step.topics, step.finished, step.left, step.unit, step.per_hour, step.ends) == (
        *(1, 0, 1, "topics"),
        *(None, Ends(None, None)),
    )
    page = as_olga.get(ADDRESS).content.decode()
    assert page.lower().count("no estimate yet: less than 30 minutes of active time") == 2  # of all, and the step
    assert "1 left, no end yet" in page
    assert 'aria-label="t1, ManualNuggets: nuggets 0, anna, open"' in page
    assert 'aria-label="t2, ManualNuggets: not given"' in page


def test_pace_and_end_of_a_step_in_items(task: Task, campaign: Campaign, anna: Person):  # noqa: F811
    # An hour and a half of two in the last week: half a week ago began all of it.
    spend(task, 5400, days_ago=3.5, done=15, total=45)
    told = found(campaign)
    step = next(step for step in told.steps if step.items == "answers")
    assert (told.days, step.done, step.total, step.left) == (4, 15, 45, 30)
    assert step.per_hour == pytest.approx(10)
    assert step.per_day == pytest.approx(15 / 4)
    # 30 answers at 5 a day without the poorest day; without the best one nothing was done.
    assert step.ends == Ends(timezone.localdate() + timedelta(days=6), None)
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
    nothing = Ends(None, None)
    assert (step.per_hour, step.ends, step.is_too_early) == (None, nothing, True)
    assert (early.ends, early.is_too_early) == (nothing, True)
    assert [said.per_hour for said in early.people[0].said] == [None, None]
    page = as_olga.get(ADDRESS).content.decode()
    assert "no estimate yet: less than 30 minutes of active time in a step" in page
    assert "an active hour" not in page
    assert "30 left, no end yet" in page
    spend(task, 1, days_ago=0.5)
    step = next(step for step in found(campaign).steps if step.items == "answers")
    assert (step.per_hour, step.per_day) == (pytest.approx(30), 15)
    assert step.ends == in_days(2)  # of a single day there is no spread
    cache.clear()
    page = as_olga.get(ADDRESS).content.decode()
    assert "30 answers an active hour, 15 answers a day" in page
    assert f"ends about {date_format(timezone.localdate() + timedelta(days=2), 'j M')}" in page


def test_nuggets_are_told_in_topics(bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, days_ago=0.5, state="finished", done=14, total=14)
    [step] = found(campaign).steps
    assert (step.unit, step.finished, step.left, step.per_day, step.per_hour) == ("topics", 1, 1, 1, pytest.approx(14))
    assert step.ends == in_days(1)


def test_how_many_nuggets_there_are_is_told_once_all_topics_are_finished(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person, as_olga: Client
):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    [given] = give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, state="finished", done=6, total=6)
    spend(given, 60, done=9)
    [step] = found(campaign).steps
    assert (step.done, step.total) == (15, 0), "of 15 nuggets none is more than there are"
    assert 'aria-label="t2, ManualNuggets: nuggets 9, anna, open"' in as_olga.get(ADDRESS).content.decode()
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
    assert step.ends.earliest == timezone.localdate() + timedelta(days=6)  # 30 answers at 5 a day
    assert [(person.name, person.open, person.paused) for person in told.people] == [("anna", 1, 0), ("ben", 0, 1)]
    page = as_olga.get(ADDRESS).content.decode()
    assert "without 1 paused topic</dd>" in page
    assert "1 paused with 20 answers" in page
    assert '<td class="num">0, 1 paused</td>' in page
    assert 'aria-label="t2, Manual/Manual: 20 %, ben, paused"' in page


def test_where_all_that_is_left_is_paused_there_is_no_end(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    Task.objects.update(paused=True)
    [step] = found(campaign).steps
    assert (step.left, step.paused, step.rests, step.is_to_be_signed_off) == (0, 1, 1, False)
    page = as_olga.get(ADDRESS).content.decode()
    assert '<dd>—</dd><dd class="under">all that is left is paused</dd>' in page
    assert '<span class="chip off">paused</span>' in page
    Task.objects.update(state="finished")  # by a save that was on its way
    told = found(campaign)
    assert (told.paused, told.is_only_paused, told.people[0].paused) == (0, False, 0)
    assert ", paused" not in as_olga.get(ADDRESS).content.decode()


def test_the_end_of_topics_is_without_the_paused_ones(
    bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person
):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    [given] = give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    spend(bank.task, 3600, days_ago=0.5, state="finished", done=14, total=14)
    Task.objects.filter(pk=given.pk).update(paused=True)
    [step] = found(campaign).steps
    assert (step.left, step.rests, step.ends) == (0, 1, in_days(0))


def test_topics_for_practice_are_no_part_of_the_work(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    campaign.topics.filter(qid="t1").update(is_practice=True)
    spend(bank.task, 3600, done=14)
    told = found(campaign)
    assert (told.topics, told.people, told.time) == (0, [], "—")
    page = as_olga.get(ADDRESS).content.decode()
    assert "t1, practice, ManualNuggets: nuggets 14, anna, open" in page


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
    assert step.ends.earliest == timezone.localdate() + timedelta(days=15)  # 75 answers at 5 a day
    page = as_olga.get(ADDRESS).content.decode()
    assert "0 of 1 topics finished · 1 waits for earlier work" in page
    assert "t2, Manual/Manual: waits for earlier work" in page
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
    assert (step.topics, step.left, step.unit, step.ends) == (0, 1, "topics", Ends(None, None))
    assert found(campaign).ends == Ends(None, None)


def test_the_end_of_all_is_the_last_one_of_its_parts():
    today = date(2024, 8, 1)
    assert last_end([today, date(2024, 8, 9)]) == date(2024, 8, 9)
    assert last_end([today, None]) is None
    assert last_end([]) is None
    assert days_of([], Recent({}, None, {})) == 7


def test_the_range_of_an_end_leaves_out_the_best_day_or_the_poorest():
    """12, 0, 6 and 2 items on four days: 5 a day, without the best 8/3, without the poorest 20/3."""
    pace = Pace(1_800, [12, 0, 6, 2])
    assert (pace.items, pace.per_day) == (20, 5)
    assert (pace.slow, pace.fast) == (pytest.approx(8 / 3), pytest.approx(20 / 3))
    assert expected_ends(40, pace) == in_days(6, 15)
    assert expected_ends(0, pace) == in_days(0)
    assert expected_ends(40, Pace(1_799, [12, 0, 6, 2])) == Ends(None, None)  # less than 30 minutes
    assert expected_ends(10, Pace(3_600, [5])) == in_days(2)  # of one day there is no spread
    assert expected_ends(10, Pace(3_600, [5, 0])) == Ends(timezone.localdate() + timedelta(days=2), None)
    assert expected_ends(5, Pace(3_600, [])) == Ends(None, None)
    assert expected_ends(10**9, Pace(3_600, [0.1, 0.1])) == Ends(None, None)  # beyond every calendar


def test_the_burn_up_of_a_step(task: Task, campaign: Campaign, as_olga: Client):  # noqa: F811
    """20 answers of 40: a quarter of the time four days ago, half of it two days ago, the rest today."""
    spend(task, 1_800, days_ago=4, done=20, total=40)
    spend(task, 3_600, days_ago=2)
    spend(task, 1_800)
    today = timezone.localdate()
    assigning = [one for one in counted(campaign) if one.kind == "assignment"]
    daily = done_by_day(assigning, seconds_by_day(campaign), in_topics=False)
    assert daily == {today - timedelta(days=4): 5, today - timedelta(days=2): 10}
    drawing = burn_up(daily, 20, 40, Ends(today + timedelta(days=4), None))
    assert drawing.line == "3.0,96.0 33.5,86.0 64.0,86.0 94.5,66.0 125.0,56.0"
    assert (drawing.today, drawing.height, drawing.ends) == (125, 56, [(247, 16)])
    # No more than two thirds are of days to come: of 100 days eight are shown, with what is done by then.
    far = burn_up(daily, 20, 40, Ends(today + timedelta(days=100), today + timedelta(days=200)))
    assert (far.today, far.ends) == (84.3, [(247, 52.8), (247, 54.4)])
    assert (burn_up({}, 0, 40, Ends(None, None)), burn_up({today: 3}, 3, 40, Ends(None, None))) == (None, None)
    page = as_olga.get(ADDRESS).content.decode()
    assert f'aria-label="20 of 40 answers done since {date_format(today - timedelta(days=4), "j M")}"' in page


def test_the_live_part_is_sent_only_when_it_differs(bank: NuggetBank, campaign: Campaign, as_olga: Client):
    state = as_olga.get(ADDRESS).context["state"]
    asked = {"HX-Request": "true", "X-Seen": state}
    assert as_olga.get(ADDRESS, headers=asked).status_code == 204
    assert as_olga.get(ADDRESS, headers={"X-Seen": state}).status_code == 200  # somebody who opens the page
    Task.objects.update(done=3)
    answer = as_olga.get(ADDRESS, headers=asked)
    assert answer.status_code == 200
    assert b"<html" not in answer.content
    assert b"nuggets 3, anna" in answer.content


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
    assert reasons(campaign) == [
        (
            f"anna saved nothing since {since}.",
            "ManualNuggets. 2 open topics, last at t1",
            buttons_of(bank.task),
        )
    ]
    Task.objects.exclude(pk=bank.task_id).update(worked_at=ago(1))  # she works, on the other one
    assert reasons(campaign) == [
        (f"anna saved nothing on t1 since {since}.", "ManualNuggets. Works on other topics.", buttons_of(bank.task))
    ]
    Task.objects.filter(pk=bank.task_id).update(state="finished")
    assert reasons(campaign) == []


def test_a_paused_topic_is_nobodys_fault(bank: NuggetBank, campaign: Campaign, condition: Condition, anna: Person):
    other = Topic.objects.get(campaign=campaign, qid="t2")
    give_tasks(campaign=campaign, topics=[other], condition=condition, person=anna, acting_user=None)
    Task.objects.update(created_at=ago(9))
    resting = Task.objects.filter(pk=bank.task_id)
    resting.update(worked_at=ago(8), leased_until=ago(4), paused=True)
    [(_, more, _)] = reasons(campaign)  # the other one, which she has not begun
    assert more == "ManualNuggets. 1 open topic, last at t2"
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
    [(fact, more, _)] = reasons(campaign)
    assert fact == "anna has spent 3 h 00 min on t1."
    assert more == "ManualNuggets. Over 3 times the median of a finished topic, 1 h 00 min."
    Task.objects.filter(pk=bank.task_id).update(paused=True)
    assert reasons(campaign) == []
    Task.objects.filter(pk=bank.task_id).update(paused=False)
    Task.objects.filter(pk=given[0].pk).update(seconds=0)  # two say nothing of what is usual
    assert reasons(campaign) == []


def test_a_lease_that_ran_out_is_told(bank: NuggetBank, campaign: Campaign):
    Task.objects.update(leased_until=ago(0.1))
    [(fact, _, _)] = reasons(campaign)
    assert fact == f"anna's lease on t1 ended on {ago(0.1):%Y-%m-%d %H:%M} UTC."


def test_many_questions_of_an_assessor_are_told(task: Task, campaign: Campaign, nugget_ids, monkeypatch):  # noqa: F811
    sheet = sheet_of(task, "team.one")
    first, second, _ = nugget_ids.values()
    said = {first: {"cannot": "garbled"}, second: {"flag": "odd"}}
    change(sheet, said, "flag")
    assert open_by_task(campaign) == {task.pk: 2}
    change(sheet, {first: {"adopted": "support"}}, "decided", judge_id=None, task_id=None)
    assert open_by_task(campaign) == {task.pk: 1}
    monkeypatch.setattr("assessor.desk.stalled_work.MANY_QUESTIONS", 1)
    inbox = [("Answer", f"/campaigns/study/asked/?condition={task.condition_id}")]
    assert ("anna asks 1 questions on t1.", "Manual/Manual. They wait for you.", inbox) in reasons(campaign)


def test_what_waits_for_a_models_label_leads_to_the_failures_of_its_job(
    campaign: Campaign, import_file, anna: Person, topic: Topic
):
    load_runs(campaign, import_file)
    condition = post_edited(campaign)
    task = give(condition, topic, anna)  # noqa: F811
    told = [one for one in reasons(campaign) if "model's label" in one[0]]
    fact, more = "1 citation of t1 waits for the model's label.", "support post-edited, anna"
    assert told == [(fact, more, [("Look at the work", f"/support/{task.pk}/")])]
    job = draft(make_condition(make_model(campaign)), [topic], ["a"])
    fail_units(job, topic, 2)
    Job.objects.update(condition=condition.shown, units_total=9)
    failures = f"/campaigns/study/jobs/{job.pk}/failures/"
    found = reasons(campaign)
    assert (fact, more, [("Show failures", failures)]) in found
    assert ("2 of 9 failed.", str(Job.objects.get()), [("Show failures", failures)]) in found


def test_blind_work_of_a_person_who_has_seen_a_models_output_is_stuck(task: Task, campaign: Campaign):  # noqa: F811
    assert reasons(campaign) == []
    record_exposure(task.person, [task.topic], task.kind, "topic")
    fact = f"{task.person} has seen what a model gave on {task.topic.qid}."
    more = f"{task.condition}. Blind work on it is refused to them: give it to somebody else."
    piece = f"/campaigns/study/plan/work/{task.condition_id}/{task.topic_id}/?person={task.person_id}"
    assert reasons(campaign) == [(fact, more, [("Look at the work", f"/assign/{task.pk}/"), ("Change", piece)])]
    Protocol.objects.update(blind_after_seeing=False)
    assert reasons(campaign) == []


def test_a_halted_job_is_told(campaign: Campaign, topic: Topic):
    job = draft(make_condition(make_model(campaign)), [topic], ["a"])
    Job.objects.update(state=Job.State.HALTED, message="no money")
    page = [("Open the job", f"/campaigns/study/jobs/{job.pk}/")]
    assert (f"{job} stopped: no money", "", page) in reasons(campaign)


def test_labels_to_settle_and_topics_without_an_assessor_are_stuck(
    task: Task,  # noqa: F811
    as_olga: Client,
    nugget_ids,  # noqa: F811
):
    assert "could not be given" not in as_olga.get(ADDRESS).content.decode()
    change(sheet_of(task, "team.one"), {min(nugget_ids.values()): {"cannot": "garbled"}}, "cannot")
    page = as_olga.get(ADDRESS).content.decode()
    assert "1 label could not be given." in page
    assert 'href="/campaigns/study/asked/" aria-label="Settle: 1 label could not be given."' in page
    assert 'href="/campaigns/study/plan/?state=none" aria-label="Give: 1 topic has no assessor."' in page


def test_an_assessor_is_reminded_until_she_has_seen_it(
    bank: NuggetBank, as_olga: Client, as_anna: Client, ben: Person, mailoutbox, settings
):
    address = f"/campaigns/study/tasks/{bank.task_id}/remind/"
    told = "reminds you of"
    assert told not in as_anna.get("/").content.decode()
    page = as_olga.post(address, follow=True).content.decode()
    assert "anna sees the reminder of t1 on their home." in page
    assert "anna was reminded of t1 and has not seen that yet." in as_olga.post(address, follow=True).content.decode()
    reminder = Reminder.objects.get()
    event = Event.objects.get(verb="assessor reminded")
    assert (reminder.person.username, event.person.username, event.campaign.slug) == ("olga", "olga", "study")
    page = as_anna.get("/").content.decode()
    assert (told in page, "why do cats purr" in page, f"/reminders/{reminder.pk}/seen/" in page) == (True,) * 3
    assert "olga" not in page
    assert told not in client_of(ben).get("/").content.decode()
    assert client_of(ben).post(f"/reminders/{reminder.pk}/seen/").status_code == 404
    Task.objects.update(paused=True)
    assert told not in as_anna.get("/").content.decode()
    Task.objects.update(paused=False)
    as_anna.post(f"/reminders/{reminder.pk}/seen/")
    assert told not in as_anna.get("/").content.decode()

    settings.MAILS = True
    Person.objects.filter(username="anna").update(email="anna@example.org")
    assert "on their home and was sent a mail." in as_olga.post(address, follow=True).content.decode()
    [mail] = mailoutbox
    assert mail.to == ["anna@example.org"]
    assert ("why do cats purr" in mail.body, "http://testserver" in mail.body) == (True, True)
    Task.objects.update(state="finished")
    assert "anna can&#x27;t work on t1 now" in as_olga.post(address, follow=True).content.decode()
