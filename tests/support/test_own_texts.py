"""Runs that keep the texts of their documents as their own: read for their citations, and for nothing else."""

import json
from itertools import permutations
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.changed_answers import JudgedBySegments
from assessor.campaigns.exports import run_lines, segments_lines
from assessor.campaigns.models import Answer, Campaign, Import, Run, RunDocument, Topic
from assessor.campaigns.queries import segment_texts
from assessor.desk import completeness
from assessor.imports import importer
from assessor.llm.models import Unit
from assessor.llm.preview import preview
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PreviewSubject
from assessor.work.models import Task
from support.actions import renew_sheets
from support.auto_support import Support, Work
from support.models import SupportJudgment, SupportSheet
from support.queries import sheets_on
from tests.conftest import SEGMENTS, client_of
from tests.imports.conftest import told, warned
from tests.judging import give, send, url
from tests.llm.grading import make_judge
from tests.scores.pages import get
from tests.support.judging_helpers import first_of, from_scratch, sheet_of
from tests.support.lines import FILE, FULL, cites, line
from tests.support.test_auto import launched, plan

OWN = {"document_texts": "own"}
SAME = "Cats purr to heal."
LOADED = str(SEGMENTS[0]["segment"])
ONES, TWOS = "Cats purr, says one.", "Cats do not purr, says two."
REMEDY = (
    "Import the file with the option --document-texts own (on the page: “Keep the texts of documents as the run's "
    "own”): the run then keeps its own texts for its citations."
)


def run_with_documents(tag: str, qid: str, texts: dict[str, str] | None, sentence: str = SAME) -> dict[str, Any]:
    """Return a line with a sentence that cites each of the documents; with None d1, and no document."""
    cited = {"d1": 1.0} if texts is None else dict.fromkeys(texts, 1.0)
    record = {
        "metadata": {"team_id": "T", "run_id": tag, "topic_id": qid},
        "responses": [{"text": sentence, "citations": cited}],
    }
    documents = {docid: {"id": docid, "text": text, "title": f"{tag}'s"} for docid, text in (texts or {}).items()}
    return record | ({} if texts is None else {"documents": documents})


ONE, TWO = run_with_documents("one", "t1", {"d1": ONES}), run_with_documents("two", "t1", {"d1": TWOS})
CUT = run_with_documents("three", "t1", None)


def load(campaign: Campaign, import_file: Any, *records: dict[str, Any], **options: str) -> Import:
    done: Import = import_file(campaign, "runs", list(records), **options)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    return done


def written(campaign: Campaign, tag: str) -> list[dict[str, Any]]:
    return [json.loads(one) for one in run_lines(campaign.runs.get(tag=tag))]


def test_by_default_another_text_is_an_error_that_names_the_option(campaign: Campaign, import_file):
    done = import_file(campaign, "runs", [ONE])
    assert done.state == Import.State.REFUSED
    [problem] = done.report["errors"]
    assert problem["line"] == 1
    assert problem["field"] == "documents"
    assert problem["found"] == f"d1: {ONES}"
    assert problem["expected"] == f"d1 as it is loaded already: {LOADED}"
    assert problem["remedy"] == REMEDY
    assert not campaign.runs.exists()


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_in_any_order_each_run_has_its_own_text_and_segments_are_what_they_were(
    empty_campaign: Campaign, import_file, order: tuple[int, ...]
):
    """Two runs with own texts, one without documents, and the segments."""
    campaign = empty_campaign
    assert import_file(campaign, "topics", "t1\tWhy do cats purr?\n").state == "done"
    files: list[tuple[str, dict[str, Any], dict[str, str]]] = [
        ("runs", ONE, OWN), ("runs", TWO, OWN), ("runs", CUT, {}), ("segments", SEGMENTS[0], {})
    ]  # fmt: skip
    for at in order:
        kind, record, options = files[at]
        assert import_file(campaign, kind, [record], **options).state == "done"
    assert (written(campaign, "one"), written(campaign, "two"), written(campaign, "three")) == ([ONE], [TWO], [CUT])
    assert [json.loads(one)["segment"] for one in segments_lines(campaign)] == [LOADED]
    assert shown_texts(campaign) == {"one": ONES, "two": TWOS, "three": LOADED}


