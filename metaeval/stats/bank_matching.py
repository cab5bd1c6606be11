"""Two banks of a topic, nugget by nugget: what each has of the other. Functions on pairs of nuggets that match."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import Counts, confusion_matrix
from metaeval.stats.completeness import AtLeast, chapman
from metaeval.stats.statistic import Statistic, undefined

Pairs = Collection[tuple[int, int]]


class Facts(NamedTuple):
    """How many distinct facts each bank has, and both. Nuggets that matches link, directly or not, are one fact."""

    first: int
    second: int
    both: int

    @property
    def at_least(self) -> AtLeast:
        """How many facts there are at least, if the banks' makers were independent."""
        return chapman(*self)


class Matched(NamedTuple):
    """How many nuggets each bank has, and how many of them match any of the other's; facts: what both come to.

    Of several topics these are sums.
    """

    first: int
    second: int
    first_matched: int
    second_matched: int
    facts: Facts

    @property
    def recall(self) -> Statistic:
        """The share of the first bank's nuggets that the second one has: the first one is the reference."""
        return _share(self.first_matched, self.first)

    @property
    def precision(self) -> Statistic:
        """The share of the second bank's nuggets that the first one has."""
        return _share(self.second_matched, self.second)


def match(first: int, second: int, pairs: Pairs) -> Matched:
    """Return what two banks of a topic have in common. first, second: their nuggets; pairs: places that match, from 0.

    A nugget may match none, one or several of the other bank. Raises ValueError for places that are no nugget's.
    """
    links = _links(first, second, pairs)
    of_first, of_second = links.any(axis=1), links.any(axis=0)
    both = _groups(links)
    only_first, only_second = int((~of_first).sum()), int((~of_second).sum())
    facts = Facts(only_first + both, only_second + both, both)
    return Matched(first, second, first - only_first, second - only_second, facts)


def add(topics: Sequence[Matched]) -> Matched:
    """Return the sums over topics, so that each nugget counts alike."""
    facts = [topic.facts for topic in topics]
    return Matched(
        sum(topic.first for topic in topics),
        sum(topic.second for topic in topics),
        sum(topic.first_matched for topic in topics),
        sum(topic.second_matched for topic in topics),
        Facts(sum(one.first for one in facts), sum(one.second for one in facts), sum(one.both for one in facts)),
    )


def importance_matrix(first: npt.ArrayLike, second: npt.ArrayLike, pairs: Pairs) -> Counts:
    """Count the importance of nuggets that match: (2, 2), rows the first bank's okay and vital, columns the second's.

    first, second: of each nugget 1 for vital, 0 for okay, below 0 where it has none: such a pair is left out. Each pair
    counts, so a nugget with two matches counts twice. agreement.kappa() takes the sum over topics.
    """
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    at = np.argwhere(_links(len(one), len(other), pairs))
    of_one, of_other = one[at[:, 0]], other[at[:, 1]]
    known = (of_one >= 0) & (of_other >= 0)
    return confusion_matrix(of_one[known], of_other[known], 2)


def _links(first: int, second: int, pairs: Pairs) -> npt.NDArray[np.bool_]:
    links = np.zeros((first, second), dtype=bool)
    for one, other in pairs:
        if not (0 <= one < first and 0 <= other < second):
            raise ValueError(f"({one}, {other}) is no pair of banks of {first} and {second} nuggets")
        links[one, other] = True
    return links


def _groups(links: npt.NDArray[np.bool_]) -> int:
    """Count the groups of nuggets that links hold together; nuggets without a link are none."""
    left, groups = set(np.flatnonzero(links.any(axis=1)).tolist()), 0
    while left:
        reached, groups = {left.pop()}, groups + 1
        while reached:
            columns = links[list(reached)].any(axis=0)
            reached = left & set(np.flatnonzero(links[:, columns].any(axis=1)).tolist())
            left -= reached
    return groups


def _share(part: int, of: int) -> Statistic:
    return Statistic(part / of, of) if of else undefined(0, "no nuggets")
