"""The organizer's pages: campaigns, protocol, conditions, imports, plan, exports; and the admin's exports."""

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, change_protocol, create_campaign
from assessor.campaigns.models import Answer, Campaign, Condition, Event, Grade, Import, Membership, QrelsSource, Role
from assessor.desk import queries
from assessor.imports import importer, tasks
from assessor.llm.actions import Plan, launch
from assessor.llm.models import Job
from assessor.relevance.models import RelevanceJudgment
from assessor.studies.models import Study
from assessor.work.actions import PlanError, draw_next, give_tasks
from assessor.work.models import Task, Waiting
from demo.management.commands import load_demo
from metaeval.studies import study_result
from nuggets.models import NuggetBank
from tests.assignment.lines import line as assignments
from tests.assignment.lines import nugget
from tests.conftest import QRELS, SEGMENTS, client_of, make_assessor, make_person
from tests.llm.conftest import endpoint  # noqa: F401  # a fixture
from tests.relevance.conftest import give_relevance, judge_item
from tests.stored_files import upload_path
from tests.support.lines import cites
from tests.support.lines import line as judgments


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def sent(monkeypatch, django_capture_on_commit_callbacks) -> list[int]:
    """What would be handed to the worker; the real worker's way is in the browser tests."""
    handed: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", handed.append)
    return handed


def upload(client: Client, content: str, *, capture, **data: str):
    form = {"kind": "topics", "uploads": SimpleUploadedFile("../evil name.tsv", content.encode())} | data
    with capture(execute=True):
        return client.post("/campaigns/study/imports/", form)


def work(handed: list[int]) -> None:
    """Run all that was handed to the worker, and what it hands on."""
    while handed:
        tasks.run_import.run(handed.pop())


def answered(client: Client, **typed: str) -> str:
    """Return what the page says once the file that was held last is to be imported."""
    held = Import.objects.filter(state=Import.State.HELD).latest("pk")
    fields = {"kind": held.kind} | typed
    sent = {f"file{held.pk}-{name}": value for name, value in fields.items()}
    return client.post("/campaigns/study/imports/held/", sent).content.decode()


def test_an_upload_waits_for_the_worker_and_ends_in_a_report(
    as_olga, empty_campaign, sent, django_capture_on_commit_callbacks
):
    response = upload(as_olga, "t1\twhy\n", capture=django_capture_on_commit_callbacks)
    import_record = Import.objects.get()
    assert response["Location"] == f"/campaigns/study/imports/{import_record.pk}/"
    assert sent == [import_record.pk]
    assert import_record.file_name == "evil name.tsv"
    path = upload_path(import_record)
    assert path.parent == Path(settings.DATA_DIR) / "uploads"
    assert path.read_text() == "t1\twhy\n"
    page = as_olga.get(response["Location"]).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert "Waiting for the worker" in page

    tasks.run_import.run(import_record.pk)
    page = as_olga.get(response["Location"], headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page
    assert "hx-trigger" not in page
    assert "Everything is imported and visible." in page
    assert not path.exists()
    assert empty_campaign.topics.count() == 1


def test_several_files_at_once_are_as_many_imports_in_the_order_of_their_names(
    as_olga, campaign, sent, django_capture_on_commit_callbacks
):
    answers = [
        {"run_id": tag, "topic_id": "t1", "topic": "", "references": [], "response_length": 1, "answer": []}
        for tag in ("r10", "r02")
    ]
    files = [SimpleUploadedFile(f"{answer['run_id']}.jsonl", json.dumps(answer).encode()) for answer in answers]
    before = Import.objects.count()
    with django_capture_on_commit_callbacks(execute=True):
        response = as_olga.post("/campaigns/study/imports/", {"kind": "runs", "uploads": files})
    assert response["Location"] == "/campaigns/study/imports/"
    made = list(Import.objects.order_by("pk"))[before:]
    assert [one.file_name for one in made] == ["r02.jsonl", "r10.jsonl"]
    assert sent == [made[0].pk]
    tasks.run_import.run(sent.pop())
    assert sent == [made[1].pk]
    tasks.run_import.run(sent.pop())
    assert sent == []
    assert list(campaign.runs.order_by("tag").values_list("tag", flat=True)) == ["r02", "r10"]
    page = as_olga.get("/campaigns/study/imports/").content.decode()
    assert page.count('<span class="chip ok">imported</span>') == Import.objects.count()


@pytest.mark.parametrize("form", [{"kind": "topics"}, {"kind": "topics", "uploads": "topics.tsv"}, {}])
def test_an_upload_without_a_file_is_refused(as_olga, empty_campaign, sent, form):
    page = as_olga.post("/campaigns/study/imports/", form).content.decode()
    assert '<p class="what-is-wrong" role="alert">No file came with the form. Choose one and send it again.</p>' in page
    assert not Import.objects.exists()


def test_a_bad_upload_names_the_line_and_shows_its_text_escaped(
    as_olga, empty_campaign, sent, django_capture_on_commit_callbacks
):
    response = upload(
        as_olga, "t1\twhy\nt1\t<script>alert(1)</script>\n<b>\n", capture=django_capture_on_commit_callbacks
    )
    tasks.run_import.run(Import.objects.get().pk)
    page = as_olga.get(response["Location"]).content.decode()
    assert "2 errors" in page
    assert "each once; it stands on line 1 already" in page
    assert "1 column: &lt;b&gt;" in page
    assert "<b>" not in page
    assert empty_campaign.topics.count() == 0


def test_a_stopped_import_stays_stopped(as_olga, empty_campaign, sent, django_capture_on_commit_callbacks):
    upload(as_olga, "t1\twhy\n", capture=django_capture_on_commit_callbacks)
    import_record = Import.objects.get()
    as_olga.post(f"/campaigns/study/imports/{import_record.pk}/stop/")
    tasks.run_import.run(import_record.pk)
    import_record.refresh_from_db()
    assert import_record.state == Import.State.STOPPED
    assert empty_campaign.topics.count() == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Name the source"),
        ({"source": "NIST"}, "Say whether people or a model"),
    ],
)
def test_an_upload_without_what_it_needs_waits_for_that(
    as_olga, empty_campaign, sent, django_capture_on_commit_callbacks, data, message
):
    upload(as_olga, QRELS, capture=django_capture_on_commit_callbacks, kind="qrels", **data)
    assert message in answered(as_olga, **data)
    assert sent == []
    assert Import.objects.get().state == Import.State.HELD


