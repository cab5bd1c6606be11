"""Agreement of rankings against published and worked examples, and against other implementations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.stats.correlation import (
    CONSTANT,
    TOO_FEW,
    Drop,
    kendall_tau,
    largest_drop,
    pearson,
    rbo,
    spearman,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
    taus,
)
from metaeval.stats.statistic import Statistic

NAN = math.nan
SYMMETRIC = [kendall_tau, pearson, spearman, tau_ap_b]


@pytest.mark.parametrize(
    ("x", "y", "tau"),
    [
        ([1, 2, 3, 4, 5], [3, 1, 2, 5, 4], 0.4),
        ([1, 2, 3, 4, 5], [1, 1, 2, 3, 3], 0.894427191),
        ([1, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 4], 0.8461538462),
        ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], 1),
        ([0.1, 0.2, 0.3], [0.6, 0.5, 0.4], -1),
        ([1, 2], [2, 1], -1),
    ],
)
def test_tau_b_of_worked_examples(x: list[float], y: list[float], tau: float):
    found = kendall_tau(x, y)
    assert found.value == pytest.approx(tau, abs=5e-11)
    assert found.n == len(x)


# Three sets of the tests of an R package by the authors of tau_AP's variants (julian-urbano/ircor); the last two lists
# are the first two, rounded, with ties.
SETS = {
    "close": (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
    ),
    "far": (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
    ),
    "opposite": (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
    ),
}


@pytest.mark.parametrize(
    ("name", "tau", "ap", "b", "tied_tau", "tied_a", "tied_b"),
    [
        ("close", 0.9111111111, 0.8518518519, 0.8333333333, 0.9398272508, 0.7453703704, 0.7321428571),
        ("far", 0.2888888889, 0.2503527337, 0.2880070547, 0.3764966443, 0.2691798942, 0.2969576720),
        ("opposite", -0.6888888889, -0.6970899471, -0.6679894180, -0.6510278099, -0.5558201058, -0.7046957672),
    ],
)
def test_tau_ap_and_its_variants_with_ties_of_published_examples(
    name: str, tau: float, ap: float, b: float, tied_tau: float, tied_a: float, tied_b: float
):
    x, y, x_tied, y_tied = SETS[name]
    found = [
        kendall_tau(x, y),
        tau_ap(x, y),
        tau_ap_b(x, y),
        kendall_tau(x_tied, y_tied),
        tau_ap_a(x, y_tied),
        tau_ap_b(x_tied, y_tied),
    ]
    assert [value.value for value in found] == pytest.approx([tau, ap, b, tied_tau, tied_a, tied_b], abs=1e-10)
    assert tau_ap_a(x, y) == tau_ap(x, y)


@pytest.mark.parametrize(
    ("estimate", "expected"), [([3, 4, 2, 1], 1 / 3), ([4, 3, 1, 2], 7 / 9), ([3, 2, 4, 1], 0), ([4, 3, 2, 1], 1)]
)
def test_tau_ap_weighs_the_top_more(estimate: list[float], expected: float):
    assert tau_ap([4, 3, 2, 1], estimate).value == pytest.approx(expected, abs=1e-12)


def test_tau_ap_is_not_symmetric():
    assert tau_ap([3, 2, 4, 1], [4, 3, 2, 1]).value == pytest.approx(1 / 3, abs=1e-12)
    assert tau_ap([4, 3, 2, 1], [3, 2, 4, 1]).value == pytest.approx(0, abs=1e-12)


def test_ties_leave_tau_ap_undefined_and_ties_of_the_truth_its_variant_a():
    for x, y in (([1, 1, 2], [1, 2, 3]), ([1, 2, 3], [1, 1, 2])):
        assert tau_ap(x, y) == Statistic(None, 3, "there are ties, for which the variants a and b are made")
    assert tau_ap_a([1, 1, 2], [1, 2, 3]) == Statistic(None, 3, "the reference has ties")
    assert tau_ap([1], [1]) == Statistic(None, 1, TOO_FEW)


@given(st.permutations(range(5)), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_variant_a_is_the_mean_over_all_orders_of_ties(reference: list[int], estimate: list[int]):
    orders = [
        order
        for order in itertools.permutations(range(5))
        if all(estimate[one] >= estimate[other] for one, other in itertools.pairwise(order))
    ]
    places = [[-order.index(item) for item in range(5)] for order in orders]
    expected = np.mean([tau_ap(reference, place).value for place in places])
    assert tau_ap_a(reference, estimate).value == pytest.approx(expected, abs=1e-12)


RBO = [
    # both rankings, p, the sum over what is there, least, extrapolated
    ("abcde", "abcde", 0.9, 0.40951, 0.6719889406, 1.0),
    ("abcde", "bacde", 0.9, 0.30951, 0.5719889406, 0.9),
    ("abcde", "edcba", 0.9, 0.147285, 0.4097639406, 0.737775),
    ("abc", "xyz", 0.9, 0.0, 0.0, 0.0),
    ("abcdefgh", "acbdhgfe", 0.8, 0.7065086781, 0.8189361677, 0.8742808381),
]


@pytest.mark.parametrize(("one", "other", "p", "truncated", "least", "extrapolated"), RBO)
def test_rbo_of_worked_examples(one: str, other: str, p: float, truncated: float, least: float, extrapolated: float):
    items = sorted({*one, *other})
    first, second = ([-ranking.find(item) if item in ranking else NAN for item in items] for ranking in (one, other))
    for found in (rbo(first, second, p), rbo(second, first, p)):
        assert [value.value for value in found] == pytest.approx([extrapolated, least, truncated], abs=5e-11)
        assert found.least.n == len(one)


def test_rbo_takes_all_that_tie_at_a_depth():
    # At depth 1 the first ranking has two items, of which the second has one: 2 * 1 / (2 + 1).
    assert rbo([2, 2, 1], [3, 2, 1], 0.5).truncated.value == pytest.approx(2 / 3 / 2 + 1 / 4 + 1 / 8, abs=1e-12)


def test_rbo_refuses_what_it_cannot_compare():
    with pytest.raises(ValueError, match="differ in length"):
        rbo([1, 2], [1, NAN])
    with pytest.raises(ValueError, match="between 0 and 1"):
        rbo([1, 2], [2, 1], 1)
    assert rbo([], []).extrapolated == Statistic(None, 0, "the rankings are empty")


def test_the_largest_drop_is_counted_in_places():
    found = largest_drop([0.9, 0.8, 0.7, 0.6, 0.5], [0.5, 0.9, 0.8, 0.7, 0.6])
    assert found == Drop(Statistic(4, 5), 0)
    # Ties share the best place: from 1 to 3, with two runs above.
    assert largest_drop([3, 3, 1, 0], [1, 2, 2, 1]) == Drop(Statistic(2, 4), 0)
    assert largest_drop([3, 2, 1], [9, 5, 0]) == Drop(Statistic(0, 3), None)
    # A run that one side lacks is in neither ranking.
    assert largest_drop([3, 2, 1], [NAN, 1, 2]) == Drop(Statistic(1, 2), 1)
    assert largest_drop([NAN], [1]) == Drop(Statistic(None, 0, "no values"), None)


def test_correlations_of_a_published_leaderboard():
    # EXAM Cover and official ranks of TREC CAR Y3; published as 0.687 and 0.869.
    exam = [
        0.605,
        0.366,
        0.602,
        0.572,
        0.369,
        0.569,
        0.569,
        0.569,
        0.623,
        0.62,
        0.522,
        0.26,
        0.251,
        0.255,
        0.547,
        0.609,
    ]
    ranks = [9, 12, 7.5, 7.5, 16, 5, 5, 5, 3, 2, 11, 13, 15, 14, 10, 1]
    places = [-rank for rank in ranks]
    assert kendall_tau(exam, places).value == pytest.approx(0.686701603499473, abs=1e-12)
    assert spearman(exam, places).value == pytest.approx(0.8689861743956675, abs=1e-12)


@pytest.mark.parametrize("statistic", SYMMETRIC)
def test_a_constant_side_or_less_than_two_runs_leave_a_correlation_undefined(statistic):
    assert statistic([1, 2, 3], [1, 1, 1]) == Statistic(None, 3, CONSTANT)
    assert statistic([0.1, 0.1, 0.1], [1, 2, 3]) == Statistic(None, 3, CONSTANT)
    assert statistic([1], [2]) == Statistic(None, 1, TOO_FEW)
    assert statistic([], []) == Statistic(None, 0, TOO_FEW)
    assert statistic([1, NAN, 3], [1, 2, NAN]) == Statistic(None, 1, TOO_FEW)


@pytest.mark.parametrize("statistic", [*SYMMETRIC, tau_ap, tau_ap_a])
def test_lists_of_unequal_length_are_refused(statistic):
    with pytest.raises(ValueError, match="two lists of equal length"):
        statistic([1, 2], [1, 2, 3])


@pytest.mark.parametrize("statistic", [*SYMMETRIC, tau_ap, tau_ap_a])
def test_what_one_side_lacks_is_left_out(statistic):
    assert statistic([4, NAN, 3, 2, 1], [3, 9, 4, NAN, 0]) == statistic([4, 3, 1], [3, 4, 0])


# Few distinct values, for ties.
LISTS = st.integers(2, 12).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(0, 4).map(lambda n: n / 8), min_size=size, max_size=size)] * 2)
)
ORACLES = {kendall_tau: stats.kendalltau, pearson: stats.pearsonr, spearman: stats.spearmanr}


@pytest.mark.parametrize("statistic", ORACLES)
@given(lists=LISTS)
def test_correlations_are_what_scipy_says(statistic, lists):
    x, y = lists
    found = statistic(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found == Statistic(None, len(x), CONSTANT)
    else:
        assert found.value == pytest.approx(ORACLES[statistic](x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("statistic", SYMMETRIC)
@given(lists=LISTS, chance=st.randoms())
def test_correlations_are_symmetric_within_1_and_know_no_order(statistic, lists, chance):
    x, y = lists
    found = statistic(x, y).value
    pairs = list(zip(x, y, strict=True))
    chance.shuffle(pairs)
    for again in (statistic(y, x).value, statistic(*zip(*pairs, strict=True)).value):
        assert again == (None if found is None else pytest.approx(found, abs=1e-12))
    assert found is None or -1 - 1e-12 <= found <= 1 + 1e-12


@pytest.mark.parametrize("statistic", [kendall_tau, tau_ap_b])
@given(lists=LISTS)
def test_only_the_order_of_scores_matters(statistic, lists):
    x, y = lists
    assert statistic([value**3 for value in x], [5 + 2 * value for value in y]) == statistic(x, y)


@given(lists=LISTS, p=st.floats(0.1, 0.95))
def test_rbo_lies_between_0_and_1_is_symmetric_and_1_with_itself(lists, p):
    x, y = lists
    found = rbo(x, y, p)
    assert [one.value for one in rbo(y, x, p)] == pytest.approx([one.value for one in found])
    assert 0 <= found.truncated.value <= found.least.value + 1e-12
    assert found.least.value <= found.extrapolated.value + 1e-9 <= 1 + 2e-9
    assert rbo(x, x, p).extrapolated.value == pytest.approx(1)


def test_taus_of_rows_leave_out_what_is_nan():
    x, y = np.array([[1, 2, NAN, 4.0], [1, 1, 1, 1]]), np.array([[2, 1, NAN, 3.0], [1, 2, 3, 4]])
    found = taus(x, y)
    assert found[0] == pytest.approx(1 / 3)
    assert np.isnan(found[1])
