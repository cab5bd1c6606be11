"""Why two conditions disagree on a topic: on which nuggets its tau rests, and of what nuggets their labels differ."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import F, QuerySet

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.formats.tables import write_table
from assessor.labels.label_kind import label_kind
from assessor.scores.loading import Labels, RunName, Scores
from assessor.scores.score_source import scoring_of
from metaeval.headline import Part as Words
from metaeval.item_analysis import counted_nuggets, even_values, has_items, label_values, with_items
from metaeval.measures import measure_choices, measure_named
from metaeval.models import Comparison
from metaeval.stats.diagnosis import (
    LENGTHS,
    NO_WEIGHT,
    Flips,
    Influence,
    Part,
    decompose,
    find_flips,
    has_negation,
    has_number,
    leave_one_out,
    length_thirds,
    topic_tau,
)
from metaeval.stats.means import COMPLETE, UNANSWERED, Figures, Policy
from metaeval.stats.measures import Measure
from metaeval.stats.statistic import Statistic

if TYPE_CHECKING:
    from nuggets.models import BankEdition

_MOST_TEXT = 120  # characters of a nugget in a sentence
_COLUMNS = (
    *("topic", "nugget", "importance", "mean_first", "mean_second", "labels", "differ", "tau_without", "change"),
    *("flips", "undefined"),
)


class NuggetInfluence(NamedTuple):
    """A nugget of the topic: mean values of both sides' labels of it, those that differ, and its influence on tau."""

    pk: int
    text: str
    importance: str
    labels: Part
    influence: Influence


class TopicDiagnosis(NamedTuple):
    """What a topic's tau by a measure rests on. nuggets: the largest influence first; parts: by feature of nuggets."""

    tau: Statistic
    nuggets: list[NuggetInfluence]
    flips: Flips
    parts: dict[str, list[Part]]


class _Side(NamedTuple):
    """The scores of a side, the topic's place in them, and its labels on the topic."""

    found: Scores
    at: int
    labels: Labels

    @property
    def states(self) -> dict[RunName, int]:
        return dict(zip(self.found.runs, self.found.states[:, self.at].tolist(), strict=True))


def diagnosed_sides(comparison: Comparison) -> tuple[Condition, Condition] | None:
    """Return both sides where they label the same nuggets in answers of runs; None of other comparisons."""
    first, second = comparison.first, comparison.second
    if not isinstance(first, Condition) or not isinstance(second, Condition):
        return None
    alike = (first.kind, first.nuggets_id) == (second.kind, second.nuggets_id)
    return (first, second) if alike and has_items(first) and has_items(second) else None


def _measures(kind: str, both: Sequence[Scores], topic: Topic) -> list[Measure]:
    """Return the measures that are means over nuggets and that the topic defines; none where a side has no scores."""
    scoring = scoring_of(kind)
    keys = scoring.contributions(0, "vital")
    places = [_place(found, topic) for found in both]
    if None in places:
        return []
    first, second = (~np.isnan(found.scores[:, at]).all(axis=0) for found, at in zip(both, places, strict=True))
    defined = (scoring.measures.keys[at] for at in np.flatnonzero(first & second).tolist())
    return [measure_named(key) for key in defined if key in keys]


def diagnose(
    comparison: Comparison, sides: tuple[Condition, Condition], topic: Topic, measure: str = ""
) -> tuple[list[Measure], TopicDiagnosis | None]:
    """Return the diagnosis by labels of now, of the runs that are compared, and the measures that there is one by.

    measure: its key, "" for the first; without it there is no diagnosis. Nuggets that a side leaves out are left out on
    both. Where a topic that was not submitted counts 0, it does here.
    """
    loaded = _load(sides, topic)
    measures = _measures(sides[0].kind, loaded.scores, topic)
    key = next((one.key for one in measures if measure in ("", one.key)), None)
    return measures, _diagnose(comparison, loaded, topic, key) if key else None


class _Loaded(NamedTuple):
    """What both conditions say. labels, editions: by topic's key; out: as LabelKind.left_out()."""

    conditions: Sequence[Condition]
    scores: list[Scores]
    labels: list[dict[int, Labels]]
    editions: dict[int, "BankEdition"]
    out: set[tuple[int, str]]


