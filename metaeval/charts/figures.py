"""Figures of a comparison, and of hours of work, as Altair charts: functions on arrays and names.

Each is as wide as a column of a two-column paper (3.3 inches: a pixel is a point), in one colour and shape for each
task. Where there is nothing to show a figure says why. Tooltips name runs and topics. rendering.py has the colours, and
turns figures into files.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
from altair.utils import schemapi

from metaeval.stats.agreement import Agreement, percent
from metaeval.stats.descriptive import pareto_front, topic_means
from metaeval.stats.levels import Levels
from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic
from metaeval.stats.top import Top
from metaeval.stats.topics_needed import CurvePoint

WIDTH = 238
_TALL = 200
_FEW_JUDGES = 4  # whose kappas have room for the number of labels
_NAMED = 3  # cells whose names a tooltip tells where several lie on one point
_MANY = 150  # points of cells
_LABELLED = 40  # topics whose ids fit under an axis
_NO_TASK = "no task"
_USUAL_TASKS = ("AG", "RAG")
_PIECES = ("as usual", "outlier")

Row = dict[str, Any]
# Tests hold charts against Vega-Lite's schema. Done each time, that takes three times as long as all else of a chart.
schemapi.disable_debug_mode()


class NamedFigure(NamedTuple):
    """A figure with its name, which is part of addresses and file names."""

    name: str
    title: str
    figure: alt.LayerChart

    @property
    def specification(self) -> Row:
        """What draws it, for Vega-Lite."""
        found: Row = self.figure.to_dict(validate=False)
        return found


class Runs(NamedTuple):
    """Runs by name, with the task of each ("" where unknown)."""

    names: Sequence[str]
    tasks: Sequence[str]


class Cells(NamedTuple):
    """Scores under reference and candidate by run and topic: (runs, topics) each, NaN where a cell does not count."""

    topics: Sequence[str]
    first: Figures
    second: Figures


def score_scatter(
    runs: Runs,
    first: Figures,
    second: Figures,
    levels: Levels,
    *,
    titles: tuple[str, str],
    cells: Cells | None = None,
    shows_topics: bool = False,
) -> alt.LayerChart:
    """Return the runs' scores, all topic/run cells behind them, and above them tau at the three levels.

    first, second: (runs,), of the reference (on x) and the candidate. titles: of the axes. shows_topics: the means of
    topics over runs, too.
    """
    counts = ~np.isnan(first + second)
    if not counts.any():
        return message("No run has a score on both sides.")
    legends = _legends(runs, counts)
    rows = [
        {"x": x, "y": y, "task": task, "run": name}
        for x, y, task, name in zip(first.tolist(), second.tolist(), legends, runs.names, strict=True)
        if task
    ]
    behind = _cell_rows(runs, legends, cells) if cells else []
    top = max(1.0, *(row[axis] for row in (*rows, *behind) for axis in "xy"))
    scale = alt.Scale(domain=[min(0.0, *(row[axis] for row in (*rows, *behind) for axis in "xy")), top], nice=False)
    tasks = sorted(set(legends) - {""})
    layers = [_diagonal(scale, top)]
    if behind:
        layers.append(_small(behind, scale, titles, tasks))
    if cells and shows_topics:
        layers.append(_topics(cells, scale, titles))
    layers.append(_large(rows, scale, titles, tasks))
    undefined = f", {levels.undefined_topics} undefined" if levels.undefined_topics else ""
    # Above the plot they cover no point.
    note = [
        _tau_line("Kendall's τ of runs", levels.run),
        _tau_line("of topics", levels.topic, undefined),
        _tau_line("of cells", levels.cell),
        *(["Open triangles: topics, means over runs"] if cells and shows_topics else []),
    ]
    return layered_figure(layers, height=_TALL, note=note)


def _legends(runs: Runs, counts: npt.NDArray[np.bool_]) -> list[str]:
    """Return what legends call the task of each run, with the number of runs that have it; "" for those not shown."""
    tasks = [(task or _NO_TASK) if shown else "" for task, shown in zip(runs.tasks, counts.tolist(), strict=True)]
    return [f"{task} ({tasks.count(task)})" if task else "" for task in tasks]


def _cell_rows(runs: Runs, legends: Sequence[str], cells: Cells) -> list[Row]:
    """Return a row for each point that cells lie on."""
    points: dict[tuple[float, float, str], list[str]] = {}
    places = np.argwhere(~np.isnan(cells.first + cells.second))
    for (run, topic), x, y in zip(
        places.tolist(), *(side[tuple(places.T)].round(4).tolist() for side in (cells.first, cells.second)), strict=True
    ):
        if legends[run]:
            points.setdefault((x, y, legends[run]), []).append(f"{runs.names[run]}, {cells.topics[topic]}")
    return [
        {"x": x, "y": y, "task": task, "cells": len(names), "names": some_names(names)}
        for (x, y, task), names in points.items()
    ]


def some_names(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join(names[:_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def base_chart(rows: Sequence[Row]) -> alt.Chart:
    # Altair copies lists, row by row, with each step of a chart.
    return alt.Chart(alt.InlineData(values=tuple(rows)))


def _diagonal(scale: alt.Scale, top: float) -> alt.Chart:
    line = base_chart([{"x": 0, "y": 0}, {"x": top, "y": top}]).mark_line(style="guide")
    chart: alt.Chart = line.encode(alt.X("x:Q", scale=scale), alt.Y("y:Q", scale=scale))
    return chart


def _small(
    rows: list[Row], scale: alt.Scale, titles: tuple[str, str], tasks: list[str], y_scale: alt.Scale | None = None
) -> alt.Chart:
    # So many that they lie on each other are small and fainter.
    size, opacity = (6, 0.32) if len(rows) > _MANY else (14, 0.5)
    points = base_chart(rows).mark_point(filled=True, size=size, opacity=1, fillOpacity=opacity, strokeWidth=0)
    return _points(points, (scale, y_scale or scale), titles, tasks, [alt.Tooltip("names:N", title="Cells")])


def _large(rows: list[Row], scale: alt.Scale, titles: tuple[str, str], tasks: list[str]) -> alt.Chart:
    points = base_chart(rows).mark_point(style="run", filled=True, size=34, opacity=1, fillOpacity=0.9)
    of_run = [alt.Tooltip("run:N", title="Run"), alt.Tooltip("task:N", title="Task")]
    return _points(points, (scale, scale), titles, tasks, of_run)


def _topics(cells: Cells, scale: alt.Scale, titles: tuple[str, str]) -> alt.Chart:
    """Return the mean of each topic over runs as an open triangle."""
    lacks = np.isnan(cells.first + cells.second)
    x, y = (topic_means(np.where(lacks, np.nan, side)).tolist() for side in (cells.first, cells.second))
    rows = [
        {"x": one, "y": other, "topic": topic}
        for one, other, topic in zip(x, y, cells.topics, strict=True)
        if not math.isnan(one)
    ]
    chart: alt.Chart = (
        base_chart(rows)
        .mark_point(style="ring", shape="triangle-down", size=26, opacity=1)
        .encode(
            *_axes(scale, scale, titles),
            tooltip=[
                alt.Tooltip("topic:N", title="Topic, mean over runs"),
                alt.Tooltip("x:Q", title=titles[0], format=".4f"),
                alt.Tooltip("y:Q", title=titles[1], format=".4f"),
            ],
        )
    )
    return chart


def _points(
    points: alt.Chart,
    scales: tuple[alt.Scale, alt.Scale],
    titles: tuple[str, str],
    tasks: list[str],
    tooltips: list[alt.Tooltip],
) -> alt.Chart:
    tooltip = tooltips + [
        alt.Tooltip(f"{axis}:Q", title=title, format=".4f") for axis, title in zip("xy", titles, strict=True)
    ]
    chart: alt.Chart = points.encode(*_axes(*scales, titles), *_by_task(tasks), tooltip=tooltip)
    return chart


def _axes(x_scale: alt.Scale, y_scale: alt.Scale, titles: tuple[str, str]) -> tuple[alt.X, alt.Y]:
    return alt.X("x:Q", title=titles[0], scale=x_scale), alt.Y("y:Q", title=titles[1], scale=y_scale)


def _by_task(tasks: list[str]) -> tuple[alt.Color, alt.Shape]:
    """Return colour and shape of tasks, both with one legend; the same task has the same ones in all figures."""
    usual = [next((name for name in tasks if name.startswith(f"{task} (")), task) for task in _USUAL_TASKS]
    scale = alt.Scale(domain=[*usual, *(name for name in tasks if name not in usual)])
    legend = alt.Legend(title=None, orient="top", values=tasks)
    return alt.Color("task:N", scale=scale, legend=legend), alt.Shape("task:N", scale=scale, legend=legend)


def _tau_line(what: str, value: Statistic, more: str = "") -> str:
    """Return a tau as a line, or why there is none."""
    return f"{what}: {value.value:.3f} (n = {value.n:,}{more})" if value.value is not None else f"{what}: {value.why}"


def confusion_figure(found: Agreement, labels: Sequence[str], *, judges: tuple[str, str]) -> alt.LayerChart:
    """Return a confusion matrix in counts and percent of all pairs, rows the first judge, with match and kappa."""
    pairs = int(found.matrix.sum())
    if not pairs:
        return message("There are no pairs of labels.")
    shares = percent(found.matrix)
    rows = [
        {
            "row": row,
            "column": column,
            "count": f"{found.matrix[at, place]:,}",
            "percent": f"{shares[at, place]:.1f} %",
            "share": shares[at, place],
        }
        for at, row in enumerate(labels)
        for place, column in enumerate(labels)
    ]
    kappas = ", ".join(
        f"{name} {_short(value)}"
        for name, value in (("unweighted", found.unweighted), ("linear", found.linear), ("quadratic", found.quadratic))
    )
    equal, above, below = (100 * (rate.value or 0) for rate in (found.match, found.above, found.below))
    note = [
        f"{pairs:,} pairs: {equal:.1f} % equal, {above:.1f} % above the diagonal, {below:.1f} % below",
        f"Cohen's κ: {kappas}",
    ]
    if found.match.value is None:
        note = [f"{pairs:,} pairs, {found.match.why}"]
    return _grid(rows, list(labels), list(labels), judges, note, most=float(shares.max()))


def kappa_figure(judges: Sequence[str], kappas: dict[tuple[int, int], Statistic], *, weights: str) -> alt.LayerChart:
    """Return the kappa of each two judges. kappas: by the places of both, the smaller first; weights: which kappa.

    Of more than four judges there is no room for the numbers of labels.
    """
    if not kappas:
        return message("No two judges labelled the same things.")
    is_dense = len(judges) > _FEW_JUDGES
    # Numbered, since columns are too narrow for names.
    names = [f"({at}) {name}" for at, name in enumerate(judges, start=1)]
    numbers = [f"({at})" for at in range(1, len(names) + 1)]
    rows = []
    for (one, other), value in kappas.items():
        for at, place in ((one, other), (other, one)):
            rows.append(
                {
                    "row": names[at],
                    "column": numbers[place],
                    "count": f"{value.value:.2f}" if is_dense and value.value is not None else _short(value),
                    "percent": f"n = {value.n:,}",
                    "share": max(0.0, value.value or 0.0) * 100,
                }
            )
    note = [f"Cohen's κ, {weights}, of each two judges; — is undefined"]
    return _grid(rows, names, numbers, ("", ""), note, most=100, is_dense=is_dense)


def _grid(
    rows: list[Row],
    in_rows: list[str],
    in_columns: list[str],
    titles: tuple[str, str],
    note: list[str],
    *,
    most: float,
    is_dense: bool = False,
) -> alt.LayerChart:
    """Return a table of cells with two lines of text each, shaded by their share of the most there can be.

    is_dense: there are many, so only the first line is there, and names are cut.
    """
    x = alt.X(
        "column:N",
        sort=in_columns,
        scale=alt.Scale(domain=in_columns, padding=0),
        title=titles[1] or None,
        axis=alt.Axis(
            orient="top", labelAngle=0, domain=False, ticks=False, grid=False, labelLimit=int(WIDTH / len(in_columns))
        ),
    )
    y = alt.Y(
        "row:N",
        sort=in_rows,
        scale=alt.Scale(domain=in_rows, padding=0),
        title=titles[0] or None,
        axis=alt.Axis(domain=False, ticks=False, grid=False, labelLimit=60 if is_dense else 110),
    )
    base = base_chart(rows).encode(x, y)
    # Never so dark that the text on it, of the theme's ink, could not be read.
    shade = alt.FillOpacity("share:Q", scale=alt.Scale(domain=[0, most], range=[0.04, 0.55]), legend=None)
    if is_dense:
        lines = [base.mark_text(style="note", fontSize=8).encode(text="count:N")]
    else:
        lines = [
            base.mark_text(style="note", dy=-5, fontSize=9).encode(text="count:N"),
            base.mark_text(style="note", dy=6).encode(text="percent:N"),
        ]
    return layered_figure(
        [base.mark_rect(style="shade").encode(shade), *lines],
        height=min(_TALL, 40 * len(in_rows)),
        note=note,
    )


def length_figure(
    runs: Runs, length: Figures, scores: Figures, *, title: str, cells: Cells | None = None
) -> alt.LayerChart:
    """Return a score against the answers' length, with the Pareto front: no run is both shorter and better.

    length, scores: (runs,). cells: each answer's length and score, which are drawn behind the runs.
    """
    counts = ~np.isnan(length + scores)
    if not counts.any():
        return message("No run has both a length and a score.")
    legends = _legends(runs, counts)
    front = set(pareto_front(length, scores))
    rows = [
        {"x": x, "y": y, "task": task, "run": name, "front": at in front}
        for at, (x, y, task, name) in enumerate(zip(length.tolist(), scores.tolist(), legends, runs.names, strict=True))
        if task
    ]
    titles = ("Words of an answer (mean over topics)", title)
    x_scale, y_scale = alt.Scale(zero=True, nice=True), alt.Scale(zero=True, nice=True)
    x, y = alt.X("x:Q", title=titles[0], scale=x_scale), alt.Y("y:Q", title=titles[1], scale=y_scale)
    tasks = sorted(set(legends) - {""})
    on_front = [row for row in rows if row["front"]]
    points = base_chart(rows).encode(
        x,
        y,
        *_by_task(tasks),
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("x:Q", title="Words", format=".1f"),
            alt.Tooltip("y:Q", title=title, format=".4f"),
        ],
    )
    edge = base_chart(sorted(on_front, key=lambda row: row["x"])).encode(x, y)
    behind = _cell_rows(runs, legends, cells) if cells else []
    return layered_figure(
        [
            *([_small(behind, x_scale, titles, tasks, y_scale)] if behind else []),
            edge.mark_line(style="front", interpolate="step-after"),
            points.mark_point(style="run", filled=True, size=34, opacity=1, fillOpacity=0.9),
        ],
        height=_TALL,
        note=[f"Line: Pareto front ({len(on_front)} runs): none is both shorter and better"],
    )


def topic_tau_figure(topics: Sequence[str], taus: Figures, *, title: str) -> alt.LayerChart:
    """Return the tau of the runs on each topic, from the least on. taus: (topics,), NaN where undefined."""
    rows = sorted(
        ({"topic": topic, "tau": tau} for topic, tau in zip(topics, taus.tolist(), strict=True) if not np.isnan(tau)),
        key=lambda row: (row["tau"], row["topic"]),
    )
    if not rows:
        return message("No topic has a tau: on each, one side is constant.")
    undefined = len(topics) - len(rows)
    mean = float(np.mean([row["tau"] for row in rows]))
    order = [row["topic"] for row in rows]
    is_labelled = len(rows) <= _LABELLED
    x = alt.X(
        "topic:N",
        sort=order,
        scale=alt.Scale(domain=order, paddingOuter=0.5),
        title="Topics, by τ",
        axis=alt.Axis(
            labels=is_labelled, ticks=is_labelled, labelAngle=-90, labelFontSize=6, grid=False, labelLimit=70
        ),
    )
    y = alt.Y("tau:Q", title=title, scale=alt.Scale(domain=[min(0.0, rows[0]["tau"]), 1.0], nice=True))
    base = base_chart(rows).encode(x, y)
    tooltip = [alt.Tooltip("topic:N", title="Topic"), alt.Tooltip("tau:Q", title="τ", format=".4f")]
    at_mean = base_chart([{"tau": mean}]).mark_rule(style="guide").encode(alt.Y("tau:Q"))
    # So many that they touch have no rim.
    size, rim = (22, 0.4) if is_labelled else (7, 0)
    dots = base.mark_point(style="dot", filled=True, opacity=1, size=size, strokeWidth=rim)
    note = f"{len(rows):,} topics, mean {mean:.3f} (dashed)" + (f"; {undefined:,} undefined" if undefined else "")
    return layered_figure(
        [at_mean, dots.encode(tooltip=tooltip)],
        height=130,
        note=[note],
    )


def top_figure(top: Top, *, names: tuple[str, str], title: str) -> alt.LayerChart:
    """Return tau of the best runs by their number, with what equal noise gives.

    names: what runs are called that are the best by the reference, and by the candidate.
    """
    rows: list[Row] = [
        {"k": point.k, "by": name, "runs": point.tau.n, "pairs": point.pairs, "tau": point.tau.value}
        | {"equal noise": point.expected, "low": point.low, "high": point.high}
        for name, points in zip(names, top, strict=True)
        for point in points
        if point.tau.value is not None
    ]
    if not rows:
        return message("Tau of any number of best runs is undefined.")
    sizes = sorted({row["k"] for row in rows})
    least = min(value for row in rows for value in (0.0, row["tau"], row["low"]) if value is not None)
    x = alt.X(
        "k:Q",
        title="Number of best runs",
        scale=alt.Scale(type="log", domain=[sizes[0], max(sizes[-1], sizes[0] + 1)], nice=False, padding=6),
        axis=alt.Axis(values=sizes, format="d", labelOverlap=True),
    )
    scale = alt.Scale(domain=[least, 1.0], nice=True)
    y, of_noise = (alt.Y(f"{name}:Q", title=title, scale=scale) for name in ("tau", "equal noise"))
    domain = alt.Scale(domain=list(names))
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=WIDTH - 30)
    colour, shape = alt.Color("by:N", scale=domain, legend=legend), alt.Shape("by:N", scale=domain, legend=legend)
    tooltip = [
        alt.Tooltip("by:N", title="Runs"),
        alt.Tooltip("runs:Q", title="Number"),
        alt.Tooltip("pairs:Q", title="Pairs"),
        alt.Tooltip("tau:Q", title="τ", format=".4f"),
        alt.Tooltip("equal noise:Q", title="Equal noise", format=".4f"),
    ]
    base = base_chart(rows).encode(x)
    bands = [row for row in rows if row["low"] is not None]
    layers = [
        base.mark_line(strokeDash=[3, 2], strokeWidth=0.8).encode(of_noise, colour),
        base.mark_line(strokeWidth=1.3).encode(y, colour),
        base.mark_point(style="run", filled=True, size=24, opacity=1).encode(y, colour, shape, tooltip=tooltip),
    ]
    if bands:
        low, high = alt.Y("low:Q", scale=scale, title=title), alt.Y2("high:Q")
        layers.insert(0, base_chart(bands).mark_area(fillOpacity=0.14).encode(x, low, high, colour))
    note = "Dashed: equal noise for all runs" + (", with its 95 % band" if bands else "")
    return layered_figure(layers, height=150, note=[note])


def precision_recall_scatter(
    runs: Runs, topics: Sequence[str], precision: Figures, recall: Figures, *, titles: tuple[str, str]
) -> alt.LayerChart:
    """Return weighted precision against recall under a condition: of runs, of topics (means over runs), of all cells.

    precision, recall: (runs, topics), NaN where a cell does not count.
    """
    lacks = np.isnan(precision + recall)
    if lacks.all():
        return message("No answer has support scores.")
    x, y = np.where(lacks, np.nan, precision), np.where(lacks, np.nan, recall)
    legends = _legends(runs, np.asarray(~lacks.all(axis=1)))
    tasks = sorted(set(legends) - {""})
    scale = alt.Scale(domain=[0, 1], nice=False)
    run_rows = [
        {"x": one, "y": other, "task": task, "run": name}
        for one, other, task, name in zip(
            topic_means(x.T).tolist(), topic_means(y.T).tolist(), legends, runs.names, strict=True
        )
        if task
    ]
    cells, number = Cells(topics, x, y), int((~lacks.all(axis=0)).sum())
    return layered_figure(
        [
            _diagonal(scale, 1),
            _small(_cell_rows(runs, legends, cells), scale, titles, tasks),
            _topics(cells, scale, titles),
            _large(run_rows, scale, titles, tasks),
        ],
        height=_TALL,
        note=[
            f"Large: {len(run_rows):,} runs. Open triangles: {number:,} topics, means over runs.",
            f"Small: {int((~lacks).sum()):,} cells.",
        ],
    )


def topics_needed_figure(
    curve: Sequence[CurvePoint], *, title: str, confidence: float = 0.95, hours: float | None = None
) -> alt.LayerChart:
    """Return how tau of runs grows with the number of topics, with its band.

    hours: of work for a topic, which gives a second axis.
    """
    rows = [
        {"topics": point.topics, "hours": point.topics * (hours or 0), **point.tau._asdict()}
        for point in curve
        if point.tau.mean is not None
    ]
    if not rows:
        return message("Tau is undefined on any number of these topics.")
    most = max(row["topics"] for row in rows)
    low = min(0.0, *(row["low"] for row in rows))
    base = base_chart(rows)
    x = alt.X("topics:Q", title="Topics", scale=alt.Scale(domain=[0, most], nice=False), axis=alt.Axis(tickMinStep=1))
    y_scale = alt.Scale(domain=[low, 1], nice=True)
    y = alt.Y("mean:Q", title=title, scale=y_scale)
    tooltip = [
        alt.Tooltip("topics:Q", title="Topics"),
        alt.Tooltip("mean:Q", title="Mean τ", format=".4f"),
        alt.Tooltip("low:Q", title="Low", format=".4f"),
        alt.Tooltip("high:Q", title="High", format=".4f"),
    ]
    layers = [
        base.mark_area(style="band").encode(x, alt.Y("low:Q", scale=y_scale, title=title), alt.Y2("high:Q")),
        base.mark_line(style="curve").encode(x, y),
        base.mark_point(style="dot", filled=True, size=14, opacity=1).encode(x, y, tooltip=tooltip),
    ]
    note = f"Mean of subsets drawn, band: {100 * confidence:g} % of them"

    if hours is None:
        return layered_figure(layers, height=150, note=[note])
    above = alt.X(
        "hours:Q",
        title=f"Hours of assessors ({hours:.2g} a topic)",
        scale=alt.Scale(domain=[0, most * hours], nice=False),
        axis=alt.Axis(orient="top", grid=False),
    )
    # Drawn for its axis alone: hours are topics on another scale.
    axis = base.mark_point(opacity=0, size=0).encode(above, y)
    figure: alt.LayerChart = layered_figure([alt.layer(*layers), axis], height=150, note=[note]).resolve_scale(
        x="independent"
    )
    return figure


def planning_figure(
    topics: Sequence[int], curves: Mapping[str, Sequence[float]], *, title: str, chosen: int, top: float | None = None
) -> alt.LayerChart:
    """Return curves over the number of topics, by name, with their points at the chosen number. top: of the y axis."""
    names = list(curves)
    rows = [
        {"curve": name, "topics": number, "value": value}
        for name in names
        for number, value in zip(topics, curves[name], strict=True)
    ]
    x = alt.X("topics:Q", title="Topics", scale=alt.Scale(domain=[0, max(topics)], nice=False))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, top]) if top else alt.Scale(zero=True, nice=True))
    # By colour and by dashes.
    scale = alt.Scale(domain=names)
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=1.5)
    colour = alt.Color("curve:N", scale=scale, legend=legend)
    dashes = alt.StrokeDash("curve:N", scale=scale, legend=legend)
    tooltip = [
        alt.Tooltip("curve:N", title="Curve"),
        alt.Tooltip("topics:Q", title="Topics"),
        alt.Tooltip("value:Q", title=title, format=".3f"),
    ]
    lines = base_chart(rows).mark_line(strokeWidth=1.5).encode(x, y, colour, dashes)
    points = base_chart([row for row in rows if row["topics"] == chosen])
    return layered_figure(
        [
            base_chart([{"topics": chosen}]).mark_rule(style="guide").encode(x),
            lines,
            points.mark_point(style="run", filled=True, size=34, opacity=1).encode(x, y, colour, tooltip=tooltip),
        ],
        height=150,
    )


def distribution_figure(judges: Sequence[str], labels: Sequence[str], counts: npt.ArrayLike) -> alt.LayerChart:
    """Return the share of each label that each judge gave. counts: (judges, labels)."""
    given = np.asarray(counts)
    if not given.size or not given.sum():
        return message("Nobody gave a label.")
    rows = []
    for judge, of_judge in zip(judges, given.tolist(), strict=True):
        total, end = sum(of_judge), 0.0
        for at, (label, count) in enumerate(zip(labels, of_judge, strict=True)):
            if total:
                start, end = end, end + 100 * count / total
                rows.append(
                    {
                        "judge": f"{judge} ({total:,})",
                        "label": label,
                        "order": at,
                        "start": start,
                        "end": end,
                        "middle": (start + end) / 2,
                        "count": count,
                        "told": f"{end - start:.0f}" if end - start >= 6 else "",
                    }
                )
    names = list(dict.fromkeys(row["judge"] for row in rows))
    y = alt.Y("judge:N", sort=names, axis=None)
    scale = alt.Scale(domain=[0, 100], nice=False)
    x = alt.X("start:Q", title="% of labels", scale=scale, axis=alt.Axis(grid=False))
    colour = alt.Color(
        "label:O",
        sort=list(labels),
        scale=alt.Scale(domain=list(labels)),
        legend=alt.Legend(title=None, orient="top", symbolType="square", symbolSize=60, symbolStrokeWidth=0),
    )
    base = base_chart(rows)
    tooltip = [
        alt.Tooltip("judge:N", title="Judge"),
        alt.Tooltip("label:N", title="Label"),
        alt.Tooltip("count:Q", title="Labels", format=","),
    ]
    # Names stand above their bars, which keep all of the width however long the names are.
    named = base_chart([{"judge": name} for name in names])
    return layered_figure(
        [
            base.mark_bar(style="part", height=13, yOffset=6).encode(x, alt.X2("end:Q"), y, colour, tooltip=tooltip),
            base.mark_text(style="note", yOffset=6).encode(alt.X("middle:Q"), y, text="told:N"),
            named.mark_text(style="note", align="left", x=2, yOffset=-6, limit=WIDTH - 16).encode(y, text="judge:N"),
        ],
        height=28 * len(names),
    )


class Durations(NamedTuple):
    """Hours of each piece of work of one kind, the pieces' names, the median, and above what hours are an outlier."""

    name: str
    hours: Sequence[float]
    names: Sequence[str]
    median: float
    limit: float | None


