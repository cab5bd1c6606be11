"""Reports that people edit: every rule of the screen, over HTTP."""

from uuid import uuid4

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition
from assessor.work.actions import PlanError
from assessor.work.models import Exposure, Task
from nuggets.reports.actions import create_edited_reports
from nuggets.reports.models import EditedReport, ReportEdit
from tests.conftest import client_of
from tests.judging import give
from tests.reports.conftest import BONES, CONTENT, HEAL_ID, PAIN, WHEN_ID, Send, texts

pytestmark = pytest.mark.django_db


def counted(report: EditedReport) -> tuple[str, int, int]:
    task = Task.objects.get(report=report)
    return task.state, task.done, task.total


def test_a_condition_names_what_its_people_edit(edits: Condition, drafts: Condition):
    assert (edits.method, edits.shown, edits.nuggets, edits.judge) == ("Report+Edits", drafts, drafts.nuggets, None)
    assert "; method=Report+Edits; judge=people; shown=Found; " in edits.identity
    with pytest.raises(ConditionError, match="no model reads documents"):
        create_edited_reports(drafts=edits, name="Again", acting_user=None)


def test_organizers_make_it_on_the_page_of_new_conditions(drafts: Condition, as_olga: Client):
    asked = {"method": "Report+Edits", "drafts": drafts.pk}
    as_olga.post(f"/campaigns/{drafts.campaign.slug}/conditions/new/", asked)
    assert drafts.campaign.conditions.get(shown=drafts).name == "Found+Edits"


def test_a_topic_is_given_once_all_its_documents_were_read(edits: Condition, drafts: Condition, anna: Person):
    topics = {topic.qid: topic for topic in edits.campaign.topics.all()}
    with pytest.raises(PlanError, match="Under Found\\+Edits there is nothing to edit on t2"):
        give(edits, topics["t2"], anna)
    with pytest.raises(PlanError, match="Nobody can be given Found: a model reads the documents"):
        give(drafts, topics["t1"], anna)
    topics["t1"].is_practice = True
    topics["t1"].save()
    with pytest.raises(PlanError, match="On topics for practice no reports are written"):
        give(edits, topics["t1"], anna)


def test_the_page_has_questions_candidates_and_documents(report: EditedReport, as_anna: Client):
    page = as_anna.get(f"/reports/{report.pk}/").content.decode()
    assert counted(report) == ("open", 0, 3)
    order = [page.index(text) for text in ("What does purring heal?", BONES, "When do cats purr?", PAIN, CONTENT)]
    assert order == sorted(order)  # by the bank, and of a question the surest first
    assert "No document answers this." in page
    assert 'data-docid="d1"' in page
    assert 'data-docid="d2"' in page
    assert f'href="/reports/{report.pk}/"' in as_anna.get("/").content.decode()


def test_sentences_are_taken_in_and_left_out(report: EditedReport, send: Send):
    answer = send("take", CONTENT)
    assert (answer.status_code, answer["X-Assay-Write"], answer["X-Assay-Version"]) == (200, "1", "1")
    assert answer.json()["order"] == [str(report.sentences.get(draft=CONTENT).uid)]  # type: ignore[attr-defined]
    send("take", BONES)
    assert texts(report) == [BONES, CONTENT]  # in the order of the bank
    send("take", PAIN)
    send("leave", CONTENT)
    assert texts(report) == [BONES, PAIN]
    assert dict(report.sentences.values_list("draft", "decision")) == {BONES: "in", PAIN: "in", CONTENT: "out"}
    assert counted(report) == ("open", 3, 3)
    send("take", CONTENT)
    assert texts(report) == [BONES, PAIN, CONTENT]


def test_sentences_are_moved_reworded_and_taken_word_for_word(report: EditedReport, send: Send):
    send("take", PAIN, verbatim=1)
    assert texts(report) == ["They also purr when in pain."]  # blanks folded
    send("reword", CONTENT, text=" Content  cats purr. ")
    assert texts(report) == ["They also purr when in pain.", "Content cats purr."]
    send("move", CONTENT, to=0)
    assert texts(report) == ["Content cats purr.", "They also purr when in pain."]
    assert {one.draft: one.lineage for one in report.sentences.all()} == {
        PAIN: "kept",
        CONTENT: "reworded",
        BONES: "kept",
    }
    before = report.sentences.get(draft=CONTENT)
    assert before.extracted == "Cats purr when content."  # what was found stays


