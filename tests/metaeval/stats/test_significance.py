"""Whether two conditions tell the same pairs of runs apart."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from metaeval.stats.significance import PairAgreement, pair_agreement, significance_agreement
from metaeval.stats.statistic import Statistic
from tests.metaeval.matrices import two_sides


def test_pairs_of_each_class_and_their_shares():
    found = pair_agreement(
        [0.1, 0.1, 0.1, 0.03, 0.02, 0.02],
        [True, True, True, False, False, False],
        [0.08, -0.05, 0.02, -0.09, 0.01, -0.01],
        [True, True, False, True, False, False],
    )
    assert found == PairAgreement(1, 1, 1, 1, 1, 1)
    assert (found.active, found.passive) == (Statistic(0.5, 2), Statistic(0.5, 2))


def test_shares_of_no_pairs_are_undefined():
    found = pair_agreement([], [], [], [])
    assert found.active == Statistic(None, 0, "no pair is significant in both")
    assert found.passive == Statistic(None, 0, "each pair is significant in one or both")


@pytest.mark.parametrize("lacking", [0.0, 0.1])
def test_pairs_are_tested_as_scipy_does(lacking: float):
    x, y = (side[..., 0] for side in two_sides(6, 9, 12, lacking=lacking))
    lacks = np.isnan(x) | np.isnan(y)
    expected = PairAgreement(0, 0, 0, 0, 0, 0)._asdict()
    for one, other in itertools.combinations(range(9), 2):
        counts = ~(lacks[one] | lacks[other])
        found = [(side[one, counts], side[other, counts]) for side in (x, y)]
        signs = {np.sign(np.round((a - b).mean(), 10)) for a, b in found}
        significant = sum(ttest_rel(a, b).pvalue < 0.05 for a, b in found)
        kind = ("passive", "mixed", "active")[significant]
        expected[f"{kind}_{'agreements' if len(signs) == 1 else 'disagreements'}"] += 1
    assert significance_agreement(x, y)._asdict() == expected
    assert min(expected[f"{kind}_agreements"] for kind in ("active", "mixed", "passive")) > 0


def test_equal_runs_differ_by_nothing_and_a_constant_difference_is_certain():
    # The second run equals the first; the third is always 0.1 below.
    x = np.array([[0.3, 0.7, 0.9], [0.3, 0.7, 0.9], [0.2, 0.6, 0.8]])
    assert significance_agreement(x, x) == PairAgreement(2, 0, 0, 0, 1, 0)


def test_runs_with_less_than_two_topics_in_common_are_not_tested():
    x = np.array([[0.1, 0.2, math.nan], [math.nan, 0.3, 0.4], [0.5, 0.9, 0.1]])
    assert sum(significance_agreement(x, x)) == 2
    assert sum(significance_agreement(np.empty((0, 2)), np.empty((0, 2)))) == 0
