"""Leaderboards as a page shows them: bars with intervals over topics, and runs topic by topic."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from assessor.scores.loading import RunName, Scores, Topic
from assessor.scores.tables import SEED, Counting, systems_in
from metaeval.stats.bootstrap import bootstrap_means
from metaeval.stats.means import (
    COMPLETE,
    DIGITS,
    INCOMPLETE,
    OUTSIDE,
    UNANSWERED,
    Figures,
    Policy,
    mean,
    standard_error,
    topic_spread,
)
from metaeval.stats.measures import Measure

_SHADES = 5
_NICE = (1, 2, 3, 4, 5, 6, 8, 10)


class Bar(NamedTuple):
    """A score as a bar with its interval: places and lengths in percent of the scale, and all of it in words."""

    start: str
    width: str
    low: str
    high: str
    words: str


class BoardLine(NamedTuple):
    """A run of a leaderboard, or what is told over all of them.

    place: by the measure that is shown, alike for runs that tie; None where undefined. value: of that measure, and
    error: its standard error, "" where undefined; letters: of the runs that are not told apart from it, "" without
    any; others: of the other measures. counts: of topics, then of what is incomplete and not judged, where anything
    is. anchor: its place on the page; address: of the page with this run open, or closed if it is open.
    """

    run: RunName | None
    name: str
    place: int | None
    value: str
    error: str
    bar: Bar | None
    letters: str
    others: list[str]
    counts: list[str]
    is_incomplete: bool
    anchor: str
    address: str


class StripCell(NamedTuple):
    """A run's score on a topic. shade: the style that says how high it is, or why there is none."""

    address: str  # of the topic's scores
    title: str
    text: str
    shade: str
    words: str


class Compared(NamedTuple):
    """A run topic by topic. of_first: how it differs from the first of them, where it is another."""

    run: RunName
    mean: str
    error: str
    interval: str
    cells: list[StripCell]
    of_first: "Difference | None"


class Difference(NamedTuple):
    """What a run has over another, on the topics that count for both. is_clear: the interval leaves out zero."""

    mean: str
    interval: str
    better: int
    equal: int
    worse: int
    is_clear: bool


class Strip(NamedTuple):
    """Chosen runs topic by topic, in the order of the first one's scores, and the median over all systems' runs."""

    topics: list[Topic]
    runs: list[Compared]
    medians: list[StripCell]
    systems: int


def scale_of(values: Collection[float]) -> float:
    """Return where a scale from 0, or to both sides of it, ends that has room for these values."""
    most = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if most <= 0:
        return 1.0
    step: float = 10.0 ** math.floor(math.log10(most))
    return next(round(nice * step, 10) for nice in _NICE if nice * step >= most - 1e-12)


def bar_of(measure: Measure, value: float, error: float, low: float, high: float, scale: float) -> Bar | None:
    """Return a score with its standard error and interval as a bar; None where it is undefined.

    Of a measure that can be negative 0 is in the middle.
    """
    if math.isnan(value):
        return None
    least = -scale if measure.is_signed else 0.0
    bar = _percent(min(0.0, value) - least, scale - least), _percent(abs(value), scale - least)
    if math.isnan(low):
        return Bar(*bar, "", "", f"{measure.on_page(value)}, no interval")
    words = f"{measure.on_page(value)}, interval {measure.on_page(low)} to {measure.on_page(high)}"
    words += "" if math.isnan(error) else f", standard error {measure.on_page(error)}"
    return Bar(*bar, _percent(low - least, scale - least), _percent(high - least, scale - least), words)


def _percent(value: float, scale: float) -> str:
    return f"{100 * value / scale:.2f}%"


def strip(
    found: Scores,
    chosen: Sequence[int],
    measure: int,
    policy: Policy,
    counting: Counting,
    topic_page: Callable[[int], str],
) -> Strip:
    """Return runs topic by topic, by their places. topic_page: gives the address of a topic by its key.

    Intervals of differences are those of the mean of each topic's difference, over the same draws as all others.
    """
    of = found.measures.all[measure]
    cells, low, high = (values[..., measure] for values in (counting.cells, counting.low, counting.high))
    is_system = systems_in(found)
    medians = topic_spread(found.scores[is_system], found.states[is_system], policy)[1, :, measure]
    medians = np.where(np.isnan(cells[is_system]).all(axis=0), np.nan, medians)
    first = cells[chosen[0]]
    places = np.argsort(first, kind="stable").tolist()  # NaN comes last
    addresses = [topic_page(topic.pk) for topic in found.topics]
    top = max(1.0, scale_of([float(np.fmax.reduce(np.abs(cells), axis=None, initial=0.0))]))
    differences = cells[chosen] - first
    bounds = bootstrap_means(differences[..., np.newaxis], seed=SEED) if len(chosen) > 1 else ()

    def cells_of(values: Figures, states: Sequence[int], beside: Figures, what: str) -> list[StripCell]:
        return [
            StripCell(
                addresses[at],
                found.topics[at].title,
                *_cell(of, float(values[at]), states[at], top, found.topics[at].qid, f"{what} {of.on_page(value)}"),
            )
            for at, value in zip(places, beside[places].tolist(), strict=True)
        ]

    return Strip(
        topics=[found.topics[at] for at in places],
        runs=[
            Compared(
                found.runs[at],
                of.on_page(float(mean(cells[at], axis=0))),
                of.on_page(float(standard_error(cells[at], axis=0))),
                _interval(of, low[at], high[at]),
                cells_of(cells[at], found.states[at].tolist(), medians, "median"),
                _difference(of, differences[place], *(float(bound[place, 0]) for bound in bounds)) if place else None,
            )
            for place, at in enumerate(chosen)
        ],
        medians=cells_of(medians, [COMPLETE] * len(places), first, found.runs[chosen[0]].tag),
        systems=int(is_system.sum()),
    )


def _cell(measure: Measure, value: float, state: int, top: float, qid: str, beside: str) -> tuple[str, str, str]:
    """Return text, shade and words of a cell."""
    if state == INCOMPLETE:
        return "!", "hw", f"{qid}: labels are missing, {beside}"
    if state == OUTSIDE or math.isnan(value):
        return "—", "hx", f"{qid}: does not count, {beside}"
    text = f"{value:.2f}".removeprefix("0") if top == 1 and value < 1 else f"{value:.{max(0, measure.digits - 3)}f}"
    if state == UNANSWERED:
        return text, "hx", f"{qid}: not submitted, counts {measure.on_page(value)}, {beside}"
    share = (value / top + 1) / 2 if measure.is_signed else value / top
    shade = min(_SHADES, 1 + int(share * _SHADES + 1e-9))
    return text, f"h{shade}", f"{qid}: {measure.on_page(value)}, {beside}"


def _interval(measure: Measure, low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{measure.on_page(low)} to {measure.on_page(high)}"


def _difference(measure: Measure, differences: Figures, low: float, high: float) -> Difference:
    defined = differences[~np.isnan(differences)].round(DIGITS)
    return Difference(
        measure.on_page(float(mean(differences, axis=0))),
        _interval(measure, low, high),
        int((defined > 0).sum()),
        int((defined == 0).sum()),
        int((defined < 0).sum()),
        bool(low > 0 or high < 0),
    )
