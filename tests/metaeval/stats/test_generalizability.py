"""Variance components and what they predict, against plain loops, simulation and published values."""

import itertools
import math
from statistics import mean, variance

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.generalizability import (
    CONSTANT,
    AssessorComponents,
    Components,
    Criterion,
    assessor_components,
    dependability,
    expected_tau,
    generalizability,
    generalizability_interval,
    pair_spread,
    smallest_difference,
    split_half_tau,
    variance_components,
    with_second_opinions,
)
from metaeval.stats.statistic import Statistic
from tests.metaeval.matrices import Scores

# TREC 2024 RAG, V_strict of 45 runs on 21 topics (NIST's files, unanswered as 0).
RAG = Components(0.0170849, 0.0268620, 0.0303987, 45, 21)
# TREC-3 ad hoc, the best 30 of 40 runs on 50 topics: the vignette of the R package gt4ireval.
ADHOC = Components(0.0028117, 0.028093, 0.010152, 30, 50)
# Brennan, Generalizability Theory (2001), synthetic data set 4 as p x i: ten persons, a digit for each of twelve items.
BRENNAN = (
    "565553456733 937775557752 343353356516 755331435335 929777372753 "
    "343533634512 737775575554 585775543211 998866655811 444335655711"
)
LAYOUT = Components(0.02, 0.03, 0.04, 40, 20)


def made(seed: int, runs: int, topics: int, repetitions: int = 1, of: Components = LAYOUT) -> Scores:
    """Return normal scores with these components: (repetitions, runs, topics)."""
    chance = np.random.default_rng(seed)
    run = chance.normal(0, math.sqrt(of.run), (repetitions, runs, 1))
    topic = chance.normal(0, math.sqrt(of.topic), (repetitions, 1, topics))
    return 0.5 + run + topic + chance.normal(0, math.sqrt(of.residual), (repetitions, runs, topics))


# Components.


def test_components_are_those_of_a_plain_anova():
    y = made(1, 5, 4)[0].tolist()
    runs, topics = range(5), range(4)
    grand = mean(y[r][t] for r in runs for t in topics)
    by_run, by_topic = [mean(y[r]) for r in runs], [mean(y[r][t] for r in runs) for t in topics]
    squares = sum((y[r][t] - by_run[r] - by_topic[t] + grand) ** 2 for r in runs for t in topics)
    residual = squares / (4 * 3)
    found = variance_components(y)
    assert found.residual == pytest.approx(residual)
    assert found.run == pytest.approx(variance(by_run) - residual / 4)
    assert found.topic == pytest.approx(variance(by_topic) - residual / 5)
    assert (found.runs, found.topics, found.negative) == (5, 4, ())


def test_components_are_right_on_average():
    found = [variance_components(scores) for scores in made(2, 12, 8, 800)]
    for name in ("run", "topic", "residual"):
        assert mean(getattr(one, name) for one in found) == pytest.approx(getattr(LAYOUT, name), rel=0.04)


def test_a_negative_estimate_is_0_and_named():
    # Both runs have the same mean, but differ on each topic.
    found = variance_components([[0.0, 1.0, 0.2], [1.0, 0.0, 0.2]])
    assert found.run == 0.0
    assert found.negative == ("run", "topic")
    assert found.residual > 0
    assert generalizability(found, 10) == Statistic(0.0, 10)


def test_equal_scores_have_no_components():
    found = variance_components(np.full((3, 7), 0.3))
    assert found == Components(0.0, 0.0, 0.0, 3, 7)
    assert generalizability(found, 5) == Statistic(None, 5, CONSTANT)
    assert dependability(found, 5) == Statistic(None, 5, CONSTANT)
    assert expected_tau(found, 5) == Statistic(None, 5, CONSTANT)


@pytest.mark.parametrize(
    "scores",
    [[[0.1, 0.2], [0.3, math.nan]], [[0.1, 0.2]], [[0.1], [0.2]], [0.1, 0.2]],
    ids=["nan", "run", "topic", "1d"],
)
def test_components_need_a_whole_table(scores: list[object]):
    with pytest.raises(ValueError, match="variance components need"):
        variance_components(scores)


# Assessors nested in topics.


