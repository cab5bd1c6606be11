"""What the pages of one run, and of one of its answers, read."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db.models import Count
from django.http import Http404
from django.urls import reverse

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Answer, Campaign, Condition, Run, Sentence
from assessor.desk.grid import Mark, look_of
from assessor.labels.label_kind import LabelKind, label_kinds
from assessor.labels.models import Label
from assessor.scores.boards import Strip, strip
from assessor.scores.cache import kept_scores, scores_with_intervals, states_of
from assessor.scores.loading import Scores
from assessor.scores.score_source import about_runs, scored_conditions, scored_kinds
from assessor.scores.tables import Counting, score_table
from metaeval.stats.means import UNANSWERED, Policy
from metaeval.stats.measures import Measure


class Score(NamedTuple):
    """A run's score by the first measure of a condition. rank: from 1, among systems' runs.

    figure, rank, median: None where undefined; topics: how many count.
    """

    measure: Measure
    figure: float | None
    rank: int | None
    runs: int
    median: float | None
    topics: int


class ConditionRow(NamedTuple):
    """A condition under which answers of a run are judged. score: None where nobody has asked for it yet."""

    condition: Condition
    judged: int
    missing: int
    score: Score | None


class RunScores(NamedTuple):
    """A run under all conditions, people's first. under: the one whose strip is shown."""

    rows: list[ConditionRow]
    under: ConditionRow | None
    strip: Strip | None


def scores_by_condition(campaign: Campaign, run: Run, asked: str | None) -> RunScores:
    """Return the conditions under which answers of a run are judged. asked: the key of one; else it is the first.

    Its scores are computed; those of others are told where they are known: a track's would all take long.
    """
    counted: dict[int, tuple[int, int]] = {}
    for name, scoring in scored_kinds().items():
        sheets = kind_named(name).scored_records().filter(about_runs(scoring, run)).order_by().values_list("condition")
        for condition, *numbers in sheets.annotate(Count("pk"), missing=Count("pk", filter=~scoring.done)):
            counted[condition] = (numbers[0], numbers[1])
    conditions = list(scored_conditions(campaign).filter(pk__in=counted).order_by("pk"))
    conditions.sort(key=lambda condition: condition.is_a_models)
    if asked is not None and asked not in {str(condition.pk) for condition in conditions}:
        raise Http404("Nothing of this run is judged under such a condition.")
    states, key = states_of(conditions), asked or (str(conditions[0].pk) if conditions else None)
    rows, under, cells = [], None, None
    for condition in conditions:
        if is_asked := str(condition.pk) == key:
            found, counting, _ = scores_with_intervals(condition, Policy.ZERO, states[condition.pk])
            score, cells = _score(found, run), _strip(found, counting, run)
        else:
            kept = kept_scores(condition, states[condition.pk])
            score = None if kept is None else _score(kept, run)
        row = ConditionRow(condition, *counted[condition.pk], score)
        rows.append(row)
        under = row if is_asked else under
    return RunScores(rows, under, cells)


def _score(found: Scores, run: Run) -> Score | None:
    table = score_table(found, Policy.ZERO)
    row = next((row for row in (*table.systems, *table.controls) if row.run and row.run.pk == run.pk), None)
    if row is None:
        return None
    figure = _defined(row.figures[0])
    figures = [one.figures[0] for one in table.systems if not math.isnan(one.figures[0])]
    rank = 1 + sum(one > figure for one in figures) if figure is not None and row in table.systems else None
    median = next(over.figures[0] for over in table.over if over.name == "median")
    return Score(found.measures.all[0], figure, rank, len(table.systems), _defined(median), table.topics)


def _strip(found: Scores, counting: Counting, run: Run) -> Strip | None:
    """Return the run topic by topic, or None: its answers are all to topics for practice, say."""
    at = next((place for place, one in enumerate(found.runs) if one.pk == run.pk), None)
    if at is None:
        return None
    answer = reverse("answer", args=[run.campaign.slug, run.pk, 0]).removesuffix("0/")
    page = reverse("topic", args=[run.campaign.slug, 0]).removesuffix("0/")
    states = zip(found.topics, found.states[at].tolist(), strict=True)
    unanswered = {topic.pk for topic, state in states if state == UNANSWERED}

    def address(topic: int) -> str:
        return f"{page if topic in unanswered else answer}{topic}/"

    return strip(found, [at], 0, Policy.ZERO, counting, address)


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else figure


class LabelRow(NamedTuple):
    """An item of an answer with the label of each judge, None where it was not asked."""

    item: str
    marks: Sequence[Mark | None]

    @property
    def differs(self) -> bool:
        """Whether any two judges label it differently; a label that is missing differs from none."""
        return len({mark.word for mark in self.marks if mark and mark.look != "none"}) > 1


class LabelTable(NamedTuple):
    """What judges say of the items of an answer: a mark of each condition for each item, None where it isn't asked."""

    kind: LabelKind
    conditions: Sequence[Condition]
    rows: Sequence[LabelRow]

    @property
    def differ(self) -> int:
        """How many items any two judges label differently."""
        return sum(row.differs for row in self.rows)


class JudgedRun(NamedTuple):
    """An answer of a run, with all that was said of it."""

    answer: Answer
    sentences: Sequence[Sentence]
    tables: Sequence[LabelTable]


def judged_answer(campaign: Campaign, answer: Answer) -> JudgedRun:
    """Return an answer with the labels of all judges."""
    kinds = [kind for kind in label_kinds() if kind.judges_answers]
    tables = [table for kind in kinds if (table := _labels(campaign, kind, answer)).conditions]
    return JudgedRun(answer, list(answer.sentences()), tables)


def _labels(campaign: Campaign, kind: LabelKind, answer: Answer) -> LabelTable:
    sheets = (
        kind.judged_answers()
        .filter(answer=answer)
        .select_related(*(f"condition__{name}" for name in Condition.TOLD_WITH))
        .order_by("condition__name")
    )
    found = list(kind.sheets.with_items(sheets))
    places: dict[str, int] = {}
    for sheet in found:
        for item, row in sheet.labels_by_item.items():
            if row.state != Label.State.REMOVED:
                places.setdefault(item, sheet.pk)
    described = kind.described([(sheet, item) for item, sheet in places.items()])
    address = reverse("label_way", args=[campaign.slug, kind.name, 0, "item"]).removesuffix("0/item/")

    def mark(sheet: Any, item: str) -> Mark | None:
        row = sheet.labels_by_item.get(item)
        if row is None or row.state == Label.State.REMOVED:
            return None
        look, word = look_of(kind.labels, row.state, row.value or row.resolved_value)
        way = f"{address}{sheet.pk}/{quote(item)}/"
        return Mark(look, word, f"{sheet.condition}: {word}", sheet.condition.is_a_models, way)

    rows = [
        LabelRow(described[sheet, item][0], [mark(one, item) for one in found])
        for item, sheet in sorted(places.items(), key=lambda place: kind.place(place[0]))
    ]
    return LabelTable(kind, [sheet.condition for sheet in found], rows)