def test_an_upload_of_no_known_kind_is_not_taken(as_olga, campaign, sent, django_capture_on_commit_callbacks):
    before = Import.objects.count()
    response = upload(as_olga, QRELS, capture=django_capture_on_commit_callbacks, kind="nonsense")
    assert "Select a valid choice" in response.content.decode()
    assert (sent, Import.objects.count()) == ([], before)


def test_a_too_large_upload_is_refused(as_olga, empty_campaign, sent, django_capture_on_commit_callbacks, settings):
    settings.MAX_UPLOAD_BYTES = 1024 * 1024
    response = upload(as_olga, "x" * (1024 * 1024 + 1), capture=django_capture_on_commit_callbacks)
    assert "at most 1 MiB at once; import larger files by command" in response.content.decode()
    assert not Import.objects.exists()


def test_a_new_campaign_has_the_tracks_protocol_and_its_maker_as_organizer(as_olga, campaign, olga):
    as_olga.post("/new-campaign/", {"name": "My study"})
    mine = Campaign.objects.get(slug="my-study")
    protocol = mine.protocol
    assert (protocol.name, protocol.version) == ("trec-2024", 1)
    assert (protocol.window_segments, protocol.max_drafts, protocol.max_nuggets) == (10, 30, 20)
    assert (protocol.min_relevant_grade, protocol.citations_per_sentence, protocol.max_grade) == (1, 1, 3)
    assert list(mine.memberships.filter(role="organizer").values_list("person__username", flat=True)) == ["olga"]


def test_a_changed_protocol_is_a_new_version_and_old_conditions_keep_theirs(as_olga, condition):
    campaign = condition.campaign
    from assessor.desk.forms import ProtocolForm

    form = ProtocolForm(instance=campaign.protocol).initial
    as_olga.post("/campaigns/study/settings/", form)
    assert campaign.protocol.version == 1  # nothing changed
    as_olga.post("/campaigns/study/settings/", form | {"max_nuggets": 25})
    assert (campaign.protocol.version, campaign.protocol.max_nuggets) == (2, 25)
    condition.refresh_from_db()
    assert condition.protocol.max_nuggets == 20
    stale = as_olga.post("/campaigns/study/settings/", form | {"max_nuggets": 30}).content.decode()
    assert "Somebody changed the protocol since this page was loaded" in stale
    form["seen"] = 2
    assert (
        b"No grade is that high."
        in as_olga.post("/campaigns/study/settings/", form | {"min_relevant_grade": 4}).content
    )
    event = Event.objects.filter(verb="protocol changed").get()
    assert event.details == {"before": {"max_nuggets": 20}, "after": {"max_nuggets": 25}}
    page = as_olga.post("/campaigns/study/settings/", form | {"max_grade": 5}).content.decode()
    assert "less than or equal to 4" in page
    assert campaign.protocol.version == 2


def test_manual_nuggets_take_peoples_grades_only_and_each_condition_is_there_once(
    as_olga, campaign, condition, import_file
):
    import_file(campaign, "qrels", QRELS, source="UMBRELA", by="model")
    people, model = campaign.qrels_sources.get(name="NIST"), campaign.qrels_sources.get(name="UMBRELA")
    address, form = "/campaigns/study/conditions/new/", {"method": "ManualNuggets"}
    page = as_olga.post(address, form | {"name": "By UMBRELA", "qrels_source": model.pk}).content.decode()
    assert "Select a valid choice" in page
    page = as_olga.post(address, form | {"name": "Again", "qrels_source": people.pk}).content.decode()
    assert "ManualNuggets is that condition already" in page
    assert Condition.objects.count() == 1
    assert condition.identity == "kind=nuggets; creation=ManualNuggets; qrels=NIST; protocol=trec-2024 v1"
    for least in (2, 3):  # without a name
        as_olga.post(address, form | {"name": "", "qrels_source": people.pk, "min_relevant_grade": least})
    names = ["ManualNuggets", "ManualNuggets, relevant from 2", "ManualNuggets, relevant from 3"]
    assert list(Condition.objects.order_by("pk").values_list("name", flat=True)) == names


