"""Preferences as score tables: what they depend on, and what stands beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.labels.manual_setups import is_part
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.measures import PREFERENCE_SCORES, Answers
from assessor.preference.models import PreferencePair
from assessor.preference.queries import GIVEN, LACKING, OPEN
from assessor.preference.verdicts import FIRST, SECOND, TIE
from assessor.runtime.process_cache import cache
from assessor.scores.loading import Labels, RunName, answers_to, run_names, run_set, systems
from assessor.scores.score_source import Scoring
from assessor.scores.tables import SEED
from assessor.work.judging_pool import judged_under, newest_words
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Codes, Figures
from metaeval.stats.measures import Measures
from metaeval.stats.preferences import Disconnected, Strengths, bradley_terry, count_points, count_wins

_AT_A_TIME = 5_000
# The same answer in both orders, or neither in both.
_AGREE = (
    Q(verdict=FIRST, reversed_verdict=SECOND)
    | Q(verdict=SECOND, reversed_verdict=FIRST)
    | Q(verdict=TIE, reversed_verdict=TIE)
)

_PERSON = "judge__person__username"


class Scores(NamedTuple):
    """All scores of a condition, as assessor.scores.loading has them.

    points: (topics, runs, runs), as metaeval.stats.preferences has them, ties as halves. ties, by_rule: pairs.
    """

    runs: list[RunName]
    topics: list[Topic]
    scores: Figures
    states: Codes
    points: Figures
    ties: int
    by_rule: int
    measures: Measures = PREFERENCE_SCORES

    @property
    def systems(self) -> list[str]:
        """The tags of the runs whose answers are compared, in byte order."""
        return systems(self.runs)

    @property
    def run_set(self) -> str:
        return run_set(self.runs)

    @property
    def unusual(self) -> dict[str, int | str]:
        return self.measures.count_unusual(self.ties, self.by_rule, len(self.systems), self.run_set)


class PositionBias(NamedTuple):
    """How far what a judge says depends on which answer is shown first.

    shown: verdicts given; first: those for what stood first; both: pairs shown in both orders; flipped: those of them
    whose verdicts disagree. by_judge: the same of each person, by name, where people compare.
    """

    shown: int
    first: int
    both: int
    flipped: int
    by_judge: Sequence[tuple[str, "PositionBias"]] = ()

    @property
    def percent_first(self) -> float | None:
        """The share of verdicts for what stood first, in percent."""
        return 100 * self.first / self.shown if self.shown else None

    @property
    def percent_flipped(self) -> float | None:
        """The share of pairs whose verdicts disagree, in percent."""
        return 100 * self.flipped / self.both if self.both else None


class StrengthRow(NamedTuple):
    """A run's Bradley-Terry strength with its interval; NaN where there is none."""

    run: RunName
    strength: float
    low: float
    high: float


class Beside(NamedTuple):
    """What stands beside the scores of a condition. groups: runs that were never compared, so nobody has a strength."""

    strengths: list[StrengthRow]
    groups: list[list[str]]
    bias: PositionBias


def load_scores(condition: Condition, topic: int | None = None) -> Scores:
    """Compute all scores of a condition from its pairs; topic: of this one alone, by key.

    Runs and topics are those with a pair. A cell is incomplete where a pair of the answer has no preference, or the run
    answered the topic and is in no pair; one that is not judged there, as it is planned, is outside. Pairs of runs that
    were dropped count nowhere. Where but a part is compared again, every cell is incomplete and no strength is known.
    """
    lacks_pairs = is_part(condition)
    judged = judged_under(condition)
    own = without_practice(PreferencePair.objects.filter(condition=condition))
    own = own if topic is None else own.filter(topic=topic)
    columns = ("topic", "first__run", "second__run", "value", "resolved_value", "by_rule", "state")
    rows = [
        row
        for row in own.order_by("topic", "position").values_list(*columns).iterator(_AT_A_TIME)
        if judged.holds(row[0], row[1]) and judged.holds(row[0], row[2])
    ]
    topics = list(Topic.objects.filter(pk__in={row[0] for row in rows}).order_by(byte_order("qid")))
    runs = run_names({run for row in rows for run in row[1:3]}, condition)
    place_of_run = {run.pk: at for at, run in enumerate(runs)}
    place_of_topic = {one.pk: at for at, one in enumerate(topics)}
    size = len(runs)
    scores = np.full((size, len(topics), len(PREFERENCE_SCORES.all)), np.nan)
    states = np.full((size, len(topics)), UNANSWERED, dtype=np.int8)
    points = np.zeros((len(topics), size, size))
    by_topic: dict[int, list[tuple[int, int, int]]] = {one.pk: [] for one in topics}
    lacking: set[tuple[int, int]] = set()
    ties = rules = 0
    for key, first, second, value, resolved, by_rule, state in rows:
        value = value if state == PreferencePair.State.GIVEN else resolved
        at = place_of_topic[key]
        of_pair = place_of_run[first], place_of_run[second]
        states[list(of_pair), at] = COMPLETE
        if value is None or lacks_pairs:
            lacking |= {(one, at) for one in of_pair}
        else:
            by_topic[key].append((*of_pair, int(value)))
            ties, rules = ties + (value == TIE), rules + by_rule
    answered = answers_to(place_of_topic).who_answered(runs, place_of_topic)
    for key, at in place_of_topic.items():
        firsts, seconds, outcomes = np.array(by_topic[key], dtype=np.int64).reshape(-1, 3).T
        wins = count_wins(firsts, seconds, outcomes, size)
        points[at] = count_points(firsts, seconds, outcomes, size)
        in_pairs = states[:, at] == COMPLETE
        scores[in_pairs, at] = PREFERENCE_SCORES.score(Answers(wins))[in_pairs]
        for run in runs:
            if states[place_of_run[run.pk], at] == UNANSWERED and run.pk in answered[key]:
                holds = judged.holds(key, run.pk)
                states[place_of_run[run.pk], at] = INCOMPLETE if holds else OUTSIDE
    for one, at in lacking:
        states[one, at] = INCOMPLETE
        scores[one, at] = np.nan
    return Scores(runs, topics, scores, states, points, ties, rules)


