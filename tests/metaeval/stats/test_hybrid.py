"""Hybrid scores against plain loops, scipy and simulation."""

import json
import math
from pathlib import Path
from statistics import NormalDist, fmean, pvariance, variance

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.bootstrap import draw_topics
from metaeval.stats.hybrid import (
    Target,
    Variances,
    expected_half_width,
    hybrid_differences,
    hybrid_scores,
    more_topics,
    order_taus,
    shrunk,
    stratified_mean,
    topics_for,
)

VECTORS = Path(__file__).parents[4] / "shared" / "data" / "test_vectors.json"
RUNS, TOPICS, JUDGED = 6, 20, 8


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    """People's and a model's scores of all topics."""
    rng = np.random.default_rng(3)
    model = rng.random((RUNS, TOPICS))
    return 0.6 * model + 0.4 * rng.random((RUNS, TOPICS)), model


def judged(human: np.ndarray, topics=range(JUDGED)) -> np.ndarray:
    found = np.full(human.shape, np.nan)
    found[:, list(topics)] = human[:, list(topics)]
    return found


def covariance(x: list[float], y: list[float]) -> float:
    return sum((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True)) / (len(x) - 1)


def plain_scores(human, model, target: str):
    """The formulas, run by run, with lists."""
    pairs = [[(y, f) for y, f in zip(*row, strict=True) if not math.isnan(y)] for row in zip(human, model, strict=True)]
    others = [
        [f for y, f in zip(*row, strict=True) if math.isnan(y) and not math.isnan(f)]
        for row in zip(human, model, strict=True)
    ]
    shared = sum(covariance(*map(list, zip(*of_run, strict=True))) for of_run in pairs)
    factors = [
        1 + (len(of_run) / len(rest) if target == "population" else 0)
        for of_run, rest in zip(pairs, others, strict=True)
    ]
    alone = sum(factor * variance([f for _, f in of_run]) for factor, of_run in zip(factors, pairs, strict=True))
    weight = min(max(shared / alone, 0), 1)
    found = []
    for of_run, rest in zip(pairs, others, strict=True):
        n, size = len(of_run), len(of_run) + len(rest)
        rests = [y - weight * f for y, f in of_run]
        if target == "campaign":
            mean = weight * fmean([f for _, f in of_run] + rest) + fmean(rests)
            error, df = math.sqrt((1 - n / size) * variance(rests) / n), n - 1
        else:
            mean = weight * fmean(rest) + fmean(rests)
            one, two = weight**2 * variance(rest) / len(rest), variance(rests) / n
            error = math.sqrt(one + two)
            df = (one + two) ** 2 / (one**2 / (len(rest) - 1) + two**2 / (n - 1))
        half = stats.t.ppf(0.975, df) * error
        found.append((mean, error, mean - half, mean + half, df))
    return weight, found


@pytest.mark.parametrize("target", list(Target))
def test_scores_are_those_of_plain_loops(scores, target):
    human, model = judged(scores[0]), scores[1].copy()
    human[1, 2] = np.nan  # a label is missing
    model[2, 15:] = human[2, 15:] = np.nan  # not judged there, as planned
    found = hybrid_scores(human, model, target)
    weight, expected = plain_scores(human.tolist(), model.tolist(), target.value)
    assert found.weight == pytest.approx(weight, abs=1e-12)
    assert 0 < weight < 1
    actual = np.stack([found.mean, found.error, found.low, found.high, found.df], axis=1)
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    assert found.judged.tolist() == [8, 7, 8, 8, 8, 8]
    assert found.topics.tolist() == [20, 20, 15, 20, 20, 20]


