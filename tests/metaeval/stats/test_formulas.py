"""Descriptive statistics and scores of other evaluations, against worked examples."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.descriptive import describe_nuggets, mean, shares, topic_means
from metaeval.stats.formulas import coverage, f1, nugget_f, pyramid_recall
from metaeval.stats.statistic import Statistic


def test_nuggets_are_described():
    found = describe_nuggets([7, 7, 7, 9], [4, 6, 8, 10], [True, False, math.nan, True])
    assert (found.topics, found.nuggets) == (2, 4)
    assert (found.per_topic, found.words, found.vital) == (Statistic(2, 2), Statistic(7, 4), Statistic(2 / 3, 3))


def test_no_nuggets_have_no_means():
    found = describe_nuggets([], [], [])
    assert (found.topics, found.nuggets) == (0, 0)
    assert {found.per_topic, found.words} == {Statistic(None, 0, "there are none")}
    assert describe_nuggets([1], [2], [math.nan]).vital == Statistic(None, 0, "none has importance")


def test_lists_of_unequal_length_describe_nothing():
    with pytest.raises(ValueError, match="three lists of equal length"):
        describe_nuggets([1, 2], [1, 2], [True])


def test_shares_and_means():
    assert shares([0, 2, 2, 2], 3) == [Statistic(0.25, 4), Statistic(0, 4), Statistic(0.75, 4)]
    assert shares([], 2) == [Statistic(None, 0, "there are none")] * 2
    assert mean([1, math.nan, 4]) == Statistic(2.5, 2)
    found = topic_means([[1, math.nan, math.nan], [2, 5, math.nan]])
    assert found[:2].tolist() == [1.5, 5]
    assert math.isnan(found[2])


def test_f1_is_the_harmonic_mean():
    found = f1([0.75, 0, 1, 0.5], [0.5, 0, 0, math.nan])
    assert found[:3].tolist() == [pytest.approx(0.6), 0, 0]
    assert math.isnan(found[3])


@given(st.floats(0, 1), st.floats(0, 1))
def test_f1_lies_between_its_scores_and_is_symmetric(one: float, other: float):
    found = float(f1(one, other))
    assert found == float(f1(other, one))
    assert min(one, other) - 1e-12 <= found <= max(one, other) + 1e-12


@pytest.mark.parametrize(
    ("vital", "okay", "all_vital", "length", "beta", "expected"),
    [
        (3, 2, 5, 450, 3, 0.625),
        (3, 2, 5, 1000, 3, 0.5882352941),
        (3, 2, 5, 1000, 5, 0.5954198473),
        (0, 4, 5, 300, 3, 0),
        (5, 0, 5, 500, 3, 1),
        (0, 0, 4, 200, 3, 0),
        (2, 1, 4, 300, 5, 0.5098039216),
    ],
)
def test_nugget_f(vital: int, okay: int, all_vital: int, length: int, beta: float, expected: float):
    assert nugget_f(vital / all_vital, vital + okay, length, beta) == pytest.approx(expected, abs=5e-11)


def test_an_empty_answer_has_no_nugget_f():
    assert nugget_f(0, 0, 0) == 0


@pytest.mark.parametrize(
    ("found", "length", "recall", "expected"),
    [([0, 2], 250, 0.6315789474, 0.6451612903), ([1], 100, 0.3157894737, 0.3389830508), ([0, 1, 2, 3], 400, 1, 1)],
)
def test_pyramid_f(found: list[int], length: int, recall: float, expected: float):
    of_pyramid = pyramid_recall([9, 6, 3, 1], found)
    assert of_pyramid == pytest.approx(recall, abs=5e-11)
    assert nugget_f(of_pyramid, len(found), length) == pytest.approx(expected, abs=5e-11)
    assert pyramid_recall([0, 0], [1]) == 0


def test_coverage_micro_and_macro_of_a_published_report():
    # The example report of hltcoe/argue-viz, by topic; its six totals.
    sentences = [15, 10, 10, 12, 11, 18, 11, 10, 11, 15, 14, 18, 17, 13, 17, 19, 19, 13, 10]
    supported = [14, 10, 9, 12, 10, 16, 10, 10, 11, 14, 13, 18, 17, 12, 17, 18, 18, 12, 10]
    nuggets = [15, 10, 10, 12, 11, 19, 11, 10, 10, 15, 15, 18, 17, 13, 19, 19, 19, 13, 10]
    covered = [9, 7, 6, 8, 6, 15, 10, 6, 8, 14, 10, 13, 10, 7, 13, 16, 17, 12, 6]
    micro, macro = coverage(supported, sentences, covered, nuggets)
    assert micro == pytest.approx((0.9543726235741445, 0.7255639097744361, 0.8243863007870667), abs=1e-12)
    assert macro == pytest.approx((0.9549052363456795, 0.7159860218357855, 0.8108727761893327), abs=1e-12)


def test_a_topic_without_nuggets_has_no_coverage_and_no_f1():
    micro, macro = coverage([1, 2], [1, 4], [0, 1], [0, 2])
    assert micro == pytest.approx((3 / 5, 1 / 2, 6 / 11))
    assert macro == pytest.approx((3 / 4, 1 / 4, 1 / 4))