def test_the_plan_gives_topics_withdraws_them_and_gives_them_back(as_olga, condition, anna, ben):
    campaign = condition.campaign
    topics = [topic.pk for topic in campaign.topics.all()]
    form = {"topics": topics, "condition": condition.pk, "person": anna.pk}
    page = as_olga.post("/campaigns/study/plan/give/", form, follow=True).content.decode()
    assert "anna has 2 topics under ManualNuggets" in page
    page = as_olga.post("/campaigns/study/plan/give/", form | {"person": ben.pk}).content.decode()
    assert "somebody else&#x27;s already: t1 (anna), t2 (anna)" in page
    assert Task.objects.count() == 2
    task = Task.objects.first()
    as_olga.post(f"/campaigns/study/plan/{task.pk}/withdraw/")
    assert client_of(anna).get(f"/nuggets/{task.nugget_bank.pk}/").status_code == 404
    as_olga.post("/campaigns/study/plan/give/", form)
    assert client_of(anna).get(f"/nuggets/{task.nugget_bank.pk}/").status_code == 200
    assert Task.objects.count() == 2


def test_the_plan_puts_topics_in_a_queue_and_takes_them_out(as_olga, condition, anna, ben, time_machine):
    time_machine.move_to("2026-11-02T10:15:00+00:00", tick=False)
    address = "/campaigns/study/plan/"
    topics = list(condition.campaign.topics.order_by("qid"))
    page = as_olga.get(f"{address}give/?topics={topics[0].pk}").content.decode()
    assert '<option value="whoever">A queue: whoever is free takes the next topic</option>' in page
    form = {"topics": [topic.pk for topic in topics], "condition": condition.pk, "person": "whoever", "reason": "<b>"}
    page = as_olga.post(f"{address}give/", form, follow=True).content.decode()
    assert "In the queue of ManualNuggets: 2 topics." in page
    assert (page.count(">in the queue<"), page.count("data-given")) == (2, 2)
    piece = f"{address}work/{condition.pk}/"
    page = as_olga.get(f"{piece}{topics[1].pk}/").content.decode()
    assert (">Remove from queue<" in page, "<bdi>&lt;b&gt;</bdi>" in page) == (True, True)
    task = draw_next(condition=condition, person=anna)
    assert ">Take away from anna<" in as_olga.get(f"{piece}{task.topic_id}/").content.decode()
    page = as_olga.get(address).content.decode()
    assert page.count(">in the queue<") == 1
    assert "drawn, lease until 2026-11-03 10:15" in page
    time_machine.move_to("2026-11-04T10:15:00+00:00", tick=False)
    page = client_of(condition.created_by).get(address).content.decode()
    assert "drawn, lease ran out on 2026-11-03 10:15" in page
    assert page.count(">in the queue<") == 1, "it is still hers until somebody draws it"

    olga = client_of(condition.created_by)
    first, second = Waiting.objects.all()
    page = olga.post(f"{address}waiting/{first.pk}/take-out/", follow=True).content.decode()
    assert "somebody else&#x27;s already: t1 (anna)" in page
    response = olga.post(f"{address}waiting/{second.pk}/take-out/")
    assert response["Location"] == address
    assert "Removed from the queue: t2 under ManualNuggets." in olga.get(address).content.decode()
    assert list(Waiting.objects.all()) == [first]
    assert olga.post(f"{address}waiting/{second.pk}/take-out/").status_code == 404
    assert draw_next(condition=condition, person=ben).topic == task.topic
    page = olga.post(f"{address}give/", form | {"person": ""}).content.decode()
    assert "This field is required" in page
    assert "Select a valid choice" in olga.post(f"{address}give/", form | {"person": "0"}).content.decode()


def test_a_long_plan_has_pages_and_one_stays_on_ones_page(as_olga, condition, anna, import_file):
    campaign = condition.campaign
    import_file(campaign, "topics", "".join(f"u{number:03}\twhat is {number}\n" for number in range(99)))
    first, second = (as_olga.get(f"/campaigns/study/plan/{page}").content.decode() for page in ("", "?page=2"))
    assert first.count('name="topics"') == 50
    assert ("u047" in first, "u048" in first, "1 to 50 of 101" in first) == (True, False, True)
    assert (second.count('name="topics"'), "u048" in second, "51 to 100 of 101" in second) == (50, True, True)
    assert '<input type="hidden" name="filters" value="page=2">' in second
    topic = campaign.topics.get(qid="u097")
    form = {"topics": [topic.pk], "condition": condition.pk, "person": anna.pk, "filters": "page=2"}
    assert as_olga.post("/campaigns/study/plan/give/", form)["Location"] == "/campaigns/study/plan/?page=2"
    address = f"/campaigns/study/plan/{Task.objects.get().pk}/withdraw/"
    piece = f"/campaigns/study/plan/work/{condition.pk}/{topic.pk}/?person={anna.pk}"
    assert piece in as_olga.get("/campaigns/study/plan/?page=2").content.decode()
    assert address in as_olga.get(piece).content.decode()
    assert as_olga.post(address)["Location"] == "/campaigns/study/plan/"