def shown_texts(campaign: Campaign) -> dict[str, str]:
    """Return the passage that a prompt for support shows of each run's citation."""
    prompts = prompt_set("assay-1")
    found = {}
    for run in campaign.runs.all():
        question = preview(campaign, "support", prompts, PreviewSubject(topic="t1", run=run.tag)).request
        words = json.dumps(question.messages, ensure_ascii=False)
        found[run.tag] = next(text for text in (ONES, TWOS, LOADED) if text in words)
    return found


def test_the_report_counts_own_texts_and_importing_again_changes_nothing(campaign: Campaign, import_file):
    done = load(campaign, import_file, ONE, **OWN)
    assert done.report["counts"] == {
        "runs added": 1, "own texts added": 1, "answers added": 1, "sentences added": 1, "citations added": 1,
        "lines": 1,
    }  # fmt: skip
    again = load(campaign, import_file, ONE, **OWN)
    assert again.report["counts"]["own texts already there"] == 1
    assert list(RunDocument.objects.values_list("run__tag", "docid", "text")) == [("one", "d1", ONES)]
    # A run has one text of a docid, whatever the option.
    other = run_with_documents("one", "t2", {"d1": TWOS})
    for options in (OWN, {}):
        refused = import_file(campaign, "runs", [other], **options)
        [problem] = refused.report["errors"]
        assert (problem["expected"], problem["remedy"]) == (f"d1 as the run has it already: {ONES}", "")
    assert load(campaign, import_file, run_with_documents("one", "t2", {"d1": ONES})).report["counts"]["answers added"]


def test_a_docid_that_no_segment_has_makes_none(campaign: Campaign, import_file):
    record = run_with_documents("one", "t1", {"d9": "Moths come to light."})
    done = load(campaign, import_file, record, **OWN)
    assert warned(done).keys() == {"topic without an answer"}
    assert segment_texts(campaign, ["d9"]) == {}
    # It is no gap where the run has the text, and one where another run cites it.
    assert list(completeness.SLOW["cited"].rows(campaign)) == []
    load(campaign, import_file, run_with_documents("two", "t1", None), name="two")
    citing = run_with_documents("three", "t1", {"d9": ""}) | {"documents": {}}
    done = load(campaign, import_file, citing, name="three")
    assert "cited text not loaded" in warned(done)
    assert list(completeness.SLOW["cited"].rows(campaign)) == [("d9",)]


def test_texts_of_another_run_behind_citations_are_counted(campaign: Campaign, import_file, anna: Person, olga: Person):
    """As where documents are cut out of a file, so that their docids no longer clash with those of another run."""
    text = "Moths come to light."
    load(campaign, import_file, run_with_documents("one", "t1", {"d9": text}))
    cut = run_with_documents("two", "t1", {"d9": ""}) | {"documents": {}}
    done = load(campaign, import_file, cut)
    assert done.report["counts"]["cited texts from other runs"] == 1
    assert warned(done)["cited text from another run"] == [
        (1, "citations", "1 of 1, first d9", "segments, or documents in this file")
    ]
    # The same text in the file itself is its own word on it, and so is one that the run keeps.
    for tag, options in (("three", {}), ("four", OWN)):
        done = load(campaign, import_file, run_with_documents(tag, "t1", {"d9": text}), **options)
        assert "cited texts from other runs" not in done.report["counts"]
    # The run that brought it may cite it again without it.
    again = run_with_documents("one", "t2", {"d9": ""}) | {"documents": {}}
    assert "cited texts from other runs" not in load(campaign, import_file, again).report["counts"]
    # And so may one that kept a text of its own.
    again = run_with_documents("four", "t2", {"d9": ""}) | {"documents": {}}
    assert "cited texts from other runs" not in load(campaign, import_file, again).report["counts"]
    task = give(from_scratch(campaign), campaign.topics.get(qid="t1"), anna)
    page, _ = get(client_of(olga), f"/campaigns/study/pairs/?words=1&topic={task.topic_id}")
    assert page.count("came with another run's file") == 1
    assert page.count("This is the run's own text") == 1


