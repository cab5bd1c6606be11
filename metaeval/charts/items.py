"""Figures of nuggets as items: their difficulty and correlation, and how short a bank may be."""

from collections.abc import Sequence

import altair as alt

from metaeval.charts.figures import Row, base_chart, layered_figure, message, some_names
from metaeval.stats.items import ShortBank

_BEST, _RANDOM = "best by item-rest r", "drawn at random"


def item_figure(
    names: Sequence[str], importance: Sequence[str], difficulty: Sequence[float], correlation: Sequence[float | None]
) -> alt.LayerChart:
    """Return the item-rest correlation of nuggets against their difficulty, by importance; None where undefined."""
    points: dict[tuple[float, float, str], list[str]] = {}
    for name, of_nugget, p, r in zip(names, importance, difficulty, correlation, strict=True):
        if r is not None:
            points.setdefault((round(p, 2), round(r, 2), of_nugget or "no importance"), []).append(name)
    if not points:
        return message("No nugget has an item-rest correlation yet.")
    rows: list[Row] = [
        {"x": p, "y": r, "importance": kind, "cells": len(some), "names": some_names(some)}
        for (p, r, kind), some in points.items()
    ]
    kinds = sorted({row["importance"] for row in rows}, reverse=True)
    x = alt.X("x:Q", title="p: mean value of the label", scale=alt.Scale(domain=[0, 1], nice=False))
    least = min(0.0, *(row["y"] for row in rows))
    y = alt.Y("y:Q", title="Item-rest correlation", scale=alt.Scale(domain=[least, 1], nice=True))
    legend = alt.Legend(title=None, orient="top")
    scale = alt.Scale(domain=kinds)
    dots = base_chart(rows).mark_point(style="run", filled=True, size=18, opacity=1, fillOpacity=0.7)
    dots = dots.encode(
        x,
        y,
        alt.Color("importance:N", scale=scale, legend=legend),
        alt.Shape("importance:N", scale=scale, legend=legend),
        tooltip=[
            alt.Tooltip("names:N", title="Nugget"),
            alt.Tooltip("x:Q", title="p", format=".2f"),
            alt.Tooltip("y:Q", title="r", format=".2f"),
        ],
    )
    at_zero = base_chart([{"r": 0}]).mark_rule(style="guide").encode(alt.Y("r:Q"))
    undefined = sum(r is None for r in correlation)
    told = f"{len(names) - undefined:,} nuggets; dashed: no correlation"
    return layered_figure(
        [at_zero, dots], height=200, note=[told + (f"; {undefined:,} undefined" if undefined else "")]
    )


def short_bank_figure(curve: Sequence[ShortBank]) -> alt.LayerChart:
    """Return tau of runs between shorter banks and the whole ones, by nuggets a topic: best ones and random ones."""
    rows: list[Row] = [
        {"nuggets": point.nuggets, "kept": kept, "mean": found.mean, "low": found.low, "high": found.high}
        for point in curve
        for kept, found in ((_BEST, point.best), (_RANDOM, point.random))
        if found.mean is not None
    ]
    if not rows:
        return message("τ is undefined for banks of any size.")
    most = max(point.nuggets for point in curve)
    low = min(float(row["low"]) for row in rows if row["low"] is not None)
    x = alt.X(
        "nuggets:Q",
        title="Nuggets a topic, at most",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(tickMinStep=1),
    )
    scale = alt.Scale(domain=[min(0.5, low), 1], nice=True, zero=False)
    y = alt.Y("mean:Q", title="τ of runs with the whole bank", scale=scale)
    kinds = alt.Scale(domain=[_BEST, _RANDOM])
    colour = alt.Color("kept:N", scale=kinds, legend=alt.Legend(title=None, orient="top"))
    base = base_chart(rows)
    points = base.mark_point(style="run", filled=True, size=22, opacity=1).encode(
        x,
        y,
        colour,
        alt.Shape("kept:N", scale=kinds, legend=alt.Legend(title=None, orient="top")),
        tooltip=[
            alt.Tooltip("kept:N", title="Nuggets"),
            alt.Tooltip("nuggets:Q", title="A topic, at most"),
            *(alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in _TAUS),
        ],
    )
    band = base.transform_filter(alt.datum.kept == _BEST).mark_area(style="band")
    layers = [
        band.encode(x, alt.Y("low:Q", scale=scale, title="τ of runs with the whole bank"), alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.2).encode(x, y, colour),
        points,
    ]
    return layered_figure(layers, height=150, note=["Band: 95 % of the splits, best ones"])


_TAUS = (("mean", "Mean τ"), ("low", "Low"), ("high", "High"))