def without_links(page: str) -> str:
    return re.sub("</?a[^>]*>", "", page)


def test_what_is_counted_follows_every_import_and_the_protocol(as_olga, campaign, olga, import_file):
    def page() -> str:
        return without_links(as_olga.get("/campaigns/study/").content.decode())

    assert "on 2 topics" in page()
    import_file(campaign, "topics", "t9\tone more\n", check_only=True)
    assert "on 2 topics" in page()
    import_file(campaign, "topics", "t9\tone more\n")
    assert "on 3 topics" in page()
    assert "1 topic has no grades" in page()
    import_file(campaign, "qrels", "t9 0 d3 1\n", source="NIST", by="people")
    assert "no grades" not in page()
    assert "no relevant passage" not in page()
    change_protocol(campaign=campaign, settings={"min_relevant_grade": 2}, acting_user=olga)
    assert "1 graded topic has no relevant passage" in page()


def test_an_organizer_cannot_be_given_work_in_their_own_campaign(as_olga, condition, olga, topic):
    make_assessor(olga)
    form = {"topics": [topic.pk], "condition": condition.pk, "person": olga.pk}
    assert b"Select a valid choice" in as_olga.post("/campaigns/study/plan/give/", form).content
    assert not Task.objects.exists()


def test_the_overview_names_what_is_missing(as_olga, campaign, import_file):
    import_file(campaign, "topics", "t9\tnothing is graded here\n")
    runs = [{"run_id": "r1", "topic_id": "t1", "references": [], "answer": []}]
    import_file(campaign, "runs", runs)
    attention = as_olga.get("/campaigns/study/").context["overview"].attention
    assert [(one.text, one.why) for one in attention] == [
        ("1 relevant passage has no text", "d4"),
        ("1 topic has no grades", "t9"),
        ("1 run did not answer every topic", "r1 (2)"),
        ("1 answer is empty", "r1 on t1"),
    ]


def test_the_overview_tells_of_retrieval_runs_and_the_pool(as_olga, campaign, import_file):
    import_file(campaign, "retrieval", "t1 Q0 d1 1 2 one\nt1 Q0 d8 2 1 one\nt2 Q0 d9 1 1 one\n")
    import_file(campaign, "retrieval", "t1 Q0 d1 1 2 two\n")
    page = without_links(as_olga.get("/campaigns/study/").content.decode())
    assert "3 passages in the pool, the first 20 of 2 retrieval runs" in page
    assert "2 passages of the pool have no text" in page


NUGGETS = '{"query": "why do cats purr", "qid": "t1", "nuggets": [{"text": "a", "importance": "failed"}]}\n'


def test_nuggets_are_uploaded_under_a_condition(as_olga, campaign, sent, django_capture_on_commit_callbacks):
    capture = django_capture_on_commit_callbacks
    upload(as_olga, NUGGETS, capture=capture, kind="nuggets")
    page = answered(as_olga)
    assert "Name the condition: nuggets are kept by condition." in page
    assert "Say whether people or a model made these nuggets." in page
    assert sent == []
    form = {"kind": "nuggets", "condition": " Mia ", "by": "model", "source": "not read"}
    upload(as_olga, NUGGETS, capture=capture, **form)
    strict = Import.objects.latest("pk")
    assert strict.options == {"condition": "Mia", "by": "model"}
    upload(as_olga, NUGGETS, capture=capture, **form, invalid_labels="not_support")
    page = answered(as_olga, **form, invalid_labels="not_support")
    assert "Only labels of assignments can count as not_support: choose another value." in page
    tasks.run_import.run(strict.pk)
    strict.refresh_from_db()
    assert (strict.state, strict.report["errors"][0]["found"]) == (Import.State.REFUSED, "failed")
    upload(as_olga, NUGGETS, capture=capture, **form, invalid_labels="missing")
    lenient = Import.objects.latest("pk")
    assert lenient.options == {"condition": "Mia", "by": "model", "invalid_labels": "missing"}
    tasks.run_import.run(lenient.pk)
    condition = campaign.conditions.get()
    assert (condition.name, condition.judge.parameters) == ("Mia", {"by": "model"})
    exports = "/campaigns/study/exports/nuggets/file/?of=Mia&form="
    plain, lineage = (
        json.loads(b"".join(as_olga.get(f"{exports}{end}").streaming_content)) for end in ("jsonl", "lineage")
    )
    assert plain == {"query": "why do cats purr", "qid": "t1", "nuggets": [{"text": "a"}]}
    assert (lineage["ancestors"], lineage["nuggets"][0]["origin"]) == ([], "imported")


def test_qrels_are_uploaded_with_what_is_no_grade_left_out(as_olga, campaign, sent, django_capture_on_commit_callbacks):
    form = {"kind": "qrels", "source": "NIST", "by": "people", "invalid_labels": "missing"}
    upload(as_olga, "t1 0 d1 x\n", capture=django_capture_on_commit_callbacks, **form)
    options = {"source": "NIST", "by": "people", "invalid_labels": "missing"}
    assert Import.objects.latest("pk").options == options


