"""Which answers are compared: against the published choice of pairs, and for any number of answers."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assessor.preference.pairs import pairs

# Answers, pairs, and the least and most comparisons of one answer, as PrefNugget's own code gives them.
PUBLISHED = [
    (2, 1, 1, 1),
    (3, 3, 2, 2),
    (4, 6, 3, 3),
    (5, 10, 4, 4),
    (6, 15, 5, 5),
    (8, 28, 7, 7),
    (10, 25, 5, 5),
    (20, 80, 8, 8),
    (45, 170, 5, 9),
    (57, 218, 4, 12),
    (146, 365, 5, 5),
]


@pytest.mark.parametrize(("answers", "count", "least", "most"), PUBLISHED)
def test_pairs_are_those_of_prefnugget(answers: int, count: int, least: int, most: int):
    found = pairs(answers)
    of_each = Counter(place for pair in found for place in pair)
    assert (len(found), min(of_each.values()), max(of_each.values())) == (count, least, most)


def test_pairs_come_in_the_published_order():
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairs(10)[:5] == [(0, 1), (0, 3), (0, 5), (0, 7), (1, 2)]
    assert pairs(10)[-1] == (9, 0), "the one whose turn it is comes first"
    assert (pairs(0), pairs(1)) == ([], [])


@given(st.integers(0, 120), st.integers(1, 9))
def test_no_answer_is_compared_with_itself_or_twice_with_another(answers: int, others: int):
    found = pairs(answers, others)
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(one != other and {one, other} <= set(range(answers)) for one, other in found)
    assert {place for pair in found for place in pair} == (set(range(answers)) if answers > 1 else set())
