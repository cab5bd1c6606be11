"""Biases of judges: published values, other ways of computing them, and generated scores whose truth is known."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.bias import (
    MEANS_ALONE,
    fit_trait,
    judge_interaction,
    matched_residuals,
    place_test,
    slope_test,
    team_orders,
    trait_effect,
)
from metaeval.stats.generalizability import generalizability, variance_components

RNG = np.random.default_rng(7)
RUNS, TOPICS = 40, 20
OWN = np.arange(RUNS) % 4 == 0
MANY = np.arange(400) % 4 == 0  # runs, where estimates have no bias from few of them
TEAMS = [place // 2 for place in range(RUNS)]


def means(scores):
    """Return run means over all topics."""
    return scores.mean(axis=1)


def generated(seed, *, effect=0.0, better=0.14, own=OWN, of_runs=0.03):
    """Return scores (runs, topics) of people and of a judge that favours its own runs by `effect`.

    People see a run's true score with an error for each topic, and the judge, which compresses the scale, with another,
    and one of each run with the standard deviation of_runs.
    """
    rng = np.random.default_rng(seed)
    true = 0.4 + better * own + rng.normal(0, 0.13, len(own))
    people = true[:, None] + rng.normal(0, 0.25, (len(own), TOPICS))
    judged = 0.2 + 0.7 * true + effect * own + rng.normal(0, of_runs, len(own))
    return people, judged[:, None] + rng.normal(0, 0.1, (len(own), TOPICS))


def true_reliability():
    """Return the share of the variance of people's means over TOPICS that is the runs'."""
    variance = 0.14**2 * 0.25 * 0.75 + 0.13**2
    return variance / (variance + 0.25**2 / TOPICS)


def test_the_fit_is_ordinary_least_squares_where_the_reference_has_no_error():
    people, judged = map(means, generated(1))
    fit = fit_trait(judged, people, OWN)
    _, slope = np.polynomial.polynomial.polyfit(people, judged, 1)
    left = judged - slope * people
    assert fit.slope == pytest.approx(slope)
    assert fit.residual == pytest.approx(left[OWN].mean() - left[~OWN].mean())
    columns = np.column_stack([np.ones(RUNS), people, OWN])
    assert fit.effect == pytest.approx(np.linalg.lstsq(columns, judged, rcond=None)[0][2])


def test_the_fit_takes_the_error_of_the_reference_off_its_variance():
    people, judged = map(means, generated(2))
    covariance = np.cov([people, OWN.astype(float), judged])
    covariance[0, 0] *= 0.8
    solved = np.linalg.solve(covariance[:2, :2], covariance[:2, 2])
    fit = fit_trait(judged, people, OWN, 0.8)
    assert fit.effect == pytest.approx(solved[1])
    assert fit.slope == pytest.approx(fit_trait(judged, people, OWN).slope / 0.8)


def test_draws_are_fitted_as_one_by_one():
    people, judged = generated(3)
    fits = fit_trait(judged.T, people.T, OWN, 0.9)
    for topic in range(TOPICS):
        one = fit_trait(judged[:, topic], people[:, topic], OWN, 0.9)
        assert fits.slope[topic] == pytest.approx(one.slope)
        assert fits.residual[topic] == pytest.approx(one.residual)
        assert fits.effect[topic] == pytest.approx(one.effect)


@pytest.mark.parametrize("reliability", [0, -1, 1.01, np.nan])
def test_a_reliability_is_a_share(reliability):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        fit_trait([1, 2, 3], [1, 2, 4], [0, 0, 1], reliability)


def test_where_the_reference_leaves_nothing_of_the_trait_there_is_no_effect():
    # At this reliability the groups differ by more than all true scores do.
    found = trait_effect([1, 2, 3, 4], [0, 0.1, 1, 1.1], [0, 0, 1, 1], team_orders(range(4), 50, 1), reliability=0.5)
    assert np.isnan([found.effect, found.least]).all()


@pytest.mark.parametrize(("own", "other"), [(0.1, 0.7), (0.3, 0.7), (0.1, 0.3)])
def test_where_the_reference_tells_the_trait_but_for_rounding_there_is_no_effect(own, other):
    trait = np.array([1, 1, 0, 0, 0])
    found = trait_effect([0.31, 0.35, 0.6, 0.66, 0.5], np.where(trait, own, other), trait, team_orders(range(5), 50, 1))
    assert np.isnan([found.effect, found.p, found.least]).all()


@pytest.mark.parametrize("runs", [3, 6, 7, 12])  # over which the mean of 0.1 is rounded
def test_what_is_the_same_of_all_runs_has_no_effect(runs):
    orders, same, judged = team_orders(range(runs), 50, 1), np.full(runs, 0.1), RNG.random(runs)
    assert same.mean() != 0.1
    found = trait_effect(judged, RNG.random(runs), same, orders)
    assert np.isnan([found.residual, found.effect, found.p, found.least]).all()
    found = trait_effect(judged, same, np.arange(runs) < 2, orders)
    assert np.isnan([found.slope, found.effect, found.p, found.least]).all()


def test_effects_are_right_on_average_only_at_the_true_reliability():
    """A judge without preference seems to favour the better runs where the error of people's scores is forgotten."""
    found = {}
    for effect, reliability in product((0.0, 0.05), (1.0, true_reliability())):
        scores = (generated(seed, effect=effect, own=MANY) for seed in range(200))
        fits = (fit_trait(means(judged), means(people), MANY, reliability) for people, judged in scores)
        found[effect, reliability] = np.mean([fit.effect for fit in fits])
    assert found[0.0, true_reliability()] == pytest.approx(0, abs=0.002)
    assert found[0.05, true_reliability()] == pytest.approx(0.05, abs=0.002)
    assert found[0.0, 1.0] > 0.01
    assert found[0.05, 1.0] > 0.06


