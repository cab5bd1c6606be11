"""Calibration against scipy, scikit-learn, plain loops and published figures."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.check_values import calibration_checks
from metaeval.stats.agreement import Weights, kappa
from metaeval.stats.calibration import (
    Estimate,
    compare_shares,
    effective_size,
    even_values,
    expected_values,
    fit_isotonic,
    human_given_model,
    kappa_interval,
    mean_value,
    measure_reliability,
    model_given_human,
    reliability_curve,
    wilson_interval,
)

VALUES = [0.0, 0.5, 1.0]


def generate_counts(topics: int = 30, size: int = 40, spread: float = 0.15, seed: int = 0) -> np.ndarray:
    """Return counts (topics, 3, 3) of a judge who is right more often on some topics than on others."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((topics, 3, 3), dtype=np.int64)
    for topic in range(topics):
        right = np.clip(0.7 + spread * rng.standard_normal(), 0.05, 0.95)
        human = rng.choice(3, size, p=[0.3, 0.25, 0.45])
        model = np.where(rng.random(size) < right, human, rng.integers(0, 3, size))
        np.add.at(counts[topic], (human, model), 1)
    return counts


def test_published_figures():
    wrong = [check.name for check in calibration_checks(None) if not check.holds]
    assert not wrong


@pytest.mark.parametrize(("hits", "n"), [(500, 826), (1392, 3699), (486, 3965), (0, 7), (7, 7), (1, 1)])
def test_the_interval_of_independent_labels_is_wilsons(hits: int, n: int):
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("share", "n"), [(0.5, 0), (1.1, 5), (-0.1, 5)])
def test_what_is_no_share_is_refused(share: float, n: float):
    with pytest.raises(ValueError, match="no share"):
        wilson_interval(share, n)


def test_shares_are_those_of_a_loop():
    counts = generate_counts()
    given, back = human_given_model(counts), model_given_human(counts)
    for one in range(3):
        for other in range(3):
            hits = sum(int(topic[one][other]) for topic in counts)
            of_model = sum(int(topic[human][other]) for topic in counts for human in range(3))
            of_human = sum(int(topic[one][model]) for topic in counts for model in range(3))
            assert (given[other][one].value, given[other][one].n) == (pytest.approx(hits / of_model), of_model)
            assert (back[one][other].value, back[one][other].n) == (pytest.approx(hits / of_human), of_human)


def test_the_effective_size_is_that_of_the_paper():
    hits, sizes = [8, 1, 5, 9, 2, 6, 0, 7, 3, 4, 0], [10, 5, 10, 10, 8, 10, 6, 8, 5, 7, 0]
    n, topics, share = 79, 10, 45 / 79
    variance = topics / (topics - 1) * sum((y - share * m) ** 2 for y, m in zip(hits, sizes, strict=True)) / n**2
    adjusted = (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, topics - 1)) ** 2
    assert effective_size(hits, sizes) == pytest.approx(share * (1 - share) / variance * adjusted)


def test_labels_that_are_all_alike_in_a_topic_are_worth_no_more_than_topics():
    found = effective_size([20] * 10 + [0] * 10, [20] * 20)
    assert found is not None
    assert 15 < found < 20


def test_a_label_given_twice_narrows_nothing():
    counts = generate_counts(size=400, spread=0.5)
    once, twice = human_given_model(counts)[2], human_given_model(counts * 2)[2]
    for one, other in zip(once, twice, strict=True):
        assert one.effective is not None
        assert one.effective < one.n / 2
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=5e-4)
    means = [expected_values(times * counts, VALUES)[2] for times in (1, 2)]
    assert means[0][:3] == pytest.approx(means[1][:3])


def test_the_effective_size_is_never_more_than_the_labels():
    assert effective_size([5] * 12, [10] * 12) == 120
    assert effective_size([5, 4] * 6, [10] * 12) == 120


def test_what_says_nothing_of_clusters_has_no_effective_size():
    assert effective_size([5], [10]) is effective_size([0, 0], [5, 5]) is effective_size([5, 5], [5, 5]) is None


def test_a_share_of_all_is_no_surer_than_its_topics_allow():
    counts = np.zeros((12, 2, 2), dtype=int)
    counts[:, 1, 1] = 50
    never, always = human_given_model(counts)[1]
    assert (always.value, always.effective, never.effective) == (1.0, 12, 12)
    assert always.low == pytest.approx(stats.binomtest(12, 12).proportion_ci(method="wilson").low)


