"""Tau at its three levels, its bootstrap and its growth with topics, against literal resamples with scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau

from metaeval.stats import levels
from metaeval.stats.bootstrap import bootstrap_tau, count_topics, draw_topics, interval, replicates
from metaeval.stats.correlation import CONSTANT, TOO_FEW, taus
from metaeval.stats.levels import NO_TOPIC, pair_scores, tau_levels, topic_pairs
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy, counted
from metaeval.stats.statistic import Statistic
from metaeval.stats.topics_needed import topics_needed
from tests.metaeval.matrices import Scores, two_sides

NAN = math.nan


def of_cells(x: Scores, y: Scores) -> float:
    """Tau of all cells that count on both sides; NaN where scipy has none."""
    counts = ~(np.isnan(x) | np.isnan(y))
    one, other = x[counts], y[counts]
    is_constant = len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0
    return math.nan if is_constant else kendalltau(one, other).statistic


def literally(x: Scores, y: Scores) -> tuple[float, float, float]:
    """Tau at the three levels, as the definitions have it; the columns are the topics that were drawn."""
    lacks = np.isnan(x) | np.isnan(y)
    x, y = np.where(lacks, np.nan, x), np.where(lacks, np.nan, y)
    some = ~lacks.all(axis=1)
    means = [np.round(np.nanmean(side[some], axis=1), 10) for side in (x, y)]
    by_topic = [of_cells(x[:, at], y[:, at]) for at in range(x.shape[1])]
    defined = [tau for tau in by_topic if not math.isnan(tau)]
    return of_cells(*means), float(np.mean(defined)) if defined else math.nan, of_cells(x, y)


@pytest.mark.parametrize(("runs", "topics", "lacking"), [(23, 17, 0.0), (12, 9, 0.15), (3, 4, 0.5), (40, 3, 0.0)])
def test_every_shortcut_of_the_bootstrap_is_a_literal_resample(runs: int, topics: int, lacking: float):
    first, second = two_sides(7, runs, topics, lacking=lacking)
    x, y = first[..., 0], second[..., 0]
    drawn = draw_topics(topics, 20, seed=3)
    found = np.array(replicates(*pair_scores(x, y), count_topics(drawn, topics)))
    for at, draw in enumerate(drawn):
        assert found[:, at] == pytest.approx(literally(x[:, draw], y[:, draw]), abs=1e-12, nan_ok=True)
    # A draw of constant topics alone has nothing to tell, and is not taken for 0.
    assert np.isnan(found).any() == (topics < 5)


@given(st.data(), st.integers(0, 6), st.integers(1, 5))
def test_the_three_levels_are_what_scipy_says(data: st.DataObject, runs: int, topics: int):
    cells = hnp.arrays(float, (runs, topics), elements=st.sampled_from([0.0, 0.25, 1 / 3, 2 / 3, 1.0, NAN]))
    x, y = data.draw(cells), data.draw(cells)
    found = tau_levels(x, y)
    for value, expected in zip((found.run, found.topic, found.cell), literally(x, y), strict=True):
        assert value.value == (None if math.isnan(expected) else pytest.approx(expected, abs=1e-12))
        assert (value.value is None) == bool(value.why)
    both = ~(np.isnan(x) | np.isnan(y))
    assert (found.run.n, found.cell.n) == (both.any(axis=1).sum(), both.sum())
    assert found.topic.n + found.undefined_topics == topics
    by_topic = [of_cells(x[:, at], y[:, at]) for at in range(topics)]
    assert found.by_topic == pytest.approx(np.array(by_topic), abs=1e-12, nan_ok=True)
    assert all(-1 <= value.value <= 1 for value in (found.run, found.topic, found.cell) if value.value is not None)


def test_cells_compare_alike_by_their_scores_and_by_topic(monkeypatch: pytest.MonkeyPatch):
    x, y = (side[..., 0] for side in two_sides(4, 9, 7, lacking=0.1))
    pairs = topic_pairs(*pair_scores(x, y))
    by_scores = tau_levels(x, y).cell
    monkeypatch.setattr(levels, "_MOST_COUNTS", 0)
    assert tau_levels(x, y).cell == tau_levels(x, y, pairs).cell == by_scores


@given(st.integers(0, 1000), st.randoms())
def test_the_levels_are_symmetric_and_know_no_order(seed: int, chance):
    x, y = (side[..., 0] for side in two_sides(seed, 6, 5, lacking=0.1))
    runs, topics = list(range(6)), list(range(5))
    chance.shuffle(runs)
    chance.shuffle(topics)
    found = tau_levels(x, y)
    for again in (tau_levels(y, x), tau_levels(x[runs][:, topics], y[runs][:, topics])):
        for one, other in zip(found[:3], again[:3], strict=True):
            assert (one.n, one.why) == (other.n, other.why)
            assert one.value == (None if other.value is None else pytest.approx(other.value, abs=1e-12))


def test_the_levels_say_why_they_are_undefined():
    found = tau_levels([[0.5, 1], [0.5, 0]], [[0.5, NAN], [1, NAN]])
    assert (found.run, found.topic, found.cell) == (
        Statistic(None, 2, CONSTANT),
        Statistic(None, 0, NO_TOPIC),
        Statistic(None, 2, CONSTANT),
    )
    assert found.undefined_topics == 2
    found = tau_levels(np.empty((0, 3)), np.empty((0, 3)))
    assert (found.run, found.topic, found.cell) == (
        Statistic(None, 0, TOO_FEW),
        Statistic(None, 0, NO_TOPIC),
        Statistic(None, 0, TOO_FEW),
    )
    assert tau_levels(np.empty((2, 0)), np.empty((2, 0))).run == Statistic(None, 0, TOO_FEW)


def test_means_that_differ_by_the_order_of_summing_alone_tie():
    parts = [0.1, 0.2, 0.3]
    x = np.array([parts, parts[::-1], [0, 0, 0.1]])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1  # sum() makes up for it from Python 3.12 on
    y = np.array([[1, 1, 1], [0.5, 0.5, 0.5], [0, 0, 0]])
    assert tau_levels(x, y).run.value == pytest.approx(2 / math.sqrt(2 * 3))


def test_cells_that_differ_by_the_order_of_summing_alone_tie():
    x, y = [[0.1 + 0.2], [0.3], [0.1]], [[1], [0.5], [0]]
    assert x[0] != x[1]
    found = tau_levels(x, y)
    assert (found.topic.value, found.cell.value) == pytest.approx([2 / math.sqrt(2 * 3)] * 2)


def test_a_topic_without_an_answer_counts_at_all_levels_by_the_policy():
    scores = np.array([[[1.0], [0.5]], [[0.5], [0.0]], [[0.25], [0.75]]])
    states = [[COMPLETE, COMPLETE], [COMPLETE, UNANSWERED], [COMPLETE, INCOMPLETE]]
    x, y = (counted(scores, states, policy)[..., 0] for policy in (Policy.ZERO, Policy.ANSWERED))
    assert tau_levels(x, x).cell.n == 5
    assert tau_levels(y, y).cell.n == 4
    # An incomplete cell counts on neither side, though the other one has a score.
    assert tau_levels(x, scores[..., 0]).cell.n == 5


@pytest.mark.parametrize("shapes", [((2, 3), (3, 2)), ((2,), (2,))])
def test_tables_of_other_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match="two tables of the same runs and topics"):
        tau_levels(*map(np.ones, shapes))


def test_the_bootstrap_gives_each_measure_its_percentiles_and_the_mean_of_the_draws():
    x, y = two_sides(11, 20, 15, measures=3)
    found = bootstrap_tau(x, y, seed=5, draws=200)
    weights = count_topics(draw_topics(15, 200, seed=5), 15)
    for measure in range(3):
        draws = replicates(x[..., measure], y[..., measure], weights)
        for one, values in zip(found[measure][:3], draws, strict=True):
            assert [one.low, one.high] == pytest.approx(np.percentile(values, [2.5, 97.5]).tolist())
            assert one.mean == pytest.approx(values.mean())
            assert (one.draws, one.why) == (200, "")
    narrow = bootstrap_tau(x, y, seed=5, draws=200, confidence=0.5)[0].run
    assert found[0].run.low < narrow.low < narrow.high < found[0].run.high


def test_the_same_seed_gives_the_same_interval_and_another_one_another():
    x, y = two_sides(11, 20, 15)
    assert bootstrap_tau(x, y, seed=5, draws=50) == bootstrap_tau(x, y, seed=5, draws=50)
    assert bootstrap_tau(x, y, seed=5, draws=50) != bootstrap_tau(x, y, seed=6, draws=50)


def test_an_interval_tells_in_how_many_draws_it_is_defined():
    found = interval(np.array([0.1, NAN, 0.3]))
    assert (found.draws, found.mean) == (2, pytest.approx(0.2))
    assert interval(np.array([NAN, NAN])) == (None, None, None, 0, "undefined in every draw")


def test_one_topic_alone_has_no_interval():
    x, y = two_sides(1, 5, 1, measures=2)
    found = bootstrap_tau(x, y, seed=1)
    assert len(found) == 2
    assert {one.why for levels in found for one in (*levels[:3], *levels.bca)} == {"fewer than two topics"}


def test_a_draw_counts_each_topic_as_often_as_it_is_drawn():
    assert count_topics(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist() == [[1, 0, 2], [0, 3, 0]]


def test_tau_grows_with_topics_to_that_of_all():
    x, y = (side[..., 0] for side in two_sides(2, 25, 40))
    found = topics_needed(x, y, [2, 10, 40], seed=1, draws=300)
    assert [step.topics for step in found] == [2, 10, 40]
    means = [step.tau.mean for step in found]
    assert means == sorted(means)
    assert found[0].tau.high - found[0].tau.low > found[1].tau.high - found[1].tau.low > 0
    assert found[2].tau[:3] == pytest.approx([tau_levels(x, y).run.value] * 3)


def test_subsets_are_drawn_without_replacement_and_literally_scored():
    x, y = (side[..., 0] for side in two_sides(2, 8, 6, lacking=0.1))
    order = np.random.default_rng(9).permuted(np.tile(np.arange(6), (20, 1)), axis=1)
    expected = [literally(x[:, row < 3], y[:, row < 3])[0] for row in order]
    found = topics_needed(x, y, [3], seed=9, draws=20)[0].tau
    assert found[:3] == pytest.approx(interval(np.array(expected))[:3], abs=1e-12)


def test_sizes_are_even_by_default_and_those_that_cannot_be_drawn_refused():
    x, y = (side[..., 0] for side in two_sides(2, 5, 100))
    sizes = [step.topics for step in topics_needed(x, y, seed=1, draws=5)]
    assert (sizes[0], sizes[-1], len(sizes)) == (1, 100, 30)
    with pytest.raises(ValueError, match="of 100 topics no 101 can be drawn"):
        topics_needed(x, y, [5, 101], seed=1)
    with pytest.raises(ValueError, match="of 100 topics no 0 can be drawn"):
        topics_needed(x, y, [0, 5], seed=1)
    assert topics_needed(np.empty((3, 0)), np.empty((3, 0)), seed=1) == []


def test_taus_of_draws_are_those_of_each():
    x, y = (side[..., 0].T for side in two_sides(4, 30, 6))
    assert taus(x, y)[1:] == pytest.approx([kendalltau(*rows).statistic for rows in zip(x, y, strict=True)][1:])
