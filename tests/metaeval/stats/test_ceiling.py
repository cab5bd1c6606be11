"""How good a judge can be at most: on generated scores and labels of which the truth is known."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from metaeval.stats import ceiling
from metaeval.stats.agreement import NO_VALUE, kappa
from metaeval.stats.ceiling import (
    Doubling,
    alternative_annotator,
    benjamini_yekutieli,
    compare_kappas,
    disattenuate,
    noise_ceiling,
    plan_doubling,
    reliability_root,
    split_topics,
)
from metaeval.stats.statistic import Statistic

Scores = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def two_judges(
    seed: int, runs: int, topics: int, rho: float, shared: float = 0.8, noise: float = 1.5
) -> tuple[Scores, Scores, float]:
    """Return scores of people and a judge, and how far the runs' true scores under both correlate.

    rho: of the true scores. noise: of a cell, beside true scores of standard deviation 1; shared: how far the noise of
    people and judge correlates, as both read the same answer to the same topic.
    """
    chance = np.random.default_rng(seed)
    first, second = chance.normal(size=(2, runs))
    true = first, rho * first + math.sqrt(1 - rho**2) * second
    common, *own = chance.normal(size=(3, runs, topics))
    cells = [
        run[:, np.newaxis] + noise * (math.sqrt(shared) * common + math.sqrt(1 - shared) * alone)
        for run, alone in zip(true, own, strict=True)
    ]
    return cells[0], cells[1], float(np.corrcoef(*true)[0, 1])


# Disattenuated correlation


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_true_correlation_is_recovered(rho: float):
    first, second, true = two_judges(1, 400, 40, rho)
    found = noise_ceiling(first, second, seed=0, splits=100).disattenuated
    assert found.value == pytest.approx(true, abs=0.02)
    assert found.n == 400


def test_split_halves_over_correct_where_people_and_judge_share_topics():
    """With the topics shared, r of .97 over all topics becomes more than 1 by the usual formula."""
    first, second, true = two_judges(2, 400, 21, 0.97, noise=2.5)
    found = noise_ceiling(first, second, seed=0, splits=100)
    full = [2 * r / (1 + r) for r in (found.reference.value, found.candidate.value)]  # Spearman and Brown
    naive = found.observed.value / math.sqrt(full[0] * full[1])
    assert naive > 1.05
    assert found.disattenuated.value == pytest.approx(true, abs=0.03)
    assert found.disattenuated.value < naive - 0.08


def test_it_is_what_a_loop_over_splits_gives():
    first, second, _ = two_judges(3, 12, 11, 0.8)
    first[2, :4] = np.nan
    found = noise_ceiling(first, second, seed=7, splits=20)
    x, y = np.where(np.isnan(first), np.nan, first), np.where(np.isnan(first), np.nan, second)
    across, own, other = [], [], []
    for in_a in split_topics(11, 20, 7):
        a, b = np.flatnonzero(in_a), np.flatnonzero(~in_a)
        assert (len(a), len(b)) == (5, 6)
        h_a, h_b, m_a, m_b = (np.nanmean(side[:, half], axis=1) for side in (x, y) for half in (a, b))
        across.append((stats.pearsonr(h_a, m_b)[0] + stats.pearsonr(h_b, m_a)[0]) / 2)
        own.append(stats.pearsonr(h_a, h_b)[0])
        other.append(stats.pearsonr(m_a, m_b)[0])
    r, *reliabilities = (float(np.mean(rs)) for rs in (across, own, other))
    root = math.sqrt(math.prod(reliabilities))
    expected = (stats.pearsonr(np.nanmean(x, axis=1), np.nanmean(y, axis=1))[0], r, *reliabilities, root, r / root)
    assert [one.value for one in found] == pytest.approx(expected, abs=1e-9)


def test_the_seed_decides_the_splits():
    first, second, _ = two_judges(4, 20, 12, 0.8)
    same = [noise_ceiling(first, second, seed=5, splits=10) for _ in range(2)]
    assert same[0] == same[1] != noise_ceiling(first, second, seed=6, splits=10)


def test_what_is_undefined_says_why():
    first, second, _ = two_judges(5, 8, 9, 0.8)
    assert noise_ceiling(first, second, seed=0).disattenuated == Statistic(None, 8, "fewer than 10 topics")
    first, second, _ = two_judges(5, 2, 12, 0.8)
    assert noise_ceiling(first, second, seed=0).across == Statistic(None, 2, "fewer than 3 runs")
    first, second, _ = two_judges(5, 8, 12, 0.8)
    found = noise_ceiling(first, np.full_like(second, 0.1), seed=0)
    assert found.candidate == Statistic(None, 8, "all values of one side are equal")
    assert found.disattenuated.value is found.ceiling.value is None
    with pytest.raises(ValueError, match="two tables"):
        noise_ceiling(first, second[:, 1:], seed=0)


def test_disattenuation_is_undefined_beyond_1_and_without_reliability():
    r = Statistic(0.72, 20)
    assert disattenuate(r, Statistic(0.81, 20), Statistic(0.64, 20)).value == pytest.approx(1)
    assert disattenuate(r, Statistic(0.81, 20)).value == pytest.approx(0.8)
    assert disattenuate(r, Statistic(0.5, 20)) == Statistic(None, 20, "above 1: too few runs or topics to tell")
    for none in (0.0, -0.3):
        assert disattenuate(r, Statistic(none, 20)) == Statistic(None, 20, "a reliability is not above 0")
    # Two negative ones have a positive product.
    assert disattenuate(r, Statistic(-0.9, 20), Statistic(-0.9, 20)).value is None
    assert disattenuate(Statistic(None, 1, "why"), Statistic(0.5, 20)).why == "why"
    assert reliability_root(Statistic(0.81, 20), Statistic(0.64, 18)) == Statistic(pytest.approx(0.72), 18)


# Kappa of two people and a judge


def raters(seed: int, topics: int, items: int, errors: tuple[float, ...], shift: float = 0.0) -> Codes:
    """Return binary labels (raters, topics, items). errors: how often each errs, alike for both labels.

    So kappa of two is (1 - 2 e1) * (1 - 2 e2). shift: how far topics differ in their share of ones.
    """
    chance = np.random.default_rng(seed)
    share = 0.5 + shift * (chance.random((topics, 1)) - 0.5)
    truth = chance.random((topics, items)) < share
    return np.stack([truth ^ (chance.random(truth.shape) < error) for error in errors]).astype(np.int64)


def by_topic(first: Codes, second: Codes) -> Codes:
    places = first * 2 + second + 4 * np.arange(len(first))[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=4 * len(first)).reshape(-1, 2, 2)


def compared(labels: Codes, **options: float) -> ceiling.Noninferiority:
    first, second, judge = labels
    return compare_kappas(by_topic(first, second), by_topic(first, judge), **({"seed": 0} | options))


def test_known_kappas_are_found():
    found = compared(raters(1, 100, 200, (0.1, 0.15, 0.2)))
    assert found.people.value == pytest.approx(0.8 * 0.7, abs=0.02)
    assert found.judge.value == pytest.approx(0.8 * 0.6, abs=0.02)
    assert found.difference.value == found.judge.value - found.people.value
    assert found.people.n == found.difference.n == 20_000
    assert found.margin == 0.05


@pytest.mark.parametrize(
    ("error", "margin", "is_within"),
    [(0.15, 0.05, True), (0.1, 0.05, True), (0.25, 0.05, False), (0.2, 0.2, True), (0.18, 0.05, None)],
)
def test_whether_the_judge_is_within_the_margin_of_a_second_person(error: float, margin: float, is_within: bool | None):
    found = compared(raters(2, 40, 100, (0.1, 0.15, error)), margin=margin)
    assert found.is_within is is_within
    low, high = found.interval.low, found.interval.high
    assert low < found.difference.value < high
    assert found.is_within is (True if low > -margin else False if high < -margin else None)


def test_the_interval_is_what_a_loop_over_draws_gives():
    first, second, judge = raters(3, 12, 9, (0.1, 0.2, 0.2), shift=0.8)
    found = compare_kappas(by_topic(first, second), by_topic(first, judge), seed=4, draws=200)
    of_people, of_judge = by_topic(first, second), by_topic(first, judge)
    differences = [
        kappa(of_judge[drawn].sum(axis=0)).value - kappa(of_people[drawn].sum(axis=0)).value
        for drawn in np.random.default_rng(4).integers(0, 12, (200, 12))
    ]
    assert found.interval[:2] == pytest.approx(np.percentile(differences, [2.5, 97.5]))
    assert found.interval.mean == pytest.approx(np.mean(differences))
    assert found.interval.draws == 200


def test_the_interval_covers_the_true_difference():
    """Of 300 made-up studies of 30 topics, about 95 % have the true difference in their interval."""
    true = 0.8 * 0.6 - 0.8 * 0.7
    covered = 0
    for seed in range(300):
        bounds = compared(raters(seed, 30, 40, (0.1, 0.15, 0.2)), seed=seed, draws=300).interval
        covered += bounds.low <= true <= bounds.high
    assert 0.91 <= covered / 300 <= 0.97


def test_a_judge_on_the_margin_is_seldom_called_within():
    """Kappa of the judge is lower by the margin exactly: one in 40 is called within it."""
    errors = (0.1, 0.15, (1 - (0.7 - 0.05 / 0.8)) / 2)
    within = [compared(raters(seed, 30, 40, errors), seed=seed, draws=300).is_within for seed in range(300)]
    assert within.count(True) <= 15
    assert within.count(False) <= 15


def test_kappas_of_few_topics_have_no_interval():
    found = compared(raters(1, 9, 200, (0.1, 0.15, 0.2)))
    assert found.difference.value is not None
    assert found.interval == (None, None, None, 0, "fewer than 10 topics")
    assert found.is_within is None


def test_kappas_that_are_undefined_or_not_of_the_same_items():
    same = np.tile([[5, 0], [0, 0]], (12, 1, 1))
    found = compare_kappas(same, same, seed=0)
    assert found.difference == Statistic(None, 60, "only one label was used")
    assert (found.is_within, found.interval.why) == (None, "only one label was used")
    with pytest.raises(ValueError, match="the same items"):
        compare_kappas(same, same * 2, seed=0)
    with pytest.raises(ValueError, match="margin"):
        compare_kappas(same, same, seed=0, margin=0)


# The alternative annotator test


def annotated(seed: int, errors: tuple[float, ...], of_judge: float, topics: int = 20, items: int = 15) -> list[Codes]:
    """Return labels of annotators, each item by two of them in turn; the judge's; and topics."""
    *people, judge = raters(seed, topics, items, (*errors, of_judge)).reshape(len(errors) + 1, -1)
    codes = np.stack(people)
    at = np.arange(codes.shape[1])
    for place in range(len(codes)):
        codes[place, (at % len(codes) != place) & ((at + 1) % len(codes) != place)] = NO_VALUE
    return [codes, judge, np.repeat(np.arange(topics), items)]