def _load(conditions: Sequence[Condition], topic: Topic | None) -> _Loaded:
    """Load what conditions say on a topic; without one, on all, in as many queries."""
    first = conditions[0]
    kind, scoring = label_kind(first.kind), scoring_of(first.kind)
    both = [scoring.load_topic(one, topic.pk) if topic else scoring.load_with_labels(one) for one in conditions]
    scores, labels = [found for found, _ in both], [of_all.by_topic() for _, of_all in both]
    editions = {one.bank.topic_id: one for one in kind.scored_editions(first, topic.pk if topic else None)}
    return _Loaded(conditions, scores, labels, editions, kind.left_out(first.campaign))


def _diagnose(comparison: Comparison, loaded: _Loaded, topic: Topic, measure: str) -> TopicDiagnosis:
    kind = label_kind(loaded.conditions[0].kind)
    sides = [_side(loaded, at, topic) for at in range(2)]
    nuggets = _nuggets(loaded, topic)
    rows = {run.pk: at for at, run in enumerate(_compared(comparison, sides))}
    columns = {one["id"]: at for at, one in enumerate(nuggets)}
    scoring = scoring_of(kind.name)
    counts = np.array([scoring.contributions(code, "vital")[measure][0] for code in range(len(kind.labels))])
    weights = [scoring.contributions(0, one["importance"])[measure][1] for one in nuggets]
    scored = [label_values(side.labels, rows, columns, counts) for side in sides]
    for side, values in zip(sides, scored, strict=True):
        _add_unanswered(side, rows, values, counts[0])
    labels = [label_values(side.labels, rows, columns, even_values(kind)) for side in sides]
    (first, second), (first_labels, second_labels) = scored, labels
    influences = leave_one_out(first, second, weights)
    of_nuggets = decompose(first_labels, second_labels, [str(one["id"]) for one in nuggets])
    told = [
        NuggetInfluence(one["id"], one["text"], one["importance"], part, influence)
        for one, part, influence in zip(nuggets, of_nuggets, influences, strict=True)
    ]
    return TopicDiagnosis(
        topic_tau(first, second, weights),
        sorted(told, key=lambda one: -abs(one.influence.change.value or 0)),
        find_flips(first, second, weights),
        _parts(nuggets, first_labels, second_labels),
    )


def _side(loaded: _Loaded, side: int, topic: Topic) -> _Side:
    found = loaded.scores[side]
    at = _place(found, topic)
    assert at is not None, "measures were asked for, so the topic has scores"
    return _Side(found, at, loaded.labels[side].get(topic.pk) or Labels.joined([]))


def _place(found: Scores, topic: Topic) -> int | None:
    return next((at for at, one in enumerate(found.topics) if one.pk == topic.pk), None)


def _nuggets(loaded: _Loaded, topic: Topic) -> list[dict[str, Any]]:
    """Return the nuggets that count on both sides, in bank order."""
    counted = [counted_nuggets(one, loaded.editions[topic.pk], loaded.out) for one in loaded.conditions]
    both = set.intersection(*({one["id"] for one in some} for some in counted))
    return [one for one in counted[0] if one["id"] in both]


def _compared(comparison: Comparison, sides: Sequence[_Side]) -> list[RunName]:
    """Return the runs that are compared and whose cell counts on both sides, as comparisons have it."""
    counts = {COMPLETE, UNANSWERED} if comparison.policy == Policy.ZERO else {COMPLETE}
    both = [{run.pk: (run, state) for run, state in side.states.items()} for side in sides]
    found = []
    for pk in sorted(both[0].keys() & both[1].keys()):
        runs, states = zip(*(side[pk] for side in both), strict=True)
        run = runs[0]
        is_circular = any(one.is_circular for one in runs) and not comparison.circular
        is_asked = (not comparison.tasks or run.task in comparison.tasks) and (
            not comparison.runs or run.tag in comparison.runs
        )
        if set(states) <= counts and is_asked and not run.is_control and not is_circular:
            found.append(run)
    return found


def _add_unanswered(side: _Side, rows: dict[int, int], values: Figures, lowest: float) -> None:
    """Give a run that did not answer the values of an empty answer."""
    for run, state in side.states.items():
        if state == UNANSWERED and run.pk in rows:
            values[rows[run.pk]] = lowest


