"""The statistics of a comparison of scores as tables: for a terminal, for a paper, as CSV and as JSON."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from metaeval import top_tables
from metaeval.measures import measure_named
from metaeval.serializers import number, statistic_json
from metaeval.stats.bootstrap import Bounds, Interval
from metaeval.stats.comparison import MeasureComparison
from metaeval.stats.score_matrix import MatchedScores
from metaeval.stats.statistic import Statistic

_BCA = ("bca_low", "bca_high", "bca_why")
COLUMNS = ("measure", "statistic", "value", "n", "low", "high", "bootstrap_mean", "draws", "why", *_BCA)
_LEVELS = (("tau_run", "runs"), ("tau_topic", "topics"), ("tau_cell", "cells"))


class NamedStatistic(NamedTuple):
    """A statistic of a measure, with its interval where it has one."""

    measure: str
    name: str
    value: Statistic
    interval: Interval | None = None
    bca: Bounds | None = None


def statistics(comparisons: Iterable[MeasureComparison]) -> Iterator[NamedStatistic]:
    """Yield all that was found."""
    for one in comparisons:
        for (name, _), value, (interval, bca) in zip(_LEVELS, one.levels[:3], _intervals(one), strict=True):
            yield NamedStatistic(one.measure, name, value, interval, bca)
        yield NamedStatistic(
            one.measure, "topics_without_tau", Statistic(float(one.levels.undefined_topics), len(one.levels.by_topic))
        )
        for name in ("tau_ap", "tau_ap_a", "tau_ap_b", "pearson", "spearman"):
            yield NamedStatistic(one.measure, name, getattr(one, name))
        for name, overlap in zip(("rbo", "rbo_least", "rbo_truncated"), one.rbo, strict=True):
            yield NamedStatistic(one.measure, name, overlap)
        yield NamedStatistic(one.measure, "largest_rank_drop", one.drop)
        if one.pairs:
            yield NamedStatistic(one.measure, "active_agreement", one.pairs.active)
            yield NamedStatistic(one.measure, "passive_agreement", one.pairs.passive)
            for kind, count in one.pairs._asdict().items():
                yield NamedStatistic(one.measure, f"pairs_{kind}", Statistic(float(count), sum(one.pairs)))
        if one.top:
            winner = one.top.winner
            yield NamedStatistic(one.measure, "best_run_found", winner.found)
            yield NamedStatistic(one.measure, "best_run_loss", winner.loss, winner.interval if one.intervals else None)


def _intervals(one: MeasureComparison) -> list[tuple[Interval | None, Bounds | None]]:
    """Return the percentile and the BCa interval of each level."""
    found = one.intervals
    return list(zip(found[:3], found.bca, strict=True)) if found else [(None, None)] * len(_LEVELS)


def files(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> dict[str, Iterator[str]]:
    """Return the tables that are files, by name."""
    return {name: write(scores, comparisons) for name, write in FILES.items()}


def csv_lines(comparisons: Iterable[MeasureComparison]) -> Iterator[str]:
    """Yield all statistics as CSV, a row each; what is undefined is empty, with the reason."""
    return write_table(COLUMNS, map(_row, statistics(comparisons)))


def _row(found: NamedStatistic) -> Sequence[object]:
    interval = found.interval or Interval(None, None, None, 0)
    bounds = (number(bound) for bound in interval[:3])
    draws = interval.draws if found.interval else None
    low, high, why = found.bca or (None, None, "")
    of_bca = (number(low), number(high), why)
    return (
        found.measure,
        found.name,
        number(found.value.value),
        found.value.n,
        *bounds,
        draws,
        found.value.why,
        *of_bca,
    )


def runs_csv(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> Iterator[str]:
    """Yield the runs' means under both as CSV."""
    runs = zip(scores.reference.runs, scores.reference.tasks, strict=True)
    names = [f"{one.measure} {matrix.name}" for one in comparisons for matrix in scores[:2]]
    columns = [means for one in comparisons for means in (one.reference.tolist(), one.candidate.tolist())]
    rows = ((run, task, *(number(means[at]) for means in columns)) for at, (run, task) in enumerate(runs))
    return write_table(("run_id", "task", *names), rows)


