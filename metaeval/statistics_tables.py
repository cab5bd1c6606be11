"""Comparisons as tables: to be read, for a paper, and as data."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.collection.formats import latex
from assessor.collection.formats.latex import as_latex
from assessor.collection.formats.tables import write_table
from metaeval.serializers import number, value_told
from metaeval.stats.bootstrap import Interval
from metaeval.stats.comparison import Compared
from metaeval.stats.score_matrix import Pair
from metaeval.stats.statistic import Value

COLUMNS = ("measure", "statistic", "value", "n", "low", "high", "bootstrap_mean", "draws", "why")
_LEVELS = (("tau_run", "runs"), ("tau_topic", "topics"), ("tau_cell", "cells"))


class Statistic(NamedTuple):
    """A number found, with its interval where it has one."""

    measure: str
    name: str
    value: Value
    interval: Interval | None = None


def statistics(compared: Iterable[Compared]) -> Iterator[Statistic]:
    """Yield all that was found."""
    for one in compared:
        for (name, _), value, at in zip(_LEVELS, one.levels[:3], range(3), strict=True):
            yield Statistic(one.measure, name, value, one.intervals[at] if one.intervals else None)
        yield Statistic(
            one.measure, "topics_without_tau", Value(float(one.levels.undefined_topics), len(one.levels.by_topic))
        )
        for name in ("tau_ap", "tau_ap_a", "tau_ap_b", "pearson", "spearman"):
            yield Statistic(one.measure, name, getattr(one, name))
        for name, overlap in zip(("rbo", "rbo_least", "rbo_truncated"), one.rbo, strict=True):
            yield Statistic(one.measure, name, overlap)
        yield Statistic(one.measure, "largest_rank_drop", one.drop)
        if one.pairs:
            yield Statistic(one.measure, "active_agreement", one.pairs.active)
            yield Statistic(one.measure, "passive_agreement", one.pairs.passive)
            for kind, count in one.pairs._asdict().items():
                yield Statistic(one.measure, f"pairs_{kind}", Value(float(count), sum(one.pairs)))


def files(pair: Pair, compared: Sequence[Compared]) -> dict[str, Iterator[str]]:
    """Return the tables that are files, by name."""
    return {
        "statistics.csv": csv_lines(compared),
        "runs.csv": runs_csv(pair, compared),
        "taus.tex": latex_lines(pair, compared),
    }


def csv_lines(compared: Iterable[Compared]) -> Iterator[str]:
    """Yield all statistics as CSV, a row each; what is undefined is empty, with the reason."""
    return write_table(COLUMNS, map(_row, statistics(compared)))


def _row(found: Statistic) -> Sequence[object]:
    told = found.interval or Interval(None, None, None, 0)
    bounds = (number(bound) for bound in told[:3])
    draws = told.draws if found.interval else None
    return (found.measure, found.name, number(found.value.value), found.value.n, *bounds, draws, found.value.why)


def runs_csv(pair: Pair, compared: Sequence[Compared]) -> Iterator[str]:
    """Yield the runs' scores on both sides as CSV."""
    names = [f"{one.measure} {side.name}" for one in compared for side in pair[:2]]
    figures = [scores for one in compared for scores in (one.first.tolist(), one.second.tolist())]
    rows = (
        (run, task, *(number(scores[at]) for scores in figures))
        for at, (run, task) in enumerate(zip(pair.first.runs, pair.first.tasks, strict=True))
    )
    return write_table(("run_id", "task", *names), rows)


def as_data(pair: Pair, compared: Sequence[Compared]) -> dict[str, Any]:
    """Return a comparison as JSON has it; NaN and what is undefined are null."""
    return {
        "first": pair.first.name,
        "second": pair.second.name,
        "runs": [{"run_id": run, "task": task} for run, task in zip(pair.first.runs, pair.first.tasks, strict=True)],
        "topics": pair.first.topics,
        "left_out": {
            **{
                field: dict(zip(("first", "second"), getattr(pair.left_out, field), strict=True))
                for field in ("runs", "topics", "measures")
            },
            "controls": pair.left_out.controls,
        },
        "measures": {
            one.measure: {
                "first": [number(score) for score in one.first.tolist()],
                "second": [number(score) for score in one.second.tolist()],
                "tau_by_topic": [number(tau) for tau in one.levels.by_topic.tolist()],
                "dropped": one.dropped or None,
                "statistics": {found.name: _statistic(found) for found in statistics([one])},
            }
            for one in compared
        },
    }


