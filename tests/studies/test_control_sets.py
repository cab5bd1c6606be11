"""Control sets: what is drawn and asked again, what drift does to a judge's jobs, and that no score knows of it."""

import csv
import json
import re
from collections import Counter
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.llm import gateway, runner
from assessor.llm.actions import JobError, launch, plan_job, resume
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.studies import control_sets
from assessor.studies.actions import StudyError
from assessor.studies.control_sets import ask, ask_those_due, draw_control_set, standing_alarms
from assessor.studies.models import ControlCheck, ControlSet, Study
from tests.assignment.conftest import run_file
from tests.assignment.grading.conftest import questions  # noqa: F401  # a fixture
from tests.conftest import client_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.endpoint import RunningEndpoint
from tests.llm.grading import make_judge
from tests.llm.house import house, kill_all_of, wait_until
from tests.studies.test_allocation import finished_again

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = [f"word{chr(97 + number)}" for number in range(12)]
RUNS = 8


@pytest.fixture
def long(campaign: Campaign, import_file) -> Condition:
    """Twelve nuggets of a topic, and runs that say some of them."""
    nuggets = [{"text": f"{word} {word}", "importance": "vital"} for word in WORDS]
    lines = [{"query": "", "qid": "t1", "nuggets": nuggets}]
    assert import_file(campaign, "nuggets", lines, condition="Long", by="people").state == "done"
    for number in range(RUNS):
        answer = run_file(f"team.{number}", {"t1": [f"It says {word}." for word in WORDS[number :: number + 1]]})
        assert import_file(campaign, "runs", answer, name=f"{number}").state == "done"
    return campaign.conditions.get(name="Long")


def launched(judge: ModelJudge, nuggets: Condition, **options: Any) -> Job:
    topics = list(judge.campaign.topics.filter(qid="t1"))
    plan = plan_job(
        kind=job_kind_named("AutoAssign"),
        judge=judge,
        topics=topics,
        nuggets=nuggets,
        **{"name": "", "qrels_source": None, **options},
    )
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


def ended(job: Job) -> Job:
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    return job


