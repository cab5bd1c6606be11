"""The noise ceiling of people's labels and a judge's, as results have it: how good any judge could be."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.campaigns.models import Condition
from assessor.labels.label_kind import label_kind
from assessor.labels.manual_setups import SECOND, conditions, is_part
from assessor.scores.loading import Labels
from assessor.scores.score_source import scored_conditions
from metaeval.inputs import Input, Names, NothingToCompare, Restriction, load_input, restrict
from metaeval.label_pairs import matrices, places_in_all
from metaeval.models import Comparison
from metaeval.serializers import number, statistic_json
from metaeval.stats.agreement import NO_VALUE, kappa
from metaeval.stats.bootstrap import Interval
from metaeval.stats.ceiling import (
    EPSILON,
    LEAST_RUNS,
    LEAST_TOPICS,
    SPLITS,
    TOO_FEW_TOPICS,
    AlternativeAnnotator,
    alternative_annotator,
    compare_kappas,
    disattenuate,
    noise_ceiling,
    plan_doubling,
)
from metaeval.stats.correlation import pearson
from metaeval.stats.levels import run_means
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import MatchedScores, ScoreMatrix
from metaeval.stats.statistic import undefined

Json = dict[str, Any]
ANNOTATORS = "experts"  # what a track's assessors are to the alternative annotator test
_SAW_LABELS = "people saw a model's labels while they labelled"


class _Person(NamedTuple):
    """Labels of people under a condition; people: who labelled each answer, by its key."""

    data: Input
    labels: Labels
    people: dict[int, int]


def report_ceiling(
    comparison: Comparison,
    reference: Input,
    candidate: Input,
    scores: MatchedScores | None,
    restriction: Restriction,
    names: Names,
) -> Json:
    """Return the report by the name that results have it under; nothing unless people are compared with a judge."""
    people, judge = reference.record, candidate.record
    if not isinstance(people, Condition) or not isinstance(judge, Condition):
        return {}
    if not people.is_peoples or not judge.is_a_models:
        return {}

    def loaded(found: Iterable[Condition]) -> list[Input]:
        inputs = []
        for one in found:
            try:
                inputs.append(restrict(load_input(one, Policy(comparison.policy), names), restriction, names)[0])
            except NothingToCompare:  # it has nothing of what is asked for
                continue
        return inputs

    seconds = loaded(scored_conditions(people.campaign).filter(pk__in=conditions(of=people.pk, purpose=SECOND)))
    measures = _by_measure(scores, comparison.seed)
    labels = _labels_json(comparison, reference, candidate, seconds)
    if not measures and not labels["seconds"]:
        return {}
    same_topics = _on_same_topics(scores, seconds, loaded(_replicates(judge)))
    report = {"splits": SPLITS, "margin": float(comparison.margin), "measures": measures, "same_topics": same_topics}
    return {"ceiling": report | labels}


def _by_measure(scores: MatchedScores | None, seed: int) -> dict[str, Json]:
    """Return the correlations of runs' means over disjoint halves of the topics, by measure."""
    if scores is None or not scores.reference.topics:
        return {}
    first, second = (matrix.cells for matrix in scores[:2])
    return {
        measure: {
            name: statistic_json(found)
            for name, found in noise_ceiling(first[..., at], second[..., at], seed=seed)._asdict().items()
        }
        for at, measure in enumerate(scores.reference.measures)
    }


def _replicates(judge: Condition) -> list[Condition]:
    """Return the other replicates of a judge: asked the same, in the same way."""
    same = scored_conditions(judge.campaign).filter(
        kind=judge.kind, method=judge.method, judge=judge.judge, nuggets=judge.nuggets, protocol=judge.protocol
    )
    others = same.filter(shown=judge.shown, of_passages=judge.of_passages).exclude(replicate=judge.replicate)
    return [one for one in others.order_by("replicate", "pk") if one.prompts == judge.prompts]


def _on_same_topics(scores: MatchedScores | None, seconds: Sequence[Input], replicates: Sequence[Input]) -> Json | None:
    """Return correlations over the same topics, freed of the noise that a second opinion and a replicate show.

    Of several, each the first with scores of all answers. None where there is neither.
    """
    if scores is None or not scores.reference.topics:
        return None
    whole = [one for one in seconds if isinstance(one.record, Condition) and not is_part(one.record)]
    second, replicate = (next((one for one in found if one.scores), None) for found in (whole, replicates))
    more = [one.scores for one in (second, replicate) if one and one.scores]
    if not more:
        return None
    matrices_of_all, measures = _matched([*scores[:2], *more])
    runs, topics = matrices_of_all[0].shape[:2]
    few = TOO_FEW_TOPICS if topics < LEAST_TOPICS else f"fewer than {LEAST_RUNS} runs" if runs < LEAST_RUNS else ""
    found = {}
    for at, measure in enumerate(measures):
        means = [run_means(cells[..., at], np.ones((1, topics)))[0] for cells in matrices_of_all]
        of = {"observed": (means[0], means[1])}
        of |= {"people": (means[0], means[2])} if second else {}
        of |= {"judge": (means[1], means[-1])} if replicate else {}
        r = {name: undefined(runs, few) if few else pearson(*pair) for name, pair in of.items()}
        observed, *reliabilities = r.values()
        r["disattenuated"] = disattenuate(observed, *reliabilities)
        found[measure] = {name: statistic_json(one) for name, one in r.items()}
    return {
        "second": second.name if second else None,
        "replicate": replicate.name if replicate else None,
        "topics": topics,
        "measures": found,
    }


