"""Reusability of a nugget bank: what scores and ranks change where the nuggets that one team brought are left out.

The test of pools by leaving unique documents out (Zobel, How Reliable are the Results of Large-Scale Information
Retrieval Experiments?, SIGIR 1998), by team as in Buckley et al., Bias and the Limits of Pooling for Large Collections
(Information Retrieval, 2007), with nuggets in the place of documents. Functions on arrays.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation import kendall_tau, places, taus
from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic, undefined

Mask = npt.NDArray[np.bool_]
NO_RUN = "no run of the team has both scores"


class TopicNuggets(NamedTuple):
    """The nuggets of a topic.

    score: returns the scores of runs by the nuggets that a mask keeps, (runs, measures), NaN where these give none; it
    is asked of at least one nugget. left_out: which nuggets go with each team, (teams, nuggets).
    """

    score: Callable[[Mask], Figures]
    left_out: Mask


class TeamLeftOut(NamedTuple):
    """What leaving a team's nuggets out changes, in scores of runs.

    own, others: the mean change of the team's runs and of all others, below 0 for a loss. places: the most places that
    a run of the team loses, below 0 where all gain; run: which, in the arrays. drop: the most that any run loses, 0
    where none does; dropped: which. tau: tau-b of all runs, with and without.
    """

    own: Statistic
    others: Statistic
    places: Statistic
    run: int | None
    drop: int
    dropped: int | None
    tau: Statistic


def attested_alone(contributed: npt.ArrayLike, evidence: npt.ArrayLike) -> Mask:
    """Return which nuggets each team alone attests: all their evidence is passages that no other team contributed.

    contributed: (teams, passages), who brought a passage to the pool; evidence: (nuggets, passages). Returns (teams,
    nuggets). A nugget without evidence is nobody's alone, nor is one with a passage that no team contributed. Raises
    ValueError where the passages differ in number.
    """
    brought, of_nuggets = np.asarray(contributed, dtype=bool), np.asarray(evidence, dtype=bool)
    if brought.ndim != 2 or of_nuggets.ndim != 2 or brought.shape[1] != of_nuggets.shape[1]:
        raise ValueError(f"{brought.shape} teams and passages don't fit {of_nuggets.shape} nuggets and passages")
    alone = brought & (brought.sum(axis=0) == 1)
    attested = of_nuggets.sum(axis=1)
    # As floats, which are multiplied faster: they are as exact.
    return np.asarray((alone.astype(np.float64) @ of_nuggets.T.astype(np.float64) == attested) & (attested > 0))


def means_without_teams(cells: Figures, topics: Sequence[TopicNuggets], teams: int) -> Figures:
    """Return the means of runs over topics without the nuggets of each team: (teams, runs, measures).

    cells: the scores by all nuggets, (runs, topics, measures), NaN where one doesn't count, which it doesn't here
    either. A topic of which no nugget is left doesn't count.
    """
    found = np.full((teams, cells.shape[0], cells.shape[2]), np.nan)
    loses = np.array([topic.left_out[:teams].any(axis=1) for topic in topics], dtype=bool).reshape(len(topics), teams)
    changed = [np.flatnonzero(of_team) for of_team in loses.T]
    by_topic = np.ascontiguousarray(np.moveaxis(cells, 1, 0))  # a sum of whole topics takes half the time
    there = ~np.isnan(by_topic)
    summed, of_all = np.where(there, by_topic, 0), there.sum(axis=0)
    for team, lost in enumerate(changed):
        # As means.mean() has it: of the topics that don't change there are hundreds.
        before, size = summed[lost], of_all.copy()
        for at in lost.tolist():
            keeps = ~topics[at].left_out[team]
            scores = np.where(there[at], topics[at].score(keeps) if keeps.any() else np.nan, np.nan)
            summed[at] = np.where(np.isnan(scores), 0, scores)
            size -= there[at] & np.isnan(scores)
        np.divide(summed.sum(axis=0), size, out=found[team], where=size > 0)
        summed[lost] = before
    return found


def leave_out_teams(scores: npt.ArrayLike, without: npt.ArrayLike, own: npt.ArrayLike) -> list[TeamLeftOut]:
    """Compare the scores of runs with those without the nuggets of each team.

    scores: (runs,); without: (teams, runs); NaN for a run without a score. own: (teams, runs), whose each run is.
    Raises ValueError where the shapes differ.
    """
    by_all, by_others, is_own = np.asarray(scores, dtype=float), np.asarray(without, dtype=float), np.asarray(own, bool)
    if by_others.shape != is_own.shape or by_others.shape[1:] != by_all.shape:
        raise ValueError(f"{by_others.shape} scores without teams and {is_own.shape} runs of teams don't fit together")
    both = np.where(np.isnan(by_others), np.nan, by_all), np.where(np.isnan(by_all), np.nan, by_others)
    # All at once and without scipy, which takes long to load.
    of_teams = zip(*both, is_own, taus(*both).tolist(), strict=True)
    return [_left_out(*of_team) for of_team in of_teams]


def _left_out(scores: Figures, without: Figures, own: Mask, tau: float) -> TeamLeftOut:
    counts = ~np.isnan(scores + without)
    change = without - scores
    lost = np.where(counts, places(without) - places(scores), 0)
    of_team = np.flatnonzero(counts & own)
    run = int(of_team[lost[of_team].argmax()]) if len(of_team) else None
    dropped = int(lost.argmax()) if counts.any() and lost.max() > 0 else None
    return TeamLeftOut(
        own=_mean(change[counts & own], NO_RUN),
        others=_mean(change[counts & ~own], "no other run has both scores"),
        places=undefined(0, NO_RUN) if run is None else Statistic(float(lost[run]), len(of_team)),
        run=run,
        drop=0 if dropped is None else int(lost[dropped]),
        dropped=dropped,
        tau=kendall_tau(scores, without) if np.isnan(tau) else Statistic(tau, int(counts.sum())),
    )


def _mean(values: Figures, why: str) -> Statistic:
    return Statistic(float(values.mean()), len(values)) if len(values) else undefined(0, why)


def tau_without_teams(reference: npt.ArrayLike, candidate: npt.ArrayLike, teams: Sequence[str]) -> dict[str, Statistic]:
    """Return tau-b of two rankings without the runs of each team, by team.

    reference, candidate: (runs,); teams: of the runs.
    """
    first, second, of_runs = np.asarray(reference), np.asarray(candidate), np.asarray(teams)
    return {team: kendall_tau(first[of_runs != team], second[of_runs != team]) for team in sorted(set(teams))}
