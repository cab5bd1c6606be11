"""The calculation of a comparison: every number and figure, from its inputs as they are now."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assessor.campaigns.models import Condition
from metaeval.background import Progress
from metaeval.ceiling_report import report_ceiling
from metaeval.inputs import (
    Gap,
    Input,
    Names,
    NothingToCompare,
    fingerprint,
    load_input,
    match_inputs,
    name_circular,
    names_of,
    restrict,
    state,
)
from metaeval.label_report import LabelComparison, describe_input, further_conditions, report_labels
from metaeval.measures import measure_labels
from metaeval.models import Comparison
from metaeval.queries import restriction_of
from metaeval.report_tables import report_files
from metaeval.score_report import hours_per_topic, report_scores
from metaeval.serializers import number, statistic_json
from metaeval.stats.agreement import merge_labels, rate_agreement
from metaeval.stats.comparison import MeasureComparison, compare
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import MatchedScores

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

FORMAT = 1  # of results

Json = dict[str, Any]


class Computation(NamedTuple):
    """What came of a comparison. inputs: what names the state of both when they were read; files: by name."""

    inputs: Json
    result: Json
    files: dict[str, str]
    figures: "list[NamedFigure]"


def compute(comparison: Comparison, progress: Progress) -> Computation:
    """Compute all of a comparison. Raises NothingToCompare where both inputs have nothing in common."""
    from metaeval.charts.comparison import comparison_figures

    policy, names = Policy(comparison.policy), names_of(comparison.campaign)
    restriction = restriction_of(comparison)
    both, gaps = [], []
    for at, (record, support) in enumerate(comparison.sides):
        progress(5 + 15 * at, f"reading {record}")
        data, left_out = restrict(load_input(record, policy, names, support), restriction, names)
        both.append(data)
        gaps += left_out
    reference, candidate = both = name_circular(both)
    shared = min(len(reference.words), len(candidate.words))
    if reference.basis == candidate.basis:  # of two sources, one may have more grades
        words = max(reference.words, candidate.words, key=len)
        reference, candidate = both = [data._replace(words=words) for data in both]
    inputs = {
        name: data.state | {"name": data.name, "sha256": fingerprint(data)}
        for name, data in (("first", reference), ("second", candidate))
    }
    if comparison.topics_of:
        inputs["topics_of"] = {"name": comparison.topics_of.name, "state": state(comparison.topics_of)}
    result: Json = {
        "format": FORMAT,
        "sides": [_input_json(data) for data in both],
        "policy": policy.value,
        "seed": comparison.seed,
        "draws": comparison.draws,
    }
    scores: MatchedScores | None = None
    comparisons: list[MeasureComparison] = []
    figures: list[NamedFigure] = []
    if reference.scores and candidate.scores:
        progress(35, "rankings of runs")
        scores, more = match_inputs(reference.scores, candidate.scores)
        gaps += more
        hours = hours_per_topic([data.record for data in both if isinstance(data.record, Condition)])
        draws = {"seed": comparison.seed, "draws": comparison.draws}
        comparisons = compare(scores, **draws)
        result |= report_scores(scores, comparisons, **draws, hours=hours)
        progress(60, "figures of scores")
        figures += comparison_figures(
            scores, comparisons, measure_labels(scores.reference.measures), **draws, hours=hours
        )
    progress(75, "labels")
    labels = report_labels(reference, candidate, shared)
    if scores is None and (labels is None or not labels.topics):
        raise NothingToCompare(f"{reference.name} and {candidate.name} have no labels of the same things.")
    if labels:
        figures += _label_figures(reference, candidate, labels)
    progress(80, "noise ceiling")
    result |= report_ceiling(comparison, reference, candidate, scores, restriction, names)
    progress(85, "other conditions")
    others = further_conditions(reference, candidate, policy, restriction, names)
    result["labels"] = labels.report if labels else None
    if labels:
        result |= labels.groups
    result["judges"] = others.judges
    result["topics"] = _topics_json(scores, comparisons, labels, names)
    result["described"] = [
        *(found for data in both if (found := describe_input(data, restriction))),
        *others.described,
    ]
    result["left_out"] = [gap._asdict() for gap in _join_gaps(gaps)]
    return Computation(inputs, result, report_files(result, scores, comparisons), figures)


def _label_figures(reference: Input, candidate: Input, labels: LabelComparison) -> "list[NamedFigure]":
    from metaeval.charts.figures import NamedFigure, confusion_figure, distribution_figure

    judges = (reference.name, candidate.name)
    matrix = confusion_figure(labels.agreement, reference.words, judges=judges)
    return [
        NamedFigure("labels", "Confusion matrix of labels", matrix),
        NamedFigure("shares", "Shares of labels", distribution_figure(judges, reference.words, labels.counts)),
    ]


def _input_json(data: Input) -> Json:
    scores = data.scores
    return {
        "name": data.name,
        "identity": data.state["identity"],
        "runs": len(scores.runs) if scores else 0,
        "topics": len(scores.topics) if scores else 0,
        "labels": len(data.labels.code) if data.labels is not None else 0,
    }


def _join_gaps(gaps: Sequence[Gap]) -> list[Gap]:
    """Return what was left out, of both inputs at once where it is the same."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for what, side, reason, names in gaps:
        found.setdefault((what, reason, tuple(names)), []).append(side)
    return [Gap(what, " and ".join(sides), reason, list(names)) for (what, reason, names), sides in found.items()]


def _topics_json(
    scores: MatchedScores | None,
    comparisons: Sequence[MeasureComparison],
    labels: LabelComparison | None,
    names: Names,
) -> list[Json]:
    """Return the topics with their agreement, worst first: by tau where runs are ranked, else by equal labels."""
    taus: dict[str, float] = {}
    if scores and scores.reference.topics:
        taus = dict(zip(scores.reference.topics, comparisons[0].levels.by_topic.tolist(), strict=True))
    of_labels: dict[str, Json] = {}
    if labels:
        for pk, counts in zip(labels.topics, labels.by_topic, strict=True):
            found, pairs = rate_agreement(counts, labels.why_not), int(counts.sum())
            of_labels[names.topics[pk]] = {
                "pairs": pairs,
                "differ": pairs - int(np.trace(merge_labels(counts, range(labels.shared)))),
                "match": statistic_json(found.match),
                "kappa": statistic_json(found.unweighted),
            }
    rows: list[Json] = [
        {"qid": qid, "title": names.titles.get(qid, ""), "tau": number(taus.get(qid, math.nan))}
        | of_labels.get(qid, {})
        for qid in sorted(taus.keys() | of_labels.keys())
    ]

    def worst(row: Json) -> tuple[bool, float]:
        figure = row["tau"] if taus else row["match"]["value"]
        return figure is None, figure or 0.0

    return sorted(rows, key=worst)
