"""AutoNuggets and drafts as whole jobs over real HTTP: what really goes out, and what comes of it in bad weather."""

from collections import Counter
from math import ceil
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition, grades_made_under
from assessor.campaigns.models import Campaign, Condition, Grade, QrelsSource
from assessor.llm import actions, runner
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Call, Job, ModelJudge, Unit
from assessor.llm.signals import job_worked_on
from assessor.plan.actions import plan_work
from assessor.plan.models import Planned
from assessor.work.models import Task
from nuggets.models import Drafting, NuggetBank
from nuggets.queries import nuggets_in_order
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.endpoint import RunningEndpoint
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
RELEVANT = {"t1": 23, "t2": 10, "t3": 11, "t4": 0}
SUBJECTS = ("purring", "glass", "bridges", "rivers", "ovens", "clocks", "maps", "bees", "sails", "coins")


@pytest.fixture
def study(empty_campaign: Campaign, import_file) -> Campaign:
    """Topics with 23, 10, 11 and no relevant segments, each of which says two things."""
    topics = "".join(f"{qid}\twhat about {' and '.join(SUBJECTS)}\n" for qid in RELEVANT)
    segments = [
        {
            "docid": f"{qid}d{number:02}",
            "segment": f"Fact {number} tells that {SUBJECTS[number % 10]} {qid} came before year {1000 + number}. "
            f"Another {number} holds {SUBJECTS[(number + 3) % 10]} against weather {2000 + number}.",
        }
        for qid, count in RELEVANT.items()
        for number in range(count)
    ]
    qrels = "".join(f"{segment['docid'][:2]} 0 {segment['docid']} 2\n" for segment in reversed(segments))
    for kind, content, options in [
        ("topics", topics, {}),
        ("segments", segments, {}),
        ("qrels", qrels + "t4 0 t1d00 0\n", {"source": "NIST", "by": "people"}),
    ]:
        assert import_file(empty_campaign, kind, content, **options).state == "done"
    return empty_campaign


def launched(judge: ModelJudge, kind: str, name: str, source_name: str = "NIST") -> Job:
    source = QrelsSource.objects.get(campaign=judge.campaign, name=source_name)
    topics = list(judge.campaign.topics.order_by("qid"))
    plan = plan_job(kind=job_kind_named(kind), judge=judge, name=name, qrels_source=source, topics=topics)
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


def done(judge: ModelJudge, kind: str, name: str, source_name: str = "NIST") -> Job:
    job = launched(judge, kind, name, source_name)
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job


def judge_at(study: Campaign, server: RunningEndpoint, **settings: Any) -> ModelJudge:
    return make_judge(study, server.base_url, max_tokens=4_000, **settings)


def banks(condition: Condition) -> dict[str, list[tuple[str, str]]]:
    """Return the nuggets of a condition by topic, each with its importance."""
    found = {}
    for bank in NuggetBank.objects.filter(condition=condition).select_related("topic"):
        found[bank.topic.qid] = [(nugget.text, nugget.importance) for nugget in nuggets_in_order(bank)]
    return found


@pytest.mark.parametrize("structured", [False, True])
def test_the_calls_of_a_topic_are_those_of_the_protocol(study: Campaign, endpoint, structured: bool):  # noqa: F811
    server = endpoint()
    job = done(judge_at(study, server, structured=structured), "AutoNuggets", "auto")
    assert (job.units_done, job.units_failed) == (3, 1)
    sent = Counter(call["prompt"] for call in server.begun())
    drafted = {drafting.topic.qid: drafting.steps for drafting in Drafting.objects.select_related("topic")}
    lengths = {qid: len(steps[-1]["nuggets"]) for qid, steps in drafted.items()}
    assert max(lengths.values()) > 20  # or nothing would be cut
    assert max(lengths.values()) <= 30
    windows = {qid: ceil(RELEVANT[qid] / 10) for qid in lengths}
    assert sent == {
        "creation": sum(windows.values()),
        "importance": sum(ceil(length / 10) for length in lengths.values()),
    }
    assert job.calls == sum(sent.values())
    assert {qid: len(steps) for qid, steps in drafted.items()} == windows
    assert [len(step["docids"]) for step in drafted["t1"]] == [10, 10, 3]
    # In the order of docids, though the file had them the other way round.
    assert [docid for step in drafted["t1"] for docid in step["docids"]] == [f"t1d{number:02}" for number in range(23)]
    for qid, nuggets in banks(job.condition).items():
        assert len(nuggets) == min(20, lengths[qid])
        importance = [label for _, label in nuggets]
        assert importance == sorted(importance, key=["vital", "okay"].index)
        assert set(importance) <= {"vital", "okay"}
        of_model = drafted[qid][-1]["nuggets"]
        for label in ("vital", "okay"):
            places = [of_model.index(text) for text, given in nuggets if given == label]
            assert places == sorted(places)  # stable
    failed = job.units.get(state=Unit.State.FAILED)
    assert (failed.topic.qid, failed.error.split(":")[0]) == ("t4", "There are no relevant segments")