def nested(seed: int, shape: tuple[int, int, int], repetitions: int, of: AssessorComponents) -> Scores:
    """Return normal scores with these components: (repetitions, runs, topics, assessors)."""
    chance, (runs, topics, assessors) = np.random.default_rng(seed), shape
    parts = (
        (of.run, (runs, 1, 1)),
        (of.topic, (1, topics, 1)),
        (of.assessor, (1, topics, assessors)),
        (of.run_topic, (runs, topics, 1)),
        (of.residual, (runs, topics, assessors)),
    )
    return sum(chance.normal(0, math.sqrt(part), (repetitions, *shape)) for part, shape in parts)  # type: ignore[return-value]


NESTED = AssessorComponents(0.02, 0.03, 0.01, 0.015, 0.025, 8, 80)


def test_components_of_assessors_are_those_of_the_plain_design():
    """Of r x (a:t) with all answers judged twice, from its sums of squares."""
    y = nested(3, (4, 3, 2), 1, NESTED)[0]
    runs, topics, assessors = map(range, y.shape)
    of_topic = [mean(y[:, t].flat) for t in topics]
    of_assessor = [[mean(y[:, t, a]) for a in assessors] for t in topics]
    of_cell = [[mean(y[r, t]) for t in topics] for r in runs]
    cells = list(itertools.product(runs, topics, assessors))
    strictness = sum((of_assessor[t][a] - of_topic[t]) ** 2 for r, t, a in cells) / 3
    residual = sum((y[r, t, a] - of_cell[r][t] - of_assessor[t][a] + of_topic[t]) ** 2 for r, t, a in cells) / 9
    once = Components(0.02, 0.04, 0.05, 4, 3)
    found = assessor_components(once, y[..., 0], y[..., 1])
    assert found.residual == pytest.approx(residual)
    assert found.assessor == pytest.approx((strictness - residual) / 4)
    assert found.run == 0.02
    assert found.topic == pytest.approx(0.04 - found.assessor)
    assert found.run_topic == pytest.approx(0.05 - residual)
    assert (found.topics, found.answers, found.negative) == (3, 12, ())


def test_components_of_assessors_are_right_on_average_where_few_answers_are_judged_twice():
    y = nested(4, (10, 8, 2), 600, NESTED)
    asked = np.random.default_rng(5).random((600, 10, 8)) < np.linspace(0.1, 0.9, 8)
    asked[..., 0] = False  # a topic with one assessor
    found = [
        assessor_components(
            variance_components(scores[..., 0]), scores[..., 0], np.where(twice, scores[..., 1], np.nan)
        )
        for scores, twice in zip(y, asked, strict=True)
    ]
    assert {one.topics for one in found} <= {5, 6, 7}
    # The mean of an estimate that is 0 where it would be negative is too large, a little.
    for name, most in (("run", 0.08), ("residual", 0.03), ("assessor", 0.15), ("run_topic", 0.08), ("topic", 0.15)):
        assert mean(getattr(one, name) for one in found) == pytest.approx(getattr(NESTED, name), rel=most), name


def test_what_assessors_differ_by_can_be_more_than_all_that_is_left_over():
    first = np.array([[0.0, 0.2, 0.4], [0.1, 0.3, 0.5]])
    found = assessor_components(Components(0.0, 0.01, 0.001, 2, 3, ("run",)), first, 1 - first)
    assert (found.run, found.topic, found.run_topic) == (0.0, 0.0, 0.0)
    assert found.negative == ("run", "topic", "run_topic")
    same = assessor_components(LAYOUT, first, first)
    assert (same.assessor, same.residual, same.topic, same.run_topic) == (0.0, 0.0, 0.03, 0.04)


def test_second_opinions_shrink_what_assessors_differ_by():
    once = Components(0.02, 0.04, 0.04, 45, 21)  # topic: 0.03 + 0.01; residual: 0.015 + 0.025
    all_twice = with_second_opinions(once, NESTED, share=1)
    assert (all_twice.run, all_twice.topic, all_twice.residual) == pytest.approx((0.02, 0.035, 0.0275))
    some = with_second_opinions(once, NESTED, share=0.2, assessors=3)
    assert (some.topic, some.residual) == pytest.approx((0.04 - 0.01 * 0.2 * 2 / 3, 0.04 - 0.025 * 0.2 * 2 / 3))
    assert with_second_opinions(once, NESTED, share=0) == once
    # What the doubled topics say of assessors never exceeds what all topics leave over.
    small = Components(0.02, 0.004, 0.01, 45, 21)
    assert with_second_opinions(small, NESTED, share=1)[:3] == pytest.approx((0.02, 0.002, 0.005))