def test_a_constant_model_leaves_peoples_interval(scores):
    n = 7  # of which means of equal values are not exact
    human = judged(scores[0], range(n))
    model = np.tile([[0.1], [0.2], [0.3], [0.7], [0.9], [1.1]], (1, TOPICS))
    for target, factor in ((Target.CAMPAIGN, math.sqrt(1 - n / TOPICS)), (Target.POPULATION, 1)):
        found = hybrid_scores(human, model, target)
        assert found.weight == 0
        for at in range(RUNS):
            y = human[at, :n]
            low, high = stats.t.interval(0.95, n - 1, y.mean(), stats.sem(y))
            assert found.mean[at] == pytest.approx(y.mean(), abs=1e-12)
            assert found.half_width[at] == pytest.approx((high - low) / 2 * factor, abs=1e-12)


def test_all_topics_judged_are_peoples_scores_without_width(scores):
    human, model = scores
    found = hybrid_scores(human, model)
    np.testing.assert_allclose(found.mean, human.mean(axis=1), atol=1e-15)
    assert (found.half_width == 0).all()
    # Of more topics than these, people's scores are a sample all the same.
    of_all = hybrid_scores(human, model, "population")
    expected = stats.t.interval(0.95, TOPICS - 1, human.mean(axis=1), stats.sem(human, axis=1))
    np.testing.assert_allclose([of_all.low, of_all.high], expected, atol=1e-12)


def test_a_model_that_says_what_people_say_leaves_no_width(scores):
    model = scores[1]
    found = hybrid_scores(judged(model), model)
    assert found.weight == 1
    np.testing.assert_allclose(found.mean, model.mean(axis=1), atol=1e-15)
    assert (found.half_width == 0).all()


def test_order_of_runs_and_constants_do_not_matter(scores):
    human, model = judged(scores[0]), scores[1]
    order = [3, 1, 5, 0, 2, 4]
    found, permuted = hybrid_scores(human, model), hybrid_scores(human[order], model[order])
    shifted = hybrid_scores(human, model + np.arange(RUNS)[:, np.newaxis] * 0.1)
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(getattr(permuted, name), getattr(found, name)[order], atol=1e-12)
        np.testing.assert_allclose(getattr(shifted, name), getattr(found, name), atol=1e-12)
    np.testing.assert_allclose(
        shrunk(human[order], model[order]).scores, shrunk(human, model).scores[order], atol=1e-12
    )
    np.testing.assert_allclose(shrunk(human, model + 0.1).scores, shrunk(human, model).scores, atol=1e-12)


def test_what_is_undefined_says_why(scores):
    human, model = scores[0].copy(), scores[1]
    found = hybrid_scores(judged(human, range(2)), model)
    assert set(found.why) == {"fewer than 3 judged topics"}
    assert np.isnan([found.mean, found.low, found.high]).all()
    for target in Target:
        assert set(hybrid_scores(np.full(model.shape, np.nan), model, target).why) == {"fewer than 3 judged topics"}
    assert np.isnan(hybrid_differences(np.full(model.shape, np.nan), model).p).all()
    human[1, 4] = np.nan
    found = hybrid_scores(human, model)
    assert found.why == ["", "all topics are judged, but not all of this run", "", "", "", ""]
    assert np.isnan(found.mean).tolist() == [False, True, False, False, False, False]
    few = judged(human)
    few[2, 2:] = np.nan
    assert hybrid_scores(few, model).why[2] == "fewer than 3 judged topics"
    assert shrunk(judged(human, range(2)), model).weight.why == "fewer than two runs with 3 judged topics"
    pairs = hybrid_differences(few, model)
    assert [bool(why) for why in pairs.estimates.why] == [
        2 in pair for pair in zip(pairs.first, pairs.second, strict=True)
    ]


def test_what_cannot_be_meant_is_refused(scores):
    human, model = scores
    for wrong, why in (({"weight": 2}, "weight"), ({"confidence": 1}, "confidence"), ({"target": "year"}, "Target")):
        with pytest.raises(ValueError, match=why):
            hybrid_scores(human, model, **wrong)
    with pytest.raises(ValueError, match="equal shape"):
        hybrid_scores(human, model[:, 1:])
    with pytest.raises(ValueError, match="above 0"):
        shrunk(human, model, prior_sd=0)


