"""Results as files: of each figure several forms, of everything JSON."""

from pathlib import Path
from typing import Any

import altair as alt

from assessor.collection.formats.values import to_json
from metaeval.charts.rendering import FORMS, Theme
from metaeval.models import Calculation
from metaeval.report import JSON, write_folder


def figure_bytes(specification: dict[str, Any], form: str, theme: Theme) -> bytes:
    """Return a figure in one of FORMS."""
    return FORMS[form][1](_chart(specification), theme)


def _chart(specification: dict[str, Any]) -> alt.LayerChart:
    chart: alt.LayerChart = alt.LayerChart.from_dict(specification, validate=False)
    return chart


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
    texts = {JSON: result_json(calculation), **calculation.files}
    drawings = ((figure.name, _chart(figure.specification)) for figure in calculation.figures.all())
    return write_folder(folder, texts, drawings, theme)
