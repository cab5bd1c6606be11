"""The figure of a judge's scores of runs beside a reference's, by who wrote them."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from metaeval.charts.figures import Row, base_chart, layered_figure
from metaeval.stats.means import Figures


def bias_figure(
    names: Sequence[str],
    means: tuple[Figures, Figures],
    groups: Sequence[str],
    *,
    middle: tuple[float, float],
    slope: float,
    titles: tuple[str, str],
) -> alt.LayerChart:
    """Return the runs' scores under reference (on x) and judge, and what the judge's would be by the reference's alone.

    means: (runs,) each; groups: of the runs, the legend; middle: a point of the line, which rises by slope.
    """
    people, model = means
    rows: list[Row] = [
        {"x": x, "y": y, "run": run, "by": group}
        for x, y, run, group in zip(people.tolist(), model.tolist(), names, groups, strict=True)
    ]
    ends = np.array([people.min(), people.max()])
    line: list[Row] = [{"x": x, "y": middle[1] + slope * (x - middle[0])} for x in ends.tolist()]
    x = alt.X("x:Q", title=titles[0], scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("y:Q", title=titles[1], scale=alt.Scale(zero=False, nice=True))
    kinds = list(dict.fromkeys(sorted(groups)))
    legend, scale = alt.Legend(title=None, orient="top"), alt.Scale(domain=kinds)
    tooltip = [alt.Tooltip("run:N", title="Run"), alt.Tooltip("by:N", title="Written by")]
    tooltip += [alt.Tooltip(f"{axis}:Q", title=title, format=".4f") for axis, title in zip("xy", titles, strict=True)]
    dots = base_chart(rows).mark_point(style="run", filled=True, size=24, opacity=1, fillOpacity=0.7)
    dots = dots.encode(
        x,
        y,
        alt.Color("by:N", scale=scale, legend=legend),
        alt.Shape("by:N", scale=scale, legend=legend),
        tooltip=tooltip,
    )
    expected = base_chart(line).mark_line(style="guide").encode(alt.X("x:Q"), alt.Y("y:Q"))
    note = f"Dashed: what the reference's scores make expect, slope {slope:.2f}"
    figure: alt.LayerChart = layered_figure([expected, dots], height=200, note=[note])
    return figure
