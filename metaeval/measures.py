"""The measures that are compared: those of every kind of label, and F1, which is made of two kinds."""

from collections.abc import Iterable

from assessor.campaigns.models import Condition
from assessor.formats.latex import as_latex
from assessor.scores.score_source import scored_kinds, scoring_of
from metaeval.stats.measures import LENGTH, Measure

F1 = "f1"
_F1 = Measure(key=F1, label="F1", latex="$F_1$", json=F1)


def scored_measures() -> list[Measure]:
    """Return the measures of all kinds of label."""
    return [measure for scoring in scored_kinds().values() for measure in scoring.measures.all]


def measures_of(condition: Condition) -> list[Measure]:
    """Return the measures of a condition's scores, of which length is none."""
    return [measure for measure in scoring_of(condition.kind).measures.all if measure.key != LENGTH]


def absolute_measures(condition: Condition) -> list[Measure]:
    """Return the same without those that compare a condition's runs with each other."""
    return [measure for measure in measures_of(condition) if not getattr(measure, "is_relative", False)]


def measure_choices(condition: Condition) -> dict[str, str]:
    """Return what measures_of() does in words, by key."""
    return _in_words(measures_of(condition))


def absolute_choices(condition: Condition) -> dict[str, str]:
    """Return what absolute_measures() does in words, by key."""
    return _in_words(absolute_measures(condition))


def _in_words(measures: Iterable[Measure]) -> dict[str, str]:
    return {measure.key: measure.in_words for measure in measures}


def kinds_with(key: str) -> list[str]:
    """Return the names of the kinds of label that have a measure."""
    return [name for name, scoring in scored_kinds().items() if key in scoring.measures.keys]


def measure_named(key: str) -> Measure:
    """Return the measure that tables name by this key; one of a file from elsewhere is called by its key."""
    known = {measure.key: measure for measure in (*scored_measures(), _F1)}
    return known.get(key) or Measure(key=key, label=key, latex=as_latex(key), json=key)


def measure_labels(keys: Iterable[str]) -> dict[str, str]:
    """Return the measures' labels, by key."""
    named = {key: measure_named(key) for key in keys}
    return {key: f"{measure.label} {measure.below}".strip() for key, measure in named.items()}
