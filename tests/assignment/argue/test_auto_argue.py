"""AutoArgue as whole jobs over real HTTP."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import transaction

from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition
from assessor.llm import replies, runner
from assessor.llm.actions import JobError, launch, plan_job
from assessor.llm.job_kind import UnitFailure, job_kind_named
from assessor.llm.models import Call, Job, ModelJudge
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.queries import notes
from assessor.scores.cache import condition_scores
from assignment.argue.actions import Judged
from assignment.argue.exports import judgment_lines
from assignment.argue.models import ArgueSheet
from assignment.argue.prompts import ANSWERS_QUESTION, ATTEST, FIRST_INSTANCE, NEEDS_CITATION, NEGATIVE_CLAIM
from nuggets.models import BankEdition
from tests.assignment.argue.conftest import run_line
from tests.conftest import Importer
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
AUTO = job_kind_named("AutoArgue")
PROMPTS = (ATTEST, ANSWERS_QUESTION, NEEDS_CITATION, FIRST_INSTANCE, NEGATIVE_CLAIM)
TEXTS = '{"docid": "%s", "contents": "%s"}\n'


@pytest.fixture
def documents(questions: Condition, import_file: Importer) -> Condition:
    """The questions, with texts of the documents that reports cite; d1 and d2 have one already."""
    content = TEXTS % ("d9", "Dogs bark at night.") + TEXTS % ("d8", "Purring heals the bones of cats, it is said.")
    done = import_file(questions.campaign, "segments", content)
    assert done.state == "done", done.report
    return questions


def launched(judge: ModelJudge, nuggets: Condition) -> Job:
    topics = list(judge.campaign.topics.order_by("qid"))
    plan = plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=nuggets, name="", qrels_source=None)
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)


def judged(judge: ModelJudge, nuggets: Condition) -> Job:
    job = launched(judge, nuggets)
    runner.run_job(job.pk)
    job.refresh_from_db()
    return job


def labels(job: Job, tag: str) -> dict[str, str]:
    """Return the labels of a run's report; of gold answers without the question."""
    sheet = ArgueSheet.objects.get(condition=job.condition, answer__run__tag=tag)
    uids = {str(nugget.uid): f"q{at}" for at, nugget in enumerate(sheet.bank.nuggets.order_by("pk"), 1)}
    found = dict(sheet.labels)
    for uid, name in uids.items():
        found = {key.replace(uid, name): label for key, label in found.items()}
    return found


def test_each_sentence_is_asked_what_its_bank_says(documents: Condition, endpoint):  # noqa: F811
    judge = make_judge(documents.campaign, endpoint().base_url, structured=True)
    job = judged(judge, documents)
    condition = job.condition
    assert (job.state, job.units_total, job.units_done) == ("done", 2, 2)  # nobody is asked about an empty report
    assert (condition.kind, condition.method, condition.name) == ("argue", "AutoArgue", "Questions/ARGUE by j")
    assert labels(job, "team.one").keys() == {
        "s0.dd1.attests",
        "s0.dd1.nq1.g1",
        "s0.dd1.nq2.g2",
        "s1.dd1.attests",
        "s1.dd1.nq1.g1",
        "s1.dd1.nq2.g2",
        "s1.dd2.attests",
        "s1.dd2.nq2.g1",
        "s2.needs",
    }
    assert labels(job, "team.one")["s0.dd1.nq1.g1"] == "yes"  # it says bones, and purring
    assert labels(job, "team.one")["s1.dd2.nq2.g1"] == "yes"
    assert labels(job, "team.one")["s2.needs"] == "no"  # it says little
    assert labels(job, "team.two") == {"s0.dd9.attests": "yes"}
    assert labels(job, "team.empty") == {}
    assert job.calls == 9 + 1
    found = condition_scores(condition)
    assert [run.tag for run in found.runs] == ["team.empty", "team.one", "team.two"]
    assert found.states.tolist() == [[1], [1], [1]]
    assert found.scores[0].tolist() == [[0] * 7]


def test_what_needs_a_citation_is_asked_whether_it_is_first(documents: Condition, import_file, endpoint):  # noqa: F811
    sentences = [("Purring heals the bones of cats.", []), ("Purring heals the bones of cats.", [])]
    done = import_file(documents.campaign, "runs", [run_line("team.three", sentences)], name="three")
    assert done.state == "done", done.report
    job = judged(make_judge(documents.campaign, endpoint().base_url), documents)
    assert labels(job, "team.three") == {"s0.needs": "yes", "s0.first": "yes", "s1.needs": "yes", "s1.first": "no"}


