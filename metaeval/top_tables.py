"""Agreement at the top of a comparison as tables: for a terminal, for a paper, as CSV and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from metaeval.measures import measure_named
from metaeval.serializers import number
from metaeval.stats.comparison import AtTheTop, MeasureComparison
from metaeval.stats.score_matrix import MatchedScores
from metaeval.stats.top import TopTau

Json = dict[str, Any]
COLUMNS = ("measure", "chosen_by", "k", "runs", "pairs", "tau", "equal_noise", "low", "high", "why")
_SIDES = {-1: "<", 0: "", 1: ">"}  # of the band of equal noise


def top_json(found: AtTheTop, runs: Sequence[str]) -> Json:
    """Return agreement at the top as JSON has it: tau by number of runs, and the names of the best runs."""
    return {
        "first": list(map(_point_json, found.taus.reference)),
        "second": list(map(_point_json, found.taus.candidate)),
        "best": {
            "first": [runs[at] for at in found.winner.reference],
            "second": [runs[at] for at in found.winner.candidate],
        },
    }


def _point_json(point: TopTau) -> Json:
    content: Json = {"k": point.k, "runs": point.tau.n, "pairs": point.pairs, "tau": number(point.tau.value)}
    content |= {"equal_noise": number(point.expected), "low": number(point.low), "high": number(point.high)}
    return content | ({"why": point.tau.why} if point.tau.why else {})


def csv_lines(scores: MatchedScores, comparisons: Iterable[MeasureComparison]) -> Iterator[str]:
    """Yield tau of the best runs as CSV, a row for each measure, side and number of runs."""
    rows = (
        (one.measure, side, *(_point_json(point) | {"why": point.tau.why}).values())
        for one, side, points in _curves(scores, comparisons)
        for point in points
    )
    return write_table(COLUMNS, rows)


def latex_lines(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> Iterator[str]:
    """Yield tau of the best runs as a table for a paper (booktabs), what equal noise gives in brackets."""
    curves = list(_curves(scores, comparisons))
    sizes = _sizes(curves)
    rows = (
        latex.row(
            (measure_named(one.measure).latex, as_latex(side), *(_cell(points, k).replace("—", "--") for k in sizes))
        )
        for one, side, points in curves
    )
    caption = "Kendall's $\\tau$ (b) of the best $k$ runs; in brackets the mean that equal noise for all runs gives"
    return latex.table(caption, f"ll{'r' * len(sizes)}", ("Measure", "Best by", *(f"$k={k}$" for k in sizes)), rows)


def text_rows(
    scores: MatchedScores, comparisons: Sequence[MeasureComparison]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the head and rows of a table for a terminal."""
    curves = list(_curves(scores, comparisons))
    sizes = _sizes(curves)
    rows = [(one.measure, f"by {side}", *(_cell(points, k, marks=True) for k in sizes)) for one, side, points in curves]
    return ("tau-b of the best", "", *map(str, sizes)), rows


def winner_lines(scores: MatchedScores, comparisons: Iterable[MeasureComparison]) -> Iterator[str]:
    """Yield the best runs of each measure, a line each."""
    runs = scores.reference.runs
    for one in comparisons:
        if one.top and one.top.winner.loss.value is not None:
            winner = one.top.winner
            best, chosen = (", ".join(runs[at] for at in side) for side in (winner.reference, winner.candidate))
            told = f"{one.measure}, best run by {scores.reference.name}: {best}; by {scores.candidate.name}: {chosen}"
            told += f"; loss {winner.loss.value:.4f}"
            if winner.interval.low is not None and winner.interval.high is not None:
                told += f" [{winner.interval.low:.3f}, {winner.interval.high:.3f}]"
            if winner.found.value is not None:
                told += f"; found in {100 * winner.found.value:.0f} % of {winner.found.n:,} draws"
            yield told


def _curves(
    scores: MatchedScores, comparisons: Iterable[MeasureComparison]
) -> Iterator[tuple[MeasureComparison, str, Sequence[TopTau]]]:
    for one in comparisons:
        if one.top:
            for matrix, points in zip(scores[:2], one.top.taus, strict=True):
                yield one, matrix.name, points


def _sizes(curves: Iterable[tuple[MeasureComparison, str, Sequence[TopTau]]]) -> list[int]:
    return sorted({point.k for _, _, points in curves for point in points})


def _cell(points: Sequence[TopTau], k: int, *, marks: bool = False) -> str:
    """Return tau of the best k with what equal noise gives; marks: with the side of the band on which it lies."""
    found = next((point for point in points if point.k == k), None)
    if found is None:
        return ""
    tau = "—" if found.tau.value is None else f"{found.tau.value:.3f}"
    expected = "" if found.expected is None else f" ({found.expected:.3f})"
    return f"{_SIDES[found.side] if marks else ''}{tau}{expected}"