def test_intervals_cover_shares_of_clustered_labels():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        chance = rng.beta(6, 4, 20)
        hits = rng.binomial(30, chance)
        counts = np.zeros((20, 2, 2), dtype=int)
        counts[:, 1, 1], counts[:, 0, 1] = hits, 30 - hits
        found = human_given_model(counts)[1][1]
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.6 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_below_ten_topics_there_is_no_interval():
    counts = generate_counts(topics=9)
    shares = human_given_model(counts)[0][0]
    assert (shares.low, shares.high, shares.why) == (None, None, "fewer than 10 topics")
    assert shares.value is not None
    assert expected_values(counts, VALUES)[0].why == kappa_interval(counts, seed=1).why == "fewer than 10 topics"
    assert measure_reliability(counts, 2, seed=1).brier is None


def test_a_label_that_was_never_given_is_undefined():
    counts = generate_counts()
    counts[:, :, 1] = 0
    nothing = Estimate(None, None, None, 0, None, "the label was never given")
    assert human_given_model(counts)[1] == [nothing] * 3
    assert expected_values(counts, VALUES)[1] == nothing
    assert [step.label for step in reliability_curve(counts, 2)] == [0, 2]


def test_expected_values_are_those_of_a_loop():
    counts = generate_counts()
    for model, found in enumerate(expected_values(counts, VALUES)):
        labels = [
            (topic, VALUES[human])
            for topic in range(30)
            for human in range(3)
            for _ in range(counts[topic, human, model])
        ]
        mean = sum(value for _, value in labels) / len(labels)
        residuals = [sum(value - mean for at, value in labels if at == topic) for topic in range(30)]
        error = math.sqrt(30 / 29 * sum(one**2 for one in residuals)) / len(labels)
        half = stats.t.ppf(0.975, 29) * error
        assert found[:4] == pytest.approx((mean, mean - half, mean + half, len(labels)))


def test_means_stay_within_the_values():
    counts = np.zeros((12, 3, 3), dtype=int)
    counts[:, 2, 2] = 5
    counts[0, 0, 2] = 1
    found = expected_values(counts, VALUES)[2]
    assert found.high == 1.0
    assert mean_value(counts, VALUES).value == pytest.approx(60 / 61)
    assert even_values(6) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert even_values(1) == [0]


def test_the_interval_of_kappa_is_that_of_a_loop_over_draws():
    counts = generate_counts(topics=12)
    drawn = np.random.default_rng(3).integers(0, 12, (200, 12))
    kappas = [kappa(counts[topics].sum(axis=0), Weights.QUADRATIC).value for topics in drawn]
    found = kappa_interval(counts, Weights.QUADRATIC, seed=3, draws=200)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(kappas, [2.5, 97.5])))


def isotonic_fit(shares: Any, sizes: Any) -> Any:
    """Return scikit-learn's fit of shares in their order. To load it takes a second, here of the process that asks."""
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression().fit_transform(np.arange(len(shares)), shares, sample_weight=sizes)


def test_the_isotonic_fit_is_scikit_learns():
    rng = np.random.default_rng(5)
    for _ in range(50):
        shares, sizes = rng.random(8), rng.integers(1, 50, 8)
        expected = isotonic_fit(shares, sizes)
        assert fit_isotonic(shares, sizes) == pytest.approx(expected, abs=1e-12)
    assert fit_isotonic([], []).tolist() == []


def test_a_curve_says_how_often_people_said_yes():
    counts = np.array([[[8, 2, 1], [1, 4, 2], [1, 4, 1]]])
    curve = reliability_curve(counts, 2)
    assert [(step.label, step.yes.n) for step in curve] == [(0, 10), (1, 10), (2, 4)]
    assert [step.yes.value for step in curve] == pytest.approx([0.1, 0.4, 0.25])
    assert [step.fitted for step in curve] == pytest.approx([0.1, 5 / 14, 5 / 14])
    assert [step.yes.value for step in reliability_curve(counts, 1)] == pytest.approx([0.2, 0.8, 0.75])
    with pytest.raises(ValueError, match="from 1 to 2"):
        reliability_curve(counts, 3)


