"""Scores of answers and runs against arithmetic by hand and against a slow, plain reading of the formulas."""

import math
from fractions import Fraction
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assignment.measures import (
    ABSENT,
    MISSING,
    NOT_SUPPORT,
    NUGGET_SCORES,
    OKAY,
    PARTIAL,
    SUPPORT,
    VITAL,
    answer_scores,
    contributions,
)
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy, run_scores, spread

JSON_KEYS = {
    "vstrict": "strict_vital_score",
    "v": "vital_score",
    "wstrict": "strict_weighted_score",
    "w": "weighted_score",
    "astrict": "strict_all_score",
    "a": "all_score",
}
MEANS = [NUGGET_SCORES.keys.index(key) for key in JSON_KEYS]
LENGTH = NUGGET_SCORES.keys.index("length")
LETTER = {"s": SUPPORT, "p": PARTIAL, "n": NOT_SUPPORT, "?": MISSING}
NAN = math.nan


def scores_of(vital: str, okay: str) -> list[float]:
    labels = [LETTER[letter] for letter in vital + okay]
    return answer_scores(np.array([labels]), [VITAL] * len(vital) + [OKAY] * len(okay))[0, MEANS].tolist()


@pytest.mark.parametrize(
    ("vital", "okay", "expected"),
    [
        ("s", "", (1, 1, 1, 1, 1, 1)),
        ("p", "", (0, 1 / 2, 0, 1 / 2, 0, 1 / 2)),
        ("n", "s", (0, 0, 1 / 3, 1 / 3, 1 / 2, 1 / 2)),
        ("sp", "s", (1 / 2, 3 / 4, 3 / 5, 4 / 5, 2 / 3, 5 / 6)),
        ("spn", "sppn", (1 / 3, 1 / 2, 3 / 10, 1 / 2, 2 / 7, 1 / 2)),
        ("spspp", "n", (2 / 5, 7 / 10, 4 / 11, 7 / 11, 1 / 3, 7 / 12)),
        # No vital nugget: V is 0, and W and A go by the okay ones.
        ("", "spp", (0, 0, 1 / 3, 2 / 3, 1 / 3, 2 / 3)),
        ("nn", "nn", (0, 0, 0, 0, 0, 0)),
        ("", "", (0, 0, 0, 0, 0, 0)),
    ],
)
def test_scores_of_an_answer(vital: str, okay: str, expected: tuple[float, ...]):
    assert scores_of(vital, okay) == pytest.approx(expected, abs=1e-15)


def test_a_missing_label_leaves_all_six_of_its_answer_undefined_and_of_no_other():
    found = answer_scores([[SUPPORT, SUPPORT], [SUPPORT, MISSING], [MISSING, MISSING]], [VITAL, OKAY], [5, 6, 7])
    assert found[0, MEANS].tolist() == [1] * 6
    assert found[0, LENGTH] == 5
    assert np.isnan(found[1:]).all()


def test_without_an_importance_v_and_w_are_undefined_and_a_is_not():
    found = answer_scores([[SUPPORT, PARTIAL], [NOT_SUPPORT, MISSING]], [VITAL, ABSENT])
    by_key = dict(zip(NUGGET_SCORES.keys, found[0].tolist(), strict=True))
    assert all(math.isnan(by_key[key]) for key in ("vstrict", "v", "wstrict", "w"))
    assert (by_key["astrict"], by_key["a"]) == (0.5, 0.75)
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("labels", [[[3]], [[-2]], [[0.5]], [[NAN]]])
def test_a_label_outside_the_vocabulary_is_refused(labels: list[list[float]]):
    with pytest.raises(ValueError, match="labels are whole numbers from -1 to 2"):
        answer_scores(labels, [VITAL])


@pytest.mark.parametrize("importance", [[2], [-2], [0.5]])
def test_an_importance_outside_the_vocabulary_is_refused(importance: list[float]):
    with pytest.raises(ValueError, match="importance are whole numbers from -1 to 1"):
        answer_scores([[SUPPORT]], importance)


