"""Questions by a model as whole jobs over real HTTP, from the query alone and from passages."""

import json
import re
from uuid import uuid4

import pytest

from assessor.accounts.models import Person
from assessor.llm import runner
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from nuggets.exports import outcome_lines
from nuggets.models import BankEdition, Drafting, NuggetBank
from nuggets.queries import nuggets_in_order
from nuggets.questions.exports import condition_lines
from tests.conftest import client_of
from tests.judging import give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)


def done(judge, kind, source=None, topics=("t1", "t2")):
    plan = plan_job(
        kind=job_kind_named(kind),
        judge=judge,
        name=kind,
        qrels_source=source,
        topics=list(judge.campaign.topics.filter(qid__in=topics).order_by("qid")),
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job, plan.estimate


def test_from_the_query_alone_each_topic_takes_a_call(campaign, endpoint):  # noqa: F811
    server = endpoint()
    job, estimate = done(make_judge(campaign, server.base_url, max_tokens=4_000), "QueryQuestions")
    assert estimate["calls"] == 2
    assert len(server.ended()) == 2
    condition = job.condition
    assert (condition.kind, condition.method, condition.qrels_source) == ("questions", "QueryQuestions", None)
    banks = {bank.topic.qid: bank for bank in NuggetBank.objects.filter(condition=condition)}
    assert {qid: (bank.state, bank.edition, bank.task) for qid, bank in banks.items()} == dict.fromkeys(
        ("t1", "t2"), ("finished", 1, None)
    )
    listed = nuggets_in_order(banks["t1"])
    assert [(one.text, one.importance, one.gold, one.origin, one.draft) for one in listed[:2]] == [
        ("What is cats?", "", [], "drafted", 1),
        ("What is purr?", "", [], "drafted", 2),
    ]
    assert [one.text for one in listed] == Drafting.objects.get(topic__qid="t1").nuggets
    edition = BankEdition.objects.get(bank=banks["t1"])
    assert (edition.nuggets[0]["gold"], edition.nuggets[0]["aggregator"]) == ([], "")
    record = json.loads(next(iter(condition_lines(condition, None, "v3"))))
    assert record["nugget_bank"]["What is cats?"]["answers"] is None
    # What is there is not asked for again.
    again = plan_job(
        kind=job_kind_named("QueryQuestions"),
        judge=job.judge,
        name="QueryQuestions",
        qrels_source=None,
        topics=list(campaign.topics.all()),
    )
    assert again.estimate["calls"] == 0


def test_from_passages_in_windows(campaign, import_file, endpoint):  # noqa: F811
    segments = [
        {"docid": f"p{number:02}", "segment": f"Fact {number} tells that cats purr in year {1000 + number}."}
        for number in range(12)
    ]
    import_file(campaign, "segments", segments)
    import_file(campaign, "qrels", "".join(f"t1 0 p{n:02} 2\n" for n in range(12)), source="More", by="people")
    source = campaign.qrels_sources.get(name="More")
    server = endpoint()
    judge = make_judge(campaign, server.base_url, max_tokens=4_000)
    plan = plan_job(
        kind=job_kind_named("AutoQuestions"),
        judge=judge,
        name="AutoQuestions",
        qrels_source=source,
        topics=[campaign.topics.get(qid="t1")],
    )
    assert plan.estimate["calls"] == 2
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    assert len(server.ended()) == 2
    bank = NuggetBank.objects.get(condition=job.condition)
    listed = nuggets_in_order(bank)
    assert listed
    assert all(one.text.endswith("?") and one.gold == [] for one in listed)


def test_people_edit_drafted_questions(campaign, import_file, anna, endpoint):  # noqa: F811
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Cats purr at night, and some purr all day."}])
    job, _ = done(
        make_judge(campaign, endpoint().base_url, max_tokens=4_000),
        "QuestionDrafts",
        campaign.qrels_sources.get(name="NIST"),
        topics=["t1"],
    )
    assert not NuggetBank.objects.exists()
    assert job.condition.method == "AutoQuestions+Edits"
    bank = NuggetBank.objects.get(task=give(job.condition, campaign.topics.get(qid="t1"), anna))
    drafts = Drafting.objects.get().nuggets
    assert {one.text for one in nuggets_in_order(bank)} == set(drafts)
    assert all((one.gold, one.is_undecided) == ([], True) for one in nuggets_in_order(bank))
    client, page = client_of(anna), f"/nuggets/{bank.pk}/"
    first, *others = nuggets_in_order(bank)

    def write(address, **fields):
        bank.refresh_from_db()
        response = client.post(f"{page}{address}/", {"key": str(uuid4()), "version": bank.version, **fields})
        assert response.status_code == 200, response.content

    write(f"{first.uid}/importance", importance="vital")
    write(f"{first.uid}/gold_add", text="content")
    for other in others:
        write(f"{other.uid}/delete")
    write("finish")
    bank.refresh_from_db()
    assert bank.state == "finished"
    [edition] = bank.editions.all()
    assert [(one["text"], one["gold"][0]["text"]) for one in edition.nuggets] == [(first.text, "content")]
    csv = "".join(outcome_lines(job.condition))
    assert f"t1,anna,finished,{len(drafts)},0,1,0,0,0,{len(others)}," in csv
    told = client_of(Person.objects.get(username="olga")).get(f"{page}drafts/").content.decode()
    assert '<th scope="col">Question</th>' in told
    assert f"({len(drafts)} question" in told
    assert ">a question<" not in told
    assert not re.search(r"\d words", told)
