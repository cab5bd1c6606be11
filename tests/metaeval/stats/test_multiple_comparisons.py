"""Which pairs of runs differ, when all pairs are tested."""

import itertools

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.multiple_comparisons import (
    Method,
    benjamini_hochberg,
    compare_pairs,
    discriminative_power,
    holm,
    randomised_tukey_hsd,
    randomised_tukey_hsds,
    tukey_groups,
    tukey_hsd,
)
from tests.metaeval.matrices import two_sides

P = np.array([0.01, 0.04, 0.03, 0.005, 0.9, 0.04])


def scores(seed: int, runs: int, topics: int, lacking: float = 0.0):
    """Return made-up scores, (runs, topics)."""
    return two_sides(seed, runs, topics, lacking=lacking)[0][..., 0]


def holm_in_a_loop(values: list[float]) -> list[float]:
    """Return Holm's adjusted p-values by their definition."""
    in_order = sorted(values)
    return [
        max(min(1.0, (len(values) - at) * in_order[at]) for at in range(in_order.index(value) + 1)) for value in values
    ]


def bh_in_a_loop(values: list[float]) -> list[float]:
    """Return the adjusted p-values of Benjamini and Hochberg by their definition."""
    return [
        min(min(1.0, len(values) * other / sum(one <= other for one in values)) for other in values if other >= value)
        for value in values
    ]


def test_corrections_of_a_few_p_values():
    assert holm(P) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.9, 0.12])
    assert benjamini_hochberg(P) == pytest.approx([0.03, 0.048, 0.048, 0.03, 0.9, 0.048])


@pytest.mark.parametrize("seed", range(4))
def test_corrections_are_those_of_a_plain_loop(seed: int):
    values = (np.random.default_rng(seed).random(60) ** 3).round(3)  # with ties
    assert holm(values) == pytest.approx(holm_in_a_loop(values.tolist()), abs=1e-12)
    assert benjamini_hochberg(values) == pytest.approx(bh_in_a_loop(values.tolist()), abs=1e-12)
    assert benjamini_hochberg(values) == pytest.approx(stats.false_discovery_control(values), abs=1e-12)


def test_what_was_not_tested_is_not_corrected_for():
    with_gaps = np.insert(P, [0, 3], np.nan)
    for correct in (holm, benjamini_hochberg):
        found = correct(with_gaps)
        assert np.isnan(found).tolist() == np.isnan(with_gaps).tolist()
        assert found[~np.isnan(found)].tolist() == correct(P).tolist()


def test_tukeys_difference_is_that_of_the_two_way_layout():
    cells = scores(3, 6, 9)
    runs, topics = cells.shape
    squares = sum(
        (cells[run, topic] - cells[run].mean() - cells[:, topic].mean() + cells.mean()) ** 2
        for run in range(runs)
        for topic in range(topics)
    )
    error = (squares / ((runs - 1) * (topics - 1)) / topics) ** 0.5
    q = stats.studentized_range.ppf(0.95, runs, (runs - 1) * (topics - 1))
    found = tukey_hsd(cells)
    assert found.q == pytest.approx(q, abs=1e-5)
    assert found.least == pytest.approx(q * error, abs=1e-6)
    means = cells.mean(axis=1)
    for at, (one, other) in enumerate(itertools.combinations(range(runs), 2)):
        distance = abs(means[one] - means[other])
        p = stats.studentized_range.sf(distance / error, runs, (runs - 1) * (topics - 1))
        assert found.p[at] == pytest.approx(p, abs=1e-6)
        assert (found.p[at] <= 0.05) == (distance >= found.least)


def test_tukeys_difference_of_two_runs_is_the_paired_t_test():
    cells = scores(5, 2, 12)
    assert tukey_hsd(cells).p[0] == pytest.approx(stats.ttest_rel(cells[0], cells[1]).pvalue, abs=1e-6)


def test_equal_differences_on_all_topics_are_certain():
    cells = np.array([[0.3, 0.7, 0.9], [0.3, 0.7, 0.9], [0.2, 0.6, 0.8]])
    found = tukey_hsd(cells)
    assert (found.least, found.p.tolist()) == (0.0, [1.0, 0.0, 0.0])
    assert tukey_groups(cells) == (0.0, [[0], [0], [1]])


def test_groups_are_those_of_all_pairs():
    cells = scores(6, 9, 12)
    found = compare_pairs(cells, draws=0, seed=0)
    assert found.tukey
    assert tukey_groups(cells) == (found.tukey.least, found.letters(Method.TUKEY))


def test_randomised_difference_is_that_of_all_permutations():
    # Three runs and three topics have 6 ** 3 = 216 permutations within topics.
    cells = np.array([[0.9, 0.8, 0.6], [0.5, 0.4, 0.5], [0.1, 0.3, 0.0]])
    orders = list(itertools.permutations(range(3)))
    spans = []
    for chosen in itertools.product(orders, repeat=3):
        means = [sum(cells[order[run], topic] for topic, order in enumerate(chosen)) / 3 for run in range(3)]
        spans.append(round(max(means) - min(means), 10))
    found = randomised_tukey_hsd(cells, draws=40_000, seed=2)
    means = cells.mean(axis=1)
    for at, (one, other) in enumerate(itertools.combinations(range(3), 2)):
        distance = round(abs(means[one] - means[other]), 10)
        assert found.p[at] == pytest.approx(sum(span >= distance for span in spans) / 216, abs=0.01)