@pytest.mark.parametrize("target", list(Target))
def test_differences_are_scores_of_differences(scores, target):
    human, model = judged(scores[0]), scores[1]
    found = hybrid_differences(human, model, target)
    for at, (one, other) in enumerate(zip(found.first, found.second, strict=True)):
        expected = hybrid_scores(
            [human[one] - human[other]], [model[one] - model[other]], target, weight=found.estimates.weight
        )
        for name in ("mean", "error", "low", "high"):
            assert getattr(found.estimates, name)[at] == pytest.approx(getattr(expected, name)[0], abs=1e-12)
        t = abs(expected.mean[0]) / expected.error[0]
        assert found.p[at] == pytest.approx(2 * stats.t.sf(t, expected.df[0]), abs=1e-8)
    # Pooled over pairs one by one.
    pairs = [(one, other) for one in range(RUNS) for other in range(one + 1, RUNS)]
    of_pairs = [np.array([side[one] - side[other] for one, other in pairs]) for side in (human, model)]
    assert found.estimates.weight == pytest.approx(hybrid_scores(*of_pairs, target).weight, abs=1e-12)


def test_runs_that_are_alike_are_not_told_apart(scores):
    human, model = judged(scores[0]), scores[1].copy()
    human[1], model[1] = human[0], model[0]
    found = hybrid_differences(human, model)
    assert found.p[0] == 1
    assert not found.decided()[0]


def test_the_shrunk_score_is_that_of_plain_loops(scores):
    human, model = judged(scores[0]), scores[1]
    rests = [[human[r, t] - model[r, t] for t in range(JUDGED)] for r in range(RUNS)]
    biases = [fmean(row) for row in rests]
    centre = fmean(biases)
    by_topic = [fmean(row[t] for row in rests) for t in range(JUDGED)]
    within = fmean(variance([row[t] - by_topic[t] for t in range(JUDGED)]) for row in rests)
    v = within * (1 - JUDGED / TOPICS) * RUNS / (RUNS - 1) / JUDGED
    total = weighed = 0.0
    for step in range(121):
        s = step * 4 * 0.03 / 120
        density = NormalDist(0, 0.03).pdf(s) * (s**2 + v) ** (-(RUNS - 1) / 2)
        density *= math.exp(-sum((d - centre) ** 2 for d in biases) / (2 * (s**2 + v)))
        total, weighed = total + density, weighed + density * s**2 / (s**2 + v)
    found = shrunk(human, model)
    assert found.weight.value == pytest.approx(weighed / total, abs=1e-12)
    assert 0.01 < weighed / total < 0.99
    expected = [model[r].mean() + centre + weighed / total * (biases[r] - centre) for r in range(RUNS)]
    np.testing.assert_allclose(found.scores, expected, atol=1e-12)


def test_the_shrunk_score_of_all_topics_is_peoples(scores):
    human, model = scores
    found = shrunk(human, model)
    assert found.weight.value == 1
    np.testing.assert_allclose(found.scores, human.mean(axis=1), atol=1e-12)


def test_topics_for_a_width_solve_the_formula():
    variances, topics = Variances(0.06, 0.04), 100
    n = topics_for(0.05, variances, topics)
    assert n == 40

    def needed(n: int) -> float:
        q = (stats.t.ppf(0.975, n - 1) * 0.2 / 0.05) ** 2
        return topics * q / (topics + q)

    assert needed(n) <= n < needed(n - 1) + 1
    assert needed(n - 1) > n - 1
    assert topics_for(0.01, variances, 100, "population") is None
    assert expected_half_width(100, variances, 100) == 0
    # All judged, the model tells no more of other topics.
    assert expected_half_width(100, variances, 100, "population") == pytest.approx(
        stats.t.ppf(0.975, 99) * math.sqrt(0.06 / 100)
    )


