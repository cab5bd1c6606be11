"""What score tables call support scores."""

from metaeval.stats.measures import Measure, Measures
from support.scores import MEASURES

_LABELS = {"weighted_precision": "WP", "weighted_recall": "WR", "hard_precision": "HP", "hard_recall": "HR"}


def _measure(key: str) -> Measure:
    label, below = _LABELS[key.removesuffix("_all")], "all" if key.endswith("_all") else ""
    index = r"_{\mathrm{all}}" if below else ""
    return Measure(key, label, below, f"$\\mathrm{{{label}}}{index}$", json=key)


SUPPORT_SCORES = Measures(
    all=tuple(map(_measure, MEASURES)),
    title="Support scores",
    legend="P, precision, is over the sentences with a judged citation, R, recall, over all sentences but those left "
    "out as not worth verifying. W is weighted (partial support counts a half), H hard (it counts nothing). A sentence "
    "counts by its first judged citation, under “all” by the mean over all that were judged. — is undefined.",
    lacking="some citation has no label that counts there",
)
