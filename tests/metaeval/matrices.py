"""Scores of made-up runs: few distinct values, as labels give them, with ties, a constant topic and lacking cells."""

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]


def two_sides(seed: int, runs: int, topics: int, measures: int = 1, lacking: float = 0.0) -> tuple[Scores, Scores]:
    """Return the scores of two conditions, (runs, topics, measures): shares of 2 to 7 nuggets, halves included.

    On the first topic the second side is constant; lacking: share of cells without a score, on each side for itself.
    """
    chance = np.random.default_rng(seed)
    nuggets = chance.integers(2, 8, topics)[:, np.newaxis]
    quality = chance.normal(size=(runs, 1, measures))
    sides = []
    for _ in range(2):
        share = 1 / (1 + np.exp(-quality - chance.normal(size=(runs, topics, measures))))
        scores = np.round(share * 2 * nuggets) / (2 * nuggets)
        scores[chance.random(scores.shape) < lacking] = np.nan
        sides.append(scores)
    sides[1][:, 0] = 0.5
    return sides[0], sides[1]
