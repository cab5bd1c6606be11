"""Scores of one edition on the scale of another: chained mean equating over the nuggets that both have.

Kolen and Brennan, Test Equating, Scaling, and Linking (3rd ed., 2014), chapter 4: common items of groups that are not
equivalent, with slopes of 1. The chain goes from all nuggets now to the kept ones now, from these to the kept ones
then, and from these to all nuggets then; each link is a difference of means.
"""

from typing import NamedTuple

import numpy as np

from metaeval.stats.means import Figures, mean

LEAST_TOPICS = 2  # for an interval


class Link(NamedTuple):
    """Means over runs, each of which is the mean over the topics that count. low, high: of change, None without."""

    now: float
    kept_now: float
    kept_then: float
    then: float
    topics: int
    low: float | None
    high: float | None

    @property
    def change(self) -> float:
        """By how much this edition's runs are better on the nuggets that both have."""
        return self.kept_now - self.kept_then

    @property
    def chained(self) -> float:
        """This edition's mean as it would be by all nuggets of the former one."""
        return self.then + self.change

    @property
    def shift(self) -> float:
        """What is added to a score of this edition to have it on the scale of the former one."""
        return self.chained - self.now


def link(now: Figures, kept_now: Figures, kept_then: Figures, then: Figures) -> Link | None:
    """Link two editions over their topics; None where no topic counts.

    Each: (runs, topics), with the topics in the same order; NaN where a score doesn't count. A topic counts that has a
    score in all four. The interval is Student's over topics, of 95 %: of the difference between the editions' means of
    a topic. Topics are taken as a sample; runs are not.
    """
    by_topic = np.array([mean(cells, axis=0) for cells in (now, kept_now, kept_then, then)])
    counts = ~np.isnan(by_topic).any(axis=0)
    topics = int(counts.sum())
    if not topics:
        return None
    all_now, new, old, all_then = (
        float(mean(mean(cells[:, counts], axis=1), axis=0)) for cells in (now, kept_now, kept_then, then)
    )
    low, high = _interval(by_topic[1, counts] - by_topic[2, counts], new - old)
    return Link(all_now, new, old, all_then, topics, low, high)


def _interval(differences: Figures, around: float) -> tuple[float | None, float | None]:
    if len(differences) < LEAST_TOPICS:
        return None, None
    from scipy.special import stdtrit

    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    half = float(stdtrit(len(differences) - 1, 0.975)) * error
    return around - half, around + half
