"""Statistics as results (JSON) have them: what is undefined is null, beside the reason."""

import math
from typing import Any

from metaeval.stats.agreement import Agreement, percent
from metaeval.stats.means import DIGITS
from metaeval.stats.statistic import Value

Json = dict[str, Any]
RATES = ("match", "above", "below", "unweighted", "linear", "quadratic")


def value_told(value: Value) -> Json:
    """Return a statistic."""
    told: Json = {"value": number(value.value), "n": value.n}
    return told | ({"why": value.why} if value.why else {})


def agreement_told(found: Agreement) -> Json:
    """Return how far two judges agree."""
    return {
        "matrix": found.matrix.tolist(),
        "percent": [[number(share) for share in row] for row in percent(found.matrix).tolist()],
        **{name: value_told(getattr(found, name)) for name in RATES},
    }


def number(value: float | None) -> float | None:
    """Return a figure with ten digits after the point; None for NaN."""
    return None if value is None or math.isnan(value) else round(value, DIGITS)
