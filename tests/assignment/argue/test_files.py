"""Judgments of reports in files: what comes in goes out equal and is scored, and what does not fit is refused."""

import json
from copy import deepcopy
from typing import Any

import pytest
from django.core.management import call_command

from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Answer, Campaign, Condition, Import
from assessor.imports import importer
from assessor.scores.cache import condition_scores
from assignment.argue.exports import judgment_lines
from assignment.argue.loaders import ArgueLoader
from assignment.argue.models import ArgueJudgment, ArgueSheet
from tests.assignment.argue.conftest import (
    EMPTY,
    FILE,
    JUDGED_ONE,
    ONE,
    TWO,
    Json,
    attested,
    first,
    judgment,
    matches,
    needs,
    negative,
    relevance,
    report,
)
from tests.conftest import Importer
from tests.questions.banks import answer, bank, question


def exported(condition: Condition) -> list[Json]:
    return [json.loads(line) for line in judgment_lines(condition)]


def scores(condition: Condition, tag: str = "team.one") -> dict[str, float]:
    found = condition_scores(condition)
    row = [run.tag for run in found.runs].index(tag)
    return dict(zip(found.measures.keys, found.scores[row, 0].tolist(), strict=True))


def test_what_comes_in_goes_out_equal_and_is_scored(questions: Condition, import_file: Importer):
    done = import_file(questions.campaign, "argue_judgments", [ONE, TWO, EMPTY], **FILE)
    assert done.state == Import.State.DONE, done.report
    assert done.report["counts"] == {"lines": 3, "conditions added": 1, "sheets added": 3, "labels added": 10 + 1}
    condition = questions.campaign.conditions.get(name="Judged")
    assert (condition.kind, condition.method, condition.nuggets) == ("argue", "imported", questions)
    assert exported(condition) == [EMPTY, ONE, TWO]
    # HEAL is answered, WHEN in one of two; the gate drops KITTENS. Of the sentences the first is supported.
    assert scores(condition) == {
        "argue_f1": 0.4,
        "sentence_support": 1 / 3,
        "nugget_coverage": 1 / 2,
        "argue_f1_weighted": pytest.approx(4 / 9),
        "nugget_coverage_weighted": 2 / 3,
        "citation_support": 2 / 3,
        "citation_relevance": 1,
    }
    assert set(scores(condition, "team.two").values()) == set(scores(condition, "team.empty").values()) == {0}
    again = import_file(questions.campaign, "argue_judgments", [ONE, TWO, EMPTY], **FILE)
    assert (again.state, again.report["counts"]) == ("done", {"lines": 3, "sheets already there": 3})


def test_items_have_keys_that_never_change(imported: Condition):
    uids = {nugget.text: nugget.name for bank in imported.nuggets.nugget_banks.all() for nugget in bank.nuggets.all()}
    heal, when = uids["What does purring heal?"], uids["When do cats purr?"]
    sheet = ArgueSheet.objects.get(condition=imported, answer__run__tag="team.one")
    assert sheet.labels == {
        "s0.dd1.attests": "yes",
        f"s0.dd1.n{heal}.g1": "yes",
        f"s0.dd1.n{when}.g2": "no",
        "s1.dd1.attests": "yes",
        f"s1.dd1.n{heal}.g1": "no",
        f"s1.dd1.n{when}.g2": "yes",
        "s1.dd2.attests": "no",
        f"s1.dd2.n{when}.g1": "no",
        "s2.needs": "yes",
        "s2.first": "yes",
    }


@pytest.mark.parametrize(("match", "covered"), [("citation", 1.0), ("all", 0.5), ("no", 1.0)])
def test_the_protocol_says_where_a_match_counts(questions, import_file, olga, match: str, covered: float):
    change_protocol(campaign=questions.campaign, settings={"argue_match": match}, acting_user=olga)
    judged = deepcopy(JUDGED_ONE)
    judged[1][4] = matches("d2", when=["When content"])
    judged[1][5] = attested("d2", match != "citation")
    if match == "citation":
        judged[1][2], judged[1][5] = attested("d1"), attested("d2")
    if match == "all":
        judged[1][2] = attested("d1", False)
    if match == "no":
        judged[1][2] = attested("d1", False)
    done = import_file(questions.campaign, "argue_judgments", [report("team.one", judged)], **FILE)
    assert done.state == "done", done.report
    assert scores(questions.campaign.conditions.get(name="Judged"))["nugget_coverage"] == covered