def test_as_many_labels_as_nuggets():
    with pytest.raises(ValueError, match=r"\(1, 2\) labels don't fit \(3,\) nuggets"):
        answer_scores([[SUPPORT, SUPPORT]], [VITAL, OKAY, OKAY])


def plainly(labels: list[int], importance: list[int]) -> list[Fraction | None]:
    """The formulas, nugget by nugget."""
    if MISSING in labels:
        return [None] * 6
    found: list[Fraction | None] = []
    for weight in ({VITAL: 1, OKAY: 0}, {VITAL: 1, OKAY: Fraction(1, 2)}, {VITAL: 1, OKAY: 1, ABSENT: 1}):
        for s in ({SUPPORT: 1, PARTIAL: 0, NOT_SUPPORT: 0}, {SUPPORT: 1, PARTIAL: Fraction(1, 2), NOT_SUPPORT: 0}):
            if any(one not in weight for one in importance):
                found.append(None)
                continue
            whole = sum(weight[one] for one in importance)
            part = sum(weight[one] * s[label] for label, one in zip(labels, importance, strict=True))
            found.append(Fraction(part) / whole if whole else Fraction(0))
    return found


def same(found: float, expected: Fraction | float | None) -> bool:
    return math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


@given(st.data(), st.integers(0, 8), st.integers(0, 5))
def test_scores_are_what_the_formulas_say(data: st.DataObject, nuggets: int, answers: int):
    importance = data.draw(st.lists(st.sampled_from([VITAL, OKAY, ABSENT]), min_size=nuggets, max_size=nuggets))
    one = st.lists(st.sampled_from([SUPPORT, PARTIAL, NOT_SUPPORT, MISSING]), min_size=nuggets, max_size=nuggets)
    labels = data.draw(st.lists(one, min_size=answers, max_size=answers))
    found = answer_scores(
        np.array(labels, dtype=np.int8).reshape(answers, nuggets), np.array(importance, dtype=np.int8)
    )
    assert found.shape == (answers, len(NUGGET_SCORES.all))
    for row, said in zip(found[:, MEANS], labels, strict=True):
        assert all(map(same, row, plainly(said, importance)))


# Two runs, three topics, one column: the first answered all, the second only the first two.
SCORES = np.array([[[0.5], [1.0], [0.25]], [[0.5], [0.0], [0.0]]])
STATES = np.array([[COMPLETE] * 3, [COMPLETE, COMPLETE, UNANSWERED]])


def test_what_a_run_did_not_answer_counts_0_or_not_at_all():
    assert run_scores(SCORES, STATES, Policy.ZERO).tolist() == [[1.75 / 3], [0.5 / 3]]
    assert run_scores(SCORES, STATES, Policy.ANSWERED).tolist() == [[1.75 / 3], [0.25]]


def test_an_incomplete_answer_is_in_no_mean_and_no_0():
    states = STATES.copy()
    states[0, 1] = INCOMPLETE
    for policy, expected in ((Policy.ZERO, [[0.375], [0.5 / 3]]), (Policy.ANSWERED, [[0.375], [0.25]])):
        assert run_scores(SCORES, states, policy).tolist() == expected
    # Of the second topic only the other run's 0 is left.
    assert spread(SCORES, states, Policy.ZERO).tolist() == [[0.5 / 3], [0.625 / 3], [0.75 / 3]]


def test_a_measure_that_is_undefined_on_a_topic_leaves_it_out_of_its_own_mean_alone():
    scores = np.array([[[NAN, 0.5, 10], [1.0, 1.0, 20]], [[NAN, 0.0, 0], [0.5, 0.25, 30]]])
    states = np.array([[COMPLETE, COMPLETE], [UNANSWERED, COMPLETE]])
    assert run_scores(scores, states, Policy.ZERO).tolist() == [[1.0, 0.75, 15], [0.5, 0.125, 15]]
    assert spread(scores, states, Policy.ZERO).tolist() == [[0.5, 0.125, 10], [0.75, 0.4375, 15], [1.0, 0.75, 20]]