def test_each_annotator_is_tested_as_scipy_does():
    codes, judge, topics = annotated(1, (0.1, 0.2, 0.15), 0.1)
    found = alternative_annotator(codes, judge, topics, epsilon=0.2)
    expected = []
    for own in range(3):
        wins: dict[int, list[tuple[float, float]]] = {}
        for item in np.flatnonzero(codes[own] != NO_VALUE):
            others = [codes[other, item] for other in range(3) if other != own and codes[other, item] != NO_VALUE]
            of_judge, of_own = (
                np.mean([label == other for other in others]) for label in (judge[item], codes[own, item])
            )
            wins.setdefault(topics[item], []).append((of_judge >= of_own, of_own >= of_judge))
        of_judge, of_own = np.array([np.mean(of_topic, axis=0) for of_topic in wins.values()]).T
        p = stats.ttest_1samp(of_own - of_judge, 0.2, alternative="less").pvalue
        assert p == pytest.approx(stats.ttest_rel(of_own - 0.2, of_judge, alternative="less").pvalue)
        expected.append((own, 200, 20, of_judge.mean(), of_own.mean(), p))
    for one, values in zip(found.annotators, expected, strict=True):
        assert one[:6] == pytest.approx(values)
    adjusted = stats.false_discovery_control([values[-1] for values in expected], method="by")
    assert [one.adjusted for one in found.annotators] == pytest.approx(adjusted)
    assert found.winning_rate.value == (adjusted <= 0.05).mean()
    assert found.advantage == Statistic(pytest.approx(np.mean([values[3] for values in expected])), 3)