def test_errors_are_of_topics_that_were_left_out():
    counts = generate_counts(topics=20)
    fold = np.random.default_rng(7).permutation(20) % 5
    squares, n, in_bins = 0.0, 0, {}
    for topic in range(20):
        others = counts[fold != fold[topic]].sum(axis=0)
        shares, sizes = others[2] / others.sum(axis=0), others.sum(axis=0)
        fitted = isotonic_fit(shares, sizes)
        for human in range(3):
            for model in range(3):
                many, said = int(counts[topic, human, model]), float(human == 2)
                squares += many * (fitted[model] - said) ** 2
                n += many
                told = in_bins.setdefault(min(int(fitted[model] * 10), 9), [0.0, 0.0])
                told[0] += many * fitted[model]
                told[1] += many * said
    found = measure_reliability(counts, 2, seed=7)
    assert (found.brier, found.n) == (pytest.approx(squares / n), n)
    assert found.error == pytest.approx(sum(abs(one - other) for one, other in in_bins.values()) / n)
    as_is = sum(
        int(counts[:, human, model].sum()) * (model / 2 - (human == 2)) ** 2 for human in range(3) for model in range(3)
    )
    assert found.brier_as_is == pytest.approx(as_is / n)


def test_leaving_out_labels_would_hide_what_differs_between_topics():
    # On half of the topics the highest grade is always right, on the others never: of a topic that was left out, the
    # others tell nothing.
    counts = np.zeros((20, 2, 2), dtype=int)
    counts[::2, 1, 1] = counts[1::2, 0, 1] = 10
    found = measure_reliability(counts, 1, seed=1)
    assert found.brier is not None
    assert found.brier >= 0.25


def test_shares_of_the_same_labels_agree():
    labels = generate_counts(topics=40, size=60).sum(axis=1)
    found = compare_shares(labels, labels, seed=1)
    assert found.agrees
    assert [one.difference for one in found.shares] == [0, 0, 0]
    # Of other topics.
    nothing = np.zeros((40, 3))
    assert compare_shares(np.concatenate([labels, nothing]), np.concatenate([nothing, labels[::-1]]), seed=1).agrees


def test_shares_that_differ_or_are_of_few_topics_do_not_agree():
    labels, other = np.tile([[30, 20, 50]], (20, 1)), np.tile([[45, 20, 35]], (20, 1))
    found = compare_shares(labels, other, seed=1)
    assert found.agrees is False
    assert [one.difference for one in found.shares] == pytest.approx([0.15, 0, -0.15])
    few = compare_shares(labels * (np.arange(20) < 9)[:, np.newaxis], labels, seed=1)
    assert (few.agrees, few.why) == (None, "fewer than 10 topics")
    assert compare_shares(labels, labels * 0, seed=1).why == "one of the two has no labels"
    with pytest.raises(ValueError, match="same topics"):
        compare_shares(labels, labels[:9], seed=1)


def test_topics_that_vary_widely_cannot_show_that_shares_agree():
    mixed = np.tile([[20, 0], [0, 20]], (6, 1))
    nothing = np.zeros((12, 2))
    found = compare_shares(np.concatenate([mixed, nothing]), np.concatenate([nothing, mixed]), seed=1)
    assert [one.difference for one in found.shares] == [0, 0]
    assert found.agrees is False


def test_the_intervals_of_differences_are_those_of_a_loop_over_draws():
    first, second = (generate_counts(topics=12, seed=seed).sum(axis=1) for seed in (1, 2))
    drawn = np.random.default_rng(4).integers(0, 12, (200, 12))
    differences = []
    for topics in drawn:
        one, other = first[topics].sum(axis=0), second[topics].sum(axis=0)
        differences.append(other / other.sum() - one / one.sum())
    low, high = np.percentile(differences, [5, 95], axis=0)
    found = compare_shares(first, second, seed=4, draws=200).shares
    assert [one.low for one in found] == pytest.approx(low.tolist())
    assert [one.high for one in found] == pytest.approx(high.tolist())


@pytest.mark.parametrize(
    "counts", [np.zeros((3, 3)), np.zeros((2, 0, 3)), -np.ones((1, 2, 2)), np.full((1, 2, 2), 0.5)]
)
def test_what_are_no_counts_is_refused(counts: np.ndarray):
    with pytest.raises(ValueError, match="counts are"):
        human_given_model(counts)