def test_randomised_difference_of_two_runs_is_a_permutation_test():
    cells = scores(8, 2, 10)
    exact = stats.permutation_test(
        (cells[0], cells[1]), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert randomised_tukey_hsd(cells, draws=40_000, seed=1).p[0] == pytest.approx(exact.pvalue, abs=0.01)


def test_a_pair_is_significant_if_it_is_further_apart_than_the_least_difference():
    cells = scores(9, 12, 15)
    found = randomised_tukey_hsd(cells, draws=999, seed=0)
    means = cells.mean(axis=1)
    one, other = np.triu_indices(12, 1)
    apart = np.abs(means[one] - means[other]).round(10) > found.least
    assert (found.p <= 0.05).tolist() == apart.tolist()
    assert 0 < apart.sum() < len(apart)
    assert found.p.min() == 1 / 1000  # 0 is beyond what draws can show


def test_the_least_difference_is_what_one_draw_in_twenty_exceeds():
    cells = scores(9, 12, 15)
    chance = np.random.default_rng(3)
    spans = sorted(np.ptp(chance.permuted(cells.T, axis=1).mean(axis=0)) for _ in range(99))
    # Five of 99 reach it, which makes p = 6 / 100; what is larger has 5 / 100 at most.
    assert randomised_tukey_hsd(cells, draws=99, seed=3).least == pytest.approx(spans[-5], abs=1e-9)


def test_the_same_seed_gives_the_same_result_in_whatever_parts_it_is_drawn(monkeypatch: pytest.MonkeyPatch):
    cells = scores(9, 12, 15)
    found = randomised_tukey_hsd(cells, draws=500, seed=4)
    assert randomised_tukey_hsd(cells, draws=500, seed=5).least != found.least
    monkeypatch.setattr("metaeval.stats.multiple_comparisons._CELLS_AT_A_TIME", 1000)
    assert randomised_tukey_hsd(cells, draws=500, seed=4).p.tolist() == found.p.tolist()


def test_layouts_that_are_permuted_together_have_the_same_results_as_alone():
    layouts = [scores(seed, 5, 12) for seed in (6, 7, 8)]
    together = randomised_tukey_hsds(layouts, draws=300, seed=1)
    for cells, found in zip(layouts, together, strict=True):
        alone = randomised_tukey_hsd(cells, draws=300, seed=1)
        assert (found.least, found.p.tolist()) == (alone.least, alone.p.tolist())


def test_too_few_draws_find_nothing():
    found = randomised_tukey_hsd(scores(9, 4, 15), draws=10, seed=0)
    assert found.least == np.inf
    assert (found.p > 0.05).all()


@pytest.mark.parametrize("cells", [[[0.1, np.nan], [0.2, 0.3]], [[0.1, 0.2]], [[0.1], [0.2]]])
def test_incomplete_layouts_are_refused(cells: list[list[float]]):
    with pytest.raises(ValueError, match="a score in each cell"):
        tukey_hsd(cells)
    with pytest.raises(ValueError, match="a score in each cell"):
        randomised_tukey_hsd(cells, draws=10, seed=0)
    with pytest.raises(ValueError, match="needs draws"):
        randomised_tukey_hsd([[0.1, 0.2], [0.3, 0.4]], draws=0, seed=0)


def test_pairs_are_tested_by_all_methods():
    cells = scores(6, 9, 12)
    found = compare_pairs(cells, draws=2000, seed=0)
    assert list(found.p) == list(Method)
    for at, (one, other) in enumerate(itertools.combinations(range(9), 2)):
        assert found.p[Method.T][at] == pytest.approx(stats.ttest_rel(cells[one], cells[other]).pvalue, abs=1e-9)
        assert found.difference[at] == pytest.approx(cells[one].mean() - cells[other].mean(), abs=1e-9)
    assert (found.pairs, set(found.topics.tolist())) == (36, {12})
    counts = {method: found.differing(method) for method in Method}
    assert counts[Method.T] > counts[Method.BH] > counts[Method.HOLM] > 0
    assert counts == {method: int((found.p[method] <= 0.05).sum()) for method in Method}
    letters = found.letters(Method.TUKEY)
    shared = [not set(letters[one]) & set(letters[other]) for one, other in itertools.combinations(range(9), 2)]
    assert sum(shared) == counts[Method.TUKEY]


def test_an_incomplete_layout_has_t_tests_alone():
    cells = scores(6, 9, 12, lacking=0.2)
    found = compare_pairs(cells, draws=100, seed=0)
    assert set(found.p) == {Method.T, Method.HOLM, Method.BH}
    assert (found.tukey, found.randomised) == (None, None)
    both = ~np.isnan(cells[0] + cells[1])
    assert found.topics[0] == both.sum() < 12
    assert found.p[Method.T][0] == pytest.approx(stats.ttest_rel(cells[0, both], cells[1, both]).pvalue)


def test_runs_without_two_topics_in_common_are_not_tested():
    cells = np.array([[0.1, 0.2, np.nan], [np.nan, 0.3, 0.4], [0.5, 0.9, 0.1]])
    found = compare_pairs(cells, draws=0, seed=0)
    assert np.isnan(found.p[Method.HOLM]).tolist() == [True, False, False]
    assert found.pairs == 2
    assert set(found.letters(Method.T)[0]) & set(found.letters(Method.T)[1])  # not told apart


def test_without_draws_there_is_no_randomised_test():
    found = compare_pairs(scores(6, 4, 12), draws=0, seed=0)
    assert Method.RANDOMISED not in found.p
    assert Method.TUKEY in found.p


def test_no_runs_have_no_pairs():
    found = compare_pairs(np.empty((0, 3)), draws=10, seed=0)
    assert (found.pairs, found.letters(Method.T)) == (0, [])


def test_discriminative_power_is_the_share_of_pairs_at_each_level():
    power = discriminative_power([0.04, np.nan, 0.01, 0.5, 0.05], [0.001, 0.01, 0.05, 1])
    assert power.tolist() == [0.0, 0.25, 0.75, 1.0]
    assert np.isnan(discriminative_power([np.nan], [0.05])).all()