def test_the_reliability_of_people_is_estimated_from_their_scores():
    of = (variance_components(generated(seed, own=MANY)[0]) for seed in range(20))
    assert np.mean([generalizability(one, TOPICS).value for one in of]) == pytest.approx(true_reliability(), abs=0.01)


@pytest.mark.parametrize("reliability", [1.0, 0.8])
def test_p_is_the_share_of_refitted_effects_that_are_as_large(reliability):
    people, judged = map(means, generated(6, effect=0.02))
    orders = team_orders(TEAMS, 500, 1)
    found = trait_effect(judged, people, OWN, orders, reliability=reliability)
    fit = fit_trait(judged, people, OWN, reliability)
    residuals = judged - fit.slope * people
    if reliability == 1:  # refitted to fitted values and exchanged residuals
        refitted = [fit_trait(fit.slope * people + residuals[order], people, OWN).effect for order in orders]
    else:  # the fitted values are known, with the error of people's scores, and take no part
        refitted = [fit_trait(residuals[order], people, OWN, reliability).effect for order in orders]
    assert found.p == (1 + sum(abs(one) >= abs(fit.effect) for one in refitted)) / 501
    assert found.least == pytest.approx(np.quantile(np.abs(refitted), 0.95) + 0.8416212 * np.std(refitted))


def test_an_effect_is_found_though_the_runs_of_the_family_are_better():
    """The slope takes some of the effect for quality, as both go together: what is left alone would not show it."""
    people, judged = map(means, generated(1, better=0.4, effect=0.1))
    found = trait_effect(judged, people, OWN, team_orders(TEAMS, 999, 1))
    assert found.p < 0.01
    assert found.residual < 0.04 < 0.1 < found.effect


def test_orders_keep_teams_together_and_reach_all_arrangements_alike():
    teams = ["a", "b", "a", "c", "b"]
    orders = team_orders(teams, 8_000, 1)
    assert (orders == team_orders(teams, 8_000, 1)).all()
    found, counts = np.unique(orders, axis=0, return_counts=True)
    # a and b change places or not, each in both orders; c has no other team of one run.
    assert len(found) == 8
    assert (abs(counts - 1000) < 150).all()
    assert (orders[:, 3] == 3).all()
    for order in found.tolist():
        assert {teams[order[0]], teams[order[2]]} in ({"a"}, {"b"})


def test_runs_of_teams_of_one_change_places_freely():
    found, counts = np.unique(team_orders(range(4), 24_000, 2), axis=0, return_counts=True)
    assert len(found) == 24
    assert (abs(counts - 1000) < 150).all()


def test_p_is_the_share_of_permuted_slopes_that_are_as_large():
    values, trait = [3.0, 1.0, 2.0, 7.0, 5.0], [0, 0, 1, 1, 1]
    orders = np.array(list(permutations(range(5))))
    found = slope_test(values, trait, orders)
    differences = [np.mean([moved[at] for at in (2, 3, 4)]) - np.mean(moved[:2]) for moved in permutations(values)]
    observed = differences[0]
    assert found.value == pytest.approx(observed) == pytest.approx(14 / 3 - 2)
    larger = sum(abs(one) >= abs(observed) - 1e-9 for one in differences)
    assert found.p == (1 + larger) / 121
    assert found.least == pytest.approx(np.quantile(np.abs(differences), 0.95) + 0.8416212 * np.std(differences))


def test_a_trait_that_all_runs_have_is_worth_nothing_known():
    found = trait_effect([1, 2, 3, 5], [1, 2, 4, 3], [1, 1, 1, 1], team_orders(range(4), 50, 1))
    assert np.isnan([found.residual, found.effect, found.p, found.least]).all()