def test_a_run_with_nothing_that_counts_has_no_score():
    states = np.array([[INCOMPLETE] * 3, [UNANSWERED] * 3])
    assert np.isnan(run_scores(SCORES, states, Policy.ANSWERED)).all()
    assert np.isnan(run_scores(SCORES, states, Policy.ZERO)).tolist() == [[True], [False]]
    assert np.isnan(spread(SCORES, states, Policy.ANSWERED)).all()


def test_there_may_be_no_run_and_no_topic():
    assert run_scores(np.zeros((0, 3, 7)), np.zeros((0, 3)), Policy.ZERO).shape == (0, 7)
    assert np.isnan(spread(np.zeros((0, 3, 7)), np.zeros((0, 3)), Policy.ZERO)).all()
    assert np.isnan(spread(np.zeros((2, 0, 7)), np.zeros((2, 0)), Policy.ZERO)).all()


def test_a_state_outside_the_four_is_refused():
    with pytest.raises(ValueError, match="states are whole numbers from 0 to 3"):
        run_scores(SCORES, STATES + 3, Policy.ZERO)


def of_cells(scores: np.ndarray, states: np.ndarray, policy: Policy) -> list[list[float | None]]:
    """What counts of one column, None where nothing does."""
    counting = (COMPLETE, UNANSWERED) if policy == Policy.ZERO else (COMPLETE,)
    return [
        [None if state not in counting or math.isnan(score) else score for score, state in zip(*both, strict=True)]
        for both in zip(scores.tolist(), states.tolist(), strict=True)
    ]


SIZES = st.tuples(st.integers(1, 5), st.integers(1, 5))
ONE = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0, NAN])


@given(st.data(), SIZES, st.sampled_from(Policy))
def test_means_and_spread_are_what_they_say(data: st.DataObject, size: tuple[int, int], policy: Policy):
    scores = data.draw(hnp.arrays(np.float64, size, elements=ONE))
    states = data.draw(hnp.arrays(np.int8, size, elements=st.sampled_from([UNANSWERED, COMPLETE, INCOMPLETE])))
    cells = of_cells(scores, states, policy)
    of_runs = [[value for value in row if value is not None] for row in cells]
    of_topics = [[value for value in column if value is not None] for column in zip(*cells, strict=True)]
    found = run_scores(scores[..., np.newaxis], states, policy)[:, 0]
    assert all(same(one, mean(row) if row else None) for one, row in zip(found, of_runs, strict=True))
    counted = [topic for topic in of_topics if topic]
    over = spread(scores[..., np.newaxis], states, policy)[:, 0]
    for one, pick in zip(over, (min, median, max), strict=True):
        assert same(one, mean(map(pick, counted)) if counted else None)


def test_the_measures_by_their_names_in_files():
    found = {measure.key: measure.json for measure in NUGGET_SCORES.all}
    assert found | JSON_KEYS | {"length": "length"} == found
    assert NUGGET_SCORES.keys[0] == "vstrict"  # the one by which runs are ranked


def test_length_is_the_answers_words_and_undefined_without_them():
    assert answer_scores([[SUPPORT], [NOT_SUPPORT]], [VITAL], [7, 0])[:, LENGTH].tolist() == [7, 0]
    assert np.isnan(answer_scores([[SUPPORT]], [VITAL])[0, LENGTH])


def test_what_a_label_counts_and_weighs_in_each_mean():
    found = contributions(PARTIAL, OKAY)
    assert [found[key] for key in JSON_KEYS] == [(0, 0), (0.5, 0), (0, 0.5), (0.5, 0.5), (0, 1), (0.5, 1)]
    assert "length" not in found
