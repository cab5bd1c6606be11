"""Labels of two conditions on the same things, matched: hundreds of thousands at a time."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.scores.label_table import numbered
from assessor.scores.loading import Keys, Labels
from metaeval.stats.agreement import Counts
from metaeval.stats.means import Codes

Places = npt.NDArray[np.intp]


class LabelPairs(NamedTuple):
    """Labels of the same things, in arrays (pairs,).

    topic, run: by key; owner, item: as Labels has them. by_rule: how many pairs have a rule's label in one at least;
    unmatched: how many things each alone labelled.
    """

    topic: Keys
    run: Keys
    owner: Keys
    item: npt.NDArray[Any]
    first: Codes
    second: Codes
    by_rule: int
    unmatched: tuple[int, int]


def match_labels(first: Labels, second: Labels) -> LabelPairs:
    """Match the labels of two conditions that are of the same thing."""
    both, (in_first, in_second) = places_in_all([first, second])
    return LabelPairs(
        first.topic[in_first],
        first.run[in_first],
        first.owner[in_first],
        first.item[in_first],
        first.code[in_first],
        second.code[in_second],
        int((first.by_rule[in_first] | second.by_rule[in_second]).sum()),
        (len(first.code) - both, len(second.code) - both),
    )


def places_in_all(all_labels: Sequence[Labels]) -> tuple[int, list[Places]]:
    """Return how many things all label, and where each has these, in the same order."""
    keys = numbered(all_labels)
    common = keys[0]
    for others in keys[1:]:
        common = np.intersect1d(common, others, assume_unique=True)
    found = []
    for own in keys:
        order = np.argsort(own)
        found.append(order[np.searchsorted(own[order], common)])
    return len(common), found


def told_of_items(items: npt.NDArray[Any], told_of: Callable[[Any], Any]) -> npt.NDArray[Any]:
    """Return what is told of each item, asked once of equal ones."""
    different, at = np.unique(items, return_inverse=True)
    return np.array([told_of(item) for item in different.tolist()], dtype=object)[at]


def some_labels(labels: Labels, is_wanted: npt.NDArray[np.bool_]) -> Labels:
    """Return those labels that are wanted."""
    if is_wanted.all():
        return labels
    columns: Iterable[Any] = (column[is_wanted] for column in labels)
    return Labels(*columns)


def restrict_labels(labels: Labels, runs: Sequence[int] | None, topics: Sequence[int]) -> Labels:
    """Return those of some runs (None: of all, also where there are none) and topics, by key."""
    is_wanted = np.isin(labels.topic, np.asarray(topics, dtype=np.int64))
    if runs is not None:
        is_wanted &= np.isin(labels.run, np.asarray(runs, dtype=np.int64))
    return some_labels(labels, is_wanted)


def matrices(group: npt.NDArray[Any], groups: int, first: Codes, second: Codes, labels: int) -> Counts:
    """Count pairs of labels in each group: (groups, labels, labels). group: of each pair, a number from 0."""
    places = (group.astype(np.int64) * labels + first) * labels + second
    counts: Counts = np.bincount(places, minlength=groups * labels * labels).reshape(groups, labels, labels)
    return counts