def asked(control: ControlSet) -> ControlCheck:
    job = ended(ask(control=control, acting_user=None, to_workers=False))
    return ControlCheck.objects.get(condition=job.condition_id)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def page(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def scores_of(condition: Condition) -> str:
    """Return the score table of a condition as CSV."""
    out = StringIO()
    call_command("export_scores", "study", f"--condition={condition.name}", stdout=out)
    return out.getvalue()


def move_to(judge: ModelJudge, server: Any) -> None:
    """Have another endpoint answer for a judge, under the same name."""
    ModelJudge.objects.filter(pk=judge.pk).update(base_url=server.base_url)
    judge.refresh_from_db()


def test_drift_is_found_and_stops_the_judges_jobs(long, endpoint):  # noqa: F811
    server = endpoint(flip_rate=0.02)
    judge = make_judge(long.campaign, server.base_url, name="Mia")
    first = ended(launched(judge, long)).condition
    control = draw_control_set(condition=first, name="Weekly", seed=1, acting_user=None)
    assert control.study.drawn.count() == RUNS * len(WORDS)
    calls = len(server.begun())
    checks = [asked(control) for _ in range(4)]
    # Each time two requests an answer, and none of them from the ledger.
    assert len(server.begun()) - calls == 4 * RUNS * 2
    assert [(one.cells, one.labels, one.is_alarm) for one in checks] == [(RUNS, RUNS * 12, False)] * 4
    assert (checks[0].p, checks[0].expected) == (None, None)
    assert all(one.p is not None and one.p > 0.05 / 26 for one in checks[1:])
    assert (checks[0].model, standing_alarms(long.campaign)) == ("rehearsal (m)", [])
    # From here on a third of its labels are others.
    move_to(judge, endpoint(flip_rate=0.02, drift=0.35, drift_after=1))
    running = launched(judge, long, replicate=1)
    check = asked(control)
    assert check.is_alarm
    assert check.flips > 3 * (check.expected or 0)
    assert check.p is not None
    assert check.p <= 0.05 / 26
    assert check.kappa is not None
    assert check.kappa < (checks[0].kappa or 0)
    assert standing_alarms(long.campaign) == [check]
    running.refresh_from_db()
    assert running.state == Job.State.HALTED
    assert running.message.startswith(f"The control set Weekly raised an alarm: {check.flips} of 96 labels differ")
    assert list(Event.objects.filter(verb="job halted").values_list("subject", flat=True)) == [running.name]
    # It goes on once it is resumed, and a pass is checked once.
    resume(job=running, acting_user=None)
    ask_those_due()
    running.refresh_from_db()
    assert running.state == Job.State.WAITING
    assert ControlCheck.objects.count() == 5


def test_new_jobs_are_refused_as_long_as_an_alarm_stands_that_stops_jobs(long, endpoint):  # noqa: F811
    steady = endpoint()
    judge, other = (make_judge(long.campaign, steady.base_url, name=name) for name in ("Mia", "Ada"))
    first = ended(launched(judge, long)).condition
    control = draw_control_set(condition=first, name="Weekly", seed=1, acting_user=None)
    for _ in range(3):
        asked(control)
    launched(judge, long, replicate=1)
    move_to(judge, endpoint(drift=0.5, drift_after=1))
    assert (flips := asked(control).flips) > 0
    jobs = Job.objects.count()
    with pytest.raises(JobError) as refused:
        launched(judge, long, replicate=2)
    assert str(refused.value) == (
        f"The alarm of the control set Weekly stands: {flips} of 96 labels of Mia differ from the first ones. Ask the "
        "set once more: if that raises no alarm, launch the job then. Else name the model's exact version in a new "
        "judge, or let the set stop no jobs."
    )
    assert (Job.objects.count(), Condition.objects.filter(replicate=2).count()) == (jobs, 0)
    # Another judge's jobs go on, and each way out is one.
    launched(other, long)
    control_sets.change_control_set(control=control, settings={"halts_jobs": False}, acting_user=None)
    launched(judge, long, replicate=2)
    control_sets.change_control_set(control=control, settings={"halts_jobs": True}, acting_user=None)
    with pytest.raises(JobError, match="The alarm of the control set Weekly stands"):
        launched(judge, long, replicate=3)
    move_to(judge, steady)
    assert not asked(control).is_alarm
    launched(judge, long, replicate=3)


def test_its_labels_are_in_no_score_and_on_no_page(long, as_olga, endpoint):  # noqa: F811
    judge = make_judge(long.campaign, endpoint(flip_rate=0.3).base_url, name="Mia")
    first = ended(launched(judge, long)).condition

    def told() -> list[Any]:
        pages = [
            *("conditions/", "topics/", "comparisons/", "plan/", f"scores/?condition={first.pk}"),
            f"topics/{long.campaign.topics.get(qid='t1').pk}/",
            f"runs/{long.campaign.runs.get(tag='team.1').pk}/",
        ]
        found = [as_olga.get(f"/campaigns/study/{page}").content.decode() for page in pages]
        assert all("<h1" in text for text in found)
        return [re.sub(r'csrfmiddlewaretoken" value="\w+"|\d\d:\d\d', "", text) for text in found]

    before, table = told(), scores_of(first)
    control = draw_control_set(condition=first, name="Telltale", seed=1, acting_user=None)
    assert asked(control).flips > 0
    assert told() == before
    assert "Telltale #1" not in as_olga.get("/campaigns/study/exports/").content.decode()
    assert scores_of(first) == table
    hidden = Condition.with_controls.get(is_control=True)
    for address, *of in (("condition", hidden.pk), ("export_scores", hidden.pk, "csv"), ("study", control.study.pk)):
        assert as_olga.get(reverse(address, args=["study", *of])).status_code == 404, address
    # Nor do other jobs have them from the ledger.
    with pytest.raises(JobError, match=r"Choose a repetition up to 1,000\."):
        launched(judge, long, replicate=hidden.replicate)
    assert Study.objects.count() == 0
    with pytest.raises(StudyError, match="There is a control set called Telltale"):
        draw_control_set(condition=first, name="Telltale", acting_user=None)


def test_it_is_asked_on_schedule_and_when_the_endpoint_names_another_model(long, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(long.campaign, server.base_url, name="Mia")
    first = ended(launched(judge, long)).condition
    settings = {"every_days": 7, "most_calls": 5, "halts_jobs": False}
    control = draw_control_set(condition=first, name="Weekly", cells=4, settings=settings, acting_user=None)
    now = timezone.now()
    passes = control_sets.jobs_of(control)

    def looked(days: int) -> int:
        ask_those_due(now + timedelta(days=days))
        return int(passes.count())

    assert looked(8) == 0, "nobody has seen yet what it costs"
    job = ask(control=control, acting_user=None)
    with pytest.raises(JobError, match=f"It is being asked: job {job.pk} is waiting for a worker"):
        ask(control=control, acting_user=None)
    runner.run_job(job.pk)
    job.refresh_from_db()
    # Its own budget holds: of eight requests five went out.
    assert (job.state, job.message, job.calls) == ("halted", "The budget of 5 calls is used up.", 5)
    assert (looked(8), ControlCheck.objects.count()) == (1, 0)
    Job.objects.filter(pk=job.pk).update(most_calls=None)
    resume(job=job, acting_user=None)
    ended(job)
    control_sets.change_control_set(control=control, settings={"most_calls": None}, acting_user=None)
    assert (looked(6), looked(8)) == (1, 2)
    ended(passes.last())
    # Another job of the judge gets answers of a model with another name: that is asked about once, and not again.
    move_to(judge, endpoint(renamed_after=1))
    ModelJudge.objects.filter(pk=judge.pk).update(accepts_other_models=True)
    ended(launched(judge, long, replicate=1))
    assert looked(0) == 3
    ended(passes.last())
    ended(launched(judge, long, replicate=2))
    assert looked(0) == 3
    assert list(control.checks.values_list("model", flat=True)) == ["rehearsal (m)"] * 2 + ["rehearsal (m-next)"]


def test_it_is_asked_when_the_endpoint_names_another_fingerprint(long, endpoint, monkeypatch):  # noqa: F811
    read, fingerprint = gateway.read_reply, "fp_1"

    def read_named(raw: str, milliseconds: int = 0) -> gateway.Reply:
        return read(json.dumps(json.loads(raw) | {"system_fingerprint": fingerprint}), milliseconds)

    monkeypatch.setattr(gateway, "read_reply", read_named)
    judge = make_judge(long.campaign, endpoint().base_url, name="Mia")
    first = ended(launched(judge, long)).condition
    settings = {"every_days": 7}
    control = draw_control_set(condition=first, name="Weekly", cells=4, settings=settings, acting_user=None)
    asked(control)
    passes = control_sets.jobs_of(control)
    ended(launched(judge, long, replicate=1))
    ask_those_due()
    assert passes.count() == 1
    fingerprint = "fp_2"
    ended(launched(judge, long, replicate=2))
    ask_those_due()
    assert passes.count() == 2
    ended(passes.last())
    # It has met both now.
    for replicate, fingerprint in ((3, "fp_2"), (4, "fp_1")):  # noqa: B007  # read_named() has it
        ended(launched(judge, long, replicate=replicate))
        ask_those_due()
    assert passes.count() == 2
    assert set(control.checks.values_list("model", flat=True)) == {"m"}


def test_graded_questions_are_drawn_and_asked_again(questions, endpoint):  # noqa: F811
    server = endpoint()
    judge = make_judge(questions.campaign, server.base_url, name="Mia")
    topics = list(questions.campaign.topics.all())
    plan = plan_job(
        kind=job_kind_named("AutoGrade"), judge=judge, name="", qrels_source=None, topics=topics, nuggets=questions
    )
    first = ended(launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)).condition
    control = draw_control_set(condition=first, name="Grades", seed=1, acting_user=None)
    assert Counter(control.study.drawn.values_list("first_label", flat=True)) == {"2": 5, "0": 2, "5": 1}
    calls = len(server.begun())
    check = asked(control)
    assert (check.cells, check.labels, check.flips, check.kappa) == (4, 8, 0, 1)
    assert len(server.begun()) - calls == 8  # a question each, and none of the empty answer, which a rule grades


def test_a_set_that_cannot_be_checked_hides_no_other(long, endpoint, monkeypatch):  # noqa: F811
    judge = make_judge(long.campaign, endpoint().base_url, name="Mia")
    first = ended(launched(judge, long)).condition
    sets = [draw_control_set(condition=first, name=name, cells=2, acting_user=None) for name in ("One", "Two")]
    find, tried = control_sets.find_drift, []

    def found(*args: Any) -> Any:
        tried.append(args)
        if len(tried) <= 3:  # as both jobs end, and at the first of a look
            raise ValueError("what nobody thought of")
        return find(*args)

    monkeypatch.setattr(control_sets, "find_drift", found)
    for control in sets:
        ended(ask(control=control, acting_user=None, to_workers=False))
    ask_those_due()
    assert [one.checks.count() for one in sets] == [0, 1]
    ask_those_due()
    assert [one.checks.count() for one in sets] == [1, 1]


def test_what_was_reworded_since_is_left_out(long, endpoint):  # noqa: F811
    judge = make_judge(long.campaign, endpoint().base_url, name="Mia")
    first = ended(launched(judge, long)).condition
    control = draw_control_set(condition=first, name="Weekly", cells=5, seed=3, acting_user=None)
    assert [(one.cells, one.labels) for one in (asked(control), asked(control))] == [(5, 60)] * 2
    finished_again(long, {"worda worda": "other words"})
    again = asked(control)
    assert (again.cells, again.labels, again.p, again.is_alarm) == (0, 0, None, False)


def test_citations_are_drawn_one_by_one(answered, endpoint):  # noqa: F811
    judge = make_judge(answered, endpoint().base_url, name="Mia")
    plan = plan_job(
        kind=job_kind_named("Support"), judge=judge, name="", qrels_source=None, topics=list(answered.topics.all())
    )
    first = ended(launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)).condition
    control = draw_control_set(condition=first, name="Citations", cells=3, seed=1, acting_user=None)
    again = draw_control_set(condition=first, name="Others", cells=3, seed=2, acting_user=None)
    drawn = [set(one.study.drawn.values_list("answer", "item")) for one in (control, again)]
    assert [len(one) for one in drawn] == [3, 3]
    assert drawn[0] != drawn[1]
    check = asked(control)
    assert (check.cells, check.labels, check.flips) == (3, 3, 0)
    # Two sets of a judge: each pass has a replicate of its own, and so answers of its own.
    asked(again)
    replicates = Condition.with_controls.filter(is_control=True).order_by("pk").values_list("replicate", flat=True)
    assert list(replicates) == [1001, 1002]
    assert sum(Job.objects.filter(condition__is_control=True).values_list("answered_from_ledger", flat=True)) == 0