def _statistic(found: Statistic) -> dict[str, Any]:
    told = value_told(found.value)
    if found.interval:
        low, high, mean, draws, why = found.interval
        told["interval"] = {
            "low": number(low),
            "high": number(high),
            "mean": number(mean),
            "draws": draws,
            **({"why": why} if why else {}),
        }
    return told


def text_lines(pair: Pair, compared: Sequence[Compared]) -> Iterator[str]:
    """Yield a comparison as lines to be read in a terminal."""
    first, second, _ = pair
    yield f"{first.name} and {second.name}: {len(first.runs):,} runs ({_tasks(first.tasks)})"
    yield f"{len(first.topics):,} topics" if first.topics else "no topics in common: means over each side's own alone"
    yield ""
    if not first.runs or not first.measures:
        yield f"Nothing to compare: no {'runs' if not first.runs else 'measures'} in common."
        return
    levels = [
        (one.measure, *taus[:2], f"{one.levels.undefined_topics:,}" if first.topics else "—", *taus[2:])
        for one, taus in ((one, _levels(one)) for one in compared)
    ]
    yield from _aligned(("tau-b", "runs", "topics (mean)", "topics undefined", "cells"), levels)
    yield ""
    yield from _aligned(
        ("", "tau_AP", "tau_AP,a", "tau_AP,b", "RBO", "Pearson", "Spearman", "largest drop", "PAA", "PPA"),
        [
            (
                one.measure,
                *map(
                    shown,
                    (one.tau_ap, one.tau_ap_a, one.tau_ap_b, one.rbo.extrapolated, one.pearson, one.spearman),
                ),
                "—" if one.drop.value is None else f"{one.drop.value:.0f} {one.dropped}".strip(),
                *([shown(one.pairs.active), shown(one.pairs.passive)] if one.pairs else ["—", "—"]),
            )
            for one in compared
        ],
    )
    reasons = sorted({f"{found.name}: {found.value.why}" for found in statistics(compared) if found.value.why})
    if reasons:
        yield ""
        yield "— is undefined: " + "; ".join(reasons)


def left_out_lines(pair: Pair) -> Iterator[str]:
    """Yield what only one side has, a line each."""
    for field in ("runs", "topics", "measures"):
        for side, names in zip(pair[:2], getattr(pair.left_out, field), strict=True):
            if names:
                yield f"left out, {field} of {side.name} alone: {len(names):,} ({', '.join(names[:20])}{_more(names)})"
    if pair.left_out.controls:
        yield f"left out, control runs: {', '.join(pair.left_out.controls)}"


def latex_lines(pair: Pair, compared: Sequence[Compared]) -> Iterator[str]:
    """Yield the taus of a comparison as a table for a paper (booktabs); intervals stand behind their taus."""
    first, second, _ = pair
    caption = f"Kendall's $\\tau$ (b) between {as_latex(first.name)} and {as_latex(second.name)} over "
    caption += f"{len(first.runs)} runs" + (f" and {len(first.topics)} topics" if first.topics else "")
    sampled = next((one.intervals.run.draws for one in compared if one.intervals), 0)
    caption += f"; in brackets 95\\,\\% bootstrap intervals over topics ({sampled} draws)" if sampled else ""
    rows = (
        latex.row((as_latex(one.measure), *(cell.replace("—", "--") for cell in _levels(one, with_n=False))))
        for one in compared
    )
    return latex.table(caption, "lrrr", ("Measure", "Runs", "Topics", "Cells"), rows)


def shown(found: Value, digits: int = 4) -> str:
    """Return a statistic as people read it."""
    return "—" if found.value is None else f"{found.value:.{digits}f}"


def _levels(one: Compared, *, with_n: bool = True) -> list[str]:
    cells = []
    for (_, what), value, at in zip(_LEVELS, one.levels[:3], range(3), strict=True):
        bounds = one.intervals[at] if one.intervals else None
        told = shown(value)
        if bounds and bounds.low is not None and bounds.high is not None:
            told += f" [{bounds.low:.3f}, {bounds.high:.3f}]"
        cells.append(f"{told} ({value.n:,} {what})" if with_n and value.value is not None else told)
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