def test_both_commands(questions: Condition, tmp_path):
    path, out = tmp_path / "run.judgments.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (ONE, TWO)))
    call_command("import_argue_judgments", "study", str(path), **FILE)
    call_command("export_argue_judgments", "study", condition="Judged", output=str(out))
    assert [json.loads(line) for line in out.read_text().splitlines()] == [ONE, TWO]


def test_judgments_of_unknown_types_and_further_keys_are_kept(questions: Condition, import_file: Importer):
    judged = deepcopy(JUDGED_ONE)
    judged[0].append(judgment("TONE", {"is_kind": True}, "d1"))
    judged[0][2]["response"]["why"] = "It says so."
    line = report("team.one", judged, note={"a": [1]})
    done = import_file(questions.campaign, "argue_judgments", [line], **FILE)
    assert done.state == "done", done.report
    assert exported(questions.campaign.conditions.get(name="Judged")) == [line]


def test_a_missing_judgment_leaves_the_report_incomplete(questions: Condition, import_file: Importer):
    judged = deepcopy(JUDGED_ONE)
    del judged[1][5]
    done = import_file(questions.campaign, "argue_judgments", [report("team.one", judged)], **FILE)
    assert done.state == "done", done.report
    condition = questions.campaign.conditions.get(name="Judged")
    sheet = ArgueSheet.objects.get(condition=condition)
    assert (sheet.to_do, sheet.open) == (1, ["s1.dd2.attests"])
    found = condition_scores(condition)
    assert (found.states.tolist(), found.scores[0, 0, -1]) == ([[2]], 1)
    assert [key for key, value in scores(condition).items() if value == value] == ["citation_relevance"]
    assert exported(condition) == [report("team.one", judged)]


def test_a_sentence_without_judgments_is_missing_too(questions: Condition, import_file: Importer):
    line = report("team.one", [*JUDGED_ONE[:2], []])
    assert import_file(questions.campaign, "argue_judgments", [line], **FILE).state == "done"
    assert ArgueSheet.objects.get().open == ["s2.needs"]


def test_fewer_judged_sentences_are_a_report_that_was_cut(questions: Condition, import_file: Importer):
    line = report("team.one", JUDGED_ONE[:2])
    assert import_file(questions.campaign, "argue_judgments", [line], **FILE).state == "done"
    condition = questions.campaign.conditions.get(name="Judged")
    assert (ArgueSheet.objects.get().cut, condition_scores(condition).unusual["sentences_cut"]) == (1, 1)
    assert scores(condition)["sentence_support"] == 1 / 2
    assert exported(condition) == [line]


def test_a_claim_of_absence_counts_by_what_it_answers(questions: Condition, import_file: Importer):
    judged = [*JUDGED_ONE[:2], [needs(True), first(True), negative(True), matches(None, heal=["Bones"])]]
    assert import_file(questions.campaign, "argue_judgments", [report("team.one", judged)], **FILE).state == "done"
    assert scores(questions.campaign.conditions.get(name="Judged"))["sentence_support"] == 1 / 2


def test_another_text_comes_with_its_judgments(questions: Condition, import_file: Importer):
    line = report("team.two", [[relevance("d1"), matches("d1"), attested("d1")]], sentences=[("Dogs howl.", ["d1"])])
    done = import_file(questions.campaign, "argue_judgments", [line], **FILE)
    assert done.state == "done", done.report
    assert [one["kind"] for one in done.report["warnings"]] == ["answer text differs"]
    sheet = ArgueSheet.objects.get()
    assert (sheet.answer.text, sheet.answer.apart, sheet.answer.form) == ("Dogs howl.", True, Answer.Form.SENTENCES)