def test_pages_file_and_command(long, as_olga, endpoint):  # noqa: F811
    judge = make_judge(long.campaign, endpoint(drift=0.5, drift_after=16 * 4).base_url, name="Mia", price_in=1)
    first = ended(launched(judge, long)).condition
    new = {"condition": first.pk, "name": "Weekly", "cells": 100, "seed": 1, "every_days": "", "halts_jobs": "on"}
    text = page(as_olga.post("/campaigns/study/control-sets/", new, follow=True))
    assert "Drawn: 96 nuggets. Ask it to begin." in text
    assert "<dt>Calls</dt><dd>16</dd>" in text
    control = ControlSet.objects.get()
    here = f"/campaigns/study/control-sets/{control.pk}/"
    for _ in range(3):
        assert page(as_olga.post(f"{here}ask/", follow=True)).count("Job ") >= 1
        ended(Job.objects.latest("pk"))
    said = StringIO()
    with pytest.raises(CommandError, match="Alarm: the judge labels otherwise than before"):
        call_command("ask_control_set", "study", "Weekly", "--here", stdout=said)
    assert said.getvalue().startswith("About 16 calls, cost 0.00")
    rows = list(csv.DictReader(as_olga.get(f"{here}export/csv").getvalue().decode().splitlines()))
    assert [(row["pass"], row["cells"], row["labels"], row["alarm"]) for row in rows] == [
        (str(number), "8", "96", str(int(number == 4))) for number in range(1, 5)
    ]
    assert [row["p"] for row in rows[:3]] == ["", "1.0", "1.0"]
    check = ControlCheck.objects.latest("pk")
    text = page(as_olga.get(here))
    assert f"{check.flips} of 96 labels differ from the first ones; 0 did before." in text
    fact = "<b><bdi>Control set Weekly</bdi> shows that Mia labels otherwise than before.</b>"
    assert fact in page(as_olga.get("/campaigns/study/alarms/"))
    changed = {"every_days": 3, "most_calls": 20, "most_cost": "1.5", "halts_jobs": ""}
    assert "Saved." in page(as_olga.post(here, changed, follow=True))
    control.refresh_from_db()
    assert (control.every_days, control.most_calls, str(control.most_cost), control.halts_jobs) == (
        *(3, 20, "1.500000"),
        False,
    )
    event = Event.objects.get(verb="control set changed")
    assert (event.details["before"]["every_days"], event.details["after"]["every_days"]) == (None, 3)


