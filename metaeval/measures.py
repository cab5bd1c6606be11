"""What tables and figures call the measures that are compared."""

from assessor.collection.formats.latex import as_latex
from assignment.measures import NUGGET_SCORES
from metaeval.stats.measures import Measure
from support.measures import SUPPORT_SCORES

F1 = "f1"
LENGTH, COVERAGE = "length", "astrict"  # keys of other measures
PRECISION, RECALL = "weighted_precision", "weighted_recall"
_KNOWN = {measure.key: measure for measure in (*NUGGET_SCORES.all, *SUPPORT_SCORES.all)} | {
    F1: Measure(F1, "F1", "", "$F_1$", F1)
}


def measure_named(key: str) -> Measure:
    """Return what tables call a measure; one that no app has is called by its key."""
    return _KNOWN.get(key) or Measure(key, key, "", as_latex(key), key)