@pytest.mark.parametrize("target", list(Target))
def test_widths_to_expect_start_where_they_are(target):
    rng = np.random.default_rng(0)
    model = rng.random((1, 4_000))
    human = judged(0.6 * model + 0.4 * rng.random((1, 4_000)), range(1_000))
    found = hybrid_scores(human, model, target)
    variances = Variances(*(one[0] for one in found.variances))
    assert expected_half_width(1_000, variances, 4_000, target) == pytest.approx(found.half_width[0], rel=0.02)


def test_more_topics_decide_more_pairs(scores):
    human, model = judged(scores[0]), scores[1]
    found, pairs = hybrid_scores(human, model), hybrid_differences(human, model)
    curve = more_topics(found, pairs, (JUDGED, 14, TOPICS))
    assert curve[0].decided == pairs.decided().sum()
    assert [one.topics for one in curve] == [8, 14, 20]
    assert curve[0].decided <= curve[1].decided < curve[2].decided == 15
    assert curve[0].half_width > curve[1].half_width > curve[2].half_width == 0


def test_a_label_twice_narrows_nothing(scores):
    human, model = judged(scores[0]), scores[1]
    nuggets = np.stack([human, 1 - human], axis=-1)
    twice = np.concatenate([nuggets, nuggets], axis=-1)
    once, doubled = (hybrid_scores(one.mean(axis=-1) + human, model) for one in (nuggets, twice))
    np.testing.assert_allclose(doubled.half_width, once.half_width, atol=1e-15)


def test_taus_with_peoples_order(scores):
    people, model = scores
    human = judged(people)
    hybrid, alone = order_taus(people, human, model, seed=4, draws=50)
    truth = people.mean(axis=1)
    drawn = draw_topics(TOPICS, 50, 4)
    for found, scored in (
        (hybrid, lambda some: shrunk(human[:, some], model[:, some]).scores),
        (alone, lambda some: model[:, some].mean(axis=1)),
    ):
        expected = stats.kendalltau(truth, scored(np.arange(TOPICS))).statistic
        assert found.tau == (pytest.approx(expected, abs=1e-12), RUNS, "")
        values = [stats.kendalltau(people[:, some].mean(axis=1), scored(some)).statistic for some in drawn]
        assert (found.low, found.high) == pytest.approx(tuple(np.nanquantile(values, [0.025, 0.975])), abs=1e-12)
        assert found.low < found.high
    assert order_taus(people, people, model, seed=4, draws=5)[0].tau.value == pytest.approx(1)
    few = order_taus(people, judged(people, range(2)), model, seed=4, draws=5)[0]
    assert few.tau.value is None
    assert math.isnan(few.low)


@pytest.fixture
def labels() -> tuple[list[float], list[int], list[int], list[float]]:
    """Labels of people, each with its stratum and topic, and the strata's shares."""
    rng = np.random.default_rng(8)
    strata = [*range(4), *rng.integers(0, 4, 196).tolist()]
    topics = rng.integers(0, 12, 200).tolist()
    levels = rng.normal(0, 0.2, 12)
    values = [0.2 * h + levels[t] + rng.normal(0, 0.1) for h, t in zip(strata, topics, strict=True)]
    return values, strata, topics, [0.4, 0.3, 0.2, 0.1]


def test_a_stratified_mean_is_that_of_plain_loops(labels):
    values, strata, topics, shares = labels
    rows = list(zip(values, strata, topics, strict=True))
    means = [fmean(y for y, at, _ in rows if at == h) for h in range(4)]
    expected = sum(share * mean for share, mean in zip(shares, means, strict=True))
    square = 0.0
    for topic in set(topics):
        rest = sum(shares[h] * (y - means[h]) / strata.count(h) for y, h, one in rows if one == topic)
        square += rest**2
    clusters = len(set(topics))
    error = math.sqrt(clusters / (clusters - 1) * square)
    found = stratified_mean(*labels)
    assert found.mean == (pytest.approx(expected, abs=1e-12), 200, "")
    assert found.error == pytest.approx(error, abs=1e-12)
    half = stats.t.ppf(0.975, clusters - 1) * error
    assert (found.low, found.high) == pytest.approx((expected - half, expected + half), abs=1e-10)
    # Names of topics and the order of labels do not matter.
    order = np.random.default_rng(1).permutation(200)
    permuted = stratified_mean(*(np.array(one)[order] for one in (values, strata, np.array(topics) * 7 + 3)), shares)
    assert permuted.error == pytest.approx(found.error, abs=1e-12)


