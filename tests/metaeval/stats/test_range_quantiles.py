"""Quantiles of the studentized range against scipy's, which takes much longer."""

import numpy as np
import pytest
from scipy.stats import studentized_range as oracle

from metaeval.stats.range_quantiles import studentized_range


@pytest.mark.parametrize(("groups", "degrees"), [(2, 1), (2, 9), (3, 4), (45, 880), (146, 43_500)])
def test_quantiles_are_scipys(groups: int, degrees: int):
    assert studentized_range(0.95, groups, degrees) == pytest.approx(oracle.ppf(0.95, groups, degrees), abs=1e-4)


def test_another_level_and_many_degrees_at_once():
    found = studentized_range(0.99, 10, [[20, 100], [200, 20]])
    assert found.shape == (2, 2)
    assert found[0, 0] == found[1, 1] == pytest.approx(oracle.ppf(0.99, 10, 20), abs=3e-4)
    assert np.all(found[0, 0] > found[0, 1])


def test_a_range_needs_two_groups():
    with pytest.raises(ValueError, match="two groups"):
        studentized_range(0.95, 1, 10)
