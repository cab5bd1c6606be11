"""Labels of many conditions on the same things, as one table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.scores.loading import Keys, Labels
from metaeval.stats.agreement import NO_VALUE
from metaeval.stats.means import Codes


class ItemLabels(NamedTuple):
    """Labels with what they are of alone, in arrays as Labels has them."""

    owner: Keys
    item: Keys
    code: Codes


def label_table(all_labels: Sequence[ItemLabels]) -> Codes:
    """Return the code of each label of each thing that any labels: (those who label, things), NO_VALUE for none."""
    return numbered_table(all_labels)[0]


def numbered_table(all_labels: Sequence[Labels] | Sequence[ItemLabels]) -> tuple[Codes, Keys]:
    """Return the same, and the place of each thing's first label among those of all, one after the other: (things,)."""
    keys = numbered(all_labels)
    # Most label all that another labels, and come in the same order: to sort is what takes long.
    like = [next(at for at, other in enumerate(keys) if np.array_equal(own, other)) for own in keys]
    different = sorted(set(like))
    among_all = np.split(np.arange(sum(map(len, keys))), np.cumsum(list(map(len, keys)))[:-1])
    things, first, places = np.unique(
        np.concatenate([keys[at] for at in different]), return_index=True, return_inverse=True
    )
    ends = np.cumsum([len(keys[at]) for at in different])[:-1]
    place_of = dict(zip(different, np.split(places, ends), strict=True))
    table = np.full((len(keys), len(things)), NO_VALUE, dtype=np.int8)
    codes = [labels.code for labels in all_labels]
    for row, code, at in zip(table, codes, like, strict=True):
        row[place_of[at]] = code
    return table, np.concatenate([among_all[at] for at in different])[first]


def numbered(all_labels: Sequence[Labels] | Sequence[ItemLabels]) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of the things that each labels, alike for all."""
    owners, items = (
        _whole(np.concatenate([getattr(labels, name) for labels in all_labels])) for name in ("owner", "item")
    )
    numbers = owners * (items.max(initial=0) + 1) + items
    return np.split(numbers, np.cumsum([len(labels.code) for labels in all_labels])[:-1])


def _whole(names: Keys) -> npt.NDArray[np.int64]:
    """Return names as numbers, which the keys of records are already."""
    return names.astype(np.int64, copy=False) if names.dtype.kind == "i" else np.unique(names, return_inverse=True)[1]