def test_claims_of_absence_are_asked_about_all_answers(documents, import_file, endpoint, olga):  # noqa: F811
    change_protocol(
        campaign=documents.campaign, settings={"argue_negatives": True, "argue_gate": "where_known"}, acting_user=olga
    )
    documents.campaign.refresh_from_db()
    sentences = [("No source says when cats purr content.", []), ("Purring heals bones of old cats.", [])]
    done = import_file(documents.campaign, "runs", [run_line("team.three", sentences)], name="three")
    assert done.state == "done", done.report
    job = judged(make_judge(documents.campaign, endpoint().base_url), documents)
    found = labels(job, "team.three")
    assert found["s0.negative"] == "yes"
    assert {key for key in found if key.startswith("s0.n") and "." in key[4:]} == {
        *("s0.nq1.g1", "s0.nq2.g1", "s0.nq2.g2", "s0.nq3.g1")
    }
    assert "s0.first" not in found
    assert (found["s1.negative"], found["s1.needs"], found["s1.first"]) == ("no", "yes", "yes")
    assert ArgueSheet.objects.get(condition=job.condition, answer__run__tag="team.three").to_do == 0


@pytest.mark.parametrize(("most", "limit"), [(40, None), (0, 40), (0, "40"), (40, 2_000)])
def test_a_report_is_cut_where_protocol_or_topic_says(documents, endpoint, olga, most: int, limit: object):  # noqa: F811
    change_protocol(campaign=documents.campaign, settings={"argue_max_chars": most}, acting_user=olga)
    documents.campaign.refresh_from_db()
    documents.campaign.topics.update(extras={} if limit is None else {"limit": limit})
    job = judged(make_judge(documents.campaign, endpoint().base_url), documents)
    sheet = ArgueSheet.objects.get(condition=job.condition, answer__run__tag="team.one")
    assert (sheet.cut, {key[:2] for key in sheet.labels}) == (2, {"s0"})
    line = next(line for line in judgment_lines(job.condition) if "team.one" in line)
    assert '"sentences_cut": 2' in line


def test_an_unreadable_reply_leaves_a_judgment_missing(documents: Condition, endpoint, monkeypatch):  # noqa: F811
    judge = make_judge(documents.campaign, endpoint().base_url)
    plain = type(ATTEST).request

    def request(prompt, prompts, **values):
        asked = plain(prompt, prompts, **values)

        def read(text: str) -> str:
            raise replies.WrongAnswer("no")

        return asked._replace(read=read) if prompt is ATTEST and "so do cats" in values["sentence"] else asked

    with monkeypatch.context() as patch:
        patch.setattr("assignment.argue.prompts.YesNoPrompt.request", request)
        job = judged(judge, documents)
    assert (job.state, job.units_done, job.units_failed) == ("done", 2, 0)
    sheet = ArgueSheet.objects.get(condition=job.condition, answer__run__tag="team.one")
    assert sheet.open == ["s1.dd1.attests", "s1.dd2.attests"]
    assert notes(job) == [
        "1 report lacks judgments: a reply could not be used, or a cited text is not loaded. Launch the job again to "
        "ask for them once more."
    ]
    assert condition_scores(job.condition).states.tolist() == [[1], [2], [1]]
    again = judged(judge, documents)
    assert (again.condition, again.units_total) == (job.condition, 1)
    sheet.refresh_from_db()
    assert sheet.to_do == 0
    assert notes(again) == []


def test_what_is_not_loaded_is_missing(questions: Condition, endpoint):  # noqa: F811
    job = judged(make_judge(questions.campaign, endpoint().base_url), questions)
    assert (job.units_done, job.units_failed) == (1, 1)
    assert job.units.get(state="failed").error == "The text of d9 is not loaded."
    assert ArgueSheet.objects.get(condition=job.condition, answer__run__tag="team.two").open == ["s0.dd9.attests"]


def test_a_job_that_was_stopped_goes_on_to_the_same_end(documents: Condition, endpoint):  # noqa: F811
    whole = judged(make_judge(documents.campaign, endpoint().base_url, "whole"), documents)
    job = launched(make_judge(documents.campaign, endpoint(latency=0.05).base_url, "stopped", concurrency=2), documents)
    asked = iter([False] * 1 + [True] * 1_000)
    runner.run_job(job.pk, lambda: next(asked))
    assert not ArgueSheet.objects.filter(condition=job.condition, version__gt=1).exists()
    Job.objects.filter(pk=job.pk).update(state="waiting")
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.calls) == ("done", whole.calls)
    assert [labels(job, tag) for tag in ("team.one", "team.two")] == [
        labels(whole, tag) for tag in ("team.one", "team.two")
    ]


