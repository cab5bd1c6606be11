"""Prediction-powered inference: a mean of few human labels, helped by many labels of a model.

Source: Angelopoulos, Duchi, Zrnic, PPI++: Efficient Prediction-Powered Inference (2023). The estimate is

    mean(weight * unlabelled predictions) + mean(label - weight * prediction)

with the variances of both means added. Labels are taken as independent: where they are clustered in topics, give
the means of topics.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Estimate(NamedTuple):
    """An estimated mean, its standard error, and the ends of its confidence interval; weight: of the predictions."""

    mean: float
    error: float
    low: float
    high: float
    weight: float


def ppi_mean(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    weight: float | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean of human labels.

    labels, predictions: (n,), a person's and the model's of the same things; unlabelled: (N,), the model's of further
    ones. weight 0 is the labels' own mean, None the weight (0 to 1) with the least variance. Raises ValueError where
    there are fewer than two labels or no further predictions.
    """
    y, f, more = (np.asarray(given, dtype=np.float64) for given in (labels, predictions, unlabelled))
    if y.ndim != 1 or y.shape != f.shape or len(y) < 2 or not len(more):
        raise ValueError("two or more labels, as many predictions, and further predictions are needed")
    chosen = _best_weight(y, f, more) if weight is None else weight
    mean = float(chosen * more.mean() + (y - chosen * f).mean())
    error = float(np.sqrt(chosen**2 * more.var() / len(more) + (y - chosen * f).var() / len(y)))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return Estimate(mean, error, mean - reach, mean + reach, chosen)


def _best_weight(y: npt.NDArray[np.float64], f: npt.NDArray[np.float64], more: npt.NDArray[np.float64]) -> float:
    """Return the weight with the least variance; 0 where predictions don't vary."""
    variance = (1 + len(y) / len(more)) * np.concatenate([f, more]).var(ddof=1)
    return float(np.clip(np.cov(y, f, ddof=0)[0, 1] / variance, 0, 1)) if variance else 0.0
