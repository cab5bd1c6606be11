"""What pages show of a result: score tables, figures with what they show, the things that are labelled differently."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db.models import Q, QuerySet
from django.urls import reverse

from assessor.campaigns.models import CONTROL, Answer, Condition, Grade, QrelsSource, Topic
from assessor.labels.label_kind import label_kind
from assessor.scores.page_tables import Cell, Column, Line, Listing
from metaeval.label_pairs import places_in_all
from metaeval.measures import measure_named
from metaeval.models import Comparison, Figure
from metaeval.stats.measures import Measure

# What layers of figures hold besides what is to be read off them.
_MANY = "names"  # of the cells on a point
_NO_FIGURES = {"front", "order", "start", "end", "middle", "told", "share", "draws", "why", "hours"}

Json = dict[str, Any]


class MeasureRow(NamedTuple):
    """A measure with its statistics, as results have them."""

    measure: Measure
    statistics: Json
    dropped: str | None
    has_top: bool


def measure_rows(result: Json) -> list[MeasureRow]:
    """Return the measures that were compared."""
    scores = result.get("scores")
    found = scores["measures"] if scores else {}
    return [
        MeasureRow(measure_named(key), of_measure["statistics"], of_measure["dropped"], "top" in of_measure)
        for key, of_measure in found.items()
    ]


def score_listing(result: Json, place: str) -> Listing:
    """Return the score table of an input, "first" or "second", over the runs and topics that both have."""
    scores = result["scores"]
    measures = [measure_named(key) for key in scores["measures"]]
    columns = [Column("run", "Run", is_number=False), Column("task", "Task", is_number=False)]
    columns += [Column(measure.key, measure.label, measure.below) for measure in measures]
    lines = []
    for at, run in enumerate(scores["runs"]):
        figures = [scores["measures"][measure.key][place][at] for measure in measures]
        lines.append(_line(run["run_id"], run["task"], measures, figures))
    spread = result["spread"][("first", "second").index(place)] if result["spread"] else {}
    over = [
        _line(name, "", measures, [figures[measure.key] for measure in measures]) for name, figures in spread.items()
    ]
    return Listing(columns, lines, over, [])


def _line(name: str, task: str, measures: Sequence[Measure], figures: Sequence[float | None]) -> Line:
    texts = [measure.on_page(value) for measure, value in zip(measures, figures, strict=True)]
    return Line(name, None, "", [Cell(task, False), *(Cell(text, True) for text in texts)], [name, task, *figures])


class TopRow(NamedTuple):
    """Tau of the best k runs, chosen by each side, as results have it."""

    k: int
    sides: Sequence[Json]


class TopOfMeasure(NamedTuple):
    """How far a measure's best runs are agreed on. best: their names on each side; found, loss: as results have them.

    has_band: whether there is a band of equal noise.
    """

    rows: list[TopRow]
    best: Sequence[Sequence[str]]
    found: Json
    loss: Json
    has_band: bool

    @property
    def percent_found(self) -> str:
        """In how many draws of topics the best run of the second side is that of the first."""
        return f"{100 * self.found['value']:.0f} %" if self.found["value"] is not None else ""


def top_of(result: Json, measure: str) -> TopOfMeasure | None:
    """Return how far the best runs by a measure are agreed on; None where a result does not tell."""
    scores = result.get("scores") or {}
    of_measure = scores.get("measures", {}).get(measure, {})
    if not (top := of_measure.get("top")):
        return None
    rows = [TopRow(one["k"], (one, other)) for one, other in zip(top["first"], top["second"], strict=True)]
    found, loss = (of_measure["statistics"][f"best_run_{name}"] for name in ("found", "loss"))
    has_band = any(side["low"] is not None for row in rows for side in row.sides)
    return TopOfMeasure(rows, (top["best"]["first"], top["best"]["second"]), found, loss, has_band)


class FigureTable(NamedTuple):
    """What a layer of a figure shows, as a table."""

    columns: list[str]
    rows: list[list[object]]


class FigureContent(NamedTuple):
    """A figure of a page with what it shows as tables; of cells only their number, in `cells`."""

    name: str
    title: str
    tables: list[FigureTable]
    cells: int


def figure_names(figures: QuerySet[Figure], measure: int) -> dict[int, str]:
    """Return the figures of a measure, by its place among those compared, and those that are of none: names by key."""
    return {pk: name for pk, name in figures.values_list("pk", "name") if measure_of(name) in (None, measure)}


def figure_contents(figures: QuerySet[Figure], names: Collection[int]) -> list[FigureContent]:
    """Return some figures, by key."""
    return [figure_content(one.name, one.title, one.specification) for one in figures.filter(pk__in=names)]


def measure_of(name: str) -> int | None:
    """Return the place of the measure that a figure is of, by its name such as scatter-1-vstrict; None for others."""
    parts = name.split("-", 2)
    return int(parts[1]) - 1 if len(parts) == 3 and parts[1].isascii() and parts[1].isdigit() else None


def figure_content(name: str, title: str, specification: Mapping[str, Any]) -> FigureContent:
    """Return a figure with the tables of what its layers show."""
    layers = list(layer_rows(specification))
    cells = sum(int(row.get("cells", 1)) for rows in layers for row in rows if _MANY in row)
    tables = []
    for rows in layers:
        columns = [name for name in rows[0] if name not in _NO_FIGURES]
        if (_MANY not in rows[0] and len(columns) > 2) or ("tau" in rows[0] and len(columns) > 1):
            tables.append(FigureTable(columns, [[row.get(name) for name in columns] for row in rows]))
    return FigureContent(name, title, _distinct(tables), cells)


def _distinct(tables: Sequence[FigureTable]) -> list[FigureTable]:
    """Leave out what another layer shows too."""
    kept: list[FigureTable] = []
    for table in tables:
        if not any(all(row in other.rows for row in table.rows) for other in kept):
            kept.append(table)
    return kept


def layer_rows(specification: Mapping[str, Any]) -> Iterator[list[Json]]:
    """Yield the rows of each layer of a figure, as they are in its specification."""
    named = specification.get("datasets", {})

    def walk(part: Mapping[str, Any]) -> Iterator[list[Json]]:
        data = part.get("data") or {}
        rows = data.get("values") or named.get(data.get("name"), [])
        if rows and rows[0]:
            yield rows
        for layer in (*part.get("layer", ()), *part.get("concat", ())):
            yield from walk(layer)

    return walk(specification)


def figure_table(specification: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Return all that a figure shows as one table: its columns, and rows that say which layer they are of."""
    layers = list(layer_rows(specification))
    columns = list(dict.fromkeys(name for rows in layers for row in rows for name in row))
    rows = [[number, *(row.get(name) for name in columns)] for number, of in enumerate(layers, 1) for row in of]
    return ["layer", *columns], rows


