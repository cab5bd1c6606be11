"""Tau of the best runs, the curve of equal noise and the best run, against plain loops and scipy's tau."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, linregress

from metaeval.stats.bootstrap import draw_topics
from metaeval.stats.correlation import leading_taus
from metaeval.stats.statistic import Statistic
from metaeval.stats.top import TopTau, equal_noise, top_taus, winner, winner_of_topics
from tests.metaeval.matrices import Scores, two_sides

NAN = math.nan


def means(seed: int, runs: int) -> tuple[Scores, Scores]:
    """Means with many ties."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=runs)
    return x.round(1), (x + chance.normal(scale=0.6, size=runs)).round(1)


def best(scores: Scores, k: int) -> list[int]:
    least = sorted(scores.tolist(), reverse=True)[k - 1]
    return [at for at, score in enumerate(scores.tolist()) if score >= least]


def test_taus_of_the_first_runs_of_rows_are_scipys():
    x, y = (side.reshape(4, 9) for side in means(3, 36))
    found = leading_taus(x, y)
    assert np.isnan(found[:, 0]).all()
    for row in range(4):
        for k in range(2, 10):
            expected = kendalltau(x[row, :k], y[row, :k]).statistic
            assert found[row, k - 1] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("runs", "sizes"), [(37, [5, 10, 15, 20, 30, 37]), (10, [5, 10]), (5, [5]), (3, [3])])
def test_tau_is_of_the_best_runs_of_either_side(runs: int, sizes: list[int]):
    x, y = means(8, runs)
    found = top_taus(x, y, seed=1, draws=20)
    for points, by in ((found.reference, x), (found.candidate, y)):
        assert [point.k for point in points] == sizes
        for point in points:
            chosen = best(by, point.k)
            assert point.tau.n == len(chosen)
            assert point.pairs == math.comb(len(chosen), 2)
            assert point.tau.value == pytest.approx(kendalltau(x[chosen], y[chosen]).statistic)
    assert found.reference[-1].tau == found.candidate[-1].tau


def test_runs_without_a_score_on_one_side_are_none():
    x, y = means(8, 14)
    lacking = np.where(np.arange(14) == 3, NAN, x)
    assert top_taus(lacking, y, seed=1, draws=9) == top_taus(np.delete(x, 3), np.delete(y, 3), seed=1, draws=9)


def test_what_is_undefined_says_why():
    equal, rising = np.ones(6), np.arange(6.0)
    found = top_taus(equal, rising, seed=1).reference
    assert [point[1:] for point in found] == [((None, 6, "all values of one side are equal"), None, None, None)] * 2
    assert top_taus(np.full(6, NAN), rising, seed=1) == ([], [])
    assert top_taus(rising[:1], rising[:1], seed=1).reference == [
        TopTau(1, Statistic(None, 1, "fewer than two values"))
    ]


def test_equal_noise_is_that_of_the_line_of_least_squares():
    x, y = means(5, 60)
    simulated = equal_noise(x, y, seed=3, draws=4000)
    assert simulated is not None
    line = linregress(x, y)
    deviation = math.sqrt(sum((b - line.intercept - line.slope * a) ** 2 for a, b in zip(x, y, strict=True)) / 58)
    assert np.abs(simulated.mean(axis=0) - (line.intercept + line.slope * x)).max() < 5 * deviation / math.sqrt(4000)
    assert simulated.std(axis=0) == pytest.approx(np.full(60, deviation), rel=0.06)
    assert (simulated - simulated.mean(axis=0)).std() == pytest.approx(deviation, rel=0.006)
    assert equal_noise(x[:3], y[:3], seed=3, draws=10) is None
    assert equal_noise(np.ones(9), y[:9], seed=3, draws=10) is None


def test_the_curve_is_the_mean_of_simulated_candidates():
    x, y = means(5, 22)
    found = top_taus(x, y, seed=3, draws=40)
    simulated = equal_noise(x, y, seed=3, draws=40)
    assert simulated is not None
    for at, points in enumerate(found):
        for point in points:
            taus = []
            for candidate in simulated:
                chosen = best((x, candidate)[at], point.k)
                taus.append(kendalltau(x[chosen], candidate[chosen]).statistic)
            assert point.expected == pytest.approx(np.mean(taus))
    assert top_taus(x, y, seed=3, draws=40) == found != top_taus(x, y, seed=4, draws=40)


