"""Where labels of a topic differ and on which nuggets its tau rests: by hand, and against plain loops."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from metaeval.stats.diagnosis import (
    LENGTHS,
    NO_WEIGHT,
    decompose,
    find_flips,
    has_negation,
    has_number,
    leave_one_out,
    length_thirds,
    topic_tau,
)

# Three runs, three nuggets: the sides differ on the last nugget alone, which turns all orders round.
FIRST = [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
SECOND = [[1, 1, 0], [1, 0, 1], [0, 0, 1]]


def generated(seed: int, runs: int = 13, nuggets: int = 6) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 3, (runs, nuggets)) / 2
    changed = draw.random((runs, nuggets)) < 0.5
    return first, np.where(changed, draw.integers(0, 3, (runs, nuggets)) / 2, first)


def test_influence_by_hand():
    """With all: 2, 1, 0 and 2, 2, 1; without the last the same order; without the first 1, 0, 0 and 1, 1, 1."""
    found = leave_one_out(FIRST, SECOND, [1, 1, 1])
    whole = 2 / np.sqrt(3 * 2)
    assert topic_tau(FIRST, SECOND, [1, 1, 1]).value == pytest.approx(whole)
    assert found[2].tau.value == pytest.approx(1)
    assert found[2].change.value == pytest.approx(1 - whole)
    assert found[0].tau.value is None
    assert found[0].change.why == "all values of one side are equal"


def test_flips_by_hand():
    """Of two runs the first side prefers one by two nuggets, the other side the other by three more."""
    first = [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    second = [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]
    assert find_flips(first, second, [1, 1, 1, 1, 1]) == (1, [1, 0, 0])  # without one of the three it is a tie
    assert [one.flips for one in leave_one_out(first, second, [1, 1, 1, 1, 1])] == [0, 0, 1, 1, 1]
    assert find_flips(first, second, [1, 1, 1, 2, 1]) == (1, [1, 0, 0])
    assert find_flips(first, second, [1, 1, 2, 2, 2]) == (1, [0, 1, 0])
    assert find_flips(first, first, [1, 1, 1, 1, 1]) == (0, [0, 0, 0])


def test_what_rests_on_more_nuggets_is_none_of_the_few():
    first, second = np.zeros((2, 2, 10))
    first[0], second[1] = 1, 1  # nobody agrees with anybody: it takes all ten
    found = find_flips(first, second, np.ones(10))
    assert (found.pairs, found.on_few) == (1, 0)


@pytest.mark.parametrize("weights", [[1.0] * 6, [1, 0.5, 1, 0.5, 1, 1], [1, 0, 1, 1, 0, 1]])
@pytest.mark.parametrize("seed", range(4))
def test_against_loops(seed: int, weights: list[float]):
    first, second = generated(seed)
    first[3, 2] = np.nan  # that run does not count

    def scores(side: np.ndarray, without: tuple[int, ...]) -> list[float]:
        kept = [at for at in range(6) if at not in without]
        total = sum(weights[at] for at in kept)
        return [round(sum(row[at] * weights[at] for at in kept) / total, 9) for row in np.delete(side, 3, 0)]

    def opposite(without: tuple[int, ...]) -> set[tuple[int, int]]:
        x, y = scores(first, without), scores(second, without)
        return {(i, j) for i, j in combinations(range(12), 2) if (x[i] - x[j]) * (y[i] - y[j]) < 0}

    whole = stats.kendalltau(scores(first, ()), scores(second, ())).statistic
    assert topic_tau(first, second, weights).value == pytest.approx(whole)
    flipped = opposite(())
    for at, one in enumerate(leave_one_out(first, second, weights)):
        if not weights[at]:
            assert (one.tau.why, one.change.why, one.flips) == (NO_WEIGHT, NO_WEIGHT, 0)
            continue
        tau = stats.kendalltau(scores(first, (at,)), scores(second, (at,))).statistic
        assert one.tau.value == pytest.approx(tau)
        assert one.change.value == pytest.approx(tau - whole)
        assert one.flips == len(flipped - opposite((at,)))
    resting, left = [], flipped
    having = [at for at in range(6) if weights[at]]
    for size in (1, 2, 3):
        still = left.intersection(*(opposite(some) for some in combinations(having, size)))
        resting.append(len(left) - len(still))
        left = still
    assert find_flips(first, second, weights) == (len(flipped), resting)
    assert flipped


def test_parts_by_hand():
    first = [[1, 0.5, 0], [1, 1, np.nan]]
    second = [[0, 0.5, 1], [1, 0, 1]]
    vital, okay = decompose(first, second, ["vital", "vital", "okay"])
    assert (vital.level, vital.nuggets, vital.labels, vital.differ) == ("vital", 2, 4, 2)
    assert (vital.first.value, vital.second.value, vital.difference.value) == (3.5 / 4, 1.5 / 4, 0.5)
    assert (okay.labels, okay.differ, okay.difference.value) == (1, 1, -1)
    # The mean difference of all five labels: (2 - 1) / 5.
    assert vital.contribution.value == pytest.approx(2 / 5)
    assert okay.contribution.value == pytest.approx(-1 / 5)


def test_contributions_add_up_to_the_mean_difference():
    first, second = generated(9)
    parts = decompose(first, second, list("aabbca"))
    assert [part.level for part in parts] == ["a", "b", "c"]
    assert sum(part.contribution.value or 0 for part in parts) == pytest.approx(np.mean(first - second))


def test_a_part_without_labels_is_undefined():
    (part,) = decompose(np.full((2, 1), np.nan), np.zeros((2, 1)), ["vital"])
    assert (part.labels, part.first.value, part.contribution.why) == (0, None, "no labels of both")


def test_thirds_of_length():
    assert length_thirds([1, 2, 3, 4, 5, 6]) == [LENGTHS[0]] * 2 + [LENGTHS[1]] * 2 + [LENGTHS[2]] * 2
    assert length_thirds([4, 4, 4]) == [LENGTHS[0]] * 3
    assert length_thirds([]) == []


def test_words_of_negation_and_digits():
    assert all(map(has_negation, ("It is not so", "Don't", "Don\u2019t go", "NO smoking", "cannot", "without sugar")))
    assert not any(map(has_negation, ("Nottingham", "a knot", "notable", "another", "content")))
    assert has_number("since 1984")
    assert not has_number("since then")


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 levels don't fit 3 nuggets"):
        decompose(FIRST, SECOND, ["a", "b"])
    with pytest.raises(ValueError, match="the same runs and nuggets"):
        topic_tau(FIRST, [[1, 1, 1]], [1, 1, 1])
    with pytest.raises(ValueError, match="3 numbers from 0"):
        find_flips(FIRST, SECOND, [1, 1])
    with pytest.raises(ValueError, match="3 numbers from 0"):
        leave_one_out(FIRST, SECOND, [1, 1, -1])