class Difference(NamedTuple):
    """A thing that both inputs label, and not alike. run: "" where it is of none.

    ways: where it is told how each of the two labels came to be, "" where it isn't. item: its key, "" of grades.
    """

    run: str
    what: str
    answer: str
    first: str
    second: str
    ways: Sequence[str] = ("", "")
    item: str = ""


def differences(comparison: Comparison, topic: Topic) -> list[Difference]:
    """Return what both inputs label differently on a topic, by their labels of now, by run or docid.

    Only of the runs that are compared, as in inputs.restrict.
    """
    first, second = comparison.first, comparison.second
    if isinstance(first, QrelsSource) and isinstance(second, QrelsSource):
        return _grades_that_differ(first, second, topic)
    if not isinstance(first, Condition) or not isinstance(second, Condition):
        return []
    if label_kind(first.kind).comparison_page or first.nuggets_id != second.nuggets_id:
        return []  # or there is a page of their own
    asked = Q(run__task__in=comparison.tasks) if comparison.tasks else Q()
    asked &= Q(run__tag__in=comparison.runs) if comparison.runs else Q()
    answers = topic.answers.filter(asked).select_related("run")
    if not first.of_passages:
        answers = answers.exclude(run__task=CONTROL)
    return _labels_that_differ(first, second, topic, answers)


def _grades_that_differ(first: QrelsSource, second: QrelsSource, topic: Topic) -> list[Difference]:
    one, other = (
        dict(Grade.objects.filter(source=source, topic=topic).values_list("docid", "grade"))
        for source in (first, second)
    )
    highest = min(first.max_grade, second.max_grade)  # on two scales, what a threshold tells apart
    differ = sorted(
        docid for docid, grade in one.items() if min(other.get(docid, grade), highest) != min(grade, highest)
    )
    return [Difference("", docid, "", str(one[docid]), str(other[docid])) for docid in differ]


def _labels_that_differ(first: Condition, second: Condition, topic: Topic, of: QuerySet[Answer]) -> list[Difference]:
    kind = label_kind(first.kind)
    words, both = kind.labels, [kind.labels_on(topic, condition) for condition in (first, second)]
    _, places = places_in_all(both)
    codes = zip(*(labels.code[at].tolist() for labels, at in zip(both, places, strict=True)), strict=True)
    things = zip(*(column[places[0]].tolist() for column in (both[0].owner, both[0].item)), strict=True)
    given = {thing: pair for thing, pair in zip(things, codes, strict=True) if len(set(pair)) > 1}
    answers = of.in_bulk({answer for answer, _ in given})
    in_order = sorted(
        (thing for thing in given if thing[0] in answers), key=lambda thing: (answers[thing[0]].run.tag, thing[1])
    )
    texts = kind.item_texts({item for _, item in in_order})
    ways = [_ways(condition, in_order) for condition in (first, second)]
    return [
        Difference(
            answers[answer].docid or answers[answer].run.tag,
            texts[item],
            answers[answer].text,
            words[given[answer, item][0]],
            words[given[answer, item][1]],
            [addresses.get((answer, item), "") for addresses in ways],
            str(item),
        )
        for answer, item in in_order
    ]


def _ways(condition: Condition, things: Collection[tuple[int, Any]]) -> dict[tuple[int, Any], str]:
    """Return the addresses of the ways of a condition's labels, by answer's key and item; a panel's have none."""
    if condition.is_panel:
        return {}
    sheets = label_kind(condition.kind).sheets_with(condition, things)
    start = {
        sheet: reverse("label_way", args=[condition.campaign.slug, condition.kind, sheet, 0]).removesuffix("0/")
        for sheet in set(sheets.values())
    }
    return {(answer, item): f"{start[sheet]}{quote(str(item))}/" for (answer, item), sheet in sheets.items()}
