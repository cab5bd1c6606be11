"""The reliability figure of a judge's labels."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from metaeval.charts.figures import WIDTH, NamedFigure

if TYPE_CHECKING:
    from metaeval.charts.figures import Row


def reliability_figure(labels: Sequence[str], at_least: str, curve: Sequence[Mapping[str, Any]]) -> NamedFigure:
    """Return how often people gave at least a label, by the model's label, with intervals and the isotonic fit.

    at_least: what that is called. curve: the steps of calibration.reliability_curve, as dictionaries. The dashed line
    is where a label would be its own probability, from 0 for the lowest to 1 for the highest.
    """
    rows: list[Row] = [
        {
            "label": labels[step["label"]],
            "share": step["yes"]["value"],
            "fitted": step["fitted"],
            "low": step["yes"]["low"],
            "high": step["yes"]["high"],
            "labels": step["yes"]["n"],
        }
        for step in curve
    ]
    as_is: list[Row] = [{"label": label, "own": at / (len(labels) - 1)} for at, label in enumerate(labels)]
    x = alt.X(
        "label:O",
        sort=list(labels),
        scale=alt.Scale(domain=list(labels)),
        title="Model's label",
        axis=alt.Axis(labelAngle=0),
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    title = f"P(people say {at_least})"
    y = alt.Y("share:Q", title=title, scale=scale)
    tooltip = [
        alt.Tooltip("label:O", title="Model's label"),
        alt.Tooltip("share:Q", title="Share", format=".3f"),
        alt.Tooltip("fitted:Q", title="Isotonic fit", format=".3f"),
        alt.Tooltip("labels:Q", title="Labels", format=","),
    ]
    layers: list[Any] = [
        base_chart(as_is).mark_line(style="guide").encode(x, alt.Y("own:Q", scale=scale, title=title)),
        base_chart(rows).mark_line(style="curve").encode(x, alt.Y("fitted:Q", scale=scale, title=title)),
    ]
    if bounds := [row for row in rows if row["low"] is not None]:
        ends = alt.Y("low:Q", scale=scale, title=title), alt.Y2("high:Q")
        layers.append(base_chart(bounds).mark_rule(style="ring").encode(x, *ends))
    layers.append(
        base_chart(rows).mark_point(style="dot", filled=True, size=36, opacity=1).encode(x, y, tooltip=tooltip)
    )
    figure = alt.LayerChart(
        layer=layers,
        width=WIDTH,
        height=150,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        title=["Points: shares, 95 % intervals. Line: isotonic fit.", "Dashed: the label as its own probability."],
    )
    return NamedFigure("reliability", "Reliability of the model's labels", figure)


def base_chart(rows: Sequence["Row"]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=list(rows)))