def test_people_write_sentences_that_cite_a_document_of_the_topic(report: EditedReport, send: Send):
    send("take", CONTENT)
    own = {"uid": uuid4(), "question": HEAL_ID, "docid": "d2", "text": "It helps."}
    for wrong in ({"docid": "d3"}, {"docid": "d9"}, {"question": "none"}, {"text": " "}, {"uid": "1"}):
        assert send("add", **own | wrong).status_code == 400
    assert send("add", **own).status_code == 200
    assert texts(report) == ["It helps.", CONTENT]
    sentence = report.sentences.get(draft="")
    assert (sentence.lineage, sentence.docid, sentence.part) == ("written", "d2", None)
    assert send("add", **own).status_code == 400  # the uid is another one's
    assert counted(report) == ("open", 1, 3)


def test_undo_takes_back_and_redo_does_again(report: EditedReport, send: Send):
    send("take", CONTENT)
    send("reword", CONTENT, text="Other.")
    own = {"uid": uuid4(), "question": WHEN_ID, "docid": "d1", "text": "Mine."}
    send("add", **own)
    states = [["Other.", "Mine."], ["Other."], [CONTENT], []]
    assert texts(report) == states[0]
    for state in states[1:]:
        assert send("undo").status_code == 200
        assert texts(report) == state
    assert not report.sentences.exclude(draft="").exclude(decision="").exists()
    for state in states[-2::-1]:
        send("redo")
        assert texts(report) == state
    assert [edit.verb for edit in report.edits.all()] == ["take", "reword", "add", *["undo"] * 3, *["redo"] * 3]
    edit = report.edits.get(version=2)
    uid = str(report.sentences.get(draft=CONTENT).uid)
    assert edit.changes == {"sentences": {uid: {"text": [CONTENT, "Other."]}}}
    assert (edit.judge.name, edit.guidelines_version) == ("anna", 1)


def test_a_write_counts_once_and_an_old_one_not_at_all(report: EditedReport, send: Send):
    key = uuid4()
    assert send("take", CONTENT, key=key, version=0).status_code == 200
    assert send("take", CONTENT, key=key, version=0).status_code == 200
    assert ReportEdit.objects.count() == 1
    stale = send("take", PAIN, version=0)
    assert (stale.status_code, len(stale.json()["order"])) == (409, 1)  # type: ignore[attr-defined]
    assert send("take", CONTENT, key="none").status_code == 400
    assert send("move", PAIN, to=0).status_code == 400
    assert send("reword", PAIN, text=" ").status_code == 400
    assert send("reword", PAIN, text="x" * 2_001).status_code == 400
    assert ReportEdit.objects.count() == 1


def test_nobody_else_writes_and_organizers_read(report: EditedReport, send: Send, ben: Person, as_olga: Client):
    assert send("take", CONTENT, client=client_of(ben)).status_code == 404
    assert send("take", CONTENT, client=as_olga).status_code == 404
    assert client_of(ben).get(f"/reports/{report.pk}/").status_code == 404
    assert not ReportEdit.objects.exists()
    send("take", CONTENT)
    page = as_olga.get(f"/reports/{report.pk}/").content.decode()
    assert "Read-only view of anna" in page
    assert f"anna: take, guidelines v1: <bdi>{CONTENT}</bdi>" in page
    assert not Exposure.objects.filter(person__username="olga").exists()


