"""Many judges of the same items, against sklearn-free loops and what is published of the RAG 2025 development data."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.agreement import NO_VALUE, cohen_kappa
from metaeval.stats.judges import RunScores, mean_between, pairwise_agreement, pairwise_tau, stack_scores
from metaeval.stats.statistic import Statistic, undefined

CODES = np.array([[0, 1, 2, 2, 1, 0, NO_VALUE, 1], [0, 1, 1, 2, NO_VALUE, 0, 2, 1], [1, NO_VALUE, 2, 0, 1, 0, 2, 1]])


def test_each_two_judges_are_compared_on_what_both_labelled():
    found = pairwise_agreement(CODES, 3)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for one, other in combinations(range(3), 2):
        pairs = [
            (a, b) for a, b in zip(CODES[one].tolist(), CODES[other].tolist(), strict=True) if NO_VALUE not in (a, b)
        ]
        agreement = found[one, other]
        assert agreement.match == Statistic(sum(a == b for a, b in pairs) / len(pairs), len(pairs))
        counts = [[sum(pair == (a, b) for pair in pairs) for b in range(3)] for a in range(3)]
        assert agreement.matrix.tolist() == counts
        assert agreement.unweighted == cohen_kappa(*zip(*pairs, strict=True), 3)
    assert {agreement.match.n for agreement in found.values()} == {6}


def test_judges_without_an_item_in_common_have_no_agreement():
    found = pairwise_agreement([[0, NO_VALUE], [NO_VALUE, 1]], 2)[0, 1]
    assert (found.match.value, found.unweighted.value, found.match.why) == (None, None, "no pairs")


@pytest.mark.parametrize("wrong", [[[0, 3], [1, 1]], [[0, -2], [1, 1]], [[0, 0.5], [1, 1]]])
def test_codes_outside_the_labels_are_refused(wrong: list[list[float]]):
    with pytest.raises(ValueError, match="codes"):
        pairwise_agreement(wrong, 3)


def test_tau_of_each_two_judges_is_over_the_cells_that_both_have():
    random = np.random.default_rng(4)
    scores = random.integers(0, 5, (3, 7, 6)) / 4
    scores[0, 2, 3] = scores[2, 5, 0] = np.nan
    for (one, other), levels in pairwise_tau(scores).items():
        x, y = (np.where(np.isnan(scores[one] + scores[other]), np.nan, scores[at]) for at in (one, other))
        means = [np.nanmean(cells, axis=1).round(10) for cells in (x, y)]
        assert levels.run.value == pytest.approx(stats.kendalltau(*means).statistic)
        by_topic = [
            stats.kendalltau(*(cells[:, topic] for cells in (x, y)), nan_policy="omit").statistic for topic in range(6)
        ]
        assert levels.topic.value == pytest.approx(np.nanmean(by_topic))
        there = ~np.isnan(x)
        assert levels.cell == Statistic(pytest.approx(stats.kendalltau(x[there], y[there]).statistic), there.sum())


def test_scores_are_matched_by_name_and_what_a_judge_lacks_is_missing():
    parts = [
        RunScores(["b", "a"], ["t2"], np.array([[1.0], [2.0]])),
        RunScores(["c", "b"], ["t1", "t2"], np.array([[3.0, np.nan], [5.0, 6.0]])),
    ]
    nan = np.nan
    np.testing.assert_array_equal(
        stack_scores(parts),
        [[[nan, 2.0], [nan, 1.0], [nan, nan]], [[nan, nan], [5.0, 6.0], [3.0, nan]]],
    )


def test_judges_of_no_runs_rank_none():
    none = RunScores([], ["t1"], np.empty((0, 1)))
    levels = pairwise_tau(stack_scores([none, none]))[0, 1]
    assert (levels.run.value, levels.topic.value, levels.cell.value) == (None, None, None)


def test_means_between_groups_leave_out_what_is_undefined():
    values = {(0, 1): Statistic(0.2, 9), (0, 2): Statistic(0.4, 9), (1, 2): undefined(0, "no pairs")}
    values |= {(0, 3): Statistic(0.9, 9), (1, 3): Statistic(0.5, 9), (2, 3): Statistic(0.1, 9)}
    assert mean_between(values, [0], [1, 2]) == Statistic(pytest.approx(0.3), 2)
    assert mean_between(values, [1, 2], [0]) == Statistic(pytest.approx(0.3), 2)
    assert mean_between(values, [0, 1, 3], [0, 1, 3]) == Statistic(pytest.approx(1.6 / 3), 3)
    assert mean_between(values, [1, 2], [1, 2]).value is None
