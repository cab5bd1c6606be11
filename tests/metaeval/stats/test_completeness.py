"""Completeness of banks: values by hand, and populations whose size is known."""

import numpy as np
import pytest

from metaeval.stats import bank_matching
from metaeval.stats.agreement import kappa
from metaeval.stats.completeness import AtLeast, add, chao2, chapman, not_estimated, saturation

POPULATION, DRAWS = 60, 400


def test_chapman_by_hand() -> None:
    found = chapman(20, 15, 10)
    assert found.total == pytest.approx(21 * 16 / 11 - 1)  # 29.545
    assert found.seen == 25
    assert found.variance == pytest.approx(21 * 16 * 10 * 5 / (11**2 * 12))
    assert (found.low, found.high) == (pytest.approx(26.230, abs=0.001), pytest.approx(41.795, abs=0.001))
    assert chapman(5, 5, 5) == AtLeast(5, 5, 0, 5, 5)
    assert chapman(8, 5, 0) == not_estimated(13, "the two have no nugget in common")
    with pytest.raises(ValueError, match="6 nuggets can't be in lists of 8 and 5"):
        chapman(8, 5, 6)


def test_chao2_by_hand() -> None:
    found = chao2([1, 1, 1, 1, 2, 2, 3, 5], 10)
    assert found.total == pytest.approx(8 + 0.9 * 4 * 3 / (2 * 3))  # 9.8
    assert found.variance == pytest.approx(1.8 + 0.81 * 4 * 49 / 36 + 0.81 * 16 * 2 * 9 / 324)
    assert chao2([3, 3, 4], 5).total == 3
    assert "no nugget has two passages" in chao2([1, 1, 1, 3], 9).why
    assert chao2([1], 1).why == "fewer than two passages"
    with pytest.raises(ValueError, match="1 to 3 passages"):
        chao2([1, 4], 3)


def test_saturation_by_hand() -> None:
    # Half of what is left, each time: 16 + 8 + 4 + 2 of 32.
    assert saturation([16, 8, 4, 2]).total == pytest.approx(32)
    assert saturation([7, 0, 0]).total == 7
    assert "do not become fewer" in saturation([3, 3, 3]).why
    assert saturation([9, 1]).why == "fewer than three windows"
    assert saturation([0, 0, 0]).why == "no window brought a nugget"


def test_sums_over_topics_count_what_was_found_where_nothing_is_estimated() -> None:
    found = add([chapman(20, 15, 10), chapman(8, 5, 0)])
    assert found.total == pytest.approx(21 * 16 / 11 - 1 + 13)
    assert (found.seen, found.variance) == (38, pytest.approx(chapman(20, 15, 10).variance))
    assert add([chapman(8, 5, 0)]).total is None


def _chapman_of(draw: np.random.Generator, first: np.ndarray, second: np.ndarray) -> float:  # type: ignore[type-arg]
    """Return the mean estimate of two makers, who find nuggets with these probabilities."""
    one, other = (draw.random((DRAWS, POPULATION)) < p for p in (first, second))
    counts = zip(*(found.sum(axis=1).tolist() for found in (one, other, one & other)), strict=True)
    totals = [chapman(*of_draw).total for of_draw in counts]
    return float(np.mean([total for total in totals if total is not None]))


def test_independent_makers_are_estimated_and_dependent_ones_undershoot() -> None:
    draw = np.random.default_rng(32)
    even = np.full(POPULATION, 0.5)
    assert _chapman_of(draw, even, even) == pytest.approx(POPULATION, rel=0.1)
    # Both makers find the important half nearly always, and the rest seldom.
    important = np.where(np.arange(POPULATION) < POPULATION / 2, 0.95, 0.1)
    assert _chapman_of(draw, important, important) < 0.8 * POPULATION


def test_chao2_of_passages_undershoots_where_some_nuggets_are_rarely_stated() -> None:
    draw = np.random.default_rng(32)

    def mean(p: np.ndarray) -> float:  # type: ignore[type-arg]
        stated = (draw.random((DRAWS, 20, POPULATION)) < p).sum(axis=1)
        totals = [chao2(one[one > 0], 20).total for one in stated]
        return float(np.mean([total for total in totals if total is not None]))

    assert mean(np.full(POPULATION, 0.12)) == pytest.approx(POPULATION, rel=0.1)
    assert mean(np.where(np.arange(POPULATION) < 30, 0.3, 0.01)) < 0.8 * POPULATION


def test_saturation_of_equal_shares_is_near_the_population() -> None:
    draw = np.random.default_rng(32)
    windows = draw.geometric(0.25, (DRAWS, POPULATION))  # in which each nugget is found first
    totals = [saturation([(one == at).sum() for at in range(1, 11)]).total for one in windows]
    assert np.mean([total for total in totals if total is not None]) == pytest.approx(POPULATION, rel=0.1)


def test_banks_are_matched_one_to_one_one_to_many_and_not_at_all() -> None:
    # The first bank's nugget 0 is nuggets 0 and 1 of the second one; 1 is 2; 2 and 3 are none.
    found = bank_matching.match(4, 5, {(0, 0), (0, 1), (1, 2)})
    assert (found.recall.value, found.precision.value) == (2 / 4, 3 / 5)
    assert found.facts == (4, 4, 2)
    assert found.facts.at_least.total == pytest.approx(5 * 5 / 3 - 1)
    # Linked over a third nugget, four are one fact.
    assert bank_matching.match(2, 2, {(0, 0), (1, 0), (1, 1)}).facts == (1, 1, 1)
    both = bank_matching.add([found, bank_matching.match(1, 0, ())])
    assert (both.recall.value, both.precision.value, both.facts) == (2 / 5, 3 / 5, (5, 4, 2))
    assert bank_matching.match(0, 2, ()).recall.why == "no nuggets"
    with pytest.raises(ValueError, match=r"\(0, 5\) is no pair"):
        bank_matching.match(4, 5, {(0, 5)})


def test_importance_agrees_over_matched_pairs_that_both_banks_rate() -> None:
    matrix = bank_matching.importance_matrix(
        [1, 1, 0, 0, -1], [1, 0, 0, 0], {(0, 0), (1, 1), (2, 2), (3, 3), (4, 0), (1, 0)}
    )
    assert matrix.tolist() == [[2, 0], [1, 2]]
    assert kappa(matrix).value == pytest.approx((0.8 - 0.48) / (1 - 0.48))
