"""Descriptive statistics of nuggets, labels and runs."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats import means
from metaeval.stats.agreement import count_labels
from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic, undefined

_NOTHING = "there are none"


class Nuggets(NamedTuple):
    """The nuggets of a condition: how many, on how many topics, means, and the share of vital ones.

    vital: among those with importance.
    """

    topics: int
    nuggets: int
    per_topic: Statistic
    words: Statistic
    vital: Statistic


def describe_nuggets(topic: npt.ArrayLike, words: npt.ArrayLike, vital: npt.ArrayLike) -> Nuggets:
    """Describe nuggets, each by the number of its topic, its words and whether it is vital: three arrays (nuggets,).

    vital: NaN where a nugget has no importance. Topics without nuggets are not counted.
    """
    of_topic, length, is_vital = np.asarray(topic), np.asarray(words, np.float64), np.asarray(vital, np.float64)
    if not of_topic.shape == length.shape == is_vital.shape or of_topic.ndim != 1:
        raise ValueError("topics, words and importance are three lists of equal length")
    topics = len(np.unique(of_topic))
    return Nuggets(
        topics=topics,
        nuggets=len(of_topic),
        per_topic=Statistic(len(of_topic) / topics, topics) if topics else undefined(0, _NOTHING),
        words=mean(length),
        vital=mean(is_vital, "none has importance"),
    )


def shares(codes: npt.ArrayLike, labels: int) -> list[Statistic]:
    """Return the share of each label; the arguments are those of agreement.count_labels."""
    counts = count_labels(codes, labels).tolist()
    total = sum(counts)
    return [Statistic(count / total, total) if total else undefined(0, _NOTHING) for count in counts]


def mean(values: npt.ArrayLike, why_not: str = _NOTHING) -> Statistic:
    """Return the mean of what is not NaN. why_not: the reason where all is."""
    given = np.asarray(values, dtype=np.float64)
    counted = given[~np.isnan(given)]
    return Statistic(float(counted.mean()), len(counted)) if len(counted) else undefined(0, why_not)


def topic_means(scores: npt.ArrayLike) -> Figures:
    """Return the mean over runs on each topic: (topics, ...), NaN where no cell counts. scores: (runs, topics, ...)."""
    return means.mean(np.asarray(scores, dtype=np.float64), axis=0)


def pareto_front(length: npt.ArrayLike, scores: npt.ArrayLike) -> list[int]:
    """Return the places of the runs that no other run dominates: as short and better, or shorter and as good.

    length, scores: (runs,); a run without either is left out.
    """
    x, y = np.asarray(length, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    there = np.flatnonzero(~np.isnan(x + y))
    no_longer, no_worse = x[there] <= x[there, np.newaxis], y[there] >= y[there, np.newaxis]
    better = (x[there] < x[there, np.newaxis]) | (y[there] > y[there, np.newaxis])
    front: list[int] = there[~(no_longer & no_worse & better).any(axis=1)].tolist()
    return front
