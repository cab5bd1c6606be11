"""Alarms on people's labels: what raises one, what is not looked at, and that nobody but organizers sees any of it."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.labels.label_kind import label_kind
from assessor.labels.manual_setups import label_again
from assessor.llm.models import Call, Job, Unit
from assessor.runtime.process_cache import cache
from assessor.training.actions import name_reference
from assessor.work.actions import withdraw_task
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import run_file
from tests.assignment.lines import line
from tests.conftest import client_of
from tests.judging import all_judged, asked, give, label_all, send, sign_off
from tests.nuggets.conftest import do, fill
from tests.nuggets.model import make_model

ADDRESS = "/campaigns/study/alarms/"
NUGGETS, RUNS = 10, 4
SUPPORT, PARTIAL, NOT = "support", "partial_support", "not_support"
MIXED = (SUPPORT, NOT)


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def manual(campaign: Campaign, bank: NuggetBank, import_file, olga: Person) -> Condition:
    """People assign ten nuggets of t1 in answers of four runs."""
    for number in range(RUNS):
        lines = run_file(f"run{number}", {"t1": [text_of("t1", number)]})
        assert import_file(campaign, "runs", lines, name=f"run{number}").state == "done"
    fill(bank, *((UUID(int=100 + number), f"nugget {number}", "vital") for number in range(NUGGETS)))
    do(bank, nugget_actions.finish_bank)
    return create_manual_assign(nuggets=bank.condition, name="Manual/Manual", acting_user=olga)


@pytest.fixture
def task(manual: Condition, topic: Topic, anna: Person) -> Task:
    return give(manual, topic, anna)


Assigned = Callable[..., Condition]


@pytest.fixture
def assigned(manual: Condition, import_file) -> Assigned:
    def do(name: str, topic: Topic, labels: Sequence[str], *, by: str, runs: Iterable[int] = range(RUNS)) -> Condition:
        """Import what people or a model gave: each nugget of a topic the next label, over and over."""
        bank = NuggetBank.objects.get(topic=topic)
        nuggets = [
            {"text": nugget.text, "importance": "vital", "assignment": labels[number % len(labels)]}
            for number, nugget in enumerate(bank.nuggets.order_by("pk"))
        ]
        records = [line(topic.qid, f"run{run}", nuggets, text=text_of(topic.qid, run)) for run in runs]
        done = import_file(manual.campaign, "assignments", records, condition=name, by=by, nuggets=manual.nuggets.name)
        assert done.state == "done", done.report
        return Condition.objects.get(name=name)

    return do


def text_of(qid: str, run: int) -> str:
    return f"On {qid}, run {run} says that cats purr."


def label(task: Task, labels: Iterable[str], seconds: int | None = 9, runs: Iterable[int] = range(RUNS)) -> None:
    """Have a task's person label answers of these runs: each nugget gets the next label, over and over."""
    wanted, client = list(labels), client_of(task.person)
    measured = {} if seconds is None else {"seconds": seconds}
    for run in runs:
        [one] = all_judged(task, f"run{run}")
        for number, item in enumerate(asked(one)):
            response = send(client, one, "label", item, label=wanted[number % len(wanted)], **measured)
            assert response.status_code == 200


def rows(as_olga: Client, person: str = "anna") -> dict[str, dict[str, str]]:
    """Return what the file says of a person's assignments, by check and label."""
    cache.clear()
    content = as_olga.get(f"{ADDRESS}alarms.csv").getvalue().decode()
    return {
        " ".join(filter(None, (row["check"], row["label"]))): row
        for row in csv.DictReader(StringIO(content))
        if (row["person"], row["kind"]) == (person, "assignment")
    }


def standing(as_olga: Client, person: str = "anna") -> set[str]:
    return {check for check, row in rows(as_olga, person).items() if row["since"]}


def page_of(as_olga: Client, address: str = ADDRESS) -> str:
    cache.clear()
    return as_olga.get(address).content.decode()


def test_nothing_is_watched_before_anybody_labels(task: Task, as_olga: Client):
    assert "Nothing to watch yet" in page_of(as_olga)
    assert rows(as_olga) == {}


