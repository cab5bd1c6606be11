"""Support scores of answers against arithmetic by hand and against a slow, plain reading of the formulas."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.measures import (
    FULL,
    MISSING,
    NONE,
    NOT_JUDGED,
    PARTIAL,
    SUPPORT_SCORES,
    answer_scores,
    contributions,
    scores_of,
)

LETTER = {"f": FULL, "p": PARTIAL, "n": NONE, "-": NOT_JUDGED, "?": MISSING}


def of(*sentences: str) -> list[list[int]]:
    """Return an answer; each sentence is a letter for the label of each of its citations."""
    return [[LETTER[letter] for letter in sentence] for sentence in sentences]


def test_the_measures_by_name():
    assert (
        *("weighted_precision", "weighted_recall", "hard_precision", "hard_recall"),
        *("weighted_precision_all", "weighted_recall_all", "hard_precision_all", "hard_recall_all"),
    ) == SUPPORT_SCORES.keys


@pytest.mark.parametrize(
    ("answer", "on_first", "on_all"),
    [
        # The example of arXiv 2504.15205, section 3.4.
        (of("p", "f", ""), (3 / 4, 1 / 2, 1 / 2, 1 / 3), (3 / 4, 1 / 2, 1 / 2, 1 / 3)),
        # One not worth verifying leaves both denominators; the third is none on its first citation, a half on both.
        (of("f", "p", "nf", "-", ""), (1 / 2, 3 / 8, 1 / 3, 1 / 4), (2 / 3, 1 / 2, 1 / 2, 3 / 8)),
        (of("f"), (1, 1, 1, 1), (1, 1, 1, 1)),
        (of("n", "n"), (0, 0, 0, 0), (0, 0, 0, 0)),
        (of("pff"), (1 / 2, 1 / 2, 0, 0), (5 / 6, 5 / 6, 2 / 3, 2 / 3)),
        # What is not judged is in no mean; on the first it takes the sentence along, on all the others stay.
        (of("-f", "p"), (1 / 2, 1 / 2, 0, 0), (3 / 4, 3 / 4, 1 / 2, 1 / 2)),
        (of("f-n", ""), (1, 1 / 2, 1, 1 / 2), (1 / 2, 1 / 4, 1 / 2, 1 / 4)),
        (of("--", "f"), (1, 1, 1, 1), (1, 1, 1, 1)),
        # Nothing cited, nothing said, nothing left.
        (of("", ""), (0, 0, 0, 0), (0, 0, 0, 0)),
        (of(), (0, 0, 0, 0), (0, 0, 0, 0)),
        (of("-", "--"), (0, 0, 0, 0), (0, 0, 0, 0)),
        (of("-", ""), (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
)
def test_scores_of_an_answer(answer: list[list[int]], on_first: tuple[float, ...], on_all: tuple[float, ...]):
    assert scores_of([answer])[0] == pytest.approx((*on_first, *on_all), abs=1e-15)


def test_a_missing_label_leaves_all_eight_of_its_answer_undefined_and_of_no_other():
    found = scores_of([of("f", ""), of("f", "f?"), of("?"), of("p")])
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, False]
    assert found[[0, 3], 0].tolist() == [1, 0.5]
    assert not np.isnan(found[[0, 3]]).any()


def test_a_sentence_that_is_left_out_leaves_recall_where_it_cites_nothing_and_only_there():
    labels, sentence, answer = [FULL, NONE], [0, 2], [0, 0, 0, 0]  # the second and the last sentence cite nothing
    found = answer_scores(labels, sentence, answer, left_out=[False, True, True, False])
    assert found[0] == pytest.approx((1 / 2, 1 / 3) * 4)
    assert answer_scores(labels, sentence, answer)[0] == pytest.approx((1 / 2, 1 / 4) * 4)
    assert answer_scores([], [], [0], left_out=[True])[0].tolist() == [0] * 8
    with pytest.raises(ValueError, match=r"left_out of \(1,\) doesn't fit \(4,\) sentences"):
        answer_scores(labels, sentence, answer, left_out=[True])


def test_there_may_be_no_answer_and_the_last_ones_may_be_empty():
    assert scores_of([]).shape == (0, 8)
    assert answer_scores([], [], []).shape == (0, 8)
    assert answer_scores([FULL], [0], [1], 4)[:, 0].tolist() == [0, 1, 0, 0]
    assert answer_scores([FULL], [0], [1])[:, 0].tolist() == [0, 1]


@pytest.mark.parametrize("label", [3, -3, 0.5, math.nan])
def test_a_label_outside_the_vocabulary_is_refused(label: float):
    with pytest.raises(ValueError, match="labels are whole numbers from -2 to 2"):
        answer_scores([label], [0], [0])


@pytest.mark.parametrize(
    ("labels", "sentence", "answer", "told"),
    [
        ([FULL, FULL], [0], [0], r"\(2,\) labels don't fit \(1,\) sentences' numbers"),
        ([FULL], [1], [0], "sentences of citations are numbers from 0 to 0, in order"),
        ([FULL], [-1], [0], "sentences of citations are numbers from 0 to 0, in order"),
        ([FULL, FULL], [1, 0], [0, 0], "sentences of citations are numbers from 0 to 1, in order"),
        ([FULL, FULL], [0, 1], [1, 0], "answers of sentences are numbers from 0 to 1, in order"),
        ([FULL], [0], [2], "answers of sentences are numbers from 0 to 1, in order"),
        ([], [], [-1], "answers of sentences are numbers from 0 to 1, in order"),
    ],
)
def test_numbers_that_are_out_of_order_or_of_nothing_are_refused(
    labels: list[int], sentence: list[int], answer: list[int], told: str
):
    with pytest.raises(ValueError, match=told):
        answer_scores(labels, sentence, answer, 2)


def plainly(answer: list[list[int]]) -> list[Fraction | None]:
    """The formulas, sentence by sentence."""
    if any(MISSING in labels for labels in answer):
        return [None] * 8
    found: list[Fraction | None] = []
    for most in (1, len(LETTER) * 10):
        for s in ({FULL: 1, PARTIAL: Fraction(1, 2), NONE: 0}, {FULL: 1, PARTIAL: 0, NONE: 0}):
            weights, sentences = [], 0
            for labels in answer:
                judged = [s[label] for label in labels[:most] if label != NOT_JUDGED]
                if judged:
                    weights.append(Fraction(sum(judged)) / len(judged))
                if judged or not labels:
                    sentences += 1
            found += [Fraction(sum(weights)) / size if size else Fraction(0) for size in (len(weights), sentences)]
    return found


LABELS = st.lists(st.sampled_from([FULL, PARTIAL, NONE, NONE, NOT_JUDGED]), max_size=4)
RARELY_MISSING = st.one_of(LABELS, LABELS, LABELS, st.lists(st.sampled_from([FULL, MISSING]), max_size=2))


@given(st.lists(st.lists(RARELY_MISSING, max_size=6), max_size=6))
def test_scores_are_what_the_formulas_say(answers: list[list[list[int]]]):
    found = scores_of(answers)
    assert found.shape == (len(answers), len(SUPPORT_SCORES.all))
    for figures, answer in zip(found.tolist(), answers, strict=True):
        for figure, expected in zip(figures, plainly(answer), strict=True):
            assert math.isnan(figure) if expected is None else figure == pytest.approx(float(expected), abs=1e-12)


def test_what_a_label_counts_and_weighs_in_its_sentence():
    found = contributions(PARTIAL, is_first=False, judged=4)
    assert found["weighted_precision"] == found["weighted_recall"] == (0.5, 0)
    assert found["hard_precision"] == (0, 0)
    assert found["weighted_recall_all"] == (0.5, 0.25)
    assert found["hard_precision_all"] == (0, 0.25)
    assert contributions(FULL, is_first=True, judged=2)["hard_recall"] == (1, 1)