def _matched(of: Sequence[ScoreMatrix]) -> tuple[list[npt.NDArray[np.float64]], list[str]]:
    """Return the cells of all over the runs, topics and measures that they share, NaN in all where they are in one."""

    def common(field: str) -> list[str]:
        rest = [set(getattr(one, field)) for one in of[1:]]
        return [name for name in getattr(of[0], field) if all(name in names for names in rest)]

    names = {field: common(field) for field in ("runs", "topics", "measures")}
    cells = []
    for one in of:
        places = ([getattr(one, field).index(name) for name in kept] for field, kept in names.items())
        cells.append(one.cells[np.ix_(*places)])
    lacks = np.isnan(cells).any(axis=0)
    return [np.where(lacks, np.nan, one) for one in cells], names["measures"]


def _labels_json(comparison: Comparison, reference: Input, candidate: Input, seconds: Sequence[Input]) -> Json:
    first, judge = _with_people(reference), candidate.labels
    if first is None or judge is None or reference.basis != candidate.basis:
        return {"seconds": [], "annotators": None, "doubling": None}
    others = [person for one in seconds if (person := _with_people(one)) is not None]
    told = [found for one in others if (found := _second_json(comparison, first, one, judge, len(reference.words)))]
    return {
        "seconds": told,
        "annotators": _annotators_json([first, *others], judge) if told and not _saw_labels(reference) else None,
        "doubling": None if told else _doubling_json(first.labels),
    }


def _with_people(data: Input) -> _Person | None:
    """Return the labels that people themselves gave under a condition: none by rule, and none adopted from others."""
    condition = data.record
    if data.labels is None or not isinstance(condition, Condition):
        return None
    sheets = label_kind(condition.kind).sheets
    if sheets is None:
        return None
    owner = sheets.ANSWERS[0]
    of_condition = sheets.objects.filter(condition=condition).order_by()
    rows = f"{sheets.LABELS}__" if hasattr(sheets, "LABELS") else ""
    adopted = of_condition.filter(**{f"{rows}resolved_value__isnull": False}).values_list(owner, flat=True)
    is_own = ~data.labels.by_rule & ~np.isin(data.labels.owner, np.array(list(adopted), dtype=np.int64))
    columns: Iterable[Any] = (column[is_own] for column in data.labels)
    # Of pairs of answers, an answer alone does not tell who compared them.
    who = of_condition.exclude(task=None).values_list(owner, "task__person") if len(sheets.ANSWERS) == 1 else ()
    return _Person(data, Labels(*columns), dict(who))


def _second_json(comparison: Comparison, first: _Person, second: _Person, judge: Labels, size: int) -> Json | None:
    """Return how far two people and the judge agree on what all three labelled; None where that is nothing."""
    count, places = places_in_all([first.labels, second.labels, judge])
    if not count:
        return None
    codes = [labels.code[at] for labels, at in zip((first.labels, second.labels, judge), places, strict=True)]
    topics, at = np.unique(first.labels.topic[places[0]], return_inverse=True)

    def by_topic(one: int, other: int) -> npt.NDArray[np.int64]:
        return matrices(at, len(topics), codes[one], codes[other], size)

    found = compare_kappas(
        by_topic(0, 1), by_topic(0, 2), margin=float(comparison.margin), seed=comparison.seed, draws=comparison.draws
    )
    if _saw_labels(first.data):
        found = found._replace(interval=Interval(None, None, None, 0, _SAW_LABELS))
    low, high, mean, draws, why = found.interval
    return {
        "name": second.data.name,
        "items": count,
        "topics": len(topics),
        "kappa_people": statistic_json(found.people),
        "kappa_first_judge": statistic_json(found.judge),
        "kappa_second_judge": statistic_json(kappa(by_topic(1, 2).sum(axis=0))),
        "difference": statistic_json(found.difference)
        | {"interval": {"low": number(low), "high": number(high), "mean": number(mean), "draws": draws, "why": why}},
        "is_within": found.is_within,
    }


def _saw_labels(people: Input) -> bool:
    return isinstance(people.record, Condition) and people.record.shown_id is not None


def _annotators_json(people: Sequence[_Person], judge: Labels) -> Json:
    """Return the alternative annotator test over persons, who are numbered: a result names nobody."""
    place = {person: at for at, person in enumerate(_most_first(people))}
    codes = np.full((len(place), len(judge.code)), NO_VALUE, dtype=np.int8)
    for one in people:
        _, (in_one, in_judge) = places_in_all([one.labels, judge])
        for at, to in zip(in_one.tolist(), in_judge.tolist(), strict=True):
            if (person := one.people.get(int(one.labels.owner[at]))) is not None:
                codes[place[person], to] = one.labels.code[at]
    found: AlternativeAnnotator = alternative_annotator(codes, judge.code, judge.topic, epsilon=EPSILON[ANNOTATORS])
    return {
        "as": ANNOTATORS,
        "epsilon": found.epsilon,
        "people": len(place),
        "winning_rate": statistic_json(found.winning_rate),
        "advantage": statistic_json(found.advantage),
        "passes": found.passes,
        "annotators": [
            {name: number(value) if isinstance(value, float) else value for name, value in one._asdict().items()}
            | {"place": one.place + 1, "is_won": one.is_won}
            for one in found.annotators
        ],
    }


def _most_first(people: Sequence[_Person]) -> list[int]:
    """Return people, by key, who have most labels first."""
    owners = ((one.people, owner) for one in people for owner in one.labels.owner.tolist())
    counts = Counter(who[owner] for who, owner in owners if owner in who)
    return sorted(counts, key=lambda person: (-counts[person], person))


def _doubling_json(labels: Labels) -> Json | None:
    answers = np.unique(np.stack([labels.topic, labels.owner]), axis=1)[0]
    plan = plan_doubling(np.unique(answers, return_counts=True)[1].tolist())
    return plan._asdict() if plan else None