def test_what_was_asked_about_another_edition_is_not_stored(documents: Condition, endpoint):  # noqa: F811
    job = launched(make_judge(documents.campaign, endpoint().base_url), documents)
    unit = job.units.get(answer__run__tag="team.two")
    sheet = ArgueSheet.objects.get(condition=job.condition, answer=unit.answer)
    sheet.bank.edition += 1
    sheet.bank.save(update_fields=["edition"])
    [edition] = sheet.bank.editions.all()
    BankEdition.objects.create(bank=sheet.bank, edition=2, version=99, nuggets=edition.nuggets)
    changed = "The questions of t1 were changed while the model was asked about them"
    with pytest.raises(UnitFailure, match=changed), transaction.atomic():
        AUTO.store(job, [(unit, Judged(sheet.pk, 1, {"s0.dd9.attests": "yes"}))])
    sheet.refresh_from_db()
    assert sheet.labels == {}
    runner.run_job(job.pk)
    assert {one.error for one in job.units.all()} == {"The questions of t1 were changed at this very moment."}


def test_the_estimate_counts_what_will_be_asked(documents: Condition, endpoint):  # noqa: F811
    judge = make_judge(documents.campaign, endpoint().base_url)
    topics = list(documents.campaign.topics.order_by("qid"))
    plan = plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=documents, name="", qrels_source=None)
    expected = AUTO.expected(plan.condition, topics, prompt_set("assay-1"))
    assert expected.calls == 10 + 1  # and whether the third sentence is the first that says it, which nobody asked
    assert expected.characters > 10 * 1_000


def requests() -> Iterator[tuple[str, list[str]]]:
    for prompt in PROMPTS:
        asked = prompt.request(prompt_set("assay-1"), **dict.fromkeys(prompt.needed, "x"))
        yield prompt.name, [message["content"] for message in asked.messages]


def test_each_prompt_has_eight_examples_half_of_them_yes():
    for name, (_, user) in requests():
        examples = [line for line in user.splitlines() if line in ("YES", "NO")]
        assert (len(examples), examples.count("YES")) == (8, 4), name
        assert "YES or NO alone" in user.splitlines()[-1], name


@pytest.mark.parametrize(
    ("reply", "label"), [("YES", "yes"), ("no", "no"), ('{"label": "YES"}', "yes"), ("**No**", "no")]
)
def test_a_reply_is_yes_or_no(reply: str, label: str):
    assert NEEDS_CITATION.request(prompt_set("assay-1"), sentence="x").read(reply) == label


@pytest.mark.parametrize("reply", ["", "maybe", "YES and NO", "Yes, it does.", "1", "true"])
def test_what_is_neither_is_a_wrong_answer(reply: str):
    with pytest.raises(replies.WrongAnswer):
        NEEDS_CITATION.request(prompt_set("assay-1"), sentence="x").read(reply)


def test_facts_are_no_questions(reports: Campaign, bank, endpoint):  # noqa: F811
    judge, topics = make_judge(reports), list(reports.topics.all())
    with pytest.raises(JobError, match="Report judgment needs question nuggets"):
        plan_job(kind=AUTO, judge=judge, topics=topics, nuggets=bank.condition, name="", qrels_source=None)


def test_the_command(documents: Condition, endpoint):  # noqa: F811
    make_judge(documents.campaign, endpoint().base_url)
    call_command("run_auto_argue", "study", judge="j", nuggets="Questions", here=True)
    assert documents.campaign.conditions.get(kind="argue").name == "Questions/ARGUE by j"
    assert Call.objects.filter(question="attest").count() == 4


def test_what_a_model_said_comes_in_again_from_its_file(documents: Condition, import_file, endpoint):  # noqa: F811
    job = judged(make_judge(documents.campaign, endpoint().base_url), documents)
    lines = "".join(judgment_lines(job.condition))
    told = {"condition": "Again", "nuggets": "Questions", "by": "model"}
    done = import_file(documents.campaign, "argue_judgments", lines, **told)
    assert (done.state, done.report["warnings"]) == ("done", [])
    again = documents.campaign.conditions.get(name="Again")
    assert "".join(judgment_lines(again)) == lines
    for sheet in ArgueSheet.objects.filter(condition=job.condition):
        assert ArgueSheet.objects.get(condition=again, answer=sheet.answer).labels == sheet.labels
    assert condition_scores(again).scores.tolist() == condition_scores(job.condition).scores.tolist()