def test_a_judge_as_good_as_annotators_passes_and_a_poor_one_does_not():
    good = alternative_annotator(*annotated(2, (0.1, 0.1, 0.1), 0.1), epsilon=0.2)
    poor = alternative_annotator(*annotated(2, (0.1, 0.1, 0.1), 0.45), epsilon=0.2)
    assert (good.winning_rate.value, good.passes) == (1, True)
    assert (poor.winning_rate.value, poor.passes) == (0, False)
    assert good.advantage.value > 0.85 > poor.advantage.value
    assert good.epsilon == 0.2


def test_epsilon_is_what_annotators_cost_more():
    """A judge a little worse than annotators passes for experts' epsilon, and not for the crowd's."""
    one = annotated(3, (0.1, 0.1, 0.1), 0.18)
    passes = {name: alternative_annotator(*one, epsilon=epsilon).passes for name, epsilon in ceiling.EPSILON.items()}
    assert passes["experts"] is True
    assert passes["crowd"] is False
    assert ceiling.EPSILON == {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}


def test_half_the_annotators_are_enough():
    one = alternative_annotator(*annotated(2, (0.1, 0.1, 0.1, 0.1), 0.1), epsilon=0.2)
    half = one._replace(winning_rate=Statistic(0.5, 4))
    assert half.passes is True
    assert half._replace(winning_rate=Statistic(0.49, 4)).passes is False


