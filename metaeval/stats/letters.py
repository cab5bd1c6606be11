"""Compact letter displays: two runs share a letter if, and only if, a test does not tell them apart."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Figures

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def grouping_letters(means: Figures, differ: npt.ArrayLike) -> list[list[int]]:
    """Return the groups of each run, numbered from 0 by their best member; (runs,) lists in ascending order.

    means: (runs,); differ: (runs, runs), symmetric, whether two runs are told apart. A group is a largest set of runs
    of which no two are told apart (Piepho, JCGS 2004). Where one threshold holds for all pairs these are all such
    sets; otherwise as many as it takes for each two runs that are not told apart to share one.
    """
    order = np.argsort(-np.asarray(means, dtype=np.float64), kind="stable")
    alike: npt.NDArray[np.bool_] = ~np.array(differ, dtype=bool)[np.ix_(order, order)]
    runs = len(order)
    np.fill_diagonal(alike, True)
    covered = np.zeros((runs, runs), dtype=bool)
    groups = []
    for one in range(runs):
        while len(lacking := np.flatnonzero(alike[one, one:] & ~covered[one, one:])):
            group = [one] if lacking[0] == 0 else [one, one + int(lacking[0])]
            open_to = np.array(alike[group].all(axis=0))
            open_to[group] = False
            # From this run downwards first, so that a group is of neighbours as far as can be.
            for at in (*range(one + 1, runs), *range(one)):
                if open_to[at]:
                    group.append(at)
                    open_to &= alike[at]
                    open_to[at] = False
            groups.append(sorted(group))
            covered[np.ix_(group, group)] = True
    letters: list[list[int]] = [[] for _ in range(runs)]
    for number, group in enumerate(sorted(groups)):
        for at in group:
            letters[order[at]].append(number)
    return letters


def letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa, ab and so on."""
    rest, last = divmod(number, len(_ALPHABET))
    return (letter(rest - 1) if rest else "") + _ALPHABET[last]


def in_letters(numbers: Iterable[int]) -> str:
    """Return all letters of a run, with blanks between them."""
    return " ".join(map(letter, numbers))


def in_short(numbers: Sequence[int]) -> str:
    """Return the same with three or more letters in a row as from-to: "a-d f"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " ".join(f"{letter(part[0])}-{letter(part[-1])}" if len(part) > 2 else in_letters(part) for part in parts)