def test_fast_labels_raise_an_alarm(task: Task, as_olga: Client):
    label(task, MIXED, seconds=1, runs=[0])
    label(task, MIXED, seconds=2, runs=[1])
    assert standing(as_olga) == set()
    assert "No alarm stands." in page_of(as_olga)
    label(task, MIXED, seconds=1, runs=[2, 3])
    assert standing(as_olga) == {"speed"}
    speed = rows(as_olga)["speed"]
    assert (speed["n"], speed["of"], speed["value"], speed["alarms"], speed["topic"]) == (
        "40",
        "labels",
        "1.0",
        "1",
        "t1",
    )
    page = page_of(as_olga)
    assert "anna</bdi>: gave 20 labels in a row in less than 2 s each." in page
    assert f'href="/assign/{task.pk}/"' in page
    assert "40 labels of 4 answers" in page
    assert as_olga.get(f"/assign/{task.pk}/").status_code == 200
    overview = page_of(as_olga, "/campaigns/study/")
    assert "anna gave 20 labels in a row in less than 2 s each." in overview
    assert f'href="{ADDRESS}"' in overview


def test_labels_without_a_time_are_not_looked_at(task: Task, as_olga: Client):
    label(task, MIXED, seconds=None)
    assert rows(as_olga)["speed"]["why"] == "the time of no label was measured"


def test_only_organizers_see_any_of_it(task: Task, as_olga: Client, anna: Person, ben: Person, otto: Person):
    label(task, MIXED, seconds=1)
    assert standing(as_olga) == {"speed"}
    for person in (anna, ben, otto):
        client = client_of(person)
        for address in (ADDRESS, f"{ADDRESS}alarms.csv", "/campaigns/study/exports/alarms/file/?form=csv"):
            assert client.get(address).status_code == 404
    as_anna = client_of(anna)
    for address in ("/", f"/assign/{task.pk}/", "/me/", "/answers/"):
        assert "alarm" not in as_anna.get(address).content.decode().lower()
    assert Client().get(ADDRESS).status_code == 302


def test_labels_given_again_are_held_against_the_first(task: Task, as_olga: Client, olga: Person):
    label(task, MIXED)
    assert sign_off(client_of(task.person), task).status_code == 200
    assert rows(as_olga)["agreement"]["why"] == "nothing was labelled again, and no label is gold"
    again = label_again(of=task.condition, name="again", purpose="repeat", acting_user=olga)
    second = give(again, task.topic, task.person)
    label(second, MIXED, runs=[0])
    label(second, [*MIXED, PARTIAL], runs=[1])
    agreement = rows(as_olga)["agreement"]
    assert (agreement["n"], agreement["since"]) == ("20", "")
    assert float(agreement["value"]) == 0.7  # all of one, and of the other places 0, 1, 6 and 7
    label(second, reversed(MIXED), runs=[2])
    assert standing(as_olga) == {"agreement"}
    page = page_of(as_olga)
    assert f'href="/assign/{second.pk}/"' in page
    assert "40 labels of 4 answers" in page  # those that were given again are no further work


def test_practice_with_a_reference_is_gold(
    task: Task, as_olga: Client, campaign: Campaign, anna: Person, ben: Person, import_file, assigned: Assigned
):
    """A topic for practice, on which Anna contradicts what people gave in a file."""
    label(task, MIXED)
    practice = campaign.topics.get(qid="t2")
    lines = run_file("run0", {"t2": [text_of("t2", 0)]})
    assert import_file(campaign, "runs", lines, name="more").state == "done"
    nuggets = task.condition.nuggets
    give(nuggets, practice, ben)
    bank = NuggetBank.objects.get(topic=practice)
    fill(bank, *((UUID(int=200 + number), f"glass {number}", "vital") for number in range(NUGGETS)))
    do(bank, nugget_actions.finish_bank)
    reference = assigned("Reference", practice, [SUPPORT], by="people", runs=[0])
    practice.is_practice = True
    practice.save()
    own = give(task.condition, practice, anna, reason="practice")
    label(own, [NOT], runs=[0])
    assert sign_off(client_of(anna), own).status_code == 200
    name_reference(condition=task.condition, reference=reference, acting_user=None)
    agreement = rows(as_olga)["agreement"]
    assert (agreement["n"], agreement["value"], agreement["topic"]) == ("10", "0.0", "t2")
    assert standing(as_olga) == {"agreement"}
    assert "40 labels of 4 answers" in page_of(as_olga)  # practice is no work


