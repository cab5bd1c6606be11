"""What a condition's nuggets and labels look like: the figures of a table of descriptive statistics."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assignment.scores import ABSENT, VITAL
from metaeval.stats import means
from metaeval.stats.agreement import distribution
from metaeval.stats.means import Figures, within
from metaeval.stats.statistic import Value, undefined

_NOTHING = "there are none"


class Nuggets(NamedTuple):
    """The nuggets of a condition: how many, on how many topics, means, and the share of vital ones.

    vital: among those with importance.
    """

    topics: int
    nuggets: int
    per_topic: Value
    words: Value
    vital: Value


def describe_nuggets(topic: npt.ArrayLike, words: npt.ArrayLike, importance: npt.ArrayLike) -> Nuggets:
    """Describe nuggets, each by the number of its topic, its words and its importance: three arrays (nuggets,).

    importance: VITAL, OKAY or ABSENT of assignment.scores. A topic without nuggets is not there to be counted.
    """
    of_topic, length = np.asarray(topic), np.asarray(words, dtype=np.float64)
    weighed = within(importance, ABSENT, VITAL, "importance")
    if not of_topic.shape == length.shape == weighed.shape or of_topic.ndim != 1:
        raise ValueError("topics, words and importance are three lists of equal length")
    topics, known = len(np.unique(of_topic)), int((weighed != ABSENT).sum())
    return Nuggets(
        topics=topics,
        nuggets=len(of_topic),
        per_topic=Value(len(of_topic) / topics, topics) if topics else undefined(0, _NOTHING),
        words=mean(length),
        vital=Value(int((weighed == VITAL).sum()) / known, known) if known else undefined(0, "none has importance"),
    )


def shares(codes: npt.ArrayLike, labels: int) -> list[Value]:
    """Return the share of each label; the arguments are those of labels.distribution."""
    counts = distribution(codes, labels).tolist()
    total = sum(counts)
    return [Value(count / total, total) if total else undefined(0, _NOTHING) for count in counts]


def mean(values: npt.ArrayLike) -> Value:
    """Return the mean of what is not NaN."""
    given = np.asarray(values, dtype=np.float64)
    counted = given[~np.isnan(given)]
    return Value(float(counted.mean()), len(counted)) if len(counted) else undefined(0, _NOTHING)


def topic_means(scores: npt.ArrayLike) -> Figures:
    """Return the mean over runs on each topic: (topics, ...), NaN where no cell counts. scores: (runs, topics, ...)."""
    return means.mean(np.asarray(scores, dtype=np.float64), axis=0)


def pareto_front(length: npt.ArrayLike, scores: npt.ArrayLike) -> list[int]:
    """Return the places of the runs than which no other is both as short and better, or shorter and as good.

    length, scores: (runs,); a run that lacks either is not there.
    """
    x, y = np.asarray(length, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    there = np.flatnonzero(~np.isnan(x + y))
    no_longer, no_worse = x[there] <= x[there, np.newaxis], y[there] >= y[there, np.newaxis]
    better = (x[there] < x[there, np.newaxis]) | (y[there] > y[there, np.newaxis])
    front: list[int] = there[~(no_longer & no_worse & better).any(axis=1)].tolist()
    return front
