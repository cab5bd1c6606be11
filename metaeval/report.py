"""A comparison as a folder of files: tables, JSON, and figures as SVG, PDF and PNG."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt

from metaeval import statistics_tables as tables
from metaeval.charts import figures
from metaeval.charts.rendering import FORMS, Theme
from metaeval.measures import LENGTH, PRECISION, RECALL, measure_named
from metaeval.stats.comparison import Compared
from metaeval.stats.score_matrix import Pair
from metaeval.stats.topics_needed import topics_needed

JSON = "comparison.json"


class NamedFigure(NamedTuple):
    """A figure by its name in addresses and files."""

    name: str
    title: str
    figure: alt.LayerChart


def write_results(
    folder: Path,
    pair: Pair,
    compared: Sequence[Compared],
    how: dict[str, Any],
    *,
    theme: Theme = Theme.LIGHT,
    hours: float | None = None,
) -> list[str]:
    """Write everything that a comparison found into a folder; return the files' names.

    how: what is needed to do it again (inputs, seed, draws), which goes into the JSON. hours: of work for a topic.
    """
    texts = {JSON: json.dumps(how | tables.as_data(pair, compared), ensure_ascii=False, indent=1) + "\n"}
    texts |= {name: "".join(lines) for name, lines in tables.files(pair, compared).items()}
    named = drawn(pair, compared, seed=how["seed"], draws=how["draws"], hours=hours)
    return write_folder(folder, texts, ((one.name, one.figure) for one in named), theme)


def write_folder(
    folder: Path, texts: Mapping[str, str], drawings: Iterable[tuple[str, alt.LayerChart]], theme: Theme
) -> list[str]:
    """Write texts by their files' names, and figures by theirs, in all FORMS; return the names of all files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    written = list(texts)
    for name, figure in drawings:
        for form, (_, render) in FORMS.items():
            (folder / f"{name}.{form}").write_bytes(render(figure, theme))
            written.append(f"{name}.{form}")
    return written


def drawn(
    pair: Pair, compared: Sequence[Compared], *, seed: int, draws: int, hours: float | None = None
) -> Iterator[NamedFigure]:
    """Yield the figures of a comparison of scores."""
    first, second, _ = pair
    runs = figures.Runs(first.runs, first.tasks)
    for at, one in enumerate(compared):
        if one.measure == LENGTH:
            continue
        label = _told(one.measure)
        name = f"{at + 1}-{re.sub(r'[^A-Za-z0-9_]+', '_', one.measure)[:40]}"
        x, y = first.cells[..., at], second.cells[..., at]
        yield NamedFigure(
            f"scatter-{name}",
            f"{label} of runs on both sides",
            figures.score_scatter(
                runs,
                one.first,
                one.second,
                one.levels,
                titles=(f"{label}, {first.name}", f"{label}, {second.name}"),
                cells=figures.Cells(first.topics, x, y) if first.topics else None,
            ),
        )
        if first.topics:
            title = f"τ of runs, {label}"
            by_topic = figures.topic_tau_figure(first.topics, one.levels.by_topic, title=title)
            yield NamedFigure(f"topics-{name}", f"Agreement of rankings by topic, {label}", by_topic)
            steps = topics_needed(x, y, seed=seed, draws=draws)
            needed = figures.topics_needed_figure(steps, title=title, hours=hours)
            yield NamedFigure(f"needed-{name}", f"How many topics are enough, {label}", needed)
    if LENGTH in first.measures and first.measures[0] != LENGTH:
        lengths, scores = compared[first.measures.index(LENGTH)], compared[0]
        label = _told(scores.measure)
        for side, name, length, score in (
            ("first", first.name, lengths.first, scores.first),
            ("second", second.name, lengths.second, scores.second),
        ):
            title = f"{label}, {name}"
            by_length = figures.length_figure(runs, length, score, title=title)
            yield NamedFigure(f"length-{side}", f"Score against length: {title}", by_length)
    if first.topics and {PRECISION, RECALL} <= set(first.measures):
        columns = [first.measures.index(measure) for measure in (PRECISION, RECALL)]
        for side, scored in (("first", first), ("second", second)):
            cells = [scored.cells[..., at] for at in columns]
            titles = (f"Weighted precision, {scored.name}", f"Weighted recall, {scored.name}")
            yield NamedFigure(
                f"support-{side}",
                f"Weighted precision and recall: {scored.name}",
                figures.precision_recall_scatter(runs, first.topics, cells[0], cells[1], titles=titles),
            )


def _told(key: str) -> str:
    measure = measure_named(key)
    return f"{measure.label} {measure.below}".strip()