def test_every_label_twice_narrows_no_stratified_mean(labels):
    values, strata, topics, shares = labels
    once, twice = stratified_mean(*labels), stratified_mean(values * 2, strata * 2, topics * 2, shares)
    assert twice[1:] == pytest.approx(once[1:], abs=1e-12)
    # As if labels were independent, it would.
    independent = [stratified_mean(values * n, strata * n, range(200 * n), shares).error for n in (1, 2)]
    assert independent[1] / independent[0] == pytest.approx(math.sqrt(1 / 2), rel=0.01)
    assert once.error > 1.5 * independent[0]


def test_strata_of_the_support_matrix_have_the_published_values():
    """6,742 labels of support, people's by the model's (TREC 2024 RAG): 0, 1/2, 1 from none to full."""
    matrix = np.array([[923, 1018, 397], [187, 802, 663], [101, 601, 2050]])  # (human, model)
    human, model = (places.ravel() for places in np.indices(matrix.shape))
    counts = matrix.ravel()
    values, strata = (np.repeat(one, counts) for one in (human / 2, model))
    shares = matrix.sum(axis=0) / matrix.sum()
    found = stratified_mean(values, strata, np.arange(len(values)), shares)
    assert found.mean.value == pytest.approx(0.5307, abs=5e-5)
    assert found.mean.value == pytest.approx(values.mean(), abs=1e-12)
    one_each = [stratified_mean(values, strata, np.arange(len(values)), row).mean.value for row in np.eye(3)]
    assert one_each == pytest.approx([0.1606, 0.4139, 0.7658], abs=5e-5)
    assert float(shares @ [0, 0.5, 1]) == pytest.approx(0.6408, abs=5e-5)
    # Against the variance of a random sample: labels in proportion to strata, and as Neyman would have them.
    within = np.array([values[strata == h].var() for h in range(3)])
    assert np.sqrt(within)[::-1] == pytest.approx([0.355, 0.400, 0.310], abs=5e-4)
    assert shares @ within / values.var() == pytest.approx(0.707, abs=5e-4)
    assert (shares @ np.sqrt(within)) ** 2 / values.var() == pytest.approx(0.702, abs=5e-4)
    of_sample = stratified_mean(values, np.zeros_like(strata), np.arange(len(values)), [1.0])
    assert (found.error / of_sample.error) ** 2 == pytest.approx(0.707, abs=5e-4)


def test_a_stratified_mean_that_is_undefined_says_why(labels):
    values, strata, topics, shares = labels
    assert stratified_mean(values, strata, [1, 2] * 100, shares).mean == (None, 200, "fewer than 3 judged topics")
    lacking = stratified_mean(values, strata, topics, [*shares[:3], 0, 0.1])
    assert lacking.mean.why == "a stratum without labels of people"
    assert math.isnan(lacking.error)
    assert stratified_mean(values, strata, topics, [*shares, 0.0]).mean.value == stratified_mean(*labels).mean.value
    for wrong, why in (
        ((values[1:], strata, topics, shares), "equal length"),
        ((values, strata, topics, [0.5, 0.5, 0.5, 0.5]), "sum to 1"),
        ((values, strata, topics, [0.5, 0.5]), "no stratum 3"),
    ):
        with pytest.raises(ValueError, match=why):
            stratified_mean(*wrong)