ASK = """
from assessor.campaigns.models import Condition
from assessor.studies.control_sets import ask, draw_control_set
control = draw_control_set(condition=Condition.objects.get(judge__name="j"), name="C", seed=1, acting_user=None,
                           settings={"most_calls": 200})
ask(control=control, acting_user=None)
"""


def test_a_pass_survives_two_kills(tmp_path):
    texts, server = 100, RunningEndpoint(latency=0.1)
    qids = [f"t{number}" for number in range(texts)]
    nuggets = [{"text": word, "importance": "vital"} for word in WORDS[:4]]
    banks = [{"query": "", "qid": qid, "nuggets": nuggets} for qid in qids]
    answers = run_file("run", {qid: [f"It says {WORDS[0]} of {qid}."] for qid in qids})
    files = {
        "topics": "".join(f"{qid}\twhy\n" for qid in qids),
        "nuggets": "".join(json.dumps(line) + "\n" for line in banks),
        "run": "".join(json.dumps(line) + "\n" for line in answers),
    }
    try:
        with house(tmp_path / "data", "embedded://") as study:
            for name, content in files.items():
                (tmp_path / name).write_text(content)
            study.manage_all(
                [
                    ["create_campaign", "study"],
                    ["import_topics", "study", str(tmp_path / "topics")],
                    ["import_nuggets", "study", str(tmp_path / "nuggets"), "--condition=N", "--by=people"],
                    ["import_run", "study", str(tmp_path / "run")],
                    ["create_judge", "study", "j", "--model=m", f"--base-url={server.base_url}", "--concurrency=8"],
                    ["run_auto_assign", "study", "--judge=j", "--nuggets=N", "--here"],
                ]
            )
            first = len(server.begun())
            study.run(ASK)
            worker = study.start_worker()
            for kill in (1, 2):
                wait_until(lambda kill=kill: len(server.ended()) >= first + kill * 30, f"work before kill {kill}", 60)
                kill_all_of(worker)
                worker = study.start_worker()
            wait_until(lambda: study.rows("select * from studies_controlcheck"), "the check", 90)
            sent = Counter(call["request"] for call in server.begun()[first:])
            assert study.rows("select cells, labels, flips, is_alarm from studies_controlcheck") == [
                (100, 400, 0, False)
            ]
            [(done, failed, calls, begun)] = study.rows(
                "select units_done, units_failed, calls, calls_begun from llm_job order by id desc limit 1"
            )
            assert (done, failed, len(sent)) == (texts, 0, texts)
            # What was in flight at a kill may be sent again, at most eight requests each time.
            assert sum(sent.values()) <= begun <= texts + 2 * 8
            assert calls == texts
            stored = study.rows("select request from llm_call where replicate > 1000 and outcome = 'good'")
            assert len(stored) == len(set(stored)) == texts
            given = study.rows("select count(*) from assignment_assignment where state = 'given'")
            assert given == [(2 * 4 * texts,)]
    finally:
        server.stop()