def test_equal_labels_are_held_against_another_person_s(task: Task, as_olga: Client, ben: Person, olga: Person):
    label(task, [NOT])
    assert rows(as_olga)["equal"]["why"] == "nobody else labelled the same items"
    second = label_again(of=task.condition, name="second", purpose="second", acting_user=olga)
    other = give(second, task.topic, ben)
    label(other, [NOT], runs=[0, 1])
    assert (rows(as_olga)["equal"]["n"], standing(as_olga)) == ("20", set())
    label(other, MIXED, runs=[2, 3])
    assert "equal" in standing(as_olga)
    assert "equal" not in standing(as_olga, "ben")


def test_a_model_s_labels_count_once_both_have_finished(task: Task, topic: Topic, as_olga: Client, assigned: Assigned):
    label(task, [NOT])
    assigned("Auto", topic, MIXED, by="model")
    found = rows(as_olga)
    assert {found[check]["n"] for check in ("equal", "drift", "model")} == {"0"}
    assert sign_off(client_of(task.person), task).status_code == 200
    found = rows(as_olga)
    assert (found["equal"]["n"], found["drift"]["n"], found["drift"]["of"]) == ("40", "4", "answers")
    assert (found["model"]["n"], found["model"]["why"]) == ("40", "no other person has such labels yet")
    assert standing(as_olga) == {"equal"}


def test_each_person_has_to_finish_the_topic_themselves(
    task: Task, topic: Topic, as_olga: Client, ben: Person, olga: Person, assigned: Assigned
):
    label(task, MIXED)
    second = label_again(of=task.condition, name="second", purpose="second", share=50, acting_user=olga)
    other = give(second, topic, ben)
    for one in all_judged(other):
        label_all(client_of(ben), one, SUPPORT)
    assert sign_off(client_of(ben), other).status_code == 200
    assigned("Auto", topic, MIXED, by="model")
    found = rows(as_olga)
    assert (found["equal"]["n"], found["model"]["n"]) == ("20", "0")  # beside Ben's alone
    assert sign_off(client_of(task.person), task).status_code == 200
    found = rows(as_olga)
    assert (found["equal"]["n"], found["model"]["n"]) == ("40", "20")


def test_a_model_that_is_at_work_on_a_topic_has_not_finished_it(
    task: Task, topic: Topic, as_olga: Client, assigned: Assigned
):
    label(task, [NOT])
    assert sign_off(client_of(task.person), task).status_code == 200
    auto = assigned("Auto", topic, MIXED, by="model")
    job = Job.objects.create(campaign=auto.campaign, kind="AutoAssign", condition=auto, judge=make_model(auto.campaign))
    unit = Unit.objects.create(job=job, topic=topic)
    assert rows(as_olga)["model"]["n"] == "0"
    unit.state = Unit.State.DONE
    unit.save()
    assert rows(as_olga)["model"]["n"] == "40"


def test_work_that_somebody_else_began_is_not_watched(task: Task, as_olga: Client, ben: Person, olga: Person):
    label(task, MIXED, seconds=1, runs=[0, 1])
    Task.objects.filter(pk=task.pk).update(seconds=20)
    withdraw_task(task=Task.objects.get(pk=task.pk), acting_user=olga)
    taken = give(task.condition, task.topic, ben, reason="anna left")
    label(taken, MIXED, seconds=1, runs=[2])
    assert rows(as_olga) == rows(as_olga, "ben") == {}


