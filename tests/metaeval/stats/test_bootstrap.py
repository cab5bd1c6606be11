"""Intervals of mean scores against drawing topic by topic."""

import numpy as np

from metaeval.stats.bootstrap import bootstrap_means, draw_topics


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