def test_texts_that_come_behind_citations_of_loaded_runs_are_counted(campaign: Campaign, import_file):
    """The later report tells: when the first run came, there was no text to count."""
    cut = run_with_documents("one", "t1", {"d8": "", "d9": ""}) | {"documents": {}}
    assert "cited text not loaded" in warned(load(campaign, import_file, cut))
    load(campaign, import_file, run_with_documents("own", "t1", {"d8": "Moths, it says."}), **OWN)
    texts = {"d8": "Moths come to light.", "d9": "Moths eat wool."}
    done = load(campaign, import_file, run_with_documents("two", "t1", texts))
    assert done.report["counts"]["texts that loaded runs cite, too"] == 2
    # Not those that are there already, nor those that nobody else cites without a text of its own.
    for record in (run_with_documents("two", "t2", texts), run_with_documents("three", "t1", {"d7": "Moths fly."})):
        assert "texts that loaded runs cite, too" not in load(campaign, import_file, record).report["counts"]
    load(campaign, import_file, run_with_documents("four", "t1", {"d6": "Own moths."}), **OWN)
    for options in ({}, OWN):
        done = load(campaign, import_file, run_with_documents("five", "t1", {"d6": "Moths rest."}), **options)
        assert "texts that loaded runs cite, too" not in done.report["counts"]


@pytest.fixture
def mixed(campaign: Campaign, import_file) -> Campaign:
    """Two runs with a text of their own and one without, which all have one sentence."""
    for record in (ONE, TWO):
        load(campaign, import_file, record, **OWN)
    load(campaign, import_file, CUT)
    return campaign


EACH = {"one": ONES, "two": TWOS, "three": LOADED}


def test_people_judge_by_the_texts_of_each_run(mixed: Campaign, topic: Topic, anna: Person):
    task = give(from_scratch(mixed), topic, anna)
    for tag, text in EACH.items():
        page = client_of(anna).get(url(sheet_of(task, tag))).content.decode()
        assert [one in page for one in (ONES, TWOS, LOADED)] == [one == text for one in (ONES, TWOS, LOADED)]
    # It has a title of its own too. Which run it is, a blind person reads nowhere.
    page = client_of(anna).get(url(sheet_of(task, "one"))).content.decode()
    assert "one's" in page.replace("&#x27;", "'")
    assert "own text" not in page


def test_a_model_judges_by_the_texts_of_each_run(mixed: Campaign):
    job = launched(plan(make_judge(mixed)))
    works = Support().prepare(job, list(job.units.all()))
    assert sorted(work.passage for work in works.values() if isinstance(work, Work)) == sorted(EACH.values())
    expected = Support().expected(job.condition, [mixed.topics.get(qid="t1")], prompt_set("assay-1"))
    assert expected.calls == 3


def test_an_organizer_looks_back_at_the_text_that_was_judged(mixed: Campaign, topic: Topic, anna: Person, olga: Person):
    give(from_scratch(mixed), topic, anna)
    page, _ = get(client_of(olga), f"/campaigns/study/pairs/?topic={topic.pk}")
    assert all(page.count(text) == 1 for text in EACH.values())
    assert page.count("This is the run's own text of <bdi>d1</bdi>") == 2


def test_looking_back_asks_as_few_queries_for_many_runs(
    mixed: Campaign, import_file, topic: Topic, anna: Person, olga: Person
):
    task = give(from_scratch(mixed), topic, anna)
    client = client_of(olga)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            get(client, f"/campaigns/study/pairs/?topic={topic.pk}")
        return len(asked)

    queries()
    few = queries()
    for number in range(5):
        load(mixed, import_file, run_with_documents(f"more{number}", "t1", {"d1": f"Text {number}."}), **OWN)
    renew_sheets(task)
    queries()  # the sidebar counts anew what the campaign has
    assert (queries(), sheets_on(task).count()) == (few, 8)


