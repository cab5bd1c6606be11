"""Preferences between runs on topics: points of a tournament, net wins, and Bradley-Terry strengths.

Tables of results are (..., runs, runs): how often the row's run was better than the column's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.bootstrap import count_topics, draw_topics
from metaeval.stats.means import Figures

FIRST, SECOND, TIE = 1, 2, 0
PSEUDO_COUNT = 0.1  # wins that each run of a compared pair gets besides, so that no strength is infinite
_STEPS, _LONGEST_STEP, _PRECISION = 200, 1.0, 1e-9
_AT_A_TIME = 1_000_000  # cells of tables that are solved together

Places = npt.NDArray[np.int64]


class Disconnected(ValueError):
    """Runs fall into groups that were never compared with each other. groups: their places."""

    def __init__(self, groups: Sequence[list[int]]) -> None:
        self.groups = groups
        super().__init__(f"runs fall into {len(groups)} groups that were not compared with each other")


class Strengths(NamedTuple):
    """Strengths of runs, each (runs,): their difference is the log of the odds that one is preferred. Their mean is 0.

    low, high: bounds of a percentile interval over draws of topics; NaN with fewer than two topics.
    """

    strength: Figures
    low: Figures
    high: Figures


def count_wins(first: npt.ArrayLike, second: npt.ArrayLike, outcome: npt.ArrayLike, runs: int) -> Figures:
    """Return how often each run was better than each other one: (runs, runs). Ties count for neither.

    first, second: places of the two runs of each pair; outcome: FIRST, SECOND or TIE. Raises ValueError for others.
    """
    return _counted(first, second, outcome, runs, {FIRST: (1.0, 0.0), SECOND: (0.0, 1.0), TIE: (0.0, 0.0)})


def count_points(first: npt.ArrayLike, second: npt.ArrayLike, outcome: npt.ArrayLike, runs: int) -> Figures:
    """Return the same with ties as half a win of each."""
    return _counted(first, second, outcome, runs, {FIRST: (1.0, 0.0), SECOND: (0.0, 1.0), TIE: (0.5, 0.5)})


def _counted(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    outcome: npt.ArrayLike,
    runs: int,
    worth: dict[int, tuple[float, float]],
) -> Figures:
    x, y, said = (np.asarray(values, dtype=np.int64) for values in (first, second, outcome))
    if not np.isin(said, list(worth)).all():
        raise ValueError(f"outcomes are {FIRST}, {SECOND} and {TIE}")
    found = np.zeros((runs, runs))
    for value, (of_first, of_second) in worth.items():
        of_value = said == value
        np.add.at(found, (x[of_value], y[of_value]), of_first)
        np.add.at(found, (y[of_value], x[of_value]), of_second)
    return found


def borda(wins: Figures) -> Figures:
    """Return wins minus losses of each run: (..., runs). They sum to 0."""
    found: Figures = wins.sum(axis=-1) - wins.sum(axis=-2)
    return found


def count_decided(wins: Figures) -> Figures:
    """Count the pairs of each run that are no ties: (..., runs)."""
    found: Figures = wins.sum(axis=-1) + wins.sum(axis=-2)
    return found


def net_wins(wins: Figures) -> Figures:
    """Return wins minus losses over decided pairs of each run, -1 to 1; NaN where all are ties: (..., runs)."""
    points, decided = borda(wins), count_decided(wins)
    found: Figures = np.divide(points, decided, out=np.full(points.shape, np.nan), where=decided > 0)
    return found


def compared_groups(compared: npt.ArrayLike) -> list[list[int]]:
    """Return the groups of runs that comparisons connect, by the places of their first runs.

    compared: (runs, runs), true where two runs were compared.
    """
    linked = np.asarray(compared, dtype=bool)
    linked = linked | linked.T
    groups: list[list[int]] = []
    left = set(range(len(linked)))
    while left:
        group, border = set(), {min(left)}
        while border:
            group |= border
            border = set(np.flatnonzero(linked[sorted(border)].any(axis=0)).tolist()) - group
        groups.append(sorted(group))
        left -= group
    return groups


def bradley_terry(points: npt.ArrayLike, *, seed: int, draws: int = 1000, confidence: float = 0.95) -> Strengths:
    """Return Bradley-Terry strengths (Bradley and Terry, Biometrika 1952) with intervals by a bootstrap over topics.

    points: (topics, runs, runs), as count_points() has them. Ties as halves are no model of ties, so there is no
    interval from the likelihood. Both runs of a pair that was compared on any topic get PSEUDO_COUNT wins more, once
    for all topics, in each draw. Raises Disconnected.
    """
    of_topics = np.asarray(points, dtype=np.float64)
    total = of_topics.sum(axis=0)
    compared = (total + total.T) > 0
    groups = compared_groups(compared)
    if len(groups) > 1:
        raise Disconnected(groups)
    topics, runs = of_topics.shape[:2]
    pseudo = PSEUDO_COUNT * compared
    strength = _fit((total + pseudo)[np.newaxis])[0]
    low, high = np.full((2, runs), np.nan)
    if topics > 1:
        weights = count_topics(draw_topics(topics, draws, seed), topics)
        drawn = (weights @ of_topics.reshape(topics, -1)).reshape(-1, runs, runs)
        size = max(1, _AT_A_TIME // max(1, runs * runs))
        fitted = [_fit(drawn[start : start + size] + pseudo) for start in range(0, draws, size)]
        tail = (1 - confidence) / 2 * 100
        low, high = np.percentile(np.concatenate(fitted), [tail, 100 - tail], axis=0)
    return Strengths(strength, low, high)


def _fit(points: Figures) -> Figures:
    """Return the most likely strengths of each table of points: (tables, runs), by Newton's method with short steps."""
    tables, runs = points.shape[:2]
    played = points + points.transpose(0, 2, 1)
    won = points.sum(axis=2)
    found = np.zeros((tables, runs))
    # Strengths are known up to a constant: this holds their sum.
    fixed = np.ones((runs, runs)) / max(1, runs)
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(found[:, np.newaxis, :] - found[:, :, np.newaxis]))  # that the row's run is preferred
        gradient = won - (played * odds).sum(axis=2)
        if np.abs(gradient).max(initial=0.0) < _PRECISION:
            return found
        information = -played * odds * (1 - odds)
        information[:, range(runs), range(runs)] -= information.sum(axis=2)
        step = np.linalg.solve(information + fixed, gradient[..., np.newaxis])[..., 0]
        found += step * (_LONGEST_STEP / np.maximum(_LONGEST_STEP, np.abs(step).max(axis=1, keepdims=True)))
        found -= found.mean(axis=1, keepdims=True)
    raise ArithmeticError(f"no strengths after {_STEPS} steps")