def test_it_is_not_tested_with_too_few_annotators_items_or_topics():
    codes, judge, topics = annotated(4, (0.1, 0.1, 0.1), 0.1)
    few = "fewer than 3 annotators with 30 items that others labelled too"
    two = alternative_annotator(codes[:2], judge, topics, epsilon=0.2)
    assert (two.annotators, two.winning_rate, two.passes) == ([], Statistic(None, 2, few), None)
    kept = np.where(np.cumsum(codes[2] != NO_VALUE) <= 29, codes[2], NO_VALUE)
    lacking = alternative_annotator(np.stack([*codes[:2], kept]), judge, topics, epsilon=0.2)
    assert lacking.winning_rate == Statistic(None, 2, few)
    nine = topics < 9
    found = alternative_annotator(codes[:, nine], judge[nine], topics[nine], epsilon=0.2)
    assert found.winning_rate == Statistic(None, 3, "fewer than 10 topics")
    with pytest.raises(ValueError, match="table of annotators"):
        alternative_annotator(codes, judge[1:], topics, epsilon=0.2)


def test_items_of_one_annotator_or_without_a_judge_do_not_count():
    codes, judge, topics = annotated(5, (0.1, 0.2, 0.3), 0.1)
    alone = np.array([[0] * 20, [NO_VALUE] * 20, [NO_VALUE] * 20])
    more = np.hstack([codes, alone, codes[:, :20]])
    judges, of_topics = [*judge, *[1] * 20, *[NO_VALUE] * 20], [*topics, *topics[:40]]
    assert alternative_annotator(more, judges, of_topics, epsilon=0.2) == alternative_annotator(
        codes, judge, topics, epsilon=0.2
    )


def test_differences_without_variance_are_certain():
    codes = np.zeros((3, 60), dtype=np.int64)
    topics = np.repeat(np.arange(10), 6)
    same = alternative_annotator(codes, codes[0], topics, epsilon=0.2)
    assert [one.p for one in same.annotators] == [0, 0, 0]
    other = alternative_annotator(codes, codes[0] + 1, topics, epsilon=0.2)
    assert [one.p for one in other.annotators] == [1, 1, 1]


def test_adjusted_p_values_are_scipys():
    for seed in range(20):
        given = np.random.default_rng(seed).random(seed + 1) ** 3
        assert benjamini_yekutieli(given) == pytest.approx(stats.false_discovery_control(given, method="by"))


# What to label twice


def test_about_a_hundred_answers_over_all_topics():
    assert plan_doubling([45] * 21) == Doubling(21, 9, 105)
    assert plan_doubling([45] * 21 + [0] * 3) == Doubling(21, 9, 105)


def test_over_twenty_topics_where_a_percent_of_all_is_too_much():
    assert plan_doubling([146] * 301) == Doubling(50, 1, 100)
    assert plan_doubling([950] * 40) == Doubling(20, 1, 200)


def test_all_answers_where_there_are_fewer_and_none_on_few_topics():
    assert plan_doubling([3] * 12) == Doubling(12, 100, 36)
    assert plan_doubling([45] * 9) is None
