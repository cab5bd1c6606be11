"""The studentized range against scipy's."""

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.studentized_range import critical_value, tail


@pytest.mark.parametrize(("groups", "freedom"), [(2, 1), (3, 2), (5, 10), (45, 880), (146, 43_500)])
def test_tails_and_critical_values_are_those_of_scipy(groups: int, freedom: int):
    q = np.array([0.4, 2.0, 4.0, 5.5, 7.0])
    assert tail(q, groups, freedom) == pytest.approx(stats.studentized_range.sf(q, groups, freedom), abs=1e-6)
    expected = stats.studentized_range.ppf(0.95, groups, freedom)
    assert critical_value(0.05, groups, freedom) == pytest.approx(expected, rel=1e-6)


def test_the_range_of_two_is_the_t_distribution():
    q = np.array([0.5, 2.0, 3.5, 9.0])
    assert tail(q, 2, 7) == pytest.approx(2 * stats.t.sf(q / np.sqrt(2), 7), rel=1e-4)


def test_small_tails_keep_their_size():
    q = np.array([8.0, 9.5])
    assert tail(q, 45, 880) == pytest.approx(stats.studentized_range.sf(q, 45, 880), rel=1e-4)
    assert tail([0.0, 1e9], 45, 880) == pytest.approx([1.0, 0.0], abs=1e-12)


def test_many_degrees_of_freedom_at_once():
    found = critical_value(0.01, 10, [[20, 100], [200, 20]])
    assert found.shape == (2, 2)
    assert found[0, 0] == found[1, 1] == pytest.approx(stats.studentized_range.ppf(0.99, 10, 20), rel=1e-6)
    assert found[0, 0] > found[0, 1] > found[1, 0]
    assert tail(found, 10, [[20, 100], [200, 20]]) == pytest.approx(np.full((2, 2), 0.01), abs=1e-9)


@pytest.mark.parametrize(("groups", "freedom"), [(1, 5), (3, 0)])
def test_it_needs_two_groups_and_a_degree_of_freedom(groups: int, freedom: int):
    with pytest.raises(ValueError, match="two groups and a degree of freedom"):
        tail(1.0, groups, freedom)
