"""Results as files: of each figure several forms, of everything JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt

from assessor.collection.formats.values import to_json
from metaeval.models import Calculation
from metaeval.rendering import Theme, as_pdf, as_png, as_svg

JSON = "comparison.json"


def _svg(figure: alt.LayerChart, theme: Theme) -> bytes:
    return as_svg(figure, theme).encode()


# The forms of figures by the ending of a file's name, each with what browsers call it.
FORMS: dict[str, tuple[str, Callable[[alt.LayerChart, Theme], bytes]]] = {
    "svg": ("image/svg+xml", _svg),
    "pdf": ("application/pdf", as_pdf),
    "png": ("image/png", as_png),
}


def figure_bytes(specification: dict[str, Any], form: str, theme: Theme) -> bytes:
    """Return a figure in one of FORMS."""
    chart = alt.LayerChart.from_dict(specification, validate=False)
    return FORMS[form][1](chart, theme)


def result_json(calculation: Calculation) -> str:
    """Return all of a calculation as JSON: what it was made of, and what came of it."""
    comparison = calculation.comparison
    told: dict[str, Any] = {
        "comparison": comparison.name,
        "computed_at": calculation.ended_at.isoformat() if calculation.ended_at else None,
        "restriction": {
            **{name: getattr(comparison, name) for name in ("tasks", "runs", "topics")},
            "topics_of": str(comparison.topics_of) if comparison.topics_of else None,
        },
        "inputs": calculation.inputs,
        **calculation.result,
    }
    return to_json(told) + "\n"


def write_files(folder: Path, calculation: Calculation, theme: Theme) -> list[str]:
    """Write everything of a calculation into a folder; return the files' names."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {JSON: result_json(calculation), **calculation.files}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    written = list(texts)
    for figure in calculation.figures.all():
        for form in FORMS:
            name = f"{figure.name}.{form}"
            (folder / name).write_bytes(figure_bytes(figure.specification, form, theme))
            written.append(name)
    return written