def test_relevance_is_looked_up_and_another_view_of_the_file_is_named(questions: Condition, import_file: Importer):
    line = report("team.two", [[relevance("d9", True), attested("d9")]])
    done = import_file(questions.campaign, "argue_judgments", [line], **FILE)
    [warning] = done.report["warnings"]
    [listed] = warning["listed"]
    told = warning["kind"], listed["field"], listed["found"]
    assert told == ("relevance differs", "judgments[0].judgments[0].response.is_relevant", "true")
    assert scores(questions.campaign.conditions.get(name="Judged"), "team.two")["citation_relevance"] == 0


def broken(*path: Any, to: Any) -> Json:
    """Return the line of team.one with something else in a place."""
    line = deepcopy(ONE)
    *places, last = path
    inner: Any = line
    for place in places:
        inner = inner[place]
    inner[last] = to
    return line


OF_FIRST = ("judgments", 0, "judgments")


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        (broken("report", to=[]), "report", "an object with metadata and responses"),
        (broken("judgments", to={}), "judgments", "a list"),
        (broken("report", "metadata", to={}), "report.metadata", "an object with topic_id and run_id"),
        (broken("report", "metadata", "run_id", to=7), "report.metadata.run_id", "an id, as text"),
        (
            broken("report", "metadata", "topic_id", to="t9"),
            "report.metadata.topic_id",
            "a topic of the campaign; load the topics first",
        ),
        (
            broken("report", "metadata", "topic_id", to="t2"),
            "report.metadata.topic_id",
            "a topic whose questions are finished under Questions",
        ),
        (broken("report", "responses", 1, to={}), "report.responses[1]", "an object with text and citations"),
        (broken("report", "responses", 1, "text", to=3), "report.responses[1].text", "text"),
        (
            broken("report", "responses", 1, "citations", to="d1"),
            "report.responses[1].citations",
            "an object of docids, or a list of them",
        ),
        (broken("report", "responses", to=[]), "judgments", "at most 0, as in report.responses"),
        (
            broken("judgments", 0, "text", to="Else."),
            "judgments[0].text",
            "Purring heals the bones of cats., the sentence in report.responses",
        ),
        (broken("judgments", 0, "segment_type", to="clause"), "judgments[0].segment_type", '"sentence"'),
        (broken("judgments", 0, "judgments", to=None), "judgments[0].judgments", "a list"),
        (
            broken(*OF_FIRST, 2, to={}),
            "judgments[0].judgments[2]",
            "an object with judgment_type_id and response",
        ),
        (
            broken(*OF_FIRST, 2, "response", "is_attested", to="yes"),
            "judgments[0].judgments[2].response.is_attested",
            "true or false; leave a judgment out that is missing",
        ),
        (
            broken(*OF_FIRST, 2, "response", to={}),
            "judgments[0].judgments[2].response.is_attested",
            "true or false; leave a judgment out that is missing",
        ),
        (
            broken(*OF_FIRST, 2, "provenance", "doc_id", to="d7"),
            "judgments[0].judgments[2].provenance.doc_id",
            "one of d1, which the sentence cites",
        ),
        (
            broken("judgments", 2, "judgments", 0, "provenance", "doc_id", to="d7"),
            "judgments[2].judgments[0].provenance.doc_id",
            "null: the sentence cites nothing",
        ),
        (broken(*OF_FIRST, 0, to=attested("d1")), "judgments[0].judgments[2]", "each judgment once"),
        (
            broken(*OF_FIRST, 1, "response", to={}),
            "judgments[0].judgments[1].response",
            "the key matched_nuggets",
        ),
        (
            broken(*OF_FIRST, 1, "response", "matched_nuggets", 0, "question_text", to="Who?"),
            "judgments[0].judgments[1].response.matched_nuggets[0].question_text",
            "a question of t1 under Questions",
        ),
        (
            broken(*OF_FIRST, 1, "response", "matched_nuggets", 0, "matched_answer", to=["Fur"]),
            "judgments[0].judgments[1].response.matched_nuggets[0].matched_answer",
            "a gold answer to “What does purring heal?” of t1 under Questions",
        ),
        (
            broken(*OF_FIRST, 1, "response", "matched_nuggets", 0, "matched_answer", to="Bones"),
            "judgments[0].judgments[1].response.matched_nuggets[0].matched_answer",
            "a list of texts",
        ),
    ],
)
def test_what_does_not_fit_is_refused(questions, import_file, line: Json, field: str, expected: str):
    done = import_file(questions.campaign, "argue_judgments", [TWO, line], **FILE)
    assert done.state == "refused"
    [error] = done.report["errors"]
    assert (error["line"], error["field"], error["expected"]) == (2, field, expected)
    assert not ArgueSheet.everything.exists()
    assert not questions.campaign.conditions.filter(name="Judged").exists()


