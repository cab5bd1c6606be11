"""What becomes of judgments when a bank is finished again, or an answer gets further citations from another file."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.labels.models import Label
from assessor.scores.cache import condition_scores
from assignment.argue.actions import add_lacking_sheets
from assignment.argue.exports import judgment_lines
from assignment.argue.loaders import ArgueLoader
from assignment.argue.models import ArgueSheet, LabelEvent
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.assignment.argue.conftest import FILE, JUDGED_ONE, attested, matches, needs, relevance, report
from tests.conftest import Importer
from tests.nuggets.model import make_model

Json = dict[str, Any]
_LABEL = {"needs": "no"}


@pytest.fixture
def by_model(questions: Condition) -> Condition:
    """A model's condition with a sheet of each report, on which all is answered: no citation is needed."""
    judge = make_model(questions.campaign).judge
    condition = Condition.objects.create(
        campaign=questions.campaign,
        name="Mia",
        kind="argue",
        method="AutoArgue",
        judge=judge,
        nuggets=questions,
        protocol=questions.campaign.protocol,
    )
    assert add_lacking_sheets(condition, list(questions.campaign.topics.all())) == 3
    judge_all(condition)
    return condition


def judge_all(condition: Condition) -> None:
    for sheet in ArgueSheet.objects.filter(condition=condition):
        if sheet.open:
            said = {item: {"label": _LABEL.get(item[-5:], "yes"), "stale": None} for item in sheet.open}
            sheet.revise("judged", said, judge_id=sheet.judge_id)


def finish_again(bank: NuggetBank, change: Callable[[list[Json]], list[Json]]) -> None:
    """Keep another edition, as finishing the bank does, and have all kinds of label follow."""
    [edition] = bank.editions.filter(edition=bank.edition)
    bank.edition += 1
    bank.save(update_fields=["edition"])
    nuggets = change([dict(nugget) for nugget in edition.nuggets])
    BankEdition.objects.create(bank=bank, edition=bank.edition, version=99, nuggets=nuggets)
    kind_named("argue").on_bank_finished(bank)


def one(condition: Condition, tag: str = "team.one") -> ArgueSheet:
    return ArgueSheet.objects.get(condition=condition, answer__run__tag=tag)


def uid_of(text: str) -> str:
    return str(Nugget.objects.get(text=text).uid)


def test_a_reworded_gold_answer_is_asked_again_and_others_stand(by_model: Condition):
    heal, when = uid_of("What does purring heal?"), uid_of("When do cats purr?")
    before = one(by_model)
    assert before.to_do == 0

    def reword(nuggets: list[Json]) -> list[Json]:
        nuggets[1]["gold"][1] = nuggets[1]["gold"][1] | {"text": "In great pain"}
        return nuggets

    finish_again(before.bank, reword)
    sheet = one(by_model)
    again = [f"s0.dd1.n{when}.g2", f"s1.dd1.n{when}.g2"]
    assert (sheet.edition, sheet.open, sheet.stale) == (2, again, dict.fromkeys(again, "yes"))
    assert sheet.labels == {item: label for item, label in before.labels.items() if item not in again}
    assert sheet.labels[f"s0.dd1.n{heal}.g1"] == "yes"
    assert condition_scores(by_model).states.tolist() == [[1], [2], [1]]
    # What a sentence answers by a citation is in no file while one of these judgments is missing.
    assert [len(found) for found in _matches(by_model)] == [0, 1, 0]
    event = LabelEvent.objects.get(sheet=sheet, judgment__key=again[0], edition=2)
    assert (event.verb, event.value_before, event.state) == ("questions changed", "yes", Label.State.OUTDATED)
    judge_all(by_model)
    assert (one(by_model).stale, one(by_model).to_do) == ({}, 0)
    assert [len(found) for found in _matches(by_model)] == [1, 2, 0]


def _matches(condition: Condition) -> list[list[Json]]:
    """Return what each sentence of team one's report answers, as the file says it: of each citation."""
    line = json.loads(next(line for line in judgment_lines(condition) if "team.one" in line))
    kind = "SENTENCE_ANSWERS_QUESTION"
    return [[one for one in segment["judgments"] if one["judgment_type_id"] == kind] for segment in line["judgments"]]


def test_references_say_of_what_is_asked(by_model: Condition):
    heal, when = uid_of("What does purring heal?"), uid_of("When do cats purr?")
    before = one(by_model)

    def move(nuggets: list[Json]) -> list[Json]:
        nuggets[0]["gold"][0] = nuggets[0]["gold"][0] | {"references": [{"docid": "d2"}]}
        return nuggets

    finish_again(before.bank, move)
    sheet = one(by_model)
    gone = {f"s0.dd1.n{heal}.g1", f"s1.dd1.n{heal}.g1"}
    assert sheet.open == [f"s1.dd2.n{heal}.g1"]
    assert sheet.labels == {item: label for item, label in before.labels.items() if item not in gone}
    assert {row.state for item, row in sheet.labels_by_item.items() if item in gone} == {Label.State.REMOVED}
    assert f"s1.dd2.n{when}.g1" in sheet.labels