def test_drafts_are_uploaded_with_their_maker_and_peoples_grades(
    as_olga, campaign, sent, import_file, django_capture_on_commit_callbacks
):
    capture = django_capture_on_commit_callbacks
    upload(as_olga, NUGGETS, capture=capture, kind="drafts")
    page = answered(as_olga)
    for lacking in (
        "Name the condition: drafts are kept",
        "grades: the editor shows the passages that they found relevant.",
        "Say which model made these drafts.",
    ):
        assert lacking in page
    assert sent == []
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="NIST", by="people")
    form = {"kind": "drafts", "condition": "Edits", "source": "NIST", "maker": "GPT-4o", "by": ""}
    upload(as_olga, NUGGETS, capture=capture, **form, invalid_labels="missing")
    record = Import.objects.latest("pk")
    options = {"condition": "Edits", "qrels": "NIST", "maker": "GPT-4o", "invalid_labels": "missing"}
    assert record.options == options
    tasks.run_import.run(record.pk)
    assert campaign.conditions.get().draftings.get().nuggets == ["a"]


def body(response) -> str:
    return b"".join(response.streaming_content).decode()


def test_assignments_are_uploaded_under_a_condition_and_taken_away(
    as_olga, campaign, sent, django_capture_on_commit_callbacks
):
    capture = django_capture_on_commit_callbacks
    line = json.dumps(assignments(said=[nugget("a", assignment="failed")])) + "\n"
    upload(as_olga, line, capture=capture, kind="assignments")
    page = answered(as_olga)
    assert "Name the condition: assignments are kept by condition." in page
    assert "Say whether people or a model made these assignments." in page
    assert sent == []
    form = {"kind": "assignments", "condition": " Edits/Auto ", "by": "model", "source": "not read"}
    upload(as_olga, line, capture=capture, **form)
    assert Import.objects.latest("pk").options == {"condition": "Edits/Auto", "by": "model"}
    upload(as_olga, line, capture=capture, **form, nuggets=" Edits ", invalid_labels="missing")
    lenient = Import.objects.latest("pk")
    options = {"condition": "Edits/Auto", "by": "model", "nuggets": "Edits", "invalid_labels": "missing"}
    assert lenient.options == options
    work(sent)
    page = as_olga.get("/campaigns/study/exports/").content.decode()
    assert 'href="/campaigns/study/exports/assignments/file/?of=Edits%2FAuto&amp;form=jsonl"' in page
    assert 'Assignments<span class="sub">of the nuggets of Edits</span></th>' in page
    response = as_olga.get("/campaigns/study/exports/assignments/file/?of=Edits/Auto")
    assert body(response) == line
    assert response["Content-Disposition"] == 'attachment; filename="study.assignments.Edits_Auto.jsonl"'
    assert Event.objects.latest("pk").subject == "assignments.Edits/Auto.jsonl"


def test_support_judgments_are_uploaded_under_a_condition_and_taken_away(
    as_olga, campaign, sent, django_capture_on_commit_callbacks
):
    capture = django_capture_on_commit_callbacks
    line = json.dumps(judgments("t1", "r1", cites("a", d1="failed"))) + "\n"
    upload(as_olga, line, capture=capture, kind="support")
    page = answered(as_olga)
    assert "Name the condition: support judgments are kept by condition." in page
    assert "Say whether people or a model made these support judgments." in page
    assert sent == []
    form = {"kind": "support", "condition": " NIST ", "by": "people", "nuggets": "not read", "source": "nor this"}
    upload(as_olga, line, capture=capture, **form)
    assert Import.objects.latest("pk").options == {"condition": "NIST", "by": "people"}
    upload(as_olga, line, capture=capture, **form, invalid_labels="missing")
    lenient = Import.objects.latest("pk")
    assert lenient.options == {"condition": "NIST", "by": "people", "invalid_labels": "missing"}
    work(sent)
    page = as_olga.get("/campaigns/study/exports/").content.decode()
    assert 'href="/campaigns/study/exports/support/file/?of=NIST&amp;form=jsonl"' in page
    response = as_olga.get("/campaigns/study/exports/support/file/?of=NIST")
    assert body(response) == line
    assert response["Content-Disposition"] == 'attachment; filename="study.support.NIST.jsonl"'
    assert Event.objects.latest("pk").subject == "support.NIST.jsonl"
    assert as_olga.get("/campaigns/study/exports/assignments/file/?of=NIST").status_code == 404


def test_exports_by_page_are_what_came_in_and_are_recorded(as_olga, campaign):
    response = as_olga.get("/campaigns/study/exports/qrels/file/?of=NIST")
    assert body(response) == QRELS
    assert response["Content-Disposition"] == 'attachment; filename="study.qrels.NIST.txt"'
    assert body(as_olga.get("/campaigns/study/exports/segments/file/")).count("\n") == len(SEGMENTS)
    assert as_olga.get("/campaigns/study/exports/topics/file/?form=xml").status_code == 404
    verbs = Event.objects.filter(verb="exported").values_list("subject", "person__username")
    assert list(verbs) == [("segments.jsonl", "olga"), ("qrels.NIST.txt", "olga")]


