"""Measures of answers: each with its names, its formula and the source of that, and lists of them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from metaeval.stats.means import Figures

Answers = TypeVar("Answers")  # what formulas are computed from
# Keys of measures that comparisons have a figure or a formula of: of nuggets, of answers and of support.
COVERAGE, LENGTH, PRECISION, RECALL = "astrict", "length", "weighted_precision", "weighted_recall"

ERROR = "_standard_error"  # after the name of a measure in files: how far its mean depends on topics


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The names of a score.

    key: in CSV, leaderboards and addresses; label: in tables of pages, with `below` small beside it; words: in text.
    """

    key: str
    label: str
    below: str = ""
    latex: str
    json: str  # its key in JSONL
    digits: int = 4  # after the point, where it is rounded
    is_signed: bool = False  # below 0 too, as far as above
    words: str = ""

    @property
    def in_words(self) -> str:
        """What sentences and choices call it."""
        return self.words or f"{self.label} {self.below}".strip()

    def on_page(self, value: float | None) -> str:
        """Return a figure as pages show it: with a digit less than papers print; a dash where it is undefined."""
        return "—" if value is None or math.isnan(value) else f"{value:.{self.digits - 1}f}"


@dataclass(frozen=True, kw_only=True)
class AnswerMeasure(Measure, Generic[Answers]):
    """A measure of answers. formula: returns their scores, (answers,); source: the paper or format it comes from.

    is_relative: the score of an answer depends on those of the other runs, so it compares within one set of runs alone.
    is_variant: it differs from another one in a threshold; the table of all runs has a column of it only where it is
    chosen.
    """

    formula: Callable[[Answers], Figures]
    source: str
    is_relative: bool = False
    is_variant: bool = False


class Measures(NamedTuple):
    """The measures of a kind of label, in the order of an array's last axis. Runs are ranked by the first."""

    all: tuple[AnswerMeasure[Any], ...]
    title: str  # "Nugget scores"
    legend: str
    lacking: str  # why an answer is incomplete
    unusual: tuple[str, ...] = ()  # what files call the counts of what makes the scores other than usual

    @property
    def keys(self) -> tuple[str, ...]:
        """Their names in files."""
        return tuple(measure.key for measure in self.all)

    def count_unusual(self, *counts: int | str) -> dict[str, int | str]:
        """Return counts of what is unusual, in its order, by what files call them."""
        return dict(zip(self.unusual, counts, strict=True))

    def score(self, answers: Any) -> Figures:
        """Return the scores of answers by all measures: (answers, measures)."""
        return np.stack([measure.formula(answers) for measure in self.all], axis=1)

    def rounded(self, figures: Sequence[float], undefined: str) -> list[str]:
        """Return figures as papers print them."""
        return [
            undefined if math.isnan(value) else f"{value:.{measure.digits}f}"
            for value, measure in zip(figures, self.all, strict=True)
        ]