def test_a_question_that_left_takes_its_judgments_along(by_model: Condition):
    before = one(by_model)
    heal = uid_of("What does purring heal?")
    finish_again(before.bank, lambda nuggets: nuggets[1:])
    sheet = one(by_model)
    assert sheet.to_do == 0
    assert sheet.labels.keys() == {item for item in before.labels if heal not in item}
    assert dict(zip(*_first(by_model), strict=True))["nugget_coverage"] == 1


def _first(condition: Condition) -> tuple[Any, Any]:
    found = condition_scores(condition)
    return found.measures.keys, found.scores[1, 0].tolist()


def test_what_a_file_said_stays_where_its_bank_still_asks(imported: Condition):
    before = one(imported)
    heal = uid_of("What does purring heal?")
    finish_again(before.bank, lambda nuggets: nuggets[1:])
    sheet = one(imported)
    assert sheet.labels == {item: label for item, label in before.labels.items() if heal not in item}
    line = next(line for line in judgment_lines(imported) if "team.one" in line)
    assert "What does purring heal?" not in line
    assert "When do cats purr?" in line


def test_a_file_that_came_while_its_bank_was_finished_again_follows(questions, import_file: Importer, monkeypatch):
    bank, wrote = NuggetBank.objects.get(condition=questions), ArgueLoader.write

    def write(loader: ArgueLoader, new: Any, import_record: Any) -> None:
        wrote(loader, new, import_record)
        finish_again(bank, lambda nuggets: nuggets[1:])

    with monkeypatch.context() as patch:
        patch.setattr(ArgueLoader, "write", write)
        done = import_file(questions.campaign, "argue_judgments", [report("team.one", JUDGED_ONE)], **FILE)
    assert done.state == "done", done.report
    sheet = ArgueSheet.objects.get()
    assert (sheet.edition, sheet.to_do) == (2, 0)
    assert not [item for item in sheet.asked if uid_of("What does purring heal?") in item]


CITES = [("Cats purr to heal bones.", ["d1"])]


@pytest.fixture
def from_support(questions: Condition, import_file: Importer, by_model: Condition) -> Condition:
    """A run of which a file of judgments brought the report, with a sheet of the model's condition."""
    line = report("team.new", [[relevance("d1"), matches("d1"), attested("d1")]], sentences=CITES)
    assert import_file(questions.campaign, "argue_judgments", [line], **FILE).state == "done"
    assert add_lacking_sheets(by_model, list(questions.campaign.topics.all())) == 1
    judge_all(by_model)
    return by_model


def test_further_citations_are_asked_about(from_support: Condition, import_file: Importer):
    before = one(from_support, "team.new")
    line = report(
        "team.new",
        [[relevance("d1"), attested("d1"), relevance("d9", False), attested("d9")]],
        sentences=[(CITES[0][0], ["d1", "d9"])],
    )
    done = import_file(from_support.campaign, "argue_judgments", [line], **FILE | {"condition": "Other"})
    assert done.state == "done", done.report
    assert done.report["counts"]["citations joined"] == 1
    sheet = one(from_support, "team.new")
    assert sheet.open == ["s0.dd9.attests"]
    assert sheet.labels == before.labels


def test_a_text_that_got_its_sentences_is_asked_anew(by_model: Condition, import_file: Importer):
    campaign: Campaign = by_model.campaign
    nugget = {"text": "purring heals", "importance": "vital", "assignment": "support"}
    line = {
        "query": "why",
        "qid": "t1",
        "run_id": "team.text",
        "answer_text": "Cats purr. It heals.",
        "nuggets": [nugget],
    }
    line["response_length"] = 4
    assert import_file(campaign, "assignments", [line], condition="A", by="model").state == "done"
    assert add_lacking_sheets(by_model, list(Topic.objects.filter(campaign=campaign))) == 1
    judge_all(by_model)
    assert set(one(by_model, "team.text").labels) == {"s0.needs"}
    sentences = [("Cats purr.", []), ("It heals.", ["d1"])]
    judged = report("team.text", [[needs(False)], [relevance("d1"), attested("d1")]], sentences=sentences)
    done = import_file(campaign, "argue_judgments", [judged], **FILE)
    assert done.state == "done", done.report
    sheet = one(by_model, "team.text")
    assert (sheet.labels, sheet.open[:2]) == ({}, ["s0.needs", "s1.dd1.attests"])
