"""Questions on t1 whose gold answers have references, and runs whose reports are judged against them."""

from typing import Any

import pytest

from assessor.campaigns.models import Campaign, Condition
from tests.conftest import Importer
from tests.questions.banks import answer, bank, question

Json = dict[str, Any]

# d1 is a reference of "Bones" and "In pain", d2 of "When content"; "Yes" has none.
HEAL = question("What does purring heal?", answer("Bones", "d1"), importance="vital")
WHEN = question(
    "When do cats purr?",
    answer("When content", "d2"),
    answer("In pain", "d1"),
    importance="okay",
    aggregator_type="AND",
)
KITTENS = question("Do kittens purr?", answer("Yes"))
BANK = bank(HEAL, WHEN, KITTENS)

# Of each run its sentences on t1, each with what it cites.
REPORTS = {
    "team.one": [
        ("Purring heals the bones of cats.", ["d1"]),
        ("Content cats purr, and so do cats in pain.", ["d1", "d2"]),
        ("Some purr at night.", []),
    ],
    "team.two": [("Dogs bark.", ["d9"])],
    "team.empty": [],
}
FILE = {"condition": "Judged", "nuggets": "Questions", "by": "model"}


def run_line(tag: str, sentences: list[tuple[str, list[str]]], qid: str = "t1") -> Json:
    """Return a line of a run file."""
    references = list(dict.fromkeys(docid for _, docids in sentences for docid in docids))
    return {
        "run_id": tag,
        "topic_id": qid,
        "topic": qid,
        "references": references,
        "response_length": len(" ".join(text for text, _ in sentences).split()),
        "answer": [
            {"text": text, "citations": [references.index(docid) for docid in docids]} for text, docids in sentences
        ],
    }


@pytest.fixture
def reports(campaign: Campaign, import_file: Importer) -> Campaign:
    """The campaign with three runs, one of which says nothing."""
    for tag, sentences in REPORTS.items():
        done = import_file(campaign, "runs", [run_line(tag, sentences)], name=tag)
        assert done.state == "done", done.report
    return campaign


@pytest.fixture
def questions(reports: Campaign, import_file: Importer) -> Condition:
    done = import_file(reports, "questions", [BANK], condition="Questions", by="people")
    assert done.state == "done", done.report
    return reports.conditions.get(name="Questions")


# Judgments as files have them


def judgment(kind: str, response: Json, docid: str | None, evaluator: str = "m") -> Json:
    return {
        "judgment_type_id": kind,
        "response": {"judgment_type_id": kind, **response},
        "evaluator": evaluator,
        "provenance": {"doc_id": docid, "sentence": None, "run_id": None, "sent_id": None},
    }


def relevance(docid: str, is_relevant: bool = True) -> Json:
    return judgment("CITED_DOCUMENT_RELEVANCE", {"doc_id": docid, "is_relevant": is_relevant}, docid, "null")


def attested(docid: str, is_attested: bool = True) -> Json:
    return judgment("SENTENCE_ATTESTED", {"is_attested": is_attested}, docid)


def matches(docid: str | None, **answers: list[str]) -> Json:
    """Return which questions are answered. answers: of the questions, by HEAL, WHEN or KITTENS in small letters."""
    texts = {"heal": HEAL, "when": WHEN, "kittens": KITTENS}
    matched = [
        {
            "question_text": texts[name]["question"],
            "matched_answer": found,
            "importance": texts[name].get("importance"),
        }
        for name, found in answers.items()
    ]
    return judgment("SENTENCE_ANSWERS_QUESTION", {"matched_nuggets": matched}, docid)


def needs(value: bool) -> Json:
    return judgment("REQUIRES_CITATION", {"requires_citation": value}, None)


def first(value: bool) -> Json:
    return judgment("FIRST_INSTANCE", {"is_first_instance": value}, None)


def negative(value: bool) -> Json:
    return judgment("NEGATIVE_ASSERTION", {"is_negative_assertion": value}, None)


def segment(text: str, docids: list[str], *judgments: Json) -> Json:
    return {
        "segment_type": "sentence",
        "text": text,
        "citations": [{"doc_id": docid, "text": f"Title: {docid}\n\nContent: x"} for docid in docids],
        "judgments": list(judgments),
    }


def report(tag: str, judged: list[list[Json]], qid: str = "t1", sentences: Any = None, **more: Any) -> Json:
    """Return a line of a file of judgments. judged: the judgments of each sentence that is judged."""
    given = REPORTS[tag] if sentences is None else sentences
    return {
        "report": {
            "metadata": {"team_id": "team", "topic_id": qid, "run_id": tag, "collection_ids": ["c"]},
            "responses": [{"text": text, "citations": dict.fromkeys(docids, 80.0)} for text, docids in given],
            "references": sorted({docid for _, docids in given for docid in docids}),
        },
        "judgments": [segment(*sentence, *found) for sentence, found in zip(given, judged, strict=False)],
        **more,
    }


# The sentences of team.one: the first answers its question, the second one of two answers, the third needs a citation.
JUDGED_ONE = [
    [relevance("d1"), matches("d1", heal=["Bones"]), attested("d1")],
    [
        relevance("d1"),
        matches("d1", when=["In pain"]),
        attested("d1"),
        relevance("d2"),
        matches("d2"),
        attested("d2", False),
    ],
    [needs(True), first(True)],
]
ONE = report("team.one", JUDGED_ONE)
TWO = report("team.two", [[relevance("d9", False), attested("d9", False)]])
EMPTY = report("team.empty", [])


@pytest.fixture
def imported(questions: Condition, import_file: Importer) -> Condition:
    """Judgments of all three reports from a file."""
    done = import_file(questions.campaign, "argue_judgments", [ONE, TWO, EMPTY], **FILE)
    assert done.state == "done", done.report
    return questions.campaign.conditions.get(name="Judged")