def test_the_admin_exports_qrels_and_finished_banks(admin, campaign, bank):
    client = client_of(admin)
    source = campaign.qrels_sources.get()
    action = {"action": "export_qrels", "_selected_action": [source.pk]}
    assert body(client.post("/admin/campaigns/qrelssource/", action)) == QRELS
    action = {"action": "export_nuggets", "_selected_action": [bank.pk]}
    page = client.post("/admin/nuggets/nuggetbank/", action, follow=True).content.decode()
    assert "1 of the selected banks are not finished" in page
    NuggetBank.objects.update(state="finished")
    assert (
        body(client.post("/admin/nuggets/nuggetbank/", action))
        == '{"query": "why do cats purr", "qid": "t1", "nuggets": []}\n'
    )


def test_an_administrator_who_exports_a_models_grades_has_seen_them(admin, anna, campaign, import_file):
    import_file(campaign, "qrels", QRELS, source="UMBRELA", by="model")
    source = QrelsSource.objects.get(name="UMBRELA")
    action = {"action": "export_qrels", "_selected_action": [source.pk]}
    body(client_of(admin).post("/admin/campaigns/qrelssource/", action))
    assert set(admin.exposures.values_list("topic__qid", "kind")) == {("t1", "relevance"), ("t2", "relevance")}
    action["_selected_action"] = [campaign.qrels_sources.get(name="NIST").pk]
    body(client_of(admin).post("/admin/campaigns/qrelssource/", action))
    assert admin.exposures.count() == 2


ADMIN_LISTS = [
    f"/admin/{app}/{model}/"
    for app, models in {
        "accounts": "person",
        "campaigns": "membership invitation campaign protocol topic segment qrelssource grade run runalias answer "
        "judge condition import event",
        "work": "task exposure timespent write",
        "relevance": "relevancejudgment labelevent",
        "labels": "manualsetup",
        "nuggets": "nuggetbank nugget bankedit bankedition",
    }.items()
    for model in models.split()
]


@pytest.mark.parametrize("address", ADMIN_LISTS)
def test_every_admin_list_opens_searches_and_changes_nothing(address, admin, bank):
    client = client_of(admin)
    assert client.get(address).status_code == 200
    assert client.get(address, {"q": "t1"}).status_code == 200
    if "/person/" not in address and "/membership/" not in address:
        assert client.get(f"{address}add/").status_code == 403


def test_the_admin_makes_people_and_organizers_through_the_history(admin, campaign, anna):
    client = client_of(admin)
    password = "quite a long password"
    form = {"username": "new", "usable_password": "true", "password1": password, "password2": password}
    assert client.post("/admin/accounts/person/add/", form).status_code == 302
    assert Person.objects.get(username="new").check_password(password)
    client.post("/admin/campaigns/membership/add/", {"campaign": campaign.pk, "person": anna.pk, "role": "organizer"})
    organizer = Membership.objects.get(role="organizer", person=anna)
    assert Event.objects.filter(verb="organizer added", subject="anna", person=admin).count() == 1
    client.post("/admin/campaigns/membership/", {"action": "end", "_selected_action": [organizer.pk]})
    organizer.refresh_from_db()
    assert organizer.until is not None
    assert Event.objects.filter(verb="organizer removed", subject="anna", person=admin).count() == 1


def test_what_an_administrator_changes_of_people_is_recorded(admin):
    client = client_of(admin)
    password = "quite a long password"
    form = {"username": "new", "usable_password": "true", "password1": password, "password2": password}
    client.post("/admin/accounts/person/add/", form)
    new = Person.objects.get(username="new")
    client.post(
        f"/admin/accounts/person/{new.pk}/change/", {"username": "new", "email": "a@example.org", "is_active": "on"}
    )
    another = {"usable_password": "true", "password1": "another long password", "password2": "another long password"}
    assert client.post(f"/admin/accounts/person/{new.pk}/password/", another).status_code == 302
    told = Event.objects.filter(subject="new", person=admin).order_by("pk").values_list("verb", "details")
    assert list(told) == [("account made", {}), ("person changed", {"fields": ["email"]}), ("password set", {})]


def test_who_becomes_an_administrator_is_recorded(admin, anna):
    client = client_of(admin)
    for sent, verb in (({"is_superuser": "on"}, "administrator added"), ({}, "administrator removed")):
        form = {"username": "anna", "is_active": "on", **sent}
        assert client.post(f"/admin/accounts/person/{anna.pk}/change/", form).status_code == 302
        event = Event.objects.get(verb=verb)
        assert (event.subject, event.person) == ("anna", admin)
    assert client.get("/admin/auth/group/").status_code == 404


def test_an_administrator_is_no_assessor(admin, condition, topic, olga):
    make_assessor(admin)
    person = Person.objects.get(pk=admin.pk)
    with pytest.raises(PlanError, match="an administrator isn't an assessor"):
        give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=person, acting_user=olga)


