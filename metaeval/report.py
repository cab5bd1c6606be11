"""The report of a comparison: JSON, tables, and figures in all their forms, each by itself or in a folder."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assessor.formats.values import to_json
from assessor.studies.queries import Registrations
from metaeval import statistics_tables
from metaeval.charts.rendering import FORMS, Specification, Theme
from metaeval.hybrid_figures import hybrid_figures
from metaeval.hybrid_tables import FILES
from metaeval.hybrids import Result
from metaeval.measures import measure_labels
from metaeval.models import Calculation, Comparison, Hybrid
from metaeval.report_tables import SUMMARY
from metaeval.stats.comparison import MeasureComparison
from metaeval.stats.score_matrix import MatchedScores

JSON = "comparison.json"


def result_json(calculation: Calculation) -> str:
    """Return all of a calculation as JSON: what it was made of, and what came of it."""
    comparison = calculation.comparison
    status = registration_status(comparison)
    content: dict[str, Any] = {
        "comparison": comparison.name,
        **({"registration": status} if status else {}),
        "computed_at": calculation.ended_at.isoformat() if calculation.ended_at else None,
        "restriction": {
            **{name: getattr(comparison, name) for name in ("tasks", "runs", "topics", "circular")},
            "topics_of": str(comparison.topics_of) if comparison.topics_of else None,
        },
        "inputs": calculation.inputs,
        **with_keys_of_topics(calculation),
    }
    return to_json(content) + "\n"


def registration_status(comparison: Comparison) -> str:
    """Say whether a comparison is of a registered study; "" where the campaign has none."""
    return Registrations(comparison.campaign).status(comparison.first_condition_id, comparison.second_condition_id)


def report_text(calculation: Calculation, name: str) -> str:
    """Return a file of a calculation: its JSON, or a table as it was computed, with whether that is registered."""
    if name == JSON:
        return result_json(calculation)
    text: str = calculation.files[name]
    status = registration_status(calculation.comparison)
    if status and name.endswith(".tex"):
        return f"% {status}\n{text}"
    return f"{text}{status.capitalize()}\n" if status and name == SUMMARY else text


def with_keys_of_topics(calculation: Calculation) -> dict[str, Any]:
    """Return a calculation's result with the keys of the topics that the campaign has, as "pk"."""
    result: dict[str, Any] = calculation.result
    if "topics" not in result:
        return result
    keys = dict(calculation.comparison.campaign.topics.values_list("qid", "pk"))
    return result | {"topics": [{"qid": row["qid"], "pk": keys.get(row["qid"])} | row for row in result["topics"]]}


def write_report(folder: Path, calculation: Calculation, theme: Theme) -> list[str]:
    """Write everything of a calculation into a folder; return the files' names."""
    texts = {name: report_text(calculation, name) for name in (JSON, *calculation.files)}
    charts = ((figure.name, figure.specification) for figure in calculation.figures.all())
    return write_folder(folder, texts, charts, theme)


def write_score_report(
    folder: Path,
    scores: MatchedScores,
    comparisons: Sequence[MeasureComparison],
    inputs: dict[str, Any],
    *,
    theme: Theme = Theme.LIGHT,
    hours: float | None = None,
) -> list[str]:
    """Write everything of a comparison of scores that is not stored into a folder; return the files' names.

    inputs: what is needed to compute it again (files, seed, draws), which goes into the JSON. hours: of work for a
    topic.
    """
    from metaeval.charts.comparison import comparison_figures

    content = inputs | statistics_tables.as_json(scores, comparisons)
    texts = {JSON: json.dumps(content, ensure_ascii=False, indent=1) + "\n"}
    texts |= {name: "".join(lines) for name, lines in statistics_tables.files(scores, comparisons).items()}
    labels = measure_labels(scores.reference.measures)
    figures = comparison_figures(scores, comparisons, labels, seed=inputs["seed"], draws=inputs["draws"], hours=hours)
    return write_folder(folder, texts, ((one.name, one.specification) for one in figures), theme)


def write_hybrid_report(
    folder: Path,
    result: Result,
    theme: Theme = Theme.LIGHT,
    hours: float | None = None,
    hybrid: Hybrid | None = None,
) -> list[str]:
    """Write the tables and figures of hybrid scores into a folder; return the files' names.

    hours: as there. hybrid: the record, where there is one.
    """
    texts = {f"hybrid.{name}": "".join(lines([result], hybrid)) for name, lines in FILES.items()}
    figures = hybrid_figures(result, hours)
    return write_folder(folder, texts, ((one.name, one.specification) for one in figures), theme)


def write_folder(
    folder: Path, texts: Mapping[str, str], charts: Iterable[tuple[str, Specification]], theme: Theme
) -> list[str]:
    """Write texts by their files' names, and charts by theirs, in all FORMS; return the names of all files."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(texts)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    for name, chart in charts:
        for form, (_, render) in FORMS.items():
            (folder / f"{name}.{form}").write_bytes(render(chart, theme))
            names.append(f"{name}.{form}")
    return names
