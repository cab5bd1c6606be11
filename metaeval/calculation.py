"""What a comparison comes to: every number and figure, from both sides as they stand now."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assessor.collection.models import Condition
from metaeval.charts import figures
from metaeval.inputs import (
    Gap,
    Names,
    Nothing,
    Restriction,
    Side,
    fingerprint,
    load_side,
    matched,
    names_of,
    restrict,
    state,
)
from metaeval.label_report import LabelsFound, described, further_conditions, label_results
from metaeval.models import Comparison
from metaeval.queries import topics_asked
from metaeval.report import NamedFigure, drawn
from metaeval.report_tables import documents
from metaeval.score_report import hours_per_topic, score_results
from metaeval.serializers import number, value_told
from metaeval.stats.agreement import agreement, merged
from metaeval.stats.comparison import Compared, compare
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import Pair

FORMAT = 1  # of results

Json = dict[str, Any]
Progress = Callable[[int, str], None]  # percent, and what is done next


class Computed(NamedTuple):
    """What came of a comparison. inputs: what names the state of both sides when they were read; files: by name."""

    inputs: Json
    result: Json
    files: dict[str, str]
    figures: list[NamedFigure]


def compute(comparison: Comparison, progress: Progress) -> Computed:
    """Compute all of a comparison. Raises Nothing where both sides have nothing in common."""
    policy, names = Policy(comparison.policy), names_of(comparison.campaign)
    restriction = Restriction(comparison.tasks, comparison.runs, topics_asked(comparison))
    sides, gaps = [], []
    for at, (record, support) in enumerate(
        ((comparison.first, comparison.first_support), (comparison.second, comparison.second_support))
    ):
        progress(5 + 15 * at, f"reading {record}")
        side, left_out = restrict(load_side(record, policy, names, support), restriction, names)
        sides.append(side)
        gaps += left_out
    first, second = sides
    shared = min(len(first.words), len(second.words))
    if first.basis == second.basis:  # of two sources, one may have more grades
        words = max(first.words, second.words, key=len)
        first, second = sides = [side._replace(words=words) for side in sides]
    inputs = {
        name: side.told | {"name": side.name, "sha256": fingerprint(side)}
        for name, side in (("first", first), ("second", second))
    }
    if comparison.topics_of:
        inputs["topics_of"] = {"name": comparison.topics_of.name, "state": state(comparison.topics_of)}
    result: Json = {
        "format": FORMAT,
        "sides": [_side_told(side) for side in sides],
        "policy": policy.value,
        "seed": comparison.seed,
        "draws": comparison.draws,
    }
    pair: Pair | None = None
    compared: list[Compared] = []
    drawings: list[NamedFigure] = []
    if first.scored and second.scored:
        progress(35, "rankings of runs")
        pair, more = matched(first.scored, second.scored)
        gaps += more
        hours = hours_per_topic([side.record for side in sides if isinstance(side.record, Condition)])
        draws = {"seed": comparison.seed, "draws": comparison.draws}
        compared = compare(pair, **draws)
        result |= score_results(pair, compared, **draws, hours=hours)
        progress(60, "figures of scores")
        drawings += drawn(pair, compared, **draws, hours=hours)
    progress(75, "labels")
    labels = label_results(first, second, shared)
    if pair is None and (labels is None or not labels.topics):
        raise Nothing(f"{first.name} and {second.name} have no labels of the same things.")
    if labels:
        drawings += _label_figures(first, second, labels)
    progress(80, "other conditions")
    others = further_conditions(first, second, policy, restriction, names)
    result["labels"] = labels.told if labels else None
    result["judges"] = others.judges
    result["topics"] = _topics_told(pair, compared, labels, names)
    result["described"] = [*(told for side in sides if (told := described(side, restriction))), *others.described]
    result["left_out"] = [gap._asdict() for gap in _joined(gaps)]
    return Computed(inputs, result, documents(result, pair, compared), drawings)


def _label_figures(first: Side, second: Side, labels: LabelsFound) -> list[NamedFigure]:
    both = (first.name, second.name)
    return [
        NamedFigure(
            "labels",
            "Confusion matrix of labels",
            figures.confusion_figure(labels.agreement, first.words, judges=both),
        ),
        NamedFigure("shares", "Shares of labels", figures.distribution_figure(both, first.words, labels.given)),
    ]


def _side_told(side: Side) -> Json:
    scored = side.scored
    return {
        "name": side.name,
        "identity": side.told["identity"],
        "runs": len(scored.runs) if scored else 0,
        "topics": len(scored.topics) if scored else 0,
        "labels": len(side.labels.code) if side.labels is not None else 0,
    }


def _joined(gaps: Sequence[Gap]) -> list[Gap]:
    """Return what was left out, of both sides at once where it is the same."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for what, side, reason, names in gaps:
        found.setdefault((what, reason, tuple(names)), []).append(side)
    return [Gap(what, " and ".join(sides), reason, list(names)) for (what, reason, names), sides in found.items()]


def _topics_told(
    pair: Pair | None, compared: Sequence[Compared], labels: LabelsFound | None, names: Names
) -> list[Json]:
    """Return the topics with their agreement, worst first: by tau where runs are ranked, else by equal labels."""
    taus: dict[str, float] = {}
    if pair and pair.first.topics:
        taus = dict(zip(pair.first.topics, compared[0].levels.by_topic.tolist(), strict=True))
    of_labels: dict[str, Json] = {}
    if labels:
        for pk, counts in zip(labels.topics, labels.by_topic, strict=True):
            found, pairs = agreement(counts, labels.why_not), int(counts.sum())
            of_labels[names.topics[pk]] = {
                "pairs": pairs,
                "differ": pairs - int(np.trace(merged(counts, range(labels.shared)))),
                "match": value_told(found.match),
                "kappa": value_told(found.unweighted),
            }
    keys = {qid: pk for pk, qid in names.topics.items()}
    rows: list[Json] = [
        {"qid": qid, "pk": keys.get(qid), "title": names.titles.get(qid, ""), "tau": number(taus.get(qid, math.nan))}
        | of_labels.get(qid, {})
        for qid in sorted(taus.keys() | of_labels.keys())
    ]

    def worst(row: Json) -> tuple[bool, float]:
        figure = row["tau"] if taus else row["match"]["value"]
        return figure is None, figure or 0.0

    return sorted(rows, key=worst)
