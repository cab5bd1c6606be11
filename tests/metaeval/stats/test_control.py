"""Drift of a judge: the exact test by other means, what is left out, and by simulation false alarms and power."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.control import ALPHA, LOOKS, PASSES, compare_flips, find_drift


@pytest.mark.parametrize(("only_now", "only_before"), [(9, 1), (10, 0), (3, 3), (0, 4), (0, 0)])
def test_one_label_a_cell_and_one_earlier_pass_are_mcnemars_exact_test(only_now: int, only_before: int):
    now = [1] * only_now + [0] * only_before + [1, 1, 0]
    before = [0] * only_now + [1] * only_before + [1, 1, 0]
    differ = only_now + only_before
    wanted = binomtest(only_now, differ, 0.5, alternative="greater").pvalue if differ else 1.0
    assert compare_flips(now, [before]) == pytest.approx(wanted, abs=1e-12)


def test_the_chance_is_that_of_all_orders_of_the_passes():
    flips = np.random.default_rng(4).integers(0, 4, (4, 5))  # the last pass is the one that is looked at
    sums = [sum(flips[order, range(5)]) for order in product(range(4), repeat=5)]
    wanted = np.mean(np.array(sums) >= flips[-1].sum())
    assert compare_flips(flips[-1], flips[:-1]) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("now", "before"), [([1, 0], [[1]]), ([1, 0], np.zeros((0, 2))), ([[1]], [[1]])])
def test_flips_that_do_not_fit_are_refused(now, before):
    with pytest.raises(ValueError, match="each cell has a number of flips in each pass"):
        compare_flips(now, before)


def test_cells_that_lack_a_label_are_left_out():
    first, now, cells = [0, 1, 2, 2, 1, 0], [0, 1, 1, 2, 1, NO_VALUE], [7, 7, 8, 8, 9, 9]
    found = find_drift(first, now, [[0, 1, 2, 2, 1, 1], [0, 0, 1, 2, 1, 1]], cells)
    assert (found.cells, found.labels, found.flips, found.expected) == (2, 4, 1, 1.0)
    # Three of the four agree: by chance 1/16 + 2/4 · 1/4 + 1/4 · 2/4.
    assert found.kappa.value == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    # Of the cell 7 one of three passes has a flip, of the cell 8 two have one: none at all in (2/3)(1/3).
    assert found.p == pytest.approx(7 / 9)
    assert find_drift(first, now, [], cells)[-1] is None
    assert find_drift([0], [NO_VALUE], [[0]], [1])[:3] == (0, 0, 0)


def alarms(weeks: int, drift: float, per_cell: int, noise: float, judges: int) -> float:
    """Return the share of judges with an alarm in so many weeks, whose labels drift in the last one alone.

    drift: share of labels that are then others; noise: of those that differ whenever they are asked. Labels of a cell
    differ together: how many is beta-binomial.
    """
    rng = np.random.default_rng(11)
    alarmed = 0
    for _ in range(judges):
        often = rng.beta(5 * noise, 5 * (1 - noise), 100)
        passes = rng.binomial(per_cell, often, (weeks, 100))
        passes[-1] = rng.binomial(per_cell, often + drift * (1 - often))
        quiet = [passes[0]]
        for now in passes[1:]:
            if compare_flips(now, quiet[:PASSES]) > ALPHA:
                quiet.append(now)
        alarmed += len(quiet) < weeks
    return alarmed / judges


@pytest.mark.parametrize(("per_cell", "noise"), [(10, 0.02), (1, 0.05)])
def test_at_most_five_percent_of_steady_judges_have_an_alarm_in_half_a_year(per_cell: int, noise: float):
    assert alarms(LOOKS + 1, 0.0, per_cell, noise, judges=300) <= 0.05


@pytest.mark.parametrize(
    ("per_cell", "noise", "drift", "power"), [(10, 0.02, 0.03, 0.9), (1, 0.05, 0.15, 0.8), (1, 0.05, 0.05, 0.05)]
)
def test_drift_is_found(per_cell: int, noise: float, drift: float, power: float):
    assert alarms(PASSES + 1, drift, per_cell, noise, judges=200) >= power
