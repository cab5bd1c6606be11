"""The runs of reports that people signed: from the plan to scores with their mark, and the file."""

import csv
import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Answer, Condition
from assessor.work.task_changes import reassign
from nuggets.reports.models import EditedReport
from tests.conftest import Importer, client_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.questions.banks import bank
from tests.reports.conftest import BONES, CONTENT, HEAL, HEAL_ID, PAIN, WHEN_ID, Send
from tests.reports.test_reports import exported, grade

pytestmark = pytest.mark.django_db(transaction=True)
TAG = "crucible.Found+Edits.edited"


@pytest.fixture
def signed(report: EditedReport, send: Send) -> EditedReport:
    """Anna's report on t1, with a sentence as it was found, a reworded one and her own."""
    send("take", BONES)
    send("reword", PAIN, text="They purr in pain, too.")
    send("add", uid=uuid4(), question=WHEN_ID, docid="d1", text="Ask a cat.")
    send("leave", CONTENT)
    assert send("sign").status_code == 200
    return report


def test_a_signed_report_is_a_control_run_with_the_lineage_of_each_sentence(signed: EditedReport, as_olga: Client):
    campaign = signed.condition.campaign
    asked = {"reports": signed.condition.pk, "text": "extractive", "per_question": 1}
    page = as_olga.post(reverse("reports", args=[campaign.slug]), asked, follow=True).content.decode()
    assert f"{TAG} was written: 1 report." in page
    run = campaign.runs.get(tag=TAG)
    assert (run.task, run.type) == ("control", "manual")
    answer = Answer.objects.get(run=run)
    assert answer.content == [
        {"text": BONES, "citations": ["d2"]},
        {"text": "They purr in pain, too.", "citations": ["d2"]},
        {"text": "Ask a cat.", "citations": ["d1"]},
    ]
    assert answer.references == ["d2", "d1"]
    drafts = signed.condition.shown
    assert answer.extras["metadata"] == {
        "made_from": {
            "questions": "Questions",
            "edition": 1,
            "drafts": "Found",
            "judge": "j",
            "prompts": drafts.short_prompts,  # type: ignore[union-attr]
            "documents": "Q",
            "text": "edited",
            "signed": 1,
            "annotator": "anna",
            "sentences": [
                {"lineage": "kept", "question": HEAL_ID, "part": 0, "confidence": 4, "draft": BONES},
                {"lineage": "reworded", "question": WHEN_ID, "part": 0, "confidence": 9, "draft": PAIN},
                {"lineage": "written", "question": WHEN_ID},
            ],
        },
        "type": "manual",
    }
    assert (
        "is this report" in as_olga.post(reverse("reports", args=[campaign.slug]), asked, follow=True).content.decode()
    )


def test_what_is_not_signed_is_in_no_run(report: EditedReport, send: Send, as_olga: Client, ben: Person):
    told = ["write_report", report.condition.campaign.slug, "--reports=Found+Edits"]
    send("take", CONTENT)
    with pytest.raises(CommandError, match="Nobody has signed a report under Found\\+Edits: have one signed first"):
        call_command(*told)
    send("sign")
    call_command(*told)
    as_olga.post(f"/reports/{report.pk}/reopen/", {"reason": "More."})
    with pytest.raises(CommandError, match="Nobody has signed"):
        call_command(*told)
    send("take", PAIN)
    send("sign")
    out = StringIO()
    call_command(*told, stdout=out)
    assert out.getvalue() == f"{TAG}.2: 1 report\n"
    first, second = Answer.objects.filter(run__tag__startswith=TAG).order_by("pk")
    assert (len(first.content), len(second.content)) == (1, 2)  # what is written stays as it is


def test_another_person_signs_what_was_somebodys(report: EditedReport, send: Send, as_olga: Client, ben: Person):
    told = ["write_report", report.condition.campaign.slug, "--reports=Found+Edits"]
    kind = kind_of(report.condition)
    send("take", CONTENT)
    send("sign")
    call_command(*told)
    as_olga.post(f"/reports/{report.pk}/reopen/", {"reason": "More."})
    assert next(iter(kind.missing(report.condition))) == "1 report is not signed: t1."
    reassign(task=report.task, person=ben, reason="ill", acting_user=None)
    other = EditedReport.objects.get(condition=report.condition, task__person=ben)
    as_ben = client_of(ben)
    uid = other.sentences.get(draft=PAIN).uid
    for verb in (f"{uid}/take", "sign"):
        other.refresh_from_db()
        said = {"key": uuid4(), "version": other.version}
        assert as_ben.post(f"/reports/{other.pk}/{verb}/", said).status_code == 200
    assert not [told for told in kind.missing(report.condition) if "signed" in told]
    out = StringIO()
    call_command(*told, stdout=out)
    assert out.getvalue() == f"{TAG}.2: 1 report\n"
    told_of = Answer.objects.get(run__tag=f"{TAG}.2").extras["metadata"]["made_from"]
    assert (told_of["annotator"], told_of["signed"]) == ("ben", 1)


def test_no_name_is_in_a_release(signed: EditedReport, tmp_path):
    call_command("write_report", "study", "--reports=Found+Edits")
    from assessor.exports.releases import _scrubbed

    metadata = Answer.objects.get(run__tag=TAG).extras["metadata"]
    assert "anna" in json.dumps(metadata)
    assert "anna" not in json.dumps(_scrubbed(metadata))


# By condition: of whose grades of which questions the report that Anna edited is circular or related.
MARKS = {"Questions/j": "circular", "Others/j": "circular", "Others/k": "related", "Others/other": ""}


def test_edited_reports_are_marked_as_the_drafts_would_be(signed: EditedReport, import_file: Importer, endpoint):  # noqa: F811
    campaign = signed.condition.campaign
    assert import_file(campaign, "questions", [bank(HEAL)], condition="Others", by="people").state == "done"
    call_command("write_report", campaign.slug, "--reports=Found+Edits")
    campaign.runs.filter(tag=TAG).update(task="")
    url = endpoint().base_url
    judge = campaign.model_judges.get()
    judge.base_url = url
    judge.save()
    judges = {
        "j": judge,
        "k": make_judge(campaign, url, "k", model="m"),
        "other": make_judge(campaign, url, "other", model="n"),
    }
    for name, mark in MARKS.items():
        grade(judges[name.partition("/")[2]], name)
        rows = list(csv.DictReader(exported(name, "csv")))
        assert {row["run_id"]: row.get("mark", "") for row in rows}[TAG] == mark
        assert {row.get("mark", "") for row in rows if row["run_id"] != TAG} == {""}


def test_people_who_grade_by_the_bank_score_it_as_circular(signed: EditedReport, by_people: Condition, ben: Person):
    """People are no judge that wrote it; but the bank is the report's."""
    call_command("write_report", "study", "--reports=Found+Edits")
    from nuggets.reports.circularity import run_marks

    assert run_marks(by_people) == {TAG: "circular"}
    other = Condition(campaign=by_people.campaign, kind=by_people.kind, method=by_people.method)
    assert run_marks(other) == {}
