"""Intervals of mean scores against drawing topic by topic, and BCa intervals against scipy's."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.stats import kendalltau

from metaeval.stats.bootstrap import Bounds, bca, bootstrap_means, bootstrap_tau, draw_topics
from tests.metaeval.matrices import Scores, two_sides


def plainly(scores: list[float], draws: int, seed: int) -> tuple[float, float]:
    """The interval of one run's mean, a draw at a time."""
    means = []
    for drawn in draw_topics(len(scores), draws, seed).tolist():
        counting = [scores[topic] for topic in drawn if not np.isnan(scores[topic])]
        if counting:
            means.append(sum(counting) / len(counting))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def test_the_bounds_are_percentiles_of_means_over_drawn_topics():
    scores = np.random.default_rng(5).random((4, 7, 2)).round(3)
    scores[1, 2] = scores[2, :5] = np.nan  # of which some draws have nothing
    low, high = bootstrap_means(scores, seed=2026, draws=200)
    assert low.shape == high.shape == (4, 2)
    for run in range(4):
        for measure in range(2):
            expected = plainly(scores[run, :, measure].tolist(), 200, 2026)
            assert np.allclose((low[run, measure], high[run, measure]), expected, rtol=0, atol=1e-9)
    again = bootstrap_means(scores, seed=2027, draws=200)
    assert (low != again[0]).any()


def test_without_two_topics_or_anything_that_counts_there_is_no_interval():
    assert np.isnan(bootstrap_means(np.ones((2, 1, 3)), seed=1)).all()
    assert np.isnan(bootstrap_means(np.full((2, 4, 3), np.nan), seed=1)).all()
    assert bootstrap_means(np.ones((0, 4, 3)), seed=1)[0].shape == (0, 3)
    assert bootstrap_means(np.ones((2, 4, 3)), seed=1)[0].tolist() == [[1, 1, 1]] * 2


def of_runs(x: Scores, y: Scores) -> float:
    means = [side.mean(axis=1).round(10) for side in (x, y)]
    return float(kendalltau(*means).statistic)


def of_topics(x: Scores, y: Scores) -> float:
    found = [tau_of(tuple(x[:, at].tolist()), tuple(y[:, at].tolist())) for at in range(x.shape[1])]
    return float(np.nanmean(found))


@cache
def tau_of(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    return float(kendalltau(first, second).statistic)


def of_cells(x: Scores, y: Scores) -> float:
    return float(kendalltau(x.ravel(), y.ravel()).statistic)


class Drawn(np.random.Generator):
    """A generator from which scipy gets the topics that we draw."""

    def __init__(self, topics: int, draws: int, seed: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.drawn = draw_topics(topics, draws, seed)

    def integers(self, low, high=None, size=None, **_):  # type: ignore[no-untyped-def]
        assert (low, high, size) == (0, self.drawn.shape[1], self.drawn.shape)
        return self.drawn


@pytest.mark.parametrize(("level", "statistic"), list(enumerate([of_runs, of_topics, of_cells])))
@pytest.mark.parametrize(("runs", "topics", "seed"), [(6, 14, 9), (8, 16, 5)])
def test_the_bca_interval_is_scipys(
    level: int, statistic: Callable[[Scores, Scores], float], runs: int, topics: int, seed: int
):
    x, y = (side[..., 0] for side in two_sides(seed, runs, topics))
    found = bootstrap_tau(x[..., np.newaxis], y[..., np.newaxis], seed=7, draws=800)[0]
    expected = stats.bootstrap(
        (np.arange(topics),),
        lambda at: statistic(x[:, at], y[:, at]),
        n_resamples=800,
        batch=800,
        vectorized=False,
        method="BCa",
        rng=Drawn(topics, 800, 7),
    )
    drawn = draw_topics(topics, 800, 7)
    assert np.allclose(
        np.sort(expected.bootstrap_distribution), np.sort([statistic(x[:, at], y[:, at]) for at in drawn])
    )
    assert found.bca[level][:2] == pytest.approx(tuple(expected.confidence_interval), abs=1e-9)
    assert found[level][:2] != found.bca[level][:2]


def test_other_confidences_and_undefined_draws():
    draws = np.random.default_rng(1).normal(size=400)
    left_out = np.random.default_rng(2).gamma(2, size=30)
    wide, narrow = bca(draws, left_out, 0.1), bca(draws, left_out, 0.1, 0.5)
    assert None not in (*wide[:2], *narrow[:2])
    assert wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]
    assert bca(np.append(draws, [np.nan] * 9), left_out, 0.1) == wide


ONES = np.ones(5)


@pytest.mark.parametrize(
    ("draws", "left_out", "value", "why"),
    [
        ([0.1, 0.2], ONES, 0.3, "all draws lie below the value"),
        ([0.1, 0.2], ONES, 0.05, "no draws lie below the value"),
        (np.linspace(0, 1, 1000), np.arange(9.0), 0.99, "nearly all draws lie on one side of the value"),
        (np.linspace(0, 1, 1000), np.arange(9.0), 0.01, "nearly all draws lie on one side of the value"),
        ([math.nan], ONES, 0.3, "undefined in every draw"),
        ([0.1, 0.2], ONES, math.nan, "undefined in every draw"),
        ([0.1, 0.2], [0.1, math.nan], 0.15, "undefined without one of the topics"),
        ([0.1, 0.2], ONES, 0.15, "the same without any one of the topics"),
    ],
)
def test_why_there_is_no_bca_interval(draws: list[float], left_out: list[float], value: float, why: str):
    assert bca(np.array(draws), np.array(left_out), value) == Bounds(None, None, why)


def test_one_topic_that_outweighs_all_leaves_no_bca_interval():
    found = bca(np.linspace(0, 1, 1001), np.array([0, *[1] * 20]), 0.9, 1 - 1e-9)
    assert found == Bounds(None, None, "the topics are too unlike for it")


def test_a_value_that_draws_equal_counts_half():
    # As many lie below as above, so nothing is corrected but for the acceleration, which is 0 here.
    draws = np.array([0.0, 0.5, 0.5, 1.0])
    assert bca(draws, np.array([0.4, 0.6]), 0.5, 0.5) == Bounds(*np.percentile(draws, [25, 75]))


def test_the_bca_interval_has_its_value_nearer_to_its_middle():
    for seed in range(6):
        x, y = two_sides(seed, 25, 40)
        found = bootstrap_tau(x, y, seed=1)[0]
        value = of_runs(x[..., 0], y[..., 0])
        percentile, corrected = found.run, found.bca[0]
        assert percentile.mean is not None
        assert percentile.mean < value, "noise pulls the draws down"
        if not corrected.why:
            off, still_off = (abs(sum(one[:2]) / 2 - value) for one in (percentile, corrected))  # type: ignore[arg-type]
            assert still_off < off