def test_pairs_are_equal_only_where_the_shown_text_is(
    mixed: Campaign, topic: Topic, anna: Person, olga: Person, import_file
):
    load(mixed, import_file, run_with_documents("four", "t1", {"d1": TWOS}), **OWN)
    load(mixed, import_file, run_with_documents("five", "t1", {"d1": LOADED}), **OWN)
    change_protocol(campaign=mixed, settings={"equal_pairs_once": True}, acting_user=olga)
    task = give(from_scratch(mixed), topic, anna)
    groups: dict[object, set[int]] = {}
    for row in SupportJudgment.objects.filter(sheet__in=sheets_on(task), sentence=0, citation=0):
        groups.setdefault(row.equal_to_id or f"{row.pk} alone", set()).add(row.sheet_id)
    tags = dict(sheets_on(task).values_list("pk", "answer__run__tag"))
    assert {tuple(sorted(tags[pk] for pk in group)) for group in groups.values()} == {
        ("one",),
        ("four", "two"),
        ("five", "three"),
    }
    # What is said of one is said of its like alone.
    first, key = first_of(sheet_of(task, "two"), "0.0")
    assert send(client_of(anna), SupportSheet.objects.get(pk=first), "label", key, label="none").status_code == 200
    labels = {tags[sheet.pk]: sheet.labels for sheet in sheets_on(task)}
    assert labels == {"two": {"0.0": "none"}, "four": {"0.0": "none"}, "one": {}, "three": {}, "five": {}}


def test_a_jobs_calls_are_those_of_pairs_with_other_texts(mixed: Campaign, olga: Person, import_file):
    load(mixed, import_file, run_with_documents("four", "t1", {"d1": TWOS}), **OWN)
    change_protocol(campaign=mixed, settings={"equal_pairs_once": True}, acting_user=olga)
    planned = plan(make_judge(mixed))
    assert planned.estimate["calls"] == 3
    assert launched(planned).units.count() == 3


# Labels that came before the run's file.
BEFORE = line("t1", "one", cites(SAME, d1=FULL))


@pytest.fixture
def judged_first(campaign: Campaign, import_file, topic: Topic, anna: Person) -> Task:
    """A person's task on an answer that came with labels: what it cites is the campaign's text."""
    assert import_file(campaign, "support", [BEFORE], **FILE).state == "done"
    return give(from_scratch(campaign), topic, anna)


def test_own_texts_come_in_where_nothing_was_judged_yet(
    judged_first: Task, campaign: Campaign, import_file, anna: Person
):
    load(campaign, import_file, ONE, **OWN)
    page = client_of(anna).get(url(sheet_of(judged_first, "one"))).content.decode()
    assert ONES in page
    assert LOADED not in page


def test_own_texts_are_refused_where_the_run_was_judged_by_the_loaded_one(
    judged_first: Task, campaign: Campaign, import_file, anna: Person
):
    assert send(client_of(anna), sheet_of(judged_first, "one"), "label", "0.0", label="full").status_code == 200
    done = import_file(campaign, "runs", [ONE], **OWN)
    assert done.state == Import.State.REFUSED
    [problem] = done.report["errors"]
    assert (problem["line"], problem["found"]) == (1, "d1")
    assert problem["expected"] == "the loaded text: citations of the run were judged by it already"
    assert problem["remedy"].startswith("Cut this document out of the file to keep the loaded text")
    assert not RunDocument.everything.exists()
    # The same text, and one of what nobody judged, changes nothing of what they read.
    same = run_with_documents("one", "t1", {"d1": LOADED})
    load(campaign, import_file, same, **OWN)