def test_second_opinions_predict_the_error_of_means():
    """The variance of differences of run means, where a third of the topics has two assessors."""
    y = nested(5, (2, 6, 2), 40_000, NESTED)
    judged = np.where(np.arange(6) < 2, y.mean(axis=3), y[..., 0])
    seen = (judged[:, 0] - judged[:, 1]).mean(axis=1).var()
    once = Components(0.02, 0.04, 0.04, 45, 21)
    plan = with_second_opinions(once, NESTED, share=1 / 3)
    assert seen == pytest.approx(2 * (plan.run + plan.residual / 6), rel=0.03)


@pytest.mark.parametrize(("share", "assessors"), [(-0.1, 2), (1.1, 2), (0.5, 0)])
def test_a_share_and_a_number_of_assessors_that_cannot_be(share: float, assessors: int):
    with pytest.raises(ValueError, match="a share is 0 to 1"):
        with_second_opinions(RAG, NESTED, share=share, assessors=assessors)


def test_answers_of_one_assessor_say_nothing_about_assessors():
    first = np.zeros((4, 3))
    for second in (np.full((4, 3), np.nan), np.where(np.eye(4, 3), 0.5, np.nan)):
        with pytest.raises(ValueError, match="no topic has two answers"):
            assessor_components(RAG, first, second)


# Coefficients.


def test_coefficients_of_a_published_collection():
    assert generalizability(ADHOC, 50).value == pytest.approx(0.93265, abs=1e-5)
    assert generalizability(ADHOC, 100).value == pytest.approx(0.96515, abs=1e-5)
    assert dependability(ADHOC, 50).value == pytest.approx(0.78613, abs=1e-5)
    assert generalizability_interval(ADHOC, 50) == pytest.approx((0.89311, 0.96287), abs=2e-5)
    assert generalizability_interval(ADHOC, 50, confidence=0.99) == pytest.approx((0.87737, 0.96967), abs=2e-5)


def test_components_and_coefficients_of_brennans_book():
    """Tables 6.2 and 6.5, with the digits that these print."""
    found = variance_components([[int(digit) for digit in person] for person in BRENNAN.split()])
    assert (found.run, found.topic, found.residual) == pytest.approx((0.6258, 0.8840, 2.7872), abs=5e-5)
    assert generalizability(found, 12).value == pytest.approx(0.729, abs=5e-4)
    assert dependability(found, 12).value == pytest.approx(0.672, abs=5e-4)
    assert generalizability_interval(found, 12, confidence=0.8) == pytest.approx((0.541, 0.876), abs=5e-4)


def test_the_interval_covers_the_truth():
    truth = generalizability(LAYOUT, 30).value
    assert truth is not None
    found = [generalizability_interval(variance_components(scores), 30) for scores in made(6, 15, 10, 1000)]
    assert np.mean([low <= truth <= high for low, high in found]) == pytest.approx(0.95, abs=0.02)


def test_coefficients_need_a_topic_and_an_interval_a_residual():
    with pytest.raises(ValueError, match="one topic or more"):
        generalizability(RAG, 0)
    with pytest.raises(ValueError, match="no residual"):
        generalizability_interval(RAG._replace(residual=0.0), 10)


# Differences.


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        (Criterion.Z, [0.151, 0.115, 0.092, 0.069, 0.040]),
        (Criterion.T, [0.158, 0.118, 0.094, 0.070, 0.040]),
        (Criterion.HSD, [0.258, 0.197, 0.158, 0.118, 0.068]),
    ],
)
def test_smallest_differences(criterion: Criterion, expected: list[float]):
    assert smallest_difference(RAG, [21, 36, 56, 100, 301], 45, criterion).round(3).tolist() == expected


def test_a_t_test_finds_the_smallest_difference_in_four_of_five_samples():
    difference = float(smallest_difference(LAYOUT, 4, 7, Criterion.T))
    samples = np.random.default_rng(7).normal(difference, math.sqrt(2 * LAYOUT.residual), (20_000, 4))
    assert (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.01)


