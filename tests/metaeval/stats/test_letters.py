"""Compact letter displays."""

import itertools

import numpy as np
import pytest

from metaeval.stats.letters import grouping_letters, in_letters, in_short, letter


def test_two_runs_share_a_letter_if_they_are_not_told_apart():
    means = np.array([0.1, 0.5, 0.9, 0.6])
    differ = np.abs(means[:, np.newaxis] - means) > 0.35
    assert grouping_letters(means, differ) == [[2], [1], [0], [0, 1]]


def expected_of_a_threshold(means, least: float) -> list[list[int]]:
    """Return the letters of a plain loop: each longest stretch of runs, from the best down, within the threshold."""
    order = sorted(range(len(means)), key=lambda at: -means[at])
    stretches: list[set[int]] = []
    for start in range(len(order)):
        stretch = {at for at in order[start:] if means[order[start]] - means[at] <= least}
        if not any(stretch <= other for other in stretches):
            stretches.append(stretch)
    return [[number for number, stretch in enumerate(stretches) if at in stretch] for at in range(len(means))]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("least", [0.0, 0.1, 0.3, 2.0])
def test_with_one_threshold_letters_are_stretches_of_the_ranking(seed: int, least: float):
    means = np.random.default_rng(seed).random(30).round(2)
    differ = np.abs(means[:, np.newaxis] - means).round(10) > least
    assert grouping_letters(means, differ) == expected_of_a_threshold(means.tolist(), least + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_of_any_test_letters_say_just_what_differs_and_groups_are_as_large_as_can_be(seed: int):
    chance = np.random.default_rng(seed)
    means = chance.random(25)
    upper = np.triu(chance.random((25, 25)) < 4 * np.abs(means[:, np.newaxis] - means), 1)
    differ = upper | upper.T
    letters = grouping_letters(means, differ)
    for one, other in itertools.combinations(range(25), 2):
        assert bool(set(letters[one]) & set(letters[other])) == (not differ[one, other])
    for number in {number for of_run in letters for number in of_run}:
        group = [at for at in range(25) if number in letters[at]]
        others = set(range(25)) - set(group)
        assert all(any(differ[at, member] for member in group) for at in others)


def test_the_best_run_has_the_first_letter():
    means = np.array([0.2, 0.9, 0.5])
    assert grouping_letters(means, ~np.eye(3, dtype=bool)) == [[2], [0], [1]]
    assert grouping_letters(means, np.zeros((3, 3), dtype=bool)) == [[0], [0], [0]]
    assert grouping_letters(np.array([]), np.zeros((0, 0))) == []


def test_letters_go_on_after_z():
    assert [letter(at) for at in (0, 25, 26, 27, 51, 52, 701, 702)] == ["a", "z", "aa", "ab", "az", "ba", "zz", "aaa"]


def test_letters_in_a_row_are_shortened():
    numbers = [0, 1, 2, 3, 5, 6, 8]
    assert in_letters(numbers) == "a b c d f g i"
    assert in_short(numbers) == "a-d f g i"
    assert in_short([4]) == "e"
    assert in_short([25, 26, 27]) == "z-ab"
