"""Statistics as JSON has them: what is undefined is null, beside the reason."""

import math
from typing import Any

from metaeval.stats.agreement import Agreement, percent
from metaeval.stats.means import DIGITS
from metaeval.stats.statistic import Statistic

Json = dict[str, Any]
RATES = ("match", "above", "below", "unweighted", "linear", "quadratic")


def statistic_json(found: Statistic) -> Json:
    """Return a statistic."""
    content: Json = {"value": number(found.value), "n": found.n}
    return content | ({"why": found.why} if found.why else {})


def agreement_json(found: Agreement) -> Json:
    """Return how far two judges agree."""
    return {
        "matrix": found.matrix.tolist(),
        "percent": [[number(share) for share in row] for row in percent(found.matrix).tolist()],
        **{name: statistic_json(getattr(found, name)) for name in RATES},
    }


def number(value: float | None) -> float | None:
    """Return a number with ten digits after the point; None for NaN."""
    return None if value is None or math.isnan(value) else round(value, DIGITS)