def as_json(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> dict[str, Any]:
    """Return a comparison as JSON has it; NaN and what is undefined are null."""
    runs = zip(scores.reference.runs, scores.reference.tasks, strict=True)
    return {
        "first": scores.reference.name,
        "second": scores.candidate.name,
        "runs": [{"run_id": run, "task": task} for run, task in runs],
        "topics": scores.reference.topics,
        "left_out": {
            **{
                field: dict(zip(("first", "second"), getattr(scores.left_out, field), strict=True))
                for field in ("runs", "topics", "measures")
            },
            "controls": scores.left_out.controls,
        },
        "measures": {
            one.measure: {
                "first": [number(score) for score in one.reference.tolist()],
                "second": [number(score) for score in one.candidate.tolist()],
                "tau_by_topic": [number(tau) for tau in one.levels.by_topic.tolist()],
                "dropped": one.dropped or None,
                "statistics": {found.name: _statistic_json(found) for found in statistics([one])},
                **({"top": top_tables.top_json(one.top, scores.reference.runs)} if one.top else {}),
            }
            for one in comparisons
        },
    }


def _statistic_json(found: NamedStatistic) -> dict[str, Any]:
    content = statistic_json(found.value)
    if found.interval:
        low, high, mean, draws, why = found.interval
        content["interval"] = {
            "low": number(low),
            "high": number(high),
            "mean": number(mean),
            "draws": draws,
            **({"why": why} if why else {}),
        }
        if found.bca:
            bounds = {"low": number(found.bca.low), "high": number(found.bca.high)}
            content["interval"]["bca"] = bounds | ({"why": found.bca.why} if found.bca.why else {})
    return content


def text_lines(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> Iterator[str]:
    """Yield a comparison as lines to be read in a terminal."""
    reference, candidate, _ = scores
    yield f"{reference.name} and {candidate.name}: {len(reference.runs):,} runs ({_tasks(reference.tasks)})"
    topics = len(reference.topics)
    yield quantity(topics, "topics") if topics else "no topics in common: means over each side's own alone"
    yield ""
    if not reference.runs or not reference.measures:
        yield f"Nothing to compare: no {'runs' if not reference.runs else 'measures'} in common."
        return
    levels = [
        (one.measure, *taus[:2], f"{one.levels.undefined_topics:,}" if reference.topics else "—", *taus[2:])
        for one, taus in ((one, _levels(one)) for one in comparisons)
    ]
    yield from _aligned(("tau-b", "runs", "topics (mean)", "topics undefined", "cells"), levels)
    yield ""
    yield from _aligned(
        ("", "tau_AP", "tau_AP,a", "tau_AP,b", "RBO", "Pearson", "Spearman", "largest drop", "PAA", "PPA"),
        [
            (
                one.measure,
                *map(
                    format_statistic,
                    (one.tau_ap, one.tau_ap_a, one.tau_ap_b, one.rbo.extrapolated, one.pearson, one.spearman),
                ),
                "—" if one.drop.value is None else f"{one.drop.value:.0f} {one.dropped}".strip(),
                *(
                    [format_statistic(one.pairs.active), format_statistic(one.pairs.passive)]
                    if one.pairs
                    else ["—", "—"]
                ),
            )
            for one in comparisons
        ],
    )
    found = list(statistics(comparisons))
    reasons = sorted({f"{one.name}: {one.value.why}" for one in found if one.value.why})
    reasons += sorted({f"BCa of {one.name}: {one.bca.why}" for one in found if one.bca and one.bca.why})
    if reasons:
        yield ""
        yield "— is undefined: " + "; ".join(reasons)
    if reference.topics:
        yield ""
        yield from _aligned(
            ("BCa intervals of tau-b", *(what for _, what in _LEVELS)),
            [(one.measure, *_bca(one)) for one in comparisons],
        )
    if any(one.top for one in comparisons):
        head, rows = top_tables.text_rows(scores, comparisons)
        yield ""
        yield from _aligned(head, rows)
        yield "in brackets: equal noise for all runs" + ("; <, >: outside its band" if reference.topics else "")
        yield from top_tables.winner_lines(scores, comparisons)


def _bca(one: MeasureComparison) -> list[str]:
    return [_bounds(bca) or "—" for _, bca in _intervals(one) if bca]


def _bounds(found: Bounds | Interval | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"[{found.low:.3f}, {found.high:.3f}]"


def left_out_lines(scores: MatchedScores) -> Iterator[str]:
    """Yield what only the reference or only the candidate has, a line each."""
    for field in ("runs", "topics", "measures"):
        for matrix, names in zip(scores[:2], getattr(scores.left_out, field), strict=True):
            if names:
                some = ", ".join(names[:20]) + _more(names)
                yield f"left out, {field} of {matrix.name} alone: {len(names):,} ({some})"
    if scores.left_out.controls:
        yield f"left out, control runs: {', '.join(scores.left_out.controls)}"


def latex_lines(scores: MatchedScores, comparisons: Sequence[MeasureComparison]) -> Iterator[str]:
    """Yield the taus of a comparison as a table for a paper (booktabs); intervals stand behind their taus."""
    reference, candidate, _ = scores
    caption = f"Kendall's $\\tau$ (b) between {as_latex(reference.name)} and {as_latex(candidate.name)} over "
    caption += quantity(len(reference.runs), "runs") + (
        f" and {quantity(len(reference.topics), 'topics')}" if reference.topics else ""
    )
    sampled = max((one.intervals.run.draws for one in comparisons if one.intervals), default=0)
    caption += (
        f"; in brackets 95\\,\\% percentile bootstrap intervals over topics ({sampled} draws), and BCa intervals"
        if sampled
        else ""
    )
    rows = (
        latex.row(
            (
                measure_named(one.measure).latex,
                *(cell.replace("—", "--") for cell in _levels(one, with_n=False)),
                *((bca and _bounds(bca)) or "--" for _, bca in _intervals(one) if sampled),
            )
        )
        for one in comparisons
    )
    head = ["Measure", "Runs", "Topics", "Cells", *(["BCa, runs", "BCa, topics", "BCa, cells"] if sampled else [])]
    return latex.table(caption, f"l{'r' * (len(head) - 1)}", head, rows)


def format_statistic(found: Statistic, digits: int = 4) -> str:
    """Return a statistic as text, — where it is undefined."""
    return "—" if found.value is None else f"{found.value:.{digits}f}"


def _levels(one: MeasureComparison, *, with_n: bool = True) -> list[str]:
    cells = []
    for (_, what), value, (interval, _) in zip(_LEVELS, one.levels[:3], _intervals(one), strict=True):
        cell = f"{format_statistic(value)} {_bounds(interval)}".rstrip()
        cells.append(f"{cell} ({value.n:,} {what})" if with_n and value.value is not None else cell)
    return cells


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows in columns that are as wide as their widest cell; all but the first stand on the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join((row[0].ljust(widths[0]), *cells[1:])).rstrip()


def _tasks(tasks: Sequence[str]) -> str:
    return ", ".join(f"{tasks.count(task):,} {task or 'of no task'}" for task in sorted(set(tasks)))


def _more(names: Sequence[str]) -> str:
    return ", …" if len(names) > 20 else ""


FILES: dict[str, Callable[[MatchedScores, Sequence[MeasureComparison]], Iterator[str]]] = {
    "statistics.csv": lambda scores, comparisons: csv_lines(comparisons),
    "runs.csv": runs_csv,
    "taus.tex": latex_lines,
    "top.csv": top_tables.csv_lines,
    "top.tex": top_tables.latex_lines,
}