def _parts(nuggets: Sequence[dict[str, Any]], first: npt.ArrayLike, second: npt.ArrayLike) -> dict[str, list[Part]]:
    """Split the difference of labels by features of nuggets: a table of parts each."""
    texts = [one["text"] for one in nuggets]
    levels = {
        "Importance": (["vital", "okay", "none"], [one["importance"] or "none" for one in nuggets]),
        "Length": (LENGTHS, length_thirds([len(text.split()) for text in texts])),
        "Evidence": _yes_no([bool(one.get("evidence")) for one in nuggets]),
        "Negation": _yes_no(list(map(has_negation, texts))),
        "Number": _yes_no(list(map(has_number, texts))),
    }
    return {
        feature: sorted(decompose(first, second, of_nuggets), key=lambda part: list(order).index(part.level))
        for feature, (order, of_nuggets) in levels.items()
    }


def _yes_no(has: Sequence[bool]) -> tuple[Sequence[str], list[str]]:
    return ("yes", "no"), ["yes" if one else "no" for one in has]


def sentence(found: TopicDiagnosis, measure: Measure, item: str) -> list[Words]:
    """Return what the diagnosis came to in one sentence, in parts."""
    if found.tau.value is None:
        return [Words(f"By {measure.in_words}, τ of this topic is undefined: {found.tau.why}.")]
    parts = [
        Words(f"By {measure.in_words}, both sides rank {found.tau.n} runs on this topic with "),
        Words(f"τ {found.tau.value:.2f}", True),
    ]
    first = next(iter(found.nuggets), None)
    if first and first.influence.tau.value is not None and first.influence.change.value:
        others = sum(one.influence.tau.why != NO_WEIGHT for one in found.nuggets) - 1
        parts += [
            Words(f"; the {item} “{_short(first.text)}” has the largest influence: without it on both sides, τ would "),
            Words(f"rest on {others} {item}{'' if others == 1 else 's'} and be "),
            Words(f"{first.influence.tau.value:.2f}", True),
        ]
    if found.flips.pairs:
        parts += [
            Words("; "),
            Words(str(found.flips.on_few), True),
            Words(f" of {found.flips.pairs} pairs of runs in opposite orders rest on three {item}s or fewer"),
        ]
    return [*parts, Words(".")]


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1].rstrip()}…"


def diagnosed(campaign: Campaign) -> QuerySet[Comparison]:
    """Return the comparisons of a campaign of which topics can be diagnosed."""
    conditions = with_items(campaign)
    of_same = {"first_condition__kind": F("second_condition__kind")}
    of_same |= {"first_condition__nuggets": F("second_condition__nuggets")}
    found = Comparison.objects.filter(first_condition__in=conditions, second_condition__in=conditions, **of_same)
    return found.select_related("first_condition", "second_condition", "campaign").order_by("name")


def influence_measures(comparison: Comparison) -> dict[str, str]:
    """Return the measures that are means over nuggets, in words, by key."""
    first = comparison.first
    assert isinstance(first, Condition), "it is one of those that can be diagnosed"
    keys = scoring_of(first.kind).contributions(0, "vital")
    return {key: words for key, words in measure_choices(first).items() if key in keys}


def influence_lines(comparison: Comparison, topics: Sequence[Topic], measure: str) -> Iterator[str]:
    """Yield the table of nuggets' influence on topics' tau (CSV); undefined is empty, beside the reason.

    A topic on which the measure is undefined has none.
    """
    return write_table(_COLUMNS, _rows(comparison, topics, measure))


def _rows(comparison: Comparison, topics: Sequence[Topic], measure: str) -> Iterator[Sequence[object]]:
    sides = diagnosed_sides(comparison)
    assert sides is not None, "it is one of those that can be diagnosed"
    loaded = _load(sides, topics[0] if len(topics) == 1 else None)
    for topic in topics:
        if measure in {one.key for one in _measures(sides[0].kind, loaded.scores, topic)}:
            yield from ((topic.qid, *_row(one)) for one in _diagnose(comparison, loaded, topic, measure).nuggets)


def _row(one: NuggetInfluence) -> Sequence[object]:
    labels, influence = one.labels, one.influence
    figures = (labels.first.value, labels.second.value, labels.labels, labels.differ, influence.tau.value)
    return one.text, one.importance, *figures, influence.change.value, influence.flips, influence.change.why
