"""What is asked of sentences, and what counts: the measures of AUTO-ARGUE against published figures and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assessor.campaigns.report_length import characters, within_limit
from assignment.argue.measures import (
    ALL,
    AND,
    ANY,
    ARGUE_SCORES,
    CITATION,
    FORMULAS,
    OPEN,
    REFERENCES,
    WHERE_KNOWN,
    Answer,
    Citation,
    Counts,
    Gold,
    Judgment,
    Question,
    Sentence,
    asked,
    counted,
    counts_of,
    is_answered,
    joined,
    pooled,
    relevant,
    stated,
    weights,
)

# Of the published example run: sentences that cite or should, supported ones, questions, answered ones, by topic.
EXAMPLE = [
    *((15, 14, 15, 9), (10, 10, 10, 7), (10, 9, 10, 6), (12, 12, 12, 8), (11, 10, 11, 6), (18, 16, 19, 15)),
    *((11, 10, 11, 10), (10, 10, 10, 6), (11, 11, 10, 8), (15, 14, 15, 14), (14, 13, 15, 10), (18, 18, 18, 13)),
    *((17, 17, 17, 10), (13, 12, 13, 7), (17, 17, 19, 13), (19, 18, 19, 16), (19, 18, 19, 17), (13, 12, 13, 12)),
    (10, 10, 10, 6),
]
NUMBERS = dict.fromkeys(
    ("sentences", "supported", "citations", "relevant", "supporting", "nuggets", "weight", "correct", "correct_weight"),
    0.0,
)


def numbers(**given: float) -> Counts:
    return Counts(**(NUMBERS | given))


def example() -> list[Counts]:
    return [
        numbers(sentences=one, supported=two, nuggets=three, correct=four, weight=three, correct_weight=four)
        for one, two, three, four in EXAMPLE
    ]


def test_the_published_aggregates_come_out():
    micro, macro = pooled(joined(example())), joined(example())
    found = [
        float(formula(of).mean())
        for of in (micro, macro)
        for formula in (FORMULAS["sentence_support"], FORMULAS["nugget_coverage"], FORMULAS["f1"])
    ]
    assert found == pytest.approx(
        [
            *(0.9543726235741445, 0.7255639097744361, 0.8243863007870667),
            *(0.9549052363456795, 0.7159860218357855, 0.8108727761893327),
        ],
        abs=1e-12,
    )
    assert found[5] != pytest.approx(2 * found[3] * found[4] / (found[3] + found[4]), abs=1e-4)  # no F1 of means


BONES = Question("q1", (Gold("g1", frozenset({"d1"})), Gold("g2", frozenset({"d2"}))), "OR", "vital")
BOTH = Question("q2", (Gold("g1", frozenset({"d1"})), Gold("g2", frozenset())), AND, "okay")
OPEN_ENDED = Question("q3", ())
BANK = [BONES, BOTH, OPEN_ENDED]


@pytest.mark.parametrize(
    ("gate", "kept", "of_d1", "of_d9"),
    [
        (REFERENCES, {"q1": "g1 g2", "q2": "g1"}, "q1.g1 q2.g1", ""),
        (OPEN, {"q1": "g1 g2", "q2": "g1 g2"}, "q1.g1 q1.g2 q2.g1 q2.g2", "q1.g1 q1.g2 q2.g1 q2.g2"),
        (WHERE_KNOWN, {"q1": "g1 g2", "q2": "g1 g2"}, "q1.g1 q2.g1 q2.g2", "q2.g2"),
    ],
)
def test_the_gate_says_what_counts_and_what_is_asked(gate: str, kept: dict[str, str], of_d1: str, of_d9: str):
    questions = counted(BANK, gate)
    assert {one.key: " ".join(gold.id for gold in one.gold) for one in questions} == kept
    assert " ".join(map(".".join, asked(questions, "d1", gate))) == of_d1
    assert " ".join(map(".".join, asked(questions, "d9", gate))) == of_d9
    assert relevant(questions) == {"d1", "d2"}


@pytest.mark.parametrize(
    ("aggregator", "answers", "expected"),
    [
        ("OR", "", False),
        ("OR", "g2", True),
        ("", "g1", True),
        ("AND", "g1", False),
        ("AND", "g1 g2", True),
    ],
)
def test_a_question_asks_for_any_answer_or_for_all(aggregator: str, answers: str, expected: bool):
    given = {("q1", one) for one in answers.split()} | {("q9", "g1")}
    assert is_answered(BONES._replace(aggregator=aggregator), given) is expected


def test_what_questions_weigh():
    vital, okay, none = BONES, BOTH, OPEN_ENDED
    assert weights([vital, okay]) == [2, 1]
    assert weights([vital, okay, none]) == [2, 1, 0]
    assert weights([none, none._replace(key="q4")]) == [1, 1]


ANSWER: Answer = ("q1", "g1")


@pytest.mark.parametrize(
    ("match", "attests", "expected"),
    [
        *((CITATION, (True, False), {ANSWER}), (CITATION, (False, True), set()), (CITATION, (None, True), None)),
        *((ALL, (True, True), {ANSWER}), (ALL, (True, False), set()), (ALL, (True, None), None)),
        *((ANY, (False, False), {ANSWER}), (ANY, (None, None), {ANSWER})),
    ],
)
def test_where_a_stated_answer_counts(match: str, attests: tuple[Judgment, Judgment], expected: set[Answer] | None):
    sentence = Sentence((Citation("d1", attests[0], {ANSWER: True}), Citation("d2", attests[1])))
    assert stated([sentence], match) == expected


def test_answers_of_all_sentences_are_taken_together():
    one = Sentence((Citation("d1", True, {("q2", "g1"): True}),))
    other = Sentence((Citation("d1", True, {("q2", "g2"): True}),))
    found = [counts_of(sentences, [BOTH], CITATION).correct for sentences in ([one], [other], [one, other])]
    assert found == [0, 0, 1]


def judged(sentences: list[Sentence]) -> tuple[float, float]:
    found = counts_of(sentences, [BONES], CITATION)
    return float(found.sentences), float(found.supported)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (Sentence((Citation("d1", True), Citation("d9", True))), (1, 1)),
        (Sentence((Citation("d1", True), Citation("d9", False))), (1, 0)),
        (Sentence(needs=True, first=True), (1, 0)),
        (Sentence(needs=True, first=False), (0, 0)),
        (Sentence(needs=False), (0, 0)),
        (Sentence(negative=True, answers={ANSWER: True}), (0, 0)),
        (Sentence(negative=True, answers={ANSWER: False}), (1, 0)),
        (Sentence(negative=True, needs=True, first=True, answers={ANSWER: True}), (0, 0)),
    ],
)
def test_which_sentences_count_as_supported(sentence: Sentence, expected: tuple[float, float]):
    assert judged([sentence]) == expected


def test_a_claim_of_absence_that_is_confirmed_answers_its_question():
    sentence = Sentence(negative=True, answers={ANSWER: True})
    assert counts_of([sentence], [BONES], CITATION).correct == 1
    assert counts_of([sentence._replace(negative=False)], [BONES], CITATION).correct == 0


def scores(sentences: list[Sentence]) -> list[float]:
    found = ARGUE_SCORES.score(joined([counts_of(sentences, [BONES, BOTH], CITATION)]))
    assert ARGUE_SCORES.keys[:3] == ("argue_f1", "sentence_support", "nugget_coverage")
    return [float(one) for one in found[0]]


def test_scores_of_a_report():
    cited = Sentence((Citation("d1", True, {ANSWER: True, ("q2", "g1"): True}), Citation("d9", False)))
    found = scores([cited, Sentence((Citation("d2", True, {("q1", "g2"): True}),)), Sentence(needs=True, first=True)])
    support, coverage, weighted = 1 / 3, 1 / 2, 2 / 3
    assert found == pytest.approx(
        [
            2 * support * coverage / (support + coverage),
            support,
            coverage,
            2 * support * weighted / (support + weighted),
            weighted,
            2 / 3,
            2 / 3,
        ]
    )


def test_an_empty_report_is_0_on_all():
    assert scores([]) == [0] * 7


NAN = math.nan


@pytest.mark.parametrize(
    ("sentence", "lacking"),
    [
        (Sentence((Citation("d1", None, {ANSWER: True}),)), [True] * 6 + [False]),
        (Sentence((Citation("d1", True, {ANSWER: None}),)), [True, False, True, True, True, False, False]),
        (Sentence(needs=None), [True, True, False, True, False, False, False]),
        (Sentence(needs=True, first=None), [True, True, False, True, False, False, False]),
        (Sentence(negative=None), [True, True, False, True, False, False, False]),
    ],
)
def test_a_missing_judgment_leaves_the_scores_that_need_it_undefined(sentence: Sentence, lacking: list[bool]):
    assert np.isnan(scores([sentence, Sentence((Citation("d2", True),))])).tolist() == lacking


@pytest.mark.parametrize(("limit", "kept"), [(0, 3), (3, 0), (4, 1), (9, 2), (10, 2), (11, 3)])
def test_a_report_is_cut_at_the_end_of_a_sentence(limit: int, kept: int):
    texts = ["Cats", "purr.", "\ufb01"]  # a ligature of two letters
    assert [characters(text) for text in texts] == [4, 5, 2]
    assert within_limit(texts, limit) == kept


# At random, against a reading of the rules that is written apart from the product

_docids = st.sampled_from(["d1", "d2", "d3"])
_gold = st.lists(st.frozensets(_docids, max_size=2), max_size=3)
_questions = st.lists(st.tuples(_gold, st.sampled_from(["OR", "AND", ""])), max_size=4)
_citations = st.lists(st.tuples(_docids, st.booleans()), max_size=3, unique_by=lambda one: one[0])
_gates, _matches = st.sampled_from([REFERENCES, OPEN, WHERE_KNOWN]), st.sampled_from([CITATION, ALL, ANY])


def expected(
    bank: list[tuple[list[frozenset[str]], str]],
    report: list[list[tuple[str, bool]]],
    gate: str,
    match: str,
    states: set[tuple[int, int, int]],
) -> tuple[int, int]:
    """Return how many questions count and how many are answered. states: (sentence, question, gold answer)."""
    number = answered = 0
    for question, (gold, aggregator) in enumerate(bank):
        usable = [at for at, references in enumerate(gold) if gate != "references" or len(references) > 0]
        if not usable:
            continue
        number += 1
        matched = 0
        for at in usable:
            hit = False
            for place, cited in enumerate(report):
                for docid, attests in cited:
                    may_ask = gate == "open" or docid in gold[at] or (gate == "where_known" and gold[at] == frozenset())
                    ok = attests if match == "citation" else all(a for _, a in cited) if match == "all" else True
                    hit = hit or (may_ask and ok and (place, question, at) in states)
            matched += hit
        answered += matched == len(usable) if aggregator == "AND" else matched > 0
    return number, answered


@given(_questions, st.lists(_citations, max_size=4), _gates, _matches, st.randoms(use_true_random=False))
def test_the_rules_hold_for_any_report(bank, report, gate, match, chance):
    states = {
        (place, question, at)
        for place in range(len(report))
        for question, (gold, _) in enumerate(bank)
        for at in range(len(gold))
        if chance.random() < 0.6
    }
    questions = counted(
        [
            Question(f"q{number}", tuple(Gold(f"g{at}", docids) for at, docids in enumerate(gold)), aggregator)
            for number, (gold, aggregator) in enumerate(bank)
        ],
        gate,
    )
    sentences = [
        Sentence(
            tuple(
                Citation(
                    docid,
                    attests,
                    {
                        (key, gold): (place, int(key[1:]), int(gold[1:])) in states
                        for key, gold in asked(questions, docid, gate)
                    },
                )
                for docid, attests in cited
            )
        )
        for place, cited in enumerate(report)
    ]
    found = counts_of(sentences, questions, match)
    assert (found.nuggets, found.correct) == expected(bank, report, gate, match, states)
