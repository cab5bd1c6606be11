"""Borda, net wins and Bradley-Terry strengths, against worked examples and other ways to compute them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.stats.preferences import (
    PSEUDO_COUNT,
    Disconnected,
    borda,
    bradley_terry,
    compared_groups,
    count_decided,
    count_points,
    count_wins,
    net_wins,
)
from tests.examples import examples

RUNS = 5


@st.composite
def outcomes(draw: st.DrawFn, topics: int = 1) -> list[list[tuple[int, int, int]]]:
    """Return of each topic pairs of places, none twice, with 1, 2 or 0 for what came of each."""
    every = [(one, other) for one in range(RUNS) for other in range(one)]
    of_topic = st.lists(st.sampled_from(every), unique=True, min_size=1)
    return [[(*pair, draw(st.sampled_from([0, 1, 2]))) for pair in draw(of_topic)] for _ in range(topics)]


def test_worked_example():
    first, second, outcome = [0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], [1, 1, 1, 1, 1, 1]
    wins = count_wins(first, second, outcome, 4)
    assert borda(wins).tolist() == [3, 1, -1, -3]
    assert net_wins(wins).tolist() == [1, 1 / 3, -1 / 3, -1]
    tied = count_wins(first, second, [1, 2, 0, 0, 0, 0], 4)
    assert borda(tied).tolist() == [0, -1, 1, 0]
    assert count_decided(tied).tolist() == [2, 1, 1, 0]
    assert net_wins(tied)[:3].tolist() == [0, -1, 1], "ties are not in the denominator"
    assert math.isnan(net_wins(tied)[3]), "all ties"
    assert count_points(first, second, [1, 2, 0, 0, 0, 0], 4)[0].tolist() == [0, 1, 0, 0.5]


@pytest.mark.parametrize("outcome", [3, -1])
def test_other_outcomes_are_refused(outcome: int):
    with pytest.raises(ValueError, match="outcomes are 1, 2 and 0"):
        count_wins([0], [1], [outcome], 2)


@given(outcomes())
def test_borda_sums_to_0_and_net_wins_stay_between_minus_1_and_1(topics: list[list[tuple[int, int, int]]]):
    wins = count_wins(*zip(*topics[0], strict=True), RUNS)
    assert borda(wins).sum() == 0
    points = count_points(*zip(*topics[0], strict=True), RUNS)
    assert points.sum() == len(topics[0]), "a pair is a point in all"
    assert (borda(points) == borda(wins)).all(), "ties change no Borda"
    assert (np.abs(net_wins(wins)[count_decided(wins) > 0]) <= 1).all()


def iterated(points: np.ndarray) -> np.ndarray:
    """Return strengths by the iteration of Zermelo (1929), from points that have the pseudo-count in them."""
    worth = np.ones(len(points))
    played = points + points.T
    for _ in range(20_000):
        worth = points.sum(axis=1) / (played / (worth[:, np.newaxis] + worth)).sum(axis=1)
        worth /= np.exp(np.log(worth).mean())
    return np.log(worth)


@settings(max_examples=examples(10, 50))
@given(outcomes(topics=4))
def test_strengths_are_those_of_another_iteration(topics: list[list[tuple[int, int, int]]]):
    points = np.stack([count_points(*zip(*topic, strict=True), RUNS) for topic in topics])
    total = points.sum(axis=0)
    compared = (total + total.T) > 0
    if len(compared_groups(compared)) > 1:
        with pytest.raises(Disconnected):
            bradley_terry(points, seed=1, draws=2)
        return
    found = bradley_terry(points, seed=1, draws=50)
    assert found.strength == pytest.approx(iterated(total + PSEUDO_COUNT * compared), abs=1e-6)
    assert abs(found.strength.sum()) < 1e-9
    assert (np.isfinite(found.low) & (found.low <= found.high)).all(), "the pseudo-count keeps every draw finite"


def test_two_runs_have_the_log_of_their_odds():
    points = np.array([[[0, 3.0], [1.0, 0]]])
    found = bradley_terry(points, seed=1)
    assert found.strength[0] - found.strength[1] == pytest.approx(math.log((3 + PSEUDO_COUNT) / (1 + PSEUDO_COUNT)))
    assert np.isnan([*found.low, *found.high]).all(), "one topic has no interval"
    never_beaten = bradley_terry(np.array([[[0, 4.0], [0, 0]]] * 3), seed=1)
    assert never_beaten.strength[0] - never_beaten.strength[1] == pytest.approx(math.log(12.1 / 0.1))
    assert never_beaten.low == pytest.approx(never_beaten.strength), "all topics alike: no draw differs"


def test_intervals_are_seeded_and_hold_the_strength():
    random = np.random.default_rng(3)
    points = random.integers(0, 2, (30, 4, 4)) * (1 - np.eye(4))
    found = bradley_terry(points, seed=7)
    again = bradley_terry(points, seed=7)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))
    assert ((found.low < found.strength) & (found.strength < found.high)).all()


def test_runs_that_were_never_compared_are_refused():
    points = np.zeros((1, 5, 5))
    points[0, 0, 3] = points[0, 2, 4] = 1
    with pytest.raises(Disconnected, match="3 groups") as refused:
        bradley_terry(points, seed=1)
    assert refused.value.groups == [[0, 3], [1], [2, 4]]
