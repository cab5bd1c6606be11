"""What tables call scores."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Measure(NamedTuple):
    """A score by the name that it has in CSV and leaderboards; label: on pages, with `below` small beside it."""

    key: str
    label: str
    below: str
    latex: str
    json: str  # its key in JSONL
    digits: int = 4  # after the point, where it is rounded


class Measures(NamedTuple):
    """The scores of a kind, in the order of an array's last axis. The first is the one by which runs are ranked."""

    all: tuple[Measure, ...]
    title: str  # "Nugget scores"
    legend: str
    lacking: str  # why an answer is incomplete

    @property
    def keys(self) -> tuple[str, ...]:
        """Their names in files."""
        return tuple(measure.key for measure in self.all)

    def rounded(self, figures: Sequence[float], undefined: str) -> list[str]:
        """Return figures as papers print them."""
        return [
            undefined if math.isnan(value) else f"{value:.{measure.digits}f}"
            for value, measure in zip(figures, self.all, strict=True)
        ]