def test_hsd_finds_the_smallest_difference_in_four_of_five_samples():
    """Of two of five runs, the threshold by the residual mean square of all five."""
    runs, topics = 5, 6
    y = made(8, runs, topics, 10_000, LAYOUT._replace(run=0))
    y[:, 0] += float(smallest_difference(LAYOUT, topics, runs, Criterion.HSD))
    centred = y - y.mean(axis=2, keepdims=True) - y.mean(axis=1, keepdims=True) + y.mean(axis=(1, 2), keepdims=True)
    error = (centred**2).sum(axis=(1, 2)) / ((runs - 1) * (topics - 1))
    threshold = stats.studentized_range.ppf(0.95, runs, (runs - 1) * (topics - 1)) * np.sqrt(error / topics)
    found = (y[:, 0] - y[:, 1]).mean(axis=1) > threshold
    assert found.mean() == pytest.approx(0.8, abs=0.015)


def test_more_power_and_a_stricter_level_need_a_larger_difference():
    usual = smallest_difference(RAG, 21, 45, Criterion.T)
    assert smallest_difference(RAG, 21, 45, Criterion.T, power=0.9) > usual
    assert smallest_difference(RAG, 21, 45, Criterion.T, alpha=0.01) > usual
    assert smallest_difference(RAG, 21, 90, Criterion.T) == usual
    assert smallest_difference(RAG, 21, 90, Criterion.HSD) > smallest_difference(RAG, 21, 45, Criterion.HSD)


@pytest.mark.parametrize(("topics", "runs"), [(1, 45), (21, 1)])
def test_differences_need_two_topics_and_two_runs(topics: int, runs: int):
    with pytest.raises(ValueError, match="two runs or more, on two topics or more"):
        smallest_difference(RAG, topics, runs, Criterion.Z)


def test_pairs_differ_in_the_variance_of_their_difference():
    y = made(9, 8, 15)[0]
    residual = variance_components(y).residual
    found = sorted(
        variance((y[a] - y[b]).tolist()) / (2 * residual) for a, b in itertools.combinations(range(len(y)), 2)
    )
    assert mean(found) == pytest.approx(1)  # so what the plan takes for each pair is their mean
    assert pair_spread(y) == pytest.approx(tuple(np.percentile(found, [5, 95])))
    assert pair_spread(y, share=0.5) == pytest.approx(tuple(np.percentile(found, [25, 75])))
    with pytest.raises(ValueError, match="no two runs differ"):
        pair_spread([[0.25, 0.5], [0.5, 0.75]])


# Rankings on other topics.


def test_the_expected_tau_is_that_of_a_simulation():
    y = made(10, 45, 20, 400, RAG)
    halves = y[..., :10].mean(axis=2), y[..., 10:].mean(axis=2)
    taus = [stats.kendalltau(one, other).statistic for one, other in zip(*halves, strict=True)]
    found = expected_tau(RAG, 10)
    assert found.value == pytest.approx(mean(taus), abs=0.01)
    assert found.value == pytest.approx(0.6455, abs=1e-4)  # NIST's halves: mean 0.6631, 0.576 to 0.749
    assert found.n == 10


def test_halves_are_drawn_without_a_topic_in_both():
    y, chance, plain = made(11, 30, 21)[0], np.random.default_rng(12), []
    whole = split_half_tau(y, seed=0, draws=300)
    assert whole.draws == 300
    assert whole == split_half_tau(y, seed=0, topics=10, draws=300)
    for _ in range(300):
        order = chance.permutation(21)
        plain.append(stats.kendalltau(y[:, order[:10]].mean(axis=1), y[:, order[10:20]].mean(axis=1)).statistic)
    assert whole.mean == pytest.approx(mean(plain), abs=0.02)
    assert (whole.low, whole.high) == pytest.approx(tuple(np.percentile(plain, [2.5, 97.5])), abs=0.03)


@pytest.mark.parametrize("topics", [0, 4])
def test_halves_that_cannot_be_drawn(topics: int):
    with pytest.raises(ValueError, match="of 7 topics no two halves"):
        split_half_tau(np.zeros((3, 7)), seed=0, topics=topics)