def test_a_report_stands_once_in_a_file(questions: Condition, import_file: Importer):
    done = import_file(questions.campaign, "argue_judgments", [ONE, ONE], **FILE)
    [error] = done.report["errors"]
    assert (error["line"], error["field"], error["expected"]) == (
        2,
        "report.metadata.run_id",
        "each once; it stands on line 1 already",
    )


def test_other_judgments_of_a_report_that_is_there_are_refused(imported: Condition, import_file: Importer):
    line = broken(*OF_FIRST, 2, "response", "is_attested", to=False)
    done = import_file(imported.campaign, "argue_judgments", [line], **FILE)
    [error] = done.report["errors"]
    assert (done.state, error["expected"]) == ("refused", "the same line as Judged has of team.one on t1 already")


def test_the_questions_come_first(reports: Campaign, import_file: Importer):
    done = import_file(reports, "argue_judgments", [ONE], **FILE)
    error = done.report["errors"][0]
    assert (done.state, error["field"], error["expected"]) == (
        "refused",
        "nuggets",
        "the condition of the questions that are asked",
    )


def test_a_stopped_import_leaves_nothing(questions: Condition, import_file: Importer, monkeypatch, olga):
    wrote = ArgueLoader.write

    def write(loader: ArgueLoader, new: Any, import_record: Import) -> None:
        wrote(loader, new, import_record)
        assert ArgueSheet.everything.exists()
        assert not ArgueSheet.objects.exists()
        importer.stop(import_record, person=olga)

    with monkeypatch.context() as patch:
        patch.setattr(ArgueLoader, "write", write)
        done = import_file(questions.campaign, "argue_judgments", [ONE, TWO], **FILE)
    assert done.state == "stopped", done.report
    assert not ArgueJudgment.everything.exists()
    assert not ArgueSheet.everything.exists()
    assert not Condition.everything.filter(name="Judged").exists()
    assert import_file(questions.campaign, "argue_judgments", [ONE, TWO], **FILE).state == "done"


# The shape of a published example: 15 sentences, 14 attested, 11 questions matched, of which two ask for more


def test_a_report_with_questions_that_ask_for_all_answers(campaign: Campaign, import_file: Importer):
    of_bank = [
        question(f"Question {at}?", answer("A", "d1"), answer("B", "d1"), aggregator_type="AND" if at < 2 else "OR")
        for at in range(15)
    ]
    done = import_file(campaign, "questions", [bank(*of_bank)], condition="Questions", by="people")
    assert done.state == "done", done.report
    sentences = [(f"Sentence {at}.", ["d1"]) for at in range(15)]
    matched = [[{"question_text": f"Question {at}?", "matched_answer": ["A"], "importance": None}] for at in range(11)]
    judged = [
        [
            relevance("d1"),
            judgment("SENTENCE_ANSWERS_QUESTION", {"matched_nuggets": matched[at] if at < 11 else []}, "d1"),
            attested("d1", at != 11),
        ]
        for at in range(15)
    ]
    done = import_file(campaign, "argue_judgments", [report("r", judged, sentences=sentences)], **FILE)
    assert done.state == "done", done.report
    found = scores(campaign.conditions.get(name="Judged"), "r")
    assert (found["nugget_coverage"], found["sentence_support"]) == (0.6, 14 / 15)
    assert found["argue_f1"] == pytest.approx(0.7304347826086957, abs=1e-15)
    stated = ArgueJudgment.objects.filter(step="answers", value="yes").values("nugget").distinct()
    assert stated.count() == 11
