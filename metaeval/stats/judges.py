"""Many judges of the same items: how far each two of them agree, on labels and on the ranking of runs.

Results of two judges are by their places, the smaller first.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement import NO_VALUE, Agreement, confusion_matrix, rate_agreement
from metaeval.stats.levels import Levels, tau_levels
from metaeval.stats.means import Figures, within
from metaeval.stats.statistic import Statistic, undefined

Two = tuple[int, int]


class RunScores(NamedTuple):
    """The scores of runs by a judge's labels and one measure: (runs, topics), NaN where a cell does not count."""

    runs: Sequence[str]
    topics: Sequence[str]
    scores: Figures


def pairwise_agreement(codes: npt.ArrayLike, labels: int) -> dict[Two, Agreement]:
    """Return how far each two judges agree on the items that both labelled.

    codes: (judges, items), from 0 to labels - 1, or NO_VALUE. Raises ValueError for others.
    """
    given = within(codes, NO_VALUE, labels - 1, "codes")
    is_there = given != NO_VALUE
    found = {}
    for one, other in combinations(range(len(given)), 2):
        both = is_there[one] & is_there[other]
        found[one, other] = rate_agreement(confusion_matrix(given[one, both], given[other, both], labels))
    return found


def pairwise_tau(scores: npt.ArrayLike) -> dict[Two, Levels]:
    """Return Kendall's tau-b at the three levels for each two judges.

    scores: (judges, runs, topics) of one measure, NaN where a cell does not count; one counts where it does for both.
    """
    given = np.asarray(scores, dtype=np.float64)
    return {(one, other): tau_levels(given[one], given[other]) for one, other in combinations(range(len(given)), 2)}


def mean_between(values: Mapping[Two, Statistic], some: Collection[int], others: Collection[int]) -> Statistic:
    """Return the mean of what is defined, over the pairs of one of some judges and one of others; n: such pairs."""
    defined = [
        found.value
        for (one, other), found in values.items()
        if found.value is not None and ((one in some and other in others) or (other in some and one in others))
    ]
    return Statistic(float(np.mean(defined)), len(defined)) if defined else undefined(0, "no two judges to compare")


def stack_scores(parts: Sequence[RunScores]) -> Figures:
    """Return the scores of all runs and topics that any judge has, by name: (judges, runs, topics), NaN for none."""
    runs, topics = (
        {name: at for at, name in enumerate(sorted({name for part in parts for name in names(part)}))}
        for names in (attrgetter("runs"), attrgetter("topics"))
    )
    found = np.full((len(parts), len(runs), len(topics)), np.nan)
    for of_judge, part in zip(found, parts, strict=True):
        of_judge[np.ix_([runs[name] for name in part.runs], [topics[name] for name in part.topics])] = part.scores
    return found
