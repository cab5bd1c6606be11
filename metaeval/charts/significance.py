"""Figures of significance: runs' means with Tukey's HSD, and the discriminative power of measures."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from metaeval.charts.figures import base_chart, layered_figure, message
from metaeval.stats.means import Figures
from metaeval.stats.significance import ALPHA

_NAMED = 60  # runs whose names fit beside an axis
_ROW, _UNNAMED_ROW = 9, 4  # pixels
_DASHES = ([1, 0], [5, 2], [1.5, 1.5])


def means_figure(runs: Sequence[str], means: Figures, *, title: str, least: float | None) -> alt.LayerChart:
    """Return the runs' means, the best on top. means: (runs,).

    least: the HSD, half of which is drawn to both sides, so that runs differ where bars don't overlap; None where
    there is none for all pairs.
    """
    order = np.argsort(-means, kind="stable").tolist()
    rows = [{"run": runs[at], "mean": round(float(means[at]), 10)} for at in order if not np.isnan(means[at])]
    if not rows:
        return message("No run has a score.")
    if least is not None:
        rows = [row | {"low": row["mean"] - least / 2, "high": row["mean"] + least / 2} for row in rows]
    is_named = len(rows) <= _NAMED
    names = [row["run"] for row in rows]
    y = alt.Y(
        "run:N",
        sort=names,
        scale=alt.Scale(domain=names),
        title=None if is_named else f"{len(rows):,} runs, by mean",
        axis=alt.Axis(labels=is_named, ticks=False, grid=False, labelLimit=100, labelFontSize=6),
    )
    x_scale = alt.Scale(zero=True, nice=True)
    # It ends where the plot does: names of runs take much of the figure's width, and there is room below them.
    x_axis = alt.Axis(title=title, titleAnchor="end")
    x = alt.X("mean:Q", axis=x_axis, scale=x_scale)
    base = base_chart(rows)
    tooltip = [alt.Tooltip("run:N", title="Run"), alt.Tooltip("mean:Q", title=title, format=".4f")]
    dots = base.mark_point(style="dot", filled=True, opacity=1, size=18 if is_named else 9).encode(
        x, y, tooltip=tooltip
    )
    bars = base.mark_rule(style="ring").encode(alt.X("low:Q", axis=x_axis, scale=x_scale), y, alt.X2("high:Q"))
    note = (
        [f"Bars: half of the HSD of {least:.3f} to both sides; two runs", "differ if theirs do not overlap"]
        if least is not None
        else ["No bars: this correction has no single difference for all pairs"]
    )
    layers = [dots] if least is None else [bars, dots]
    return layered_figure(layers, height=len(rows) * (_ROW if is_named else _UNNAMED_ROW), note=note)


def power_figure(levels: Figures, shares: Mapping[str, Figures], *, correction: str) -> alt.LayerChart:
    """Return the share of pairs that differ at each level, a line for each measure. shares: (levels,) by label."""
    rows = [
        {"measure": measure, "level": round(level, 4), "power": share}
        for measure, of_measure in shares.items()
        for level, share in zip(levels.tolist(), of_measure.tolist(), strict=True)
        if not np.isnan(share)
    ]
    if not rows:
        return message("No pair of runs can be tested.")
    names = list(shares)
    dashes = [list(_DASHES[at % len(_DASHES)]) for at in range(len(names))]
    legend = alt.Legend(title=None, orient="top", columns=3, symbolType="stroke", symbolSize=160, symbolStrokeWidth=1.5)
    lines = (
        base_chart(rows)
        .mark_line(strokeWidth=1.3)
        .encode(
            alt.X("level:Q", title="Significance level", scale=alt.Scale(domain=[0, float(levels.max())], nice=False)),
            alt.Y("power:Q", title="Share of pairs that differ", scale=alt.Scale(zero=True, nice=True)),
            alt.Color("measure:N", scale=alt.Scale(domain=names), legend=legend),
            alt.StrokeDash("measure:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
            tooltip=[
                alt.Tooltip("measure:N", title="Measure"),
                alt.Tooltip("level:Q", title="Level"),
                alt.Tooltip("power:Q", title="Share", format=".3f"),
            ],
        )
    )
    usual = base_chart([{"level": ALPHA}]).mark_rule(style="guide").encode(alt.X("level:Q"))
    return layered_figure([usual, lines], height=150, note=[f"{correction}; dashed: level {ALPHA:g}"])