def test_intervals_cover_what_people_would_say():
    """Heavy-tailed residuals, a model that favours the first run by 0.2 everywhere, 10 of 100 topics judged."""
    rng = np.random.default_rng(12)
    runs, topics, n, draws = 25, 100, 10, 2_000
    model = np.clip(rng.normal(0.5, 0.2, (runs, topics)) + rng.normal(0, 0.05, (runs, 1)), 0, 1)
    human = 0.7 * model + 0.1 + 0.08 * rng.standard_t(3, (runs, topics))
    model[0] += 0.2
    truth = human.mean(axis=1)
    covered, of_pairs = np.zeros(runs), []
    for draw in range(draws):
        some = judged(human, rng.permutation(topics)[:n])
        found = hybrid_scores(some, model)
        covered += (found.low <= truth) & (truth <= found.high)
        if draw < 60:
            pairs = hybrid_differences(some, model)
            gaps = truth[pairs.first] - truth[pairs.second]
            of_pairs.append(((pairs.estimates.low <= gaps) & (gaps <= pairs.estimates.high)).mean())
    assert 0.93 <= covered.mean() / draws <= 0.97
    assert covered[0] / draws >= 0.93
    assert 0.93 <= np.mean(of_pairs) <= 0.97


def test_shrinking_ranks_better_than_few_topics_alone():
    rng = np.random.default_rng(5)
    taus = []
    for _ in range(40):
        level = rng.normal(0.5, 0.05, (30, 1))
        model = level + rng.normal(0, 0.02, (30, 1)) + rng.normal(0, 0.15, (30, 100))
        human = model - rng.normal(0, 0.02, (30, 1)) + rng.normal(0, 0.15, (30, 100))
        some = judged(human, range(10))
        guesses = (hybrid_scores(some, model).mean, shrunk(some, model).scores)
        taus.append([stats.kendalltau(guess, human.mean(axis=1)).statistic for guess in guesses])
    unbiased, ranked = np.mean(taus, axis=0)
    assert ranked > unbiased + 0.05


@pytest.mark.skipif(not VECTORS.exists(), reason="the vectors are not in the repository")
def test_the_published_vector_of_ppi():
    """PPI++ of one run as ppi-python has it: its own weight, normal quantiles, variances of populations."""
    vector = json.loads(VECTORS.read_text())["ppi_mean"]
    y, f, rest = vector["Y"], vector["Yhat"], [1.0] * 26 + [0.0] * 14
    n, size = len(y), len(rest)
    weight = (fmean([a * b for a, b in zip(y, f, strict=True)]) - fmean(y) * fmean(f)) / (1 + n / size)
    weight /= variance(f + rest)
    point = weight * fmean(rest) + fmean([a - weight * b for a, b in zip(y, f, strict=True)])
    error = math.sqrt(
        weight**2 * pvariance(rest) / size + pvariance([a - weight * b for a, b in zip(y, f, strict=True)]) / n
    )
    half = NormalDist().inv_cdf(0.975) * error
    assert [point, point - half, point + half] == pytest.approx([0.623819, 0.365293, 0.882346], abs=1e-6)
    # With that weight the estimate is the same, and Student's interval of the sample's variances wider.
    human = [[*y, *[math.nan] * size]]
    found = hybrid_scores(human, [[*f, *rest]], "population", weight=weight)
    assert found.mean[0] == pytest.approx(point, abs=1e-12)
    assert found.half_width[0] > half


def test_a_tracks_pairs_take_a_second():
    from time import perf_counter

    rng = np.random.default_rng(1)
    model = rng.random((146, 301))
    human = judged(0.7 * model + 0.3 * rng.random((146, 301)), range(30))
    start = perf_counter()
    found = hybrid_differences(human, model, holm=True)
    assert len(found.p) == 10_585
    assert perf_counter() - start < 3  # 0.4 alone; other tests may run beside this one
