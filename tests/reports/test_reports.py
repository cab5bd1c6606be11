"""Reports from banks of questions, from the job over real HTTP to the run."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Run
from assessor.llm import runner
from assessor.llm.actions import JobError, Plan, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job, ModelJudge
from metaeval.actions import create_comparison
from metaeval.actions import run as compute
from metaeval.models import Comparison
from nuggets.questions.formats import question_id
from nuggets.reports.models import Reading, Report
from nuggets.reports.queries import to_read
from tests.api.conftest import token
from tests.assignment.grading.conftest import HEAL
from tests.conftest import Importer, client_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.questions.banks import bank

pytestmark = pytest.mark.django_db(transaction=True)
REPORT = job_kind_named("Report")


def planned(judge: ModelJudge, topics: tuple[str, ...] = ("t1", "t2")) -> Plan:
    campaign = judge.campaign
    return plan_job(
        kind=REPORT,
        judge=judge,
        name="Found",
        qrels_source=campaign.qrels_sources.get(name="Q"),
        nuggets=campaign.conditions.get(name="Questions"),
        topics=list(campaign.topics.filter(qid__in=topics).order_by("qid")),
    )


def read(judge: ModelJudge, topics: tuple[str, ...] = ("t1", "t2")) -> Job:
    job = launch(planned(judge, topics), most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    job.refresh_from_db()
    return job


def lines(campaign: Campaign, tag: str) -> list[dict[str, object]]:
    answers = Answer.objects.filter(run__campaign=campaign, run__tag=tag).order_by("topic__qid")
    return [{"topic": one.topic.qid, "content": one.content, "references": one.references} for one in answers]


def test_each_question_is_looked_for_in_each_relevant_document(relevant: Campaign, endpoint):  # noqa: F811
    judge = make_judge(relevant, endpoint().base_url, structured=True)
    plan = planned(judge)
    assert plan.estimate["calls"] == 3 * 2 + 1
    job = read(judge)
    assert (job.state, job.units_total, job.units_done, job.calls) == ("done", 7, 7, 7)
    condition = job.condition
    assert (condition.kind, condition.method, condition.name) == ("reports", "Report", "Found")
    assert condition.nuggets == relevant.conditions.get(name="Questions")
    heal = question_id(HEAL["question"])
    found = {(one.topic.qid, one.docid): one.found for one in Reading.objects.filter(question=heal)}
    assert found == {("t1", "d1"): [], ("t1", "d2"): []}
    [reading] = Reading.objects.filter(topic__qid="t2")
    sentence = "Glass is sorted by colour and melted."
    assert reading.found == [{"part": 0, "extracted": sentence, "condensed": sentence, "confidence": 5}]
    # What is read is not asked for again.
    assert planned(judge).estimate["calls"] == 0
    with pytest.raises(JobError, match="nothing to do"):
        read(judge)


def test_a_report_is_a_control_run_with_one_citation_a_sentence(relevant: Campaign, endpoint):  # noqa: F811
    read(make_judge(relevant, endpoint().base_url))
    call_command("write_report", relevant.slug, "--reports=Found")
    tag = "crucible.Found.extractive"
    run = relevant.runs.get(tag=tag)
    assert (run.task, run.type) == ("control", "automatic")
    assert lines(relevant, tag) == [
        {
            "topic": "t1",
            "content": [{"text": "Cats purr when content.", "citations": {"d1": 10}}],
            "references": ["d1"],
        },
        {
            "topic": "t2",
            "content": [{"text": "Glass is sorted by colour and melted.", "citations": {"d5": 5}}],
            "references": ["d5"],
        },
    ]
    made_from = Answer.objects.get(run=run, topic__qid="t1").extras["metadata"]["made_from"]
    assert {name: made_from[name] for name in ("questions", "edition", "judge", "documents", "is_rehearsal")} == {
        "questions": "Questions",
        "edition": 1,
        "judge": "j",
        "documents": "Q",
        "is_rehearsal": True,
    }
    report = Report.objects.get(tag=tag)
    assert (report.text, report.per_question, report.editions) == ("extractive", 1, {"t1": 1, "t2": 1})
    event = relevant.events.get(verb="report written")
    assert event.details == {"text": "extractive", "per_question": 1, "topics": 2}
    # The same again would say the same; with another number of sentences it is another run.
    with pytest.raises(CommandError, match=r"crucible\.Found\.extractive is this report"):
        call_command("write_report", relevant.slug, "--reports=Found")
    call_command("write_report", relevant.slug, "--reports=Found", "--per-question=2")
    assert [one["text"] for one in lines(relevant, f"{tag}.2")[0]["content"]] == [  # type: ignore[index]
        "Cats purr when content.",
        "Cats have many voices.",
    ]


def test_what_is_not_read_to_the_end_is_left_out(relevant: Campaign, endpoint, as_olga: Client):  # noqa: F811
    address = reverse("reports", args=[relevant.slug])
    judge = make_judge(relevant, endpoint().base_url)
    read(judge, ("t2",))
    page = as_olga.get(reverse("runs", args=[relevant.slug])).content.decode()
    assert "Write reports" in page
    reports = relevant.conditions.get(name="Found").pk
    asked = {"reports": reports, "text": "abstractive", "per_question": 1}
    done = as_olga.post(address, asked, follow=True).content.decode()
    assert "crucible.Found.abstractive was written: 1 report." in done
    assert "Not read to the end or not signed, and left out: t1." in done
    assert [one["topic"] for one in lines(relevant, "crucible.Found.abstractive")] == ["t2"]
    assert "is this report" in as_olga.post(address, asked, follow=True).content.decode()
    assert "Choose what" in as_olga.post(address, asked | {"per_question": 0}, follow=True).content.decode()


def test_a_failed_document_is_missing_and_no_empty_one(relevant: Campaign, endpoint):  # noqa: F811
    job = read(make_judge(relevant, endpoint(garbage_rate=1).base_url))
    assert (job.units_done, job.units_failed) == (0, 7)
    assert not Reading.objects.exists()
    with pytest.raises(CommandError, match="No topic is read to the end under Found"):
        call_command("write_report", relevant.slug, "--reports=Found")
    assert not relevant.runs.filter(tag__startswith="crucible").exists()


def test_nobody_else_can_have_reports_written(relevant: Campaign, anna: Person, client: Client):
    address = reverse("reports", args=[relevant.slug])
    assert client_of(anna).post(address).status_code == 404
    assert client.post(address).status_code == 401


TAG = "crucible.Found.extractive"
# By condition: of whose grades of which questions the report is circular or related.
MARKS = {"Questions/j": "circular", "Others/j": "circular", "Others/k": "related", "Others/other": ""}


@pytest.fixture
def graded(relevant: Campaign, import_file: Importer, endpoint) -> dict[str, Condition]:  # noqa: F811
    """Grades of a report that j wrote: by j, by k, which asks the same model, by another; of its bank and another.

    It is no control run any more.
    """
    done = import_file(relevant, "questions", [bank(HEAL)], condition="Others", by="people")
    assert done.state == "done", done.report
    url = endpoint().base_url
    judges = {
        name: make_judge(relevant, url, name, model=model) for name, model in (("j", "m"), ("k", "m"), ("other", "n"))
    }
    read(judges["j"])
    call_command("write_report", relevant.slug, "--reports=Found")
    relevant.runs.filter(tag=TAG).update(task="")
    return {name: grade(judges[name.partition("/")[2]], name) for name in MARKS}


def grade(judge: ModelJudge, name: str) -> Condition:
    plan = plan_job(
        kind=job_kind_named("AutoGrade"),
        judge=judge,
        name=name,
        qrels_source=None,
        nuggets=judge.campaign.conditions.get(name=name.partition("/")[0]),
        topics=list(judge.campaign.topics.filter(qid="t1")),
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    return job.condition


def exported(name: str, form: str) -> list[str]:
    out = StringIO()
    call_command("export_scores", "study", f"--condition={name}", f"--form={form}", stdout=out)
    return out.getvalue().splitlines()


def test_circular_scores_are_called_so_wherever_they_stand(graded: dict[str, Condition], as_olga: Client, olga: Person):
    secret = token(olga)
    for name, mark in MARKS.items():
        header, *rows = csv.DictReader(exported(name, "csv")).fieldnames or [], *csv.DictReader(exported(name, "csv"))
        assert ("mark" in header) == bool(mark)
        if mark:
            found = {row["run_id"]: row["mark"] for row in rows}
            assert found == dict.fromkeys(found, "") | {TAG: mark}
            assert {row["run_id"] for row in csv.DictReader(exported(name, "topics")) if row["mark"] == mark} == {TAG}
        lines = [line for line in map(json.loads, exported(name, "jsonl")) if line["run_id"] == TAG]
        assert {line.get("mark", "") for line in lines} == {mark}
        for form in ("tot", "ir_measures"):
            marked = {TAG in line for line in exported(name, form) if ";circular]" in line or ";related]" in line}
            assert marked == ({True} if mark else set())
        [row] = [line for line in exported(name, "latex") if TAG in line]
        assert row.startswith(f"{{}}{TAG} ({mark}) &" if mark else f"{{}}{TAG} &")
        condition = graded[name].pk
        asked = f"/api/v1/campaigns/study/conditions/{condition}/scores"
        told = as_olga.get(asked, headers={"Authorization": f"Bearer {secret}"}).json()
        assert {one["run_id"]: one["mark"] for one in told["runs"] if one["mark"]} == ({TAG: mark} if mark else {})
        run = Run.objects.get(tag=TAG).pk
        for address in (
            f"/campaigns/study/scores/?condition={condition}",
            f"/campaigns/study/scores/{condition}/runs/{run}/",
        ):
            page = as_olga.get(address).content.decode()
            assert (">circular<" in page, ">related<" in page) == (mark == "circular", mark == "related"), address


def test_circular_runs_are_left_out_of_comparisons(graded: dict[str, Condition], olga: Person):
    first, second = graded["Others/k"], graded["Others/j"]
    calculation = create_comparison(
        campaign=first.campaign, first=first, second=second, seed=7, draws=20, acting_user=olga
    )
    compute(calculation)
    calculation.refresh_from_db()
    reason = "circular: made from what scores it, or by who does"
    assert [gap["names"] for gap in calculation.result["left_out"] if gap["reason"] == reason] == [[TAG]]
    assert TAG not in json.dumps(calculation.result | {"left_out": []})


def test_circular_runs_are_compared_where_somebody_asks_for_it_and_called_so(
    graded: dict[str, Condition], as_olga: Client, tmp_path: Path
):
    sides = {"first": f"Condition-{graded['Others/k'].pk}", "second": f"Condition-{graded['Others/j'].pk}"}
    page = as_olga.get("/campaigns/study/comparisons/").content.decode()
    assert 'name="circular"' in page
    asked = {**sides, "circular": "on", "policy": "zero", "draws": 20, "seed": 7, "name": "All"}
    address = as_olga.post("/campaigns/study/comparisons/", asked).headers["Location"]
    calculation = compute(Comparison.objects.get(name="All").calculations.get())
    result, files = calculation.result, calculation.files
    assert {"run_id": f"{TAG} (circular)", "task": ""} in result["scores"]["runs"]
    assert not [gap for gap in result["left_out"] if gap["reason"].startswith("circular")]
    named = [line for name in ("runs.csv", "scores.tex") for line in files[name].splitlines() if TAG in line]
    assert named
    assert all(f"{TAG} (circular)" in line for line in named)
    told = as_olga.get(address).content.decode()
    assert "<dt>Circular runs</dt><dd>compared too</dd>" in told
    assert told.count(TAG) == told.count(f"{TAG} (circular)") > 0
    out = tmp_path / "out"
    call_command(
        *("compare", "study", "Others/k", "Others/j", "--circular", "--draws=20", "--seed=7", f"--out={out}"),
        stdout=StringIO(),
    )
    again = json.loads((out / "comparison.json").read_text())
    assert again["restriction"]["circular"] is True
    assert again["scores"] == result["scores"]


def test_of_a_fact_it_is_asked_whether_it_is_stated(
    relevant: Campaign,
    import_file: Importer,
    endpoint,  # noqa: F811
    as_olga: Client,
):
    facts = {"qid": "t2", "query": "how is glass recycled", "nuggets": [{"text": "Glass is melted."}]}
    assert import_file(relevant, "nuggets", [facts], condition="Facts of a file", by="people").state == "done"
    judge = make_judge(relevant, endpoint().base_url)
    plan = plan_job(
        kind=REPORT,
        judge=judge,
        name="Facts",
        qrels_source=relevant.qrels_sources.get(name="Q"),
        nuggets=relevant.conditions.get(name="Facts of a file"),
        topics=list(relevant.topics.filter(qid="t2")),
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    [reading] = Reading.objects.all()
    assert reading.question == question_id("Glass is melted.")
    assert [one["extracted"] for one in reading.found] == ["Glass is sorted by colour and melted."]
    page = as_olga.get(reverse("job", args=[relevant.slug, job.pk])).content.decode()
    assert "Question: Is it stated that Glass is melted?" in page
    [wanted] = to_read(job.condition, list(relevant.topics.filter(qid="t2"))).values()
    assert list(wanted.questions.values()) == ["Is it stated that Glass is melted?"]


def test_each_sentence_of_an_extractive_report_stands_in_the_one_document_it_cites(relevant: Campaign, endpoint):  # noqa: F811
    read(make_judge(relevant, endpoint().base_url))
    call_command("write_report", relevant.slug, "--reports=Found", "--per-question=5")
    texts = dict(relevant.segments.values_list("docid", "text"))
    sentences = [one for answer in lines(relevant, "crucible.Found.extractive") for one in answer["content"]]  # type: ignore[attr-defined]
    assert len(sentences) > 2
    for sentence in sentences:
        [docid] = sentence["citations"]
        assert " ".join(sentence["text"].split()) in " ".join(texts[docid].split())


def test_documents_can_be_the_first_of_a_retrieval_run(
    relevant: Campaign,
    import_file: Importer,
    endpoint,  # noqa: F811
    as_olga: Client,
):
    ranked = [f"t2 Q0 x{rank} {rank} {200 - rank} bm25" for rank in range(2, 110)]
    done = import_file(relevant, "retrieval", "\n".join(["t2 Q0 d3 0 300 bm25", "t2 Q0 d5 1 299 bm25", *ranked]))
    assert done.state == "done", done.report
    judge = make_judge(relevant, endpoint().base_url)
    page = as_olga.post(
        reverse("launch_job", args=[relevant.slug]),
        {
            "kind": "Report",
            "judge": judge.pk,
            "replicate": 0,
            "name": "Ranked",
            "nuggets": relevant.conditions.get(name="Questions").pk,
            "qrels_source": relevant.qrels_sources.get(name="Q").pk,
            "retrieval_run": relevant.retrieval_runs.get().pk,
            "topics": "t2",
            "launch": "yes",
        },
    )
    assert page.status_code == 302, page.content
    condition = relevant.conditions.get(name="Ranked")
    assert (condition.retrieval_run.tag, condition.qrels_source) == ("bm25", None)
    assert "; retrieval=bm25; " in condition.identity
    job = condition.jobs.get()
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.units_total, job.units_done, job.units_failed) == (100, 2, 98)  # the others have no text
    assert {one.docid for one in Reading.objects.all()} == {"d3", "d5"}


def test_the_command_takes_grades_or_a_retrieval_run(relevant: Campaign, import_file: Importer, endpoint):  # noqa: F811
    import_file(relevant, "retrieval", "t1 Q0 d3 0 9 bm25\nt2 Q0 d5 0 9 bm25\n")
    make_judge(relevant, endpoint().base_url)
    told = ["run_report", relevant.slug, "--judge=j", "--nuggets=Questions", "--name=Ranked", "--here"]
    for wrong in ([], ["--qrels=Q", "--retrieval-run=bm25"], ["--retrieval-run=none"]):
        with pytest.raises(CommandError):
            call_command(*told, *wrong)
    call_command(*told, "--retrieval-run=bm25")
    call_command("write_report", relevant.slug, "--reports=Ranked")
    made_from = Answer.objects.get(run__tag="crucible.Ranked.extractive", topic__qid="t2").extras["metadata"][
        "made_from"
    ]
    assert made_from["documents"] == "first 100 of bm25"