def hours_figure(durations: Sequence[Durations]) -> alt.LayerChart:
    """Return how long each piece of work took, a row for each kind; limits and outliers where they are defined."""
    if not durations:
        return message("Nothing on which time was spent is finished yet.")
    points, middles, limits, names = [], [], [], []
    for at, kind in enumerate(durations):
        limit = math.inf if kind.limit is None else kind.limit
        names.append({"y": at + 0.2, "name": f"{kind.name} ({len(kind.hours):,})"})
        across = {"kind": kind.name, "start": at + 0.35, "end": at + 0.95}
        middles.append(across | {"median": round(kind.median, 4), "pieces": len(kind.hours)})
        limits += [across | {"limit": round(limit, 4)}] if limit < math.inf else []
        points += [
            # Spread over the row by the golden section, so that what took equally long lies side by side.
            {"x": hours, "y": at + 0.45 + 0.4 * (number * 0.618 % 1), "names": name, "is": _PIECES[hours > limit]}
            for number, (hours, name) in enumerate(zip(kind.hours, kind.names, strict=True))
        ]
    scale = alt.Scale(domain=[0, len(durations)], reverse=True, nice=False)
    x = alt.X("x:Q", title="Hours of active time", scale=alt.Scale(zero=True, nice=True))
    is_one = alt.Scale(domain=_PIECES)
    legend = alt.Legend(title=None, orient="top")
    size, rim = (9, 0) if len(points) > _MANY else (22, 0.4)
    dots = base_chart(points).mark_point(
        style="run", filled=True, size=size, opacity=1, fillOpacity=0.8, strokeWidth=rim
    )
    dots = dots.encode(
        x,
        alt.Y("y:Q", scale=scale, axis=None),
        alt.Color("is:N", scale=is_one, legend=legend),
        alt.Shape("is:N", scale=is_one, legend=legend),
        tooltip=[alt.Tooltip("names:N", title="Task"), alt.Tooltip("x:Q", title="Hours", format=".2f")],
    )
    up = alt.Y("start:Q", scale=scale, axis=None), alt.Y2("end:Q")
    layers = [dots, base_chart(middles).mark_rule(style="ring", strokeWidth=1.8).encode(alt.X("median:Q"), *up)]
    layers += [base_chart(limits).mark_rule(style="guide").encode(alt.X("limit:Q"), *up)] if limits else []
    labels = base_chart(names).mark_text(style="note", align="left", x=2, limit=WIDTH - 16)
    layers.append(labels.encode(alt.Y("y:Q", scale=scale, axis=None), text="name:N"))
    note = "Line: median" + ("; dashed: what took longer is an outlier" if limits else "")
    return layered_figure(layers, height=36 * len(durations), note=[note])


def message(text: str) -> alt.LayerChart:
    """Return a figure that says why there is nothing to be seen."""
    x, y = alt.expr("width / 2"), alt.expr("height / 2")
    return layered_figure([base_chart([{}]).mark_text(style="note", text=text, x=x, y=y, limit=WIDTH - 16)], height=60)


def layered_figure(layers: Sequence[Any], *, height: int, note: Sequence[str] = ()) -> alt.LayerChart:
    """Return layers as one figure of a column's width, axes included; note: lines above it."""
    figure: alt.LayerChart = alt.LayerChart(
        layer=list(layers),
        width=WIDTH,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        title=list(note) if note else alt.Undefined,
    )
    return figure


def _short(value: Statistic) -> str:
    return "—" if value.value is None else f"{value.value:.3f}"