def test_the_band_holds_95_percent_of_simulated_candidates_at_all_sizes_at_once():
    x, y = np.arange(40.0), means(5, 40)[1] + np.arange(40) / 10  # no ties among the best
    found = top_taus(x, y, seed=3, draws=1000)
    simulated = equal_noise(x, y, seed=3, draws=1000)
    assert simulated is not None
    references = np.broadcast_to(x, simulated.shape)
    inside, pointwise = np.ones(1000, dtype=bool), []
    for points, by in ((found.reference, references), (found.candidate, simulated)):
        order = np.argsort(-by, axis=1, kind="stable")
        taus = leading_taus(*(np.take_along_axis(side, order, axis=1) for side in (references, simulated)))
        for point in points:
            assert (point.low is None) == (point.k < 10)
            if point.low is not None and point.high is not None:
                held = (taus[:, point.k - 1] >= point.low) & (taus[:, point.k - 1] <= point.high)
                pointwise.append(held.mean())
                inside &= held
    assert 0.95 <= inside.mean() <= 0.97
    assert min(pointwise) > 0.97  # of each size alone it holds more


def test_without_a_band_there_are_points_and_the_curve():
    x, y = means(5, 40)
    with_band, without = (top_taus(x, y, seed=3, draws=50, has_band=has_band) for has_band in (True, False))
    for points, others in zip(with_band, without, strict=True):
        assert [point._replace(low=None, high=None) for point in points] == others


def test_equal_noise_leaves_the_band_seldom():
    chance = np.random.default_rng(21)
    leaves = 0
    for _ in range(80):
        x = chance.normal(size=30)
        found = top_taus(x, x + chance.normal(scale=0.5, size=30), seed=1, draws=200)
        leaves += any(point.side for points in found for point in points)
    assert leaves <= 0.1 * 80  # 5 % are to be expected


def test_a_judge_that_turns_the_best_runs_round_leaves_the_band():
    x = np.arange(60.0)
    y = np.where(x >= 45, 45 + 59 - x, x)
    found = top_taus(x, y, seed=1).reference
    assert {point.k: point.side for point in found} == {5: 0, 10: -1, 15: -1, 20: -1, 30: -1, 45: 0, 60: 0}
    better = top_taus(x, np.where(x < 30, -x, x), seed=1).reference
    assert [point.side for point in better[1:4]] == [1, 1, 1]


def test_a_side_of_the_band():
    point = TopTau(10, Statistic(0.5, 10), 0.6, 0.4, 0.8)
    assert [point._replace(tau=Statistic(value, 10)).side for value in (0.3, 0.4, 0.5, 0.8, 0.9)] == [-1, 0, 0, 0, 1]
    assert TopTau(10, Statistic(0.5, 10), 0.6).side == 0


def plainly(x: Scores, y: Scores, seed: int, draws: int) -> tuple[list[float], list[float]]:
    """Of each draw, whether the candidate's best run is the best, and what is lost; a draw and a run at a time."""
    found, losses = [], []
    for drawn in draw_topics(x.shape[1], draws, seed).tolist():
        runs = [
            [[side[run, at] for at in drawn if not np.isnan(x[run, at] + y[run, at])] for side in (x, y)]
            for run in range(len(x))
        ]
        h, m = ({at: round(sum(run[of]) / len(run[of]), 10) for at, run in enumerate(runs) if run[of]} for of in (0, 1))
        if h:
            chosen = [at for at in m if m[at] == max(m.values())]
            found.append(sum(h[at] == max(h.values()) for at in chosen) / len(chosen))
            losses.append(max(h.values()) - sum(h[at] for at in chosen) / len(chosen))
    return found, losses


@pytest.mark.parametrize(("runs", "topics", "lacking"), [(6, 9, 0.0), (5, 4, 0.3), (4, 5, 0.4)])
def test_the_best_run_and_the_loss_are_those_of_drawing_topics(runs: int, topics: int, lacking: float):
    x, y = (side[..., 0] for side in two_sides(17, runs, topics, lacking=lacking))
    y[:, 0] = x[:, 0]
    found = winner_of_topics(x, y, seed=9, draws=150)
    shares, losses = plainly(x, y, 9, 150)
    assert found.found.value == pytest.approx(np.mean(shares))
    assert found.found.n == found.interval.draws == len(shares)
    assert found.interval[:3] == pytest.approx([*np.percentile(losses, [2.5, 97.5]), np.mean(losses)])
    assert found.found.value is not None
    assert 0 < found.found.value < 1


def test_runs_that_tie_for_the_best_share_the_loss():
    h, m = np.array([0.9, 0.8, 0.4, NAN]), np.array([0.1, 0.7, 0.7, 0.9])
    found = winner(h, m)
    assert (found.reference, found.candidate) == ([0], [1, 2])
    assert found.loss == (pytest.approx(0.9 - (0.8 + 0.4) / 2), 3, "")
    assert found.found == (None, 0, "no scores by topic")
    assert found.interval == (None, None, None, 0, "no scores by topic")
    assert winner(h[3:], m[3:]).loss.value is None


def test_one_topic_alone_has_no_draws():
    x, y = (side[..., 0] for side in two_sides(17, 6, 1))
    assert winner_of_topics(x, y, seed=1).interval.draws == 0