def test_where_permutations_change_nothing_there_is_no_p():
    orders = team_orders(TEAMS, 99, 1)
    constant = trait_effect(np.full(RUNS, 0.2), means(generated(1)[0]), OWN, orders)
    assert constant.effect == pytest.approx(0)
    assert np.isnan([constant.p, constant.least]).all()
    # Teams of one, two and three runs change places with no other, and each is of one family.
    fixed = slope_test([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1, 0, 0, 1, 1, 1], team_orders("abbccc", 99, 1))
    assert fixed.value == pytest.approx(0.4 - 0.25)
    assert np.isnan([fixed.p, fixed.least]).all()


def test_the_test_errs_in_five_percent_though_runs_of_a_team_are_alike():
    """Teams of two runs, both of which the judge likes or not: whole teams are of a family."""
    own = np.arange(RUNS) // 2 % 4 == 0
    rng = np.random.default_rng(5)
    by_team, by_run = [], []
    orders, free = team_orders(TEAMS, 999, 1), team_orders(range(RUNS), 999, 1)
    for _ in range(400):
        people = rng.normal(0.4, 0.15, RUNS)
        judged = 0.7 * people + np.repeat(rng.normal(0, 0.05, RUNS // 2), 2) + rng.normal(0, 0.02, RUNS)
        by_team.append(trait_effect(judged, people, own, orders).p)
        by_run.append(trait_effect(judged, people, own, free).p)
    assert np.mean(np.array(by_team) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.array(by_run) <= 0.05) > 0.1


def test_without_the_error_of_people_the_test_calls_better_runs_favoured():
    variance = 0.3**2 * 0.25 * 0.75 + 0.13**2
    reliability = variance / (variance + 0.25**2 / TOPICS)
    orders = team_orders(TEAMS, 999, 1)
    found = {reliability: [], 1.0: []}
    for seed in range(600):
        people, judged = map(means, generated(seed, better=0.3))
        for of, p in found.items():
            p.append(trait_effect(judged, people, OWN, orders, reliability=of).p)
    assert np.mean(np.array(found[reliability]) <= 0.05) == pytest.approx(0.05, abs=0.02)
    assert np.mean(np.array(found[1.0]) <= 0.05) > 0.2


def test_the_least_effect_is_found_in_four_of_five_cases():
    orders = team_orders(TEAMS, 999, 1)
    least = np.mean([_of(generated(seed, better=0.0), orders).least for seed in range(200)])
    found = [_of(generated(seed, better=0.0, effect=least), orders) for seed in range(200, 800)]
    assert np.mean([one.p <= 0.05 for one in found]) == pytest.approx(0.8, abs=0.06)


def _of(scores, orders):
    people, judged = map(means, scores)
    return trait_effect(judged, people, OWN, orders)


def test_bounds_are_those_of_a_jackknife_over_topics():
    people, judged = generated(4, effect=0.05)
    people[0, 0] = judged[0, 0] = np.nan
    orders = team_orders(TEAMS, 99, 1)
    averages = np.nanmean(judged, axis=1), np.nanmean(people, axis=1)
    found = trait_effect(*averages, OWN, orders, (judged, people), reliability=0.9)
    effects = [
        fit_trait(*(np.nanmean(np.delete(one, topic, 1), axis=1) for one in (judged, people)), OWN, 0.9).effect
        for topic in range(TOPICS)
    ]
    error = np.sqrt((TOPICS - 1) / TOPICS * ((effects - np.mean(effects)) ** 2).sum())
    half = stats.t.ppf(0.975, TOPICS - 1) * error
    assert (found.bounds.low, found.bounds.high) == pytest.approx((found.effect - half, found.effect + half), abs=1e-8)


def test_where_topics_are_not_known_or_one_there_are_no_bounds():
    people, judged = generated(4)
    orders = team_orders(TEAMS, 99, 1)
    averages = means(judged), means(people)
    assert trait_effect(*averages, OWN, orders).bounds == (None, None, MEANS_ALONE)
    one = trait_effect(*averages, OWN, orders, (judged[:, :1], people[:, :1]))
    assert one.bounds == (None, None, "fewer than two topics")
    judged[0, 1:] = people[0, 1:] = np.nan
    some = trait_effect(*averages, OWN, orders, (judged, people))
    assert some.bounds == (None, None, "undefined without one of the topics")


def test_bounds_hold_the_true_effect_in_95_percent():
    orders = team_orders(TEAMS, 9, 1)
    held = []
    for seed in range(300):
        people, judged = generated(seed, effect=0.05, of_runs=0.0)
        reliability = generalizability(variance_components(people), TOPICS).value
        found = trait_effect(means(judged), means(people), OWN, orders, (judged, people), reliability=reliability)
        held.append(found.bounds.low <= 0.05 <= found.bounds.high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.03)


def test_answers_are_matched_by_score_and_length():
    judged, people, words = (RNG.integers(0, 30, (12, 15)).astype(float) for _ in range(3))
    people[0, 0] = judged[1, 1] = words[2, 2] = np.nan
    found = matched_residuals(judged, people, words)
    there = ~np.isnan(judged + people + words)
    deciles = [
        [sum(value > edge for edge in np.quantile(scores[there], np.arange(1, 10) / 10)) for value in scores[there]]
        for scores in (people, words)
    ]
    groups = list(zip(*deciles, strict=True))
    expected = []
    for value, group in zip(judged[there], groups, strict=True):
        alike = [one for one, other in zip(judged[there], groups, strict=True) if other == group]
        expected.append(value - np.mean(alike) if len(alike) > 1 else np.nan)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(found[there], expected, atol=1e-12)
    assert np.isnan(found[~there]).all()
    assert np.isnan(matched_residuals([[np.nan]], [[1.0]], [[1.0]])).all()


def test_places_count_within_topics_alone():
    """The second topic is harder for the judge and its items stand lower: no effect of places."""
    differences, places = [0.0, 0.1, 0.0, -0.5, -0.6, -0.5], [0, 1, 2, 7, 8, 9]
    found = place_test(differences, places, list("aaabbb"), draws=999, seed=1)
    assert found.value == pytest.approx(0)
    assert found.p == 1
    sinking = place_test([0.2, 0.1, 0.0, -0.1] * 3, [0, 1, 2, 3] * 3, list("aaaabbbbcccc"), draws=999, seed=1)
    assert sinking.value == pytest.approx(-0.1)
    assert sinking.p < 0.01
    # By all arrangements within topics of two: p counts those that are as large.
    few = place_test([1.0, 0.0, 1.0, 0.0], [0, 1, 0, 1], list("aabb"), draws=4_000, seed=1)
    assert few.value == -1
    assert few.p == pytest.approx(0.5, abs=0.03)


def test_judges_are_compared_on_the_runs_of_their_families():
    scores = RNG.random((10, 3))
    judges, generators = ["a", "b", ""], [("a",), ("a", "b"), ("b",), *[("c",)] * 6, ()]
    orders = team_orders(range(10), 500, 1)
    found = judge_interaction(scores, judges, generators, orders)

    def statistic(of):
        centred = of - of.mean(axis=0)
        total = 0.0
        for place, family in enumerate("ab"):
            others = [at for at in range(3) if at != place]
            own = [run for run in range(10) if family in generators[run]]
            total += np.mean([centred[run, place] - centred[run, others].mean() for run in own])
        return total

    assert [(one.family, one.runs) for one in found.families] == [("a", 2), ("b", 2)]
    assert (
        sum(one.value for one in found.families) == pytest.approx(statistic(scores)) == pytest.approx(found.test.value)
    )
    larger = sum(abs(statistic(scores[order])) >= abs(found.test.value) - 1e-9 for order in orders)
    assert found.test.p == (1 + larger) / 501


def test_a_judge_that_favours_its_family_is_found_without_people():
    rng = np.random.default_rng(8)
    generators = [("a",) if run % 3 == 0 else ("b",) if run % 3 == 1 else ("c",) for run in range(30)]
    true = rng.normal(0.4, 0.1, 30)
    scores = np.column_stack([true, true - 0.1]) + rng.normal(0, 0.01, (30, 2))
    scores[::3, 0] += 0.05
    found = judge_interaction(scores, ["a", "b"], generators, team_orders(range(30), 999, 1))
    # Of each centred judge a third of the bonus goes to all runs: 2/3 of it on a's runs, 1/3 less on b's.
    assert [one.value for one in found.families] == pytest.approx([0.05 * 2 / 3, 0.05 / 3], abs=0.01)
    assert found.test.p == 0.001


@pytest.mark.parametrize(
    ("judges", "generators"),
    [
        (["a", "a"], [("a",), ("b",)] * 3),  # no other judge
        (["a", "b"], [("c",), ("d",)] * 3),  # no run of either
        (["a", ""], [("a",)] * 6),  # no other run
        (["", ""], [("a",), ("b",)] * 3),  # families unknown
    ],
)
def test_without_others_judges_are_not_compared(judges, generators):
    found = judge_interaction(RNG.random((6, 2)), judges, generators, team_orders(range(6), 50, 1))
    assert found.families == []
    assert np.isnan(found.test).all()
