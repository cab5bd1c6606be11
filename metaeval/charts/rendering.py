"""Figures as files: one specification, in light and dark, as SVG, PDF and PNG. Nothing is fetched from the network.

Figures name no colours but the roles they play (config.range, config.style), so that a theme can be laid over them, in
files as in the page. The colours are Okabe and Ito's, told apart with all kinds of colour vision; shapes say the same.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

Specification = Mapping[str, Any]  # of a figure, for Vega-Lite

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
TOP = "top-"  # how names of figures of the best runs begin
_RESOURCES = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_PNG_SCALE = 4  # 288 dots an inch, where a pixel is a point


class Theme(StrEnum):
    """The background of a figure, and the colours that go with it."""

    LIGHT = "light"
    DARK = "dark"


_COLOURS: dict[Theme, dict[str, Any]] = {
    Theme.LIGHT: {
        "paper": "#ffffff",
        "ink": "#1a1a1a",
        "soft": "#595959",
        "line": "#d4d4d4",
        "one": "#0072b2",
        "other": "#d55e00",
        "more": ["#009e73", "#cc79a7", "#595959"],
        "steps": {"scheme": "blues", "extent": [0.0, 0.62]},
    },
    Theme.DARK: {
        "paper": "#16181d",
        "ink": "#eceff4",
        "soft": "#aab2c0",
        "line": "#3a404c",
        "one": "#56b4e9",
        "other": "#e69f00",
        "more": ["#2fc79b", "#e39cc5", "#aab2c0"],
        "steps": {"scheme": "darkblue", "extent": [0.0, 0.5]},
    },
}


def config(theme: Theme) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a theme."""
    colours = _COLOURS[theme]
    ink, soft, line = colours["ink"], colours["soft"], colours["line"]
    text = {"font": FONT, "fontSize": 7, "color": ink, "fontWeight": "normal"}
    return {
        "background": colours["paper"],
        "font": FONT,
        "padding": 3,
        "view": {"stroke": line},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "titleFontWeight": "normal",
            "labelFontSize": 7,
            "titleFontSize": 8,
            "titlePadding": 4,
            "titleLimit": 195,
            "gridColor": line,
            "gridOpacity": 0.6,
            "domainColor": soft,
            "tickColor": soft,
            "tickSize": 3,
            "labelFlush": False,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 7,
            "titleFontSize": 7,
            "titleFontWeight": "normal",
            "symbolSize": 34,
            "symbolOpacity": 1,
            "symbolStrokeWidth": 0,
            "offset": 4,
            "padding": 0,
            "rowPadding": 1,
            "columnPadding": 8,
        },
        "title": {
            "color": soft,
            "fontSize": 7,
            "fontWeight": "normal",
            "lineHeight": 9,
            "anchor": "start",
            "limit": 235,
            "offset": 5,
        },
        "range": {
            "category": [colours["one"], colours["other"], *colours["more"]],
            "symbol": ["circle", "triangle-up", "square", "diamond", "cross"],
            "ordinal": colours["steps"],
        },
        "style": {
            "note": text,
            # Of figures that were kept when taus stood in a box.
            "box": {"color": colours["paper"], "fillOpacity": 0.85, "stroke": line, "strokeWidth": 0.6},
            "guide": {"color": soft, "strokeWidth": 0.8, "strokeDash": [3, 2]},
            "curve": {"color": colours["one"], "strokeWidth": 1.5},
            "band": {"color": colours["one"], "fillOpacity": 0.25},
            "front": {"color": soft, "strokeWidth": 1},
            "shade": {"color": colours["one"]},
            "run": {"stroke": colours["paper"], "strokeWidth": 0.5},
            "dot": {"color": colours["one"], "stroke": colours["paper"], "strokeWidth": 0.4},
            "ring": {"color": ink, "strokeWidth": 0.9},
            "part": {"stroke": colours["paper"], "strokeWidth": 0.8},
        },
    }


def name_of_measure(measure: str) -> str:
    """Return what names of figures, which are part of addresses and files, call a measure."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", measure)[:40]


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that figures are made for, as its converter names it: v6.1."""
    import altair as alt

    return "v" + ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def as_svg(figure: Specification, theme: Theme = Theme.LIGHT) -> str:
    """Return a figure as SVG."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_text(figure, theme), vl_version=vega_lite_version())
    return svg


def as_pdf(figure: Specification, theme: Theme = Theme.LIGHT) -> bytes:
    """Return a figure as vector PDF, a pixel being a point."""
    import vl_convert

    pdf: bytes = vl_convert.vegalite_to_pdf(_text(figure, theme), vl_version=vega_lite_version())
    # Names of resources come in another order each time; sorted they take the same bytes, so no offset changes.
    return _RESOURCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)


def as_png(figure: Specification, theme: Theme = Theme.LIGHT) -> bytes:
    """Return a figure as PNG."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(_text(figure, theme), vl_version=vega_lite_version(), scale=_PNG_SCALE)
    return png


def _text(figure: Specification, theme: Theme) -> str:
    return json.dumps({**figure, "config": config(theme)})


# The forms of figures by the ending of a file's name, each with what browsers call it.
FORMS: dict[str, tuple[str, Callable[[Specification, Theme], bytes]]] = {
    "svg": ("image/svg+xml", lambda figure, theme: as_svg(figure, theme).encode()),
    "pdf": ("application/pdf", as_pdf),
    "png": ("image/png", as_png),
}