def test_drafts_ask_for_no_importance(study: Campaign, endpoint):  # noqa: F811
    server = endpoint()
    job = done(judge_at(study, server), "Drafts", "drafts")
    assert Counter(call["prompt"] for call in server.begun()) == {"creation": 3 + 1 + 2}
    assert job.calls == 6
    assert {tuple(drafting.importance) for drafting in Drafting.objects.all()} == {()}
    assert not NuggetBank.objects.exists()
    assert not Call.objects.exclude(question="creation").exists()


def test_post_editing_that_waits_for_drafts_is_given_once_their_job_is_over(
    study: Campaign,
    endpoint,  # noqa: F811
    anna: Person,
    olga: Person,
):
    job = launched(judge_at(study, endpoint()), "Drafts", "drafts")
    topics = list(study.topics.filter(qid__in=["t1", "t4"]).order_by("qid"))
    outcome = plan_work(condition=job.condition, topics=topics, person=anna, acting_user=olga)
    assert len(outcome.waiting) == 2
    runner.run_job(job.pk)
    assert [(task.topic.qid, task.person) for task in Task.objects.filter(condition=job.condition)] == [("t1", anna)]
    assert [planned.topic.qid for planned in Planned.objects.all()] == ["t4"]  # of which there are no drafts


def test_what_follows_a_job_and_goes_wrong_takes_nothing_from_it(study: Campaign, endpoint, monkeypatch, caplog):  # noqa: F811
    def fail(job: Job, **_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(job_worked_on, "receivers", [])
    job_worked_on.connect(fail)
    assert done(judge_at(study, endpoint()), "Drafts", "drafts").units_done == 3
    assert "RuntimeError: no" in caplog.text


@pytest.mark.parametrize("structured", [False, True])
def test_when_much_goes_wrong_the_banks_are_those_of_a_clean_run(study: Campaign, endpoint, structured: bool):  # noqa: F811
    clean = done(judge_at(study, endpoint(), structured=structured), "AutoNuggets", "clean")
    rates = dict.fromkeys(("failure_rate", "garbage_rate", "short_rate", "wrong_label_rate", "broken_rate"), 0.06)
    server = endpoint(**rates, fenced_rate=0.0 if structured else 0.2, rate_limit_rate=0.05, retry_after=0.1, seed=5)
    messy = judge_at(study, server, name="messy", structured=structured, timeout=5)
    job = done(messy, "AutoNuggets", "messy")
    went_wrong = {call["what"] for call in server.ended()} - {"ok"}
    assert len(went_wrong) >= 3
    assert (job.units_done, job.units_failed) == (3, 1)  # the one without relevant segments
    # A wrong answer that was asked again may change what a model says; the labels are of the vocabulary all the same.
    got, wanted = banks(job.condition), banks(clean.condition)
    assert got == wanted
    assert job.calls == len(server.ended())
    outcomes = Counter(Call.objects.filter(job=job).values_list("outcome", flat=True))
    assert outcomes["wrong"] + outcomes["refused"] + outcomes["lost"] == job.calls - clean.calls


def test_a_topic_that_is_still_being_graded_waits_for_its_grades(study: Campaign, endpoint, anna):  # noqa: F811
    grading = Condition(campaign=study, name="Ours", kind="relevance", method="manual relevance")
    create_condition(grading, acting_user=None)
    topic = study.topics.get(qid="t1")
    source = grades_made_under(grading)
    Grade.everything.create(source=source, topic=topic, docid="t1d00", grade=3, iteration="0")
    task = Task.objects.create(campaign=study, topic=topic, condition=grading, kind="relevance", person=anna)
    server = endpoint()
    job = done(judge_at(study, server), "AutoNuggets", "auto", "Ours")
    assert job.units.get(topic=topic).error == "Ours is still grading this topic."
    assert server.begun() == []
    Task.objects.filter(pk=task.pk).update(state=Task.State.FINISHED)
    actions.retry_failed(job=job, acting_user=None)
    runner.run_job(job.pk)
    assert job.units.get(topic=topic).state == Unit.State.DONE
