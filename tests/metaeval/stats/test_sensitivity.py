"""Variants of one judge: flips, spread of run means, ranks and robust pairs, against plain loops and construction."""

from itertools import combinations

import numpy as np
import pytest

from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.calibration import wilson_interval
from metaeval.stats.sensitivity import count_flips, rank_runs, robust_order, spread_of, variant_means


def test_flips_are_those_of_a_loop():
    random = np.random.default_rng(7)
    codes = random.integers(NO_VALUE, 3, (3, 400))
    topics = np.array([f"t{at % 20}" for at in range(400)])
    found = count_flips(codes, topics, 3)
    assert len(found) == 2
    for variant, flips in zip(codes[1:], found, strict=True):
        both = [(one, other) for one, other in zip(codes[0], variant, strict=True) if NO_VALUE not in (one, other)]
        assert flips.rate.n == len(both)
        assert flips.rate.value == pytest.approx(sum(one != other for one, other in both) / len(both))
        assert flips.agreement.above.value == pytest.approx(sum(one < other for one, other in both) / len(both))
        assert flips.agreement.below.value == pytest.approx(sum(one > other for one, other in both) / len(both))
        assert flips.agreement.matrix[0, 2] == both.count((0, 2))


def test_the_interval_of_a_flip_rate_is_as_wide_as_topics_are_unlike():
    # Half of the topics flip as a whole: no more than 20 independent labels, whatever their number.
    topics = np.repeat(np.arange(20), 10)
    base = np.zeros(200, dtype=int)
    [clustered] = count_flips([base, topics % 2], topics, 2)
    [even] = count_flips([base, np.tile([0, 1], 100)], topics, 2)
    assert clustered.rate.value == even.rate.value == 0.5
    assert clustered.rate.effective < 20
    assert (even.rate.low, even.rate.high) == wilson_interval(0.5, 200)
    assert clustered.rate.low < even.rate.low
    [few] = count_flips([base, topics % 2], topics // 10, 2)
    assert (few.rate.low, few.rate.why) == (None, "fewer than 10 topics")
    [none] = count_flips([base, np.full(200, NO_VALUE)], topics, 2)
    assert (none.rate.value, none.rate.n) == (None, 0)


def test_spread_is_told_apart_from_what_moves_all_runs_alike():
    runs = np.array([0.2, 0.4, 0.6, 0.8])
    alike = spread_of([runs, runs + 0.1, runs - 0.1])
    assert (alike.run_variant, alike.share.value) == (0, 0)
    assert alike.variant == pytest.approx(0.01)
    assert alike.run == pytest.approx(runs.var(ddof=1))
    # Effects that sum to 0 over runs and variants: their mean square on 3 degrees of freedom is the component.
    apart = np.array([0.1, -0.1, -0.1, 0.1])
    mixed = spread_of([runs + apart, runs - apart])
    assert mixed.run_variant == pytest.approx(8 * 0.01 / 3)
    assert mixed.run == pytest.approx(runs.var(ddof=1) - 8 * 0.01 / 3 / 2)
    assert mixed.share.value == pytest.approx(mixed.run_variant / (mixed.run + mixed.run_variant))
    constant = spread_of(np.full((2, 3), 0.5))
    assert (constant.share.value, constant.share.why) == (None, "all scores are equal")
    with_nan = spread_of([[0.1, 0.5, np.nan], [0.1, 0.5, 0.9]])
    assert with_nan.share.n == 2
    with pytest.raises(ValueError, match="two or more"):
        spread_of([runs])


def test_means_are_over_what_counts_under_every_variant():
    scores = np.array([[[0.0, 1.0], [1.0, 1.0]], [[0.5, np.nan], [0.0, 1.0]]])
    assert variant_means(scores).tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_ranks_and_robust_pairs_are_those_of_a_loop():
    random = np.random.default_rng(3)
    means = random.integers(0, 8, (4, 6)) / 10 + np.arange(6) / 5
    order, ranks = robust_order(means), rank_runs(means)
    for one, other in combinations(range(6), 2):
        assert order[one, other] == all(row[one] > row[other] for row in means)
        assert order[other, one] == all(row[one] < row[other] for row in means)
    for row, of_variant in zip(means, ranks, strict=True):
        for run, rank in enumerate(of_variant):
            assert rank == 1 + sum(row > row[run]) + (sum(row == row[run]) - 1) / 2
    assert not robust_order([[0.1, 0.2], [0.2, 0.2]]).any()
    assert not robust_order([[0.1, np.nan], [0.2, 0.9]]).any()
    assert rank_runs([[0.5, np.nan, 0.7]]).tolist()[0][:1] == [2.0]