def test_the_sidebar_counts_what_the_campaign_at_hand_has(as_olga: Client, campaign: Campaign, olga: Person):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    for name in ("anna", "ben"):
        add_member(campaign=campaign, person=make_person(name), role=Role.ASSESSOR, acting_user=olga)
    people = []
    for slug in (campaign.slug, other.slug, campaign.slug):
        page = as_olga.get(f"/campaigns/{slug}/").content.decode()
        people.append(re.findall(r'People<span class="count">([0-9]+)</span>', page))
    assert people == [["3"], ["1"], ["3"]]


def test_half_an_import_counts_nowhere(as_olga, campaign, import_file):
    import_file(campaign, "runs", [{"run_id": "r1", "topic_id": "t1", "references": [], "answer": []}])
    other = import_file(campaign, "topics", "t3\tnot yet\n")
    source, run, topic = campaign.qrels_sources.get(), campaign.runs.get(), campaign.topics.get(qid="t2")
    Grade.everything.create(import_record=other, source=source, topic=topic, docid="half", grade=3, iteration="0")
    Answer.everything.create(import_record=other, run=run, topic=topic, words=0)
    Import.objects.filter(pk=other.pk).update(state=Import.State.INTERRUPTED)
    page = as_olga.get("/campaigns/study/").content.decode()
    assert '<td class="num">6</td><td class="num">2</td>' in page
    assert "<bdi>r1 (1)</bdi>" in page


def test_nobody_uploads_without_signing_in_or_over_the_limit(as_olga, empty_campaign, sent, settings, monkeypatch):
    kept = []
    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", lambda self, *args, **kwargs: kept.append(args))
    file = {"uploads": SimpleUploadedFile("x.tsv", b"t1\twhy\n"), "kind": "topics"}
    Client().post("/login/", file)
    settings.MAX_UPLOAD_BYTES = 1
    file["uploads"] = SimpleUploadedFile("x.tsv", b"x" * 2_000_000)
    as_olga.post("/campaigns/study/imports/", file)
    assert kept == []
    assert not Import.objects.exists()


@pytest.mark.parametrize("slug", ["my study", "", "x" * 61, "a/b"])
def test_an_odd_short_name_makes_no_campaign(slug, db):
    with pytest.raises(ValidationError):
        create_campaign(name="Study", slug=slug, acting_user=None)
    assert not Campaign.objects.exists()


def test_the_demo_keeps_away_from_other_peoples_databases(anna, settings):
    settings.DEMO = True
    Person.objects.create_user("somebody")
    with pytest.raises(CommandError, match="There are other people in this database"):
        call_command("load_demo")
    settings.DEMO = False
    with pytest.raises(CommandError, match="only where ASSAY_DEMO is on"):
        call_command("load_demo")
    assert not Campaign.objects.exists()


def test_a_demo_that_was_killed_while_loading_is_taken_up_again(db, settings, import_file):
    settings.DEMO = True
    olga = Person.objects.create_user("olga")
    create_campaign(name="Demo campaign", slug="demo", acting_user=olga)
    call_command("load_demo", stdout=StringIO())
    campaign = Campaign.objects.get(slug="demo")
    # Two of the runs are controls.
    assert (campaign.topics.count(), campaign.runs.count(), campaign.tasks.count()) == (6, 10, 5)
    imports = Import.objects.count()
    call_command("load_demo", stdout=StringIO())
    assert (Import.objects.count(), campaign.tasks.count()) == (imports, 5)


@pytest.mark.django_db(transaction=True)
def test_the_demo_is_loaded_once_however_often_it_is_begun(settings, monkeypatch, endpoint):  # noqa: F811
    settings.DEMO = True
    url = endpoint().base_url

    def load() -> list[tuple[str, int]]:
        call_command("load_demo", model_url=url, stdout=StringIO())
        return list(Job.objects.order_by("pk").values_list("kind", "units_total"))

    def launch_one(plan: Plan, **options: Any) -> Job:
        if Job.objects.exists():
            raise KeyboardInterrupt
        return launch(plan, **options)

    with monkeypatch.context() as patched:
        patched.setattr(load_demo, "launch", launch_one)
        with pytest.raises(KeyboardInterrupt):
            load()
    assert list(Job.objects.values_list("kind", "units_total", "units_done")) == [("Support", 164, 163)]
    assert load() == load() == [("Support", 164), ("AutoAssign", 52), ("Support", 163)]
    # What people and the rehearsal label differently was drawn and labelled by somebody else, once.
    study = Study.objects.get()
    [ben] = study_result(study).judges
    assert (study.drawn.count(), ben.labelled) == (30, 30)
    given = Task.objects.filter(kind="support").order_by("pk").values_list("person__username", "topic__qid", "state")
    assert list(given) == [
        ("anna", "demo-1", "open"),
        ("ben", "demo-4", "open"),
        ("ben", "demo-5", "finished"),
        ("ben", "demo-6", "finished"),
    ]


def test_an_import_that_is_over_is_not_said_to_be_stopped(as_olga, campaign, import_file):
    done = import_file(campaign, "topics", "t9\twhat is nine\n")
    page = as_olga.post(f"/campaigns/study/imports/{done.pk}/stop/", follow=True).content.decode()
    assert "It was over before it could be stopped; its report is below." in page
    assert "Nothing of the file was imported" not in page
    done.refresh_from_db()
    assert done.state == Import.State.DONE


