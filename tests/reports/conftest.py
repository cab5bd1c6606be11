"""Documents that a model read for questions, and Anna, who edits a report of what it found."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from nuggets.questions.formats import question_id
from nuggets.reports.actions import create_edited_reports, store_readings
from nuggets.reports.models import EditedReport
from tests.assignment.conftest import answered  # noqa: F401  # fixtures
from tests.assignment.grading.conftest import HEAL, KITTENS, WHEN, by_people, questions  # noqa: F401  # fixtures
from tests.conftest import Importer, client_of
from tests.judging import give
from tests.llm.grading import make_judge

Said = dict[str, Any]
WHEN_ID, HEAL_ID, KITTENS_ID = (question_id(one["question"]) for one in (WHEN, HEAL, KITTENS))
CONTENT, PAIN, BONES = "Cats purr when content.", "Some purr in pain.", "Purring heals bones."


def said(extracted: str, condensed: str, confidence: int) -> Said:
    return {"part": 0, "extracted": extracted, "condensed": condensed, "confidence": confidence}


@pytest.fixture
def relevant(questions: Condition, import_file: Importer) -> Campaign:  # noqa: F811
    """The campaign, whose topics have relevant passages with texts: d1 (grade 3) and d2 (1), and d5."""
    done = import_file(
        questions.campaign, "qrels", "t1 0 d2 1\nt1 0 d1 3\nt1 0 d3 0\nt2 0 d5 2\n", source="Q", by="people"
    )
    assert done.state == "done", done.report
    return questions.campaign


@pytest.fixture
def drafts(relevant: Campaign) -> Condition:
    """What j found on t1: two sentences on when cats purr, one on what that heals. The job on t2 has not begun."""
    plan = plan_job(
        kind=job_kind_named("Report"),
        judge=make_judge(relevant, "http://127.0.0.1:9/v1", model="m"),
        name="Found",
        qrels_source=relevant.qrels_sources.get(name="Q"),
        nuggets=relevant.conditions.get(name="Questions"),
        topics=list(relevant.topics.order_by("qid")),
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    found = {
        (WHEN_ID, "d1"): [said("Cats purr when content.", CONTENT, 6)],
        (WHEN_ID, "d2"): [said("They  also purr when in pain.", PAIN, 9)],
        (HEAL_ID, "d2"): [said("Purring heals bones.", BONES, 4)],
    }
    topic = relevant.topics.get(qid="t1").pk
    pairs = [(question, docid) for question in (WHEN_ID, HEAL_ID, KITTENS_ID) for docid in ("d1", "d2")]
    store_readings(job, [(topic, *pair, found.get(pair, [])) for pair in pairs])
    return job.condition


@pytest.fixture
def edits(drafts: Condition) -> Condition:
    return create_edited_reports(drafts=drafts, name="Found+Edits", acting_user=None)


@pytest.fixture
def report(edits: Condition, anna: Person) -> EditedReport:
    """Anna's report on t1."""
    return EditedReport.objects.get(task=give(edits, edits.campaign.topics.get(qid="t1"), anna))


@pytest.fixture
def as_anna(anna: Person) -> Client:
    return client_of(anna)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


Send = Callable[..., HttpResponse]


@pytest.fixture
def send(report: EditedReport, as_anna: Client) -> Send:
    """Send a write on Anna's report, on the version that it has."""

    def do(verb: str, text: str = "", /, *, client: Client | None = None, **fields: Any) -> HttpResponse:
        """text: of the sentence that it is about, as the model has it."""
        uid = report.sentences.get(draft=text).uid if text else None
        report.refresh_from_db(fields=["version"])
        told = {"key": uuid4(), "version": report.version} | fields
        address = f"/reports/{report.pk}/{f'{uid}/' if uid else ''}{verb}/"
        return (client or as_anna).post(address, told)  # type: ignore[return-value]

    return do


def texts(report: EditedReport) -> list[str]:
    """Return the sentences of a report, in order."""
    report = EditedReport.objects.get(pk=report.pk)
    by_name = {one.name: one.text for one in report.sentences.all()}
    return [by_name[name] for name in report.order]
