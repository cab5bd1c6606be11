"""The multiverse: the rank of each run under each variant of a judge."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from metaeval.charts.figures import base_chart, layered_figure, message
from metaeval.stats.means import Figures

_NAMED = 40  # runs whose names fit beside an axis
_ROW, _UNNAMED_ROW = 12, 5  # pixels


def multiverse_figure(
    runs: Sequence[str], variants: Sequence[str], ranks: Figures, means: Figures, *, title: str
) -> alt.LayerChart:
    """Return a line for each run through its ranks, the base's order from the top. ranks, means: (variants, runs).

    variants: their names, the base's first.
    """
    rows = [
        {
            "run": run,
            "variant": name,
            "at": at + 1,
            "rank": float(ranks[at, place]),
            "mean": round(float(means[at, place]), 10),
        }
        for at, name in enumerate(variants)
        for place, run in enumerate(runs)
        if not np.isnan(ranks[at, place])
    ]
    if not rows:
        return message("No run has a score under all variants.")
    there = [run for run in runs if any(row["run"] == run for row in rows)]
    is_named = len(there) <= _NAMED
    scale = alt.Scale(domain=[0.5, len(there) + 0.5], reverse=True, nice=False)
    last = len(variants) + (0.5 if not is_named else max(1.0, len(variants) * 0.6))
    x = alt.X(
        "at:Q",
        title="Variant",
        scale=alt.Scale(domain=[0.7, last], nice=False),
        axis=alt.Axis(values=list(range(1, len(variants) + 1)), format="d", grid=False),
    )
    y = alt.Y("rank:Q", title="Rank", scale=scale, axis=alt.Axis(values=[1, len(there)], format="d", grid=False))
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("mean:Q", title=title, format=".4f"),
    ]
    base = base_chart(rows)
    layers = [
        base.mark_line(style="ring", strokeWidth=1).encode(x, y, detail="run:N"),
        base.mark_point(style="dot", filled=True, opacity=1, size=16).encode(x, y, tooltip=tooltip),
    ]
    if is_named:
        # Runs that tie at the end have their names one below the other.
        ends = sorted((row for row in rows if row["at"] == len(variants)), key=lambda row: (row["rank"], row["run"]))
        ends = [row | {"rank": place} for place, row in enumerate(ends, start=1)]
        named = base_chart(ends).mark_text(style="note", align="left", dx=5, limit=90)
        layers.append(named.encode(x, y, text="run:N"))
    height = max(60, len(there) * (_ROW if is_named else _UNNAMED_ROW))
    return layered_figure(layers, height=height, note=[f"By {title}; 1 is the best. Variant 1 is the base"])