def test_another_pool_depth_is_counted_at_once(as_olga, olga, campaign, import_file):
    import_file(campaign, "retrieval", "t1 Q0 d1 1 2 one\nt1 Q0 d8 2 1 one\n")
    page = without_links(as_olga.get("/campaigns/study/").content.decode())
    assert "2 passages in the pool, the first 20 of 1 retrieval run<" in page
    change_protocol(campaign=campaign, settings={"pool_depth": 1}, acting_user=olga)
    page = without_links(as_olga.get("/campaigns/study/").content.decode())
    assert "1 passage in the pool, the first 1 of 1 retrieval run<" in page
    assert "of the pool has no text" not in page


def test_grades_made_here_are_counted_within_a_minute_and_then_for_good(
    as_olga, campaign, anna, import_file, monkeypatch
):
    """While grades come, a page counts once a minute at most; once they stop coming, what it says is exact."""
    import_file(campaign, "retrieval", "t1 Q0 d1 1 9 one\nt1 Q0 d2 2 8 one\nt1 Q0 d3 3 7 one\n")
    give_relevance(campaign, anna)
    items = list(RelevanceJudgment.objects.all())
    now = timezone.now().replace(second=10)

    def counted(address: str, seconds: int) -> int:
        monkeypatch.setattr(queries.timezone, "now", lambda: now + timedelta(seconds=seconds))
        text = " ".join(as_olga.get(f"/campaigns/study/{address}").content.decode().split())
        found = re.search(r"<bdi>given</bdi></th><td>people</td><td class=\"num\">(\d)", text)
        assert found
        return int(found[1])

    def grade(item: RelevanceJudgment, seconds: int) -> None:
        judge_item(item)
        QrelsSource.everything.filter(name="given").update(changed_at=now + timedelta(seconds=seconds))

    assert counted("", 0) == 0
    grade(items[0], 1)
    assert counted("", 2) == 1
    grade(items[1], 3)
    assert counted("", 4) == 1, "within the minute"
    assert counted("", 50) == 2
    grade(items[2], 55)
    assert counted("", 56) == 2
    assert counted("", 130) == 3
    lines = body(as_olga.get("/campaigns/study/exports/qrels/file/?of=given"))
    assert sorted(lines.splitlines()) == ["t1 0 d1 2", "t1 0 d2 2", "t1 0 d3 2"]


def test_the_plan_leads_to_where_a_plan_is_uploaded(campaign: Campaign, as_olga: Client):
    assert 'href="/campaigns/study/imports/?kind=plan"' in as_olga.get("/campaigns/study/plan/").content.decode()
    assert '<option value="plan" selected>' in as_olga.get("/campaigns/study/imports/?kind=plan").content.decode()


def test_the_list_of_imports_is_asked_for_again_while_one_is_not_over(campaign: Campaign, as_olga: Client):
    asks_again = 'hx-get="/campaigns/study/imports/" hx-trigger="every 2s"'
    assert asks_again not in as_olga.get("/campaigns/study/imports/").content.decode()
    importer.new_import(campaign=campaign, kind="runs", file_name="a", options={}, person=None, check_only=False)
    assert asks_again in as_olga.get("/campaigns/study/imports/").content.decode()
    page = as_olga.get("/campaigns/study/setup/").content.decode()
    assert 'hx-get="/campaigns/study/setup/" hx-trigger="every 2s"' in page
    Import.objects.update(state=Import.State.HELD)
    page = as_olga.get("/campaigns/study/imports/").content.decode()
    assert (asks_again in page, f"{campaign.imports.count()} files need you" in page) == (False, True)


def test_a_report_shows_three_warnings_of_a_kind_and_has_the_rest_in_its_file(as_olga, empty_campaign, import_file):
    done = import_file(empty_campaign, "topics", "".join(f" t{n}\ttitle\n" for n in range(60)))
    address = f"/campaigns/study/imports/{done.pk}/"
    page = as_olga.get(address).content.decode()
    assert "<h2>60 warnings: blanks around an id, the first 3</h2>" in page
    assert page.count("stripped to t") == 3
    assert f'href="{address}report.json"' in page
    file = as_olga.get(f"{address}report.json")
    assert (file["Content-Type"], file["Content-Disposition"]) == (
        "application/json",
        'attachment; filename="file-report.json"',
    )
    assert [len(kind["listed"]) for kind in done.report["warnings"]] == [50]
    [kind] = file.json()["warnings"]
    assert (kind["count"], [problem["line"] for problem in kind["listed"]]) == (60, list(range(1, 61)))


def test_a_report_of_one_warning_is_in_the_singular_and_one_without_any_has_no_file(
    as_olga, empty_campaign, import_file
):
    one = import_file(empty_campaign, "topics", " t1\ttitle\n")
    assert (
        "<h2>1 warning: blanks around an id</h2>" in as_olga.get(f"/campaigns/study/imports/{one.pk}/").content.decode()
    )
    none = import_file(empty_campaign, "topics", "t1\ttitle\n")
    assert "report.json" not in as_olga.get(f"/campaigns/study/imports/{none.pk}/").content.decode()