def test_own_texts_are_refused_where_a_label_comes_while_they_are_imported(
    judged_first: Task, campaign: Campaign, import_file, anna: Person, monkeypatch: pytest.MonkeyPatch
):
    show = importer._show

    def label_first(*args: Any) -> None:
        assert send(client_of(anna), sheet_of(judged_first, "one"), "label", "0.0", label="full").status_code == 200
        show(*args)

    monkeypatch.setattr(importer, "_show", label_first)
    with pytest.raises(JudgedBySegments, match="citations of one were judged meanwhile, d1 among them"):
        import_file(campaign, "runs", [ONE], **OWN)
    assert not RunDocument.everything.exists()
    assert sheet_of(judged_first, "one").labels == {"0.0": "full"}


def test_own_texts_are_refused_where_a_model_is_being_asked(campaign: Campaign, import_file):
    assert import_file(campaign, "support", [BEFORE], **FILE).state == "done"
    job = launched(plan(make_judge(campaign)))
    job.units.update(state=Unit.State.CLAIMED)
    assert import_file(campaign, "runs", [ONE], **OWN).state == Import.State.REFUSED
    job.units.update(state=Unit.State.WAITING)
    load(campaign, import_file, ONE, **OWN)


def test_a_text_that_the_run_brought_as_a_segment_stays_that_of_its_citations(campaign: Campaign, import_file):
    load(campaign, import_file, run_with_documents("one", "t1", {"d9": "Moths."}))
    done = import_file(campaign, "runs", [run_with_documents("one", "t2", {"d9": "Other."})], **OWN)
    assert [problem["expected"] for problem in done.report["errors"]] == [
        "the text that came with the answer of one to t1"
    ]


def test_equal_pairs_are_noted_anew_when_own_texts_come(
    campaign: Campaign, import_file, topic, anna: Person, olga: Person
):
    change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=olga)
    assert import_file(campaign, "support", [BEFORE], **FILE).state == "done"
    load(campaign, import_file, CUT)
    give(from_scratch(campaign), topic, anna)
    assert SupportJudgment.objects.exclude(equal_to=None).values("equal_to").distinct().count() == 1
    assert SupportJudgment.objects.exclude(equal_to=None).count() == 2
    load(campaign, import_file, ONE, **OWN)
    assert not SupportJudgment.objects.exclude(equal_to=None).exists()


@pytest.mark.parametrize("rows", [1, 3])
def test_own_texts_of_a_stopped_import_are_gone(campaign: Campaign, import_file, rows: int, monkeypatch):
    monkeypatch.setattr(importer, "_show", lambda *_: (_ for _ in ()).throw(importer.Stopped))
    monkeypatch.setattr(importer, "_SWEEP_BATCH", rows)
    record = run_with_documents("one", "t1", {"d1": ONES, "d9": "Moths.", "d8": "Silk."})
    import_file(campaign, "runs", [record], **OWN)
    Import.objects.filter(kind="runs").update(state=Import.State.STOPPED)
    importer.sweep()
    assert (RunDocument.everything.count(), Run.everything.count(), Answer.everything.count()) == (0, 0, 0)
    monkeypatch.undo()
    load(campaign, import_file, record, **OWN)
    assert RunDocument.objects.count() == 3


def test_the_page_offers_it_for_runs(campaign: Campaign, olga: Person, client: Client):
    def upload(kind: str) -> Import:
        file = SimpleUploadedFile("one.jsonl", json.dumps(ONE).encode())
        fields = {"kind": kind, "uploads": file, "document_texts": "on"}
        assert client_of(olga).post("/campaigns/study/imports/", fields).status_code == 302
        return campaign.imports.latest("pk")

    assert (upload("runs").options, upload("topics").options) == (OWN, {})


def test_a_further_file_of_the_run_cites_its_own_texts_without_a_warning(campaign: Campaign, import_file):
    load(campaign, import_file, run_with_documents("one", "t1", {"d9": ONES}), **OWN)
    further = run_with_documents("one", "t2", None)
    further["responses"][0]["citations"] = {"d9": 1.0}
    assert "cited text not loaded" not in warned(load(campaign, import_file, further))
    further["responses"][0]["citations"] = {"d8": 1.0}
    further["metadata"]["run_id"] = "two"
    assert "cited text not loaded" in warned(load(campaign, import_file, further))
