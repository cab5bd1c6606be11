"""Figures of several comparisons in one, on the same scales."""

from collections.abc import Sequence
from typing import Any

from metaeval.charts.rendering import Specification

WIDTH = 178  # of a plot, without its axes: two fill the width of a page with two columns
_OWN = ("$schema", "autosize", "config", "datasets")  # what a figure has that stands alone


def joint_figure(
    figures: Sequence[Specification],
    *,
    shared: Sequence[str] = (),
    independent: Sequence[str] = (),
    swap: bool = False,
    columns: int = 2,
) -> dict[str, Any]:
    """Return figures side by side. swap: exchange the axes of each.

    shared: the channels with one scale in all; independent: those with a scale and a legend in each.
    """
    parts = [{name: value for name, value in figure.items() if name not in _OWN} for figure in figures]
    parts = [_swapped(part) if swap else part for part in parts]
    resolve = dict.fromkeys(shared, "shared") | dict.fromkeys(independent, "independent")
    return {
        "$schema": figures[0]["$schema"],
        "datasets": {name: rows for figure in figures for name, rows in figure.get("datasets", {}).items()},
        "concat": [part | {"width": WIDTH} for part in parts],
        "columns": columns,
        "spacing": 18,
        "resolve": {"scale": resolve},
    }


def _swapped(part: Specification) -> dict[str, Any]:
    found = dict(part)
    if "encoding" in found:
        other = {"x": "y", "y": "x"}
        found["encoding"] = {other.get(channel, channel): value for channel, value in found["encoding"].items()}
    if "layer" in found:
        found["layer"] = [_swapped(layer) for layer in found["layer"]]
    return found