def test_a_report_is_signed_and_final(report: EditedReport, send: Send, as_anna: Client):
    empty = send("sign")
    assert (empty.status_code, empty.json()["findings"]) == (422, ["There is no sentence in the report yet."])  # type: ignore[attr-defined]
    send("take", CONTENT)
    signed = send("sign")
    assert (signed.status_code, signed["HX-Redirect"]) == (200, "/")
    assert counted(report) == ("finished", 1, 1)
    report.refresh_from_db()
    assert (report.state, report.edition, report.finished_at is not None) == ("finished", 1, True)
    assert send("take", PAIN).status_code == 409
    assert send("undo").status_code == 409
    page = as_anna.get(f"/reports/{report.pk}/").content.decode()
    assert "Signed, read-only" in page
    assert CONTENT in page
    event = report.condition.campaign.events.get(verb="report signed")
    assert event.details == {"edition": 1, "sentences": 1}


def test_a_report_beyond_its_limit_is_not_signed(report: EditedReport, send: Send, as_anna: Client):
    report.topic.extras["limit"] = len(CONTENT) + len(PAIN) - 1
    report.topic.save()
    send("take", CONTENT)
    assert f"of {len(CONTENT) + len(PAIN) - 1} characters" in as_anna.get(f"/reports/{report.pk}/").content.decode()
    refused = send("take", PAIN)
    over = "The report has 41 characters; at most 40 can be signed. Take out or shorten sentences."
    assert refused.json()["findings"] == [over]  # type: ignore[attr-defined]
    assert send("sign").status_code == 422
    send("reword", PAIN, text="Some purr in pain")
    assert send("sign").status_code == 200


def test_an_organizer_gives_a_signed_report_back(report: EditedReport, send: Send, as_olga: Client, as_anna: Client):
    address = f"/reports/{report.pk}/reopen/"
    send("take", CONTENT)
    assert "This report is not signed" in as_olga.post(address, {"reason": "x"}, follow=True).content.decode()
    send("sign")
    assert "Say why" in as_olga.post(address, {"reason": " "}, follow=True).content.decode()
    assert as_anna.post(address, {"reason": "x"}).status_code == 404
    as_olga.post(address, {"reason": "Too short."})
    assert counted(report) == ("open", 1, 3)
    assert "Reopened by olga: <bdi>Too short.</bdi>" in as_anna.get(f"/reports/{report.pk}/").content.decode()
    send("take", PAIN)
    send("sign")
    assert EditedReport.objects.get().edition == 2


def test_who_edits_a_report_does_no_blind_work_on_its_topic(
    report: EditedReport, as_anna: Client, anna: Person, ben: Person, by_people: Condition, condition: Condition
):
    topic = report.topic
    grading = give(by_people, topic, anna)
    assert as_anna.get(kind_of(grading).url(grading)).status_code == 200
    as_anna.get(f"/reports/{report.pk}/")
    seen = set(Exposure.objects.filter(person=anna, topic=topic).values_list("kind", flat=True))
    assert {"reports", "grading", "nuggets", "questions", "relevance", "support", "assignment"} <= seen
    as_anna.get(f"/reports/{report.pk}/")
    assert Exposure.objects.filter(person=anna, kind="reports").count() == 1
    assert as_anna.get(kind_of(grading).url(grading)).status_code == 403
    with pytest.raises(PlanError, match="LLM output"):
        give(condition, topic, anna)
    give(condition, topic, ben)


def test_the_plan_warns_of_blind_work_that_a_report_spoils(
    edits: Condition, by_people: Condition, anna: Person, as_olga: Client
):
    topic = edits.campaign.topics.get(qid="t1")
    give(by_people, topic, anna)
    asked = {"topics": topic.pk, "condition": edits.pk, "person": anna.pk}
    page = as_olga.post(f"/campaigns/{edits.campaign.slug}/plan/give/", asked).content.decode()
    assert "anna would work on t1 blind, under Questions/Manual, and from what a model gave" in page


def test_the_protocol_can_allow_it(report: EditedReport, as_anna: Client, anna: Person, by_people: Condition):
    change_protocol(campaign=report.condition.campaign, settings={"blind_after_seeing": False}, acting_user=None)
    grading = give(by_people, report.topic, anna)
    as_anna.get(f"/reports/{report.pk}/")
    assert as_anna.get(kind_of(grading).url(grading)).status_code == 200