def test_all_checks_are_listed_with_what_they_looked_at(task: Task, as_olga: Client):
    label(task, MIXED)
    shares = ["shares not_support", "shares partial_support", "shares support"]
    assert list(rows(as_olga)) == ["agreement", *shares, "model", "speed", "equal", "drift"]
    assert rows(as_olga)["shares support"]["why"] == "no topic is signed off"


def test_more_labels_and_people_take_no_more_queries(task: Task, as_olga: Client, ben: Person, olga: Person):
    label(task, MIXED, runs=[0])
    second = label_again(of=task.condition, name="second", purpose="second", acting_user=olga)
    other = give(second, task.topic, ben)
    label(other, MIXED, runs=[0])
    as_olga.get(ADDRESS)

    def queries() -> int:
        cache.clear()
        with CaptureQueriesContext(connection) as captured:
            as_olga.get(ADDRESS)
        return len(captured)

    before = queries()
    label(task, MIXED, runs=[1, 2, 3])
    label(other, MIXED, runs=[1, 2, 3])
    assert queries() == before
    with CaptureQueriesContext(connection) as captured:
        as_olga.get(ADDRESS)
    assert len(captured) < before, "what was found is kept until something changes"


def call(job: Job, good: int, wrong: int) -> None:
    """Leave a job's calls, some of them with replies that could not be read."""
    outcomes = [Call.Outcome.GOOD] * good + [Call.Outcome.WRONG] * wrong
    for number, outcome in enumerate(outcomes):
        name = f"{job.pk:032}{number:032}"
        Call.objects.create(job=job, judge=job.judge, at=timezone.now(), request=name, outcome=outcome)


@pytest.fixture
def job(topic: Topic, assigned: Assigned) -> Job:
    auto = assigned("Auto", topic, [SUPPORT], by="model")
    judge = make_model(auto.campaign)
    return Job.objects.create(campaign=auto.campaign, kind="AutoAssign", condition=auto, judge=judge, state="done")


def next_of(job: Job) -> Job:
    """Return another job like it."""
    alike = {name: getattr(job, name) for name in ("campaign", "kind", "condition", "judge", "state")}
    return Job.objects.create(**alike)


def test_replies_that_can_t_be_read_raise_an_alarm(job: Job, as_olga: Client):
    call(job, 96, 4)  # 2 % may be, and chance makes 4
    assert "Judges to look at" not in page_of(as_olga)
    call_more = next_of(job)
    call(call_more, 92, 8)
    page = page_of(as_olga)
    assert f"AutoAssign {call_more.pk}: Auto</bdi> gives many replies that can&#x27;t be read." in page
    assert "8 of 100 replies, 2 % may be" in page
    assert f'href="/campaigns/study/jobs/{call_more.pk}/"' in page
    assert "gives many replies" in page_of(as_olga, "/campaigns/study/")
    call(next_of(job), 9, 0)
    assert "Judges to look at" not in page_of(as_olga), "only the newest job of a condition is looked at"


def test_a_job_whose_labels_are_others_than_the_last_raises_an_alarm(job: Job, as_olga: Client):
    later, paths = next_of(job), label_kind("assignment").label_paths()
    labels = paths.given([job.condition_id])
    later_runs = ("run2", "run3")
    labels.filter(sheet__answer__run__tag__in=later_runs).update(job=later)
    labels.exclude(sheet__answer__run__tag__in=later_runs).update(job=job)
    assert "Judges to look at" not in page_of(as_olga)
    labels.filter(job=later).update(value=NOT)
    page = page_of(as_olga)
    assert f"AutoAssign {later.pk}: Auto</bdi> labels otherwise than the job before." in page
    assert "not_support 100 %, 0 % before" in page
    Job.objects.filter(pk=later.pk).update(state="running")
    assert "Judges to look at" not in page_of(as_olga), "its labels are not all there yet"
    Job.objects.filter(pk=later.pk).update(state="done")
    other = make_model(job.campaign, "Another judge")
    Job.objects.filter(pk=job.pk).update(judge=other)
    assert "Judges to look at" not in page_of(as_olga), "another judge may label otherwise"
