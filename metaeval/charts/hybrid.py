"""Figures of hybrid scores: runs with their intervals, residuals by topic, and what more topics would give."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from metaeval.charts.figures import base_chart, layered_figure, message
from metaeval.stats.hybrid import Size
from metaeval.stats.means import Figures

_A_RUN = 9  # pixels high


def interval_figure(
    runs: Sequence[str], scores: Figures, low: Figures, high: Figures, model: Figures, *, title: str, confidence: int
) -> alt.LayerChart:
    """Return the scores of runs, in the order given, with their intervals and the model's own scores beside them.

    scores, low, high, model: (runs,), NaN where undefined.
    """
    rows = [
        {"run": run, "score": score, "low": least, "high": most, "model": of_model}
        for run, score, least, most, of_model in zip(
            runs, *(figures.tolist() for figures in (scores, low, high, model)), strict=True
        )
        if not np.isnan(score)
    ]
    if not rows:
        return message("No run has an interval.")
    ends = [value for row in rows for value in (row["low"], row["high"], row["model"])]
    scale = alt.Scale(domain=[min(ends), max(ends)], nice=True, zero=False)
    order = [row["run"] for row in rows]
    y = alt.Y(
        "run:N",
        sort=order,
        scale=alt.Scale(domain=order, paddingOuter=0.5),
        title=None,
        axis=alt.Axis(labelFontSize=6, labelLimit=90, grid=False, ticks=False),
    )
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        *(
            alt.Tooltip(f"{name}:Q", title=name.capitalize(), format=".4f")
            for name in ("score", "low", "high", "model")
        ),
    ]
    base = base_chart(rows)
    lines = base.mark_rule(style="curve", strokeWidth=1.2).encode(
        alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q"), y
    )
    of_model = base.mark_tick(style="ring", height=5, thickness=1).encode(alt.X("model:Q", scale=scale), y)
    points = base.mark_point(style="dot", filled=True, size=18, opacity=1).encode(
        alt.X("score:Q", scale=scale, title=title), y, tooltip=tooltip
    )
    note = [f"● people and model, line: {confidence} % interval", "| the model alone. Order: by the shrunk score"]
    return layered_figure([lines, of_model, points], height=max(60, _A_RUN * len(rows)), note=note)


def residual_figure(runs: Sequence[str], topics: Sequence[str], residuals: Figures, *, title: str) -> alt.LayerChart:
    """Return people's scores less the model's by topic: each run's, and their mean. residuals: (runs, topics), NaN."""
    judged = ~np.isnan(residuals)
    columns = np.flatnonzero(judged.any(axis=0)).tolist()
    if not columns:
        return message("People judged none of the topics yet.")
    means = {at: float(residuals[judged[:, at], at].mean()) for at in columns}
    in_order = sorted(columns, key=lambda at: (means[at], topics[at]))
    order = [topics[at] for at in in_order]
    cells = [
        {"topic": topics[at], "residual": residuals[place, at], "names": f"{runs[place]}, {topics[at]}"}
        for at in in_order
        for place in np.flatnonzero(judged[:, at]).tolist()
    ]
    # Three columns, so that pages show it as a table too.
    rows = [{"topic": topics[at], "mean": means[at], "runs": int(judged[:, at].sum())} for at in in_order]
    is_labelled = len(order) <= 40
    x = alt.X(
        "topic:N",
        sort=order,
        scale=alt.Scale(domain=order, paddingOuter=0.5),
        title="Topics that people judged, by mean",
        axis=alt.Axis(
            labels=is_labelled, ticks=is_labelled, labelAngle=-90, labelFontSize=6, grid=False, labelLimit=70
        ),
    )
    scale = alt.Scale(nice=True, zero=True)
    small = base_chart(cells).mark_point(filled=True, style="shade", size=6, opacity=1, fillOpacity=0.25, strokeWidth=0)
    large = base_chart(rows).mark_point(style="dot", filled=True, size=22, opacity=1)
    zero = base_chart([{"residual": 0}]).mark_rule(style="guide").encode(alt.Y("residual:Q", scale=scale))
    return layered_figure(
        [
            zero,
            small.encode(
                x,
                alt.Y("residual:Q", scale=scale, title=f"People less model, {title}"),
                tooltip=[
                    alt.Tooltip("names:N", title="Cell"),
                    alt.Tooltip("residual:Q", title="Residual", format=".4f"),
                ],
            ),
            large.encode(
                x,
                alt.Y("mean:Q", scale=scale, title=f"People less model, {title}"),
                tooltip=[
                    alt.Tooltip("topic:N", title="Topic"),
                    alt.Tooltip("mean:Q", title="Mean over runs", format=".4f"),
                    alt.Tooltip("runs:Q", title="Runs"),
                ],
            ),
        ],
        height=140,
        note=["Large: means over runs; small: each run", "Above 0 people are more lenient than the model"],
    )


def more_topics_figure(curve: Sequence[Size], *, pairs: int, hours: float | None = None) -> alt.LayerChart:
    """Return half the interval's width to expect of a run against judged topics. hours: of work for a topic."""
    if not curve:
        return message("No topics are left to judge, or too few are judged to tell.")
    rows = [
        {"topics": one.topics, "half_width": one.half_width, "decided": one.decided}
        | ({"hours of work": round(one.topics * hours, 1)} if hours else {})
        for one in curve
    ]
    x = alt.X(
        "topics:Q",
        title="Topics that people judge",
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(tickMinStep=1),
    )
    y = alt.Y("half_width:Q", title="± of a run's score", scale=alt.Scale(zero=True, nice=True))
    base = base_chart(rows)
    tooltip = [
        alt.Tooltip("topics:Q", title="Topics"),
        alt.Tooltip("half_width:Q", title="±", format=".4f"),
        alt.Tooltip("decided:Q", title=f"Of {pairs:,} pairs told apart", format=","),
        *([alt.Tooltip("hours of work:Q", title="Hours")] if hours else []),
    ]
    work = f", at {hours:.2g} hours a topic" if hours else ""
    return layered_figure(
        [
            base.mark_line(style="curve").encode(x, y),
            base.mark_point(style="dot", filled=True, size=14, opacity=1).encode(x, y, tooltip=tooltip),
        ],
        height=140,
        note=[
            f"Expected if scores stay as they are now{work}",
            f"Pairs told apart: {curve[0].decided:,} now, {curve[-1].decided:,} of {pairs:,} with all",
        ],
    )