def load_with_labels(condition: Condition, topic: int | None = None) -> tuple[Scores, Labels]:
    """Return load_scores() with the labels that they come from: under the run of each pair's first answer."""
    found = load_scores(condition, topic)
    own = without_practice(PreferencePair.objects.filter(GIVEN, condition=condition))
    own = own if topic is None else own.filter(topic=topic)
    known = {run.pk for run in found.runs}
    columns = ("topic", "first__run", "first", "second", "value", "by_rule", "second__run")
    rows = [row for row in own.order_by("topic", "position").values_list(*columns) if {row[1], row[6]} <= known]
    codes = [PREFERENCE.labels.index(row[4]) for row in rows]

    def column(at: int) -> npt.NDArray[np.int64]:
        return np.array([row[at] for row in rows], dtype=np.int64)

    by_rule = np.array([row[5] for row in rows], dtype=bool)
    return found, Labels(column(0), column(1), column(2), column(3), np.array(codes, dtype=np.int8), by_rule)


def strengths_of(condition: Condition, found: Scores) -> tuple[list[StrengthRow], list[list[str]]]:
    """Return the strengths of runs, the strongest first, or the groups of them that were never compared.

    Kept as long as the scores are the same.
    """
    key = f"strengths.{condition.pk}"
    state = (found.runs, found.points.tobytes())
    kept = cache.get(key)
    if not kept or kept[0] != state:
        kept = state, _strengths(found)
        cache.set(key, kept, timeout=None)
    rows: tuple[list[StrengthRow], list[list[str]]] = kept[1]
    return rows


def _strengths(found: Scores) -> tuple[list[StrengthRow], list[list[str]]]:
    # Of a run all of whose pairs lack a preference nothing is known.
    compared = (found.points + found.points.transpose(0, 2, 1)).any(axis=(0, 2))
    runs = [found.runs[at] for at in np.flatnonzero(compared).tolist()]
    try:
        of_runs: Strengths = bradley_terry(found.points[:, compared][:, :, compared], seed=SEED)
    except Disconnected as error:
        return [], [[runs[at].tag for at in group] for group in error.groups]
    rows = [StrengthRow(*row) for row in zip(runs, *(column.tolist() for column in of_runs), strict=True)]
    return sorted(rows, key=lambda row: (-row.strength, row.run.tag.encode())), []


def position_bias(condition: Condition) -> PositionBias:
    """Count what the verdicts of a condition say of what was shown first."""
    own = without_practice(PreferencePair.objects.filter(condition=condition))
    both = Q(verdict__isnull=False, reversed_verdict__isnull=False)
    counts = {
        "verdicts": Count("verdict"),
        "others": Count("reversed_verdict"),
        "first": Count("pk", filter=Q(verdict=FIRST)),
        "other_first": Count("pk", filter=Q(reversed_verdict=FIRST)),
        "both": Count("pk", filter=both),
        "agree": Count("pk", filter=both & _AGREE),
    }
    of_people = own.filter(judge__person__isnull=False, verdict__isnull=False).order_by(_PERSON).values_list(_PERSON)
    by_judge = [(name, _position_bias(*told)) for name, *told in of_people.annotate(**counts)]
    return _position_bias(*own.aggregate(**counts).values())._replace(by_judge=by_judge)


def _position_bias(verdicts: int, others: int, first: int, other_first: int, both: int, agree: int) -> PositionBias:
    return PositionBias(verdicts + others, first + other_first, both, both - agree)


class PreferenceScoring(Scoring):
    """Conditions under which answers are compared."""

    measures = PREFERENCE_SCORES
    nothing_yet = "No condition yet under which answers are compared."
    counted = "pairs"
    done = ~OPEN
    left = Count("pk", filter=OPEN)
    cannot = LACKING & ~OPEN
    topic = "topic"
    runs = ("first__run", "second__run")
    basis_label = "Pairs"
    remedy = "Missing preferences can be given, or asked for again, with the job's failed units."
    notes = "preference/_score_notes.html"
    topic_notes = "preference/_topic_notes.html"
    topic_page = "preference/_topic_scores.html"

    def basis(self, condition: Condition) -> str:
        return "as in the file" if condition.method == Condition.IMPORTED else "as PrefNugget chooses them"

    def states(self, conditions: Sequence[Condition]) -> dict[int, tuple[Any, ...]]:
        judged = newest_words(conditions)
        return {condition.pk: (judged.get(condition.pk, 0),) for condition in conditions}

    def load(self, condition: Condition) -> Scores:
        return load_scores(condition)

    def load_with_labels(self, condition: Condition) -> tuple[Scores, Labels]:
        return load_with_labels(condition)

    def contribution(self, sheet: Any, item: str, code: int) -> Mapping[str, tuple[float, float]]:
        return {}

    def beside(self, condition: Condition, found: Any) -> Beside:
        strengths, groups = strengths_of(condition, found)
        return Beside(strengths, groups, position_bias(condition))
