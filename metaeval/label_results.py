"""What a comparison of labels comes to, as results have it: of both sides, of others, of each side by itself."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from assessor.collection.condition_kinds import kind_of
from assessor.collection.models import Condition
from assessor.scores.means import Policy
from assessor.scores.scoring import scored_conditions
from assignment.queries import scored_editions
from assignment.scores import ABSENT, OKAY, VITAL
from metaeval.descriptive import describe_nuggets
from metaeval.labels import (
    Agreement,
    Counts,
    Level,
    agreement,
    confusion_matrix,
    distribution,
    krippendorff_alpha,
)
from metaeval.pairs import Matched, match_labels, matrices, places_in_all
from metaeval.sides import GRADES, Names, Nothing, Restriction, Side, load_side, restrict
from metaeval.told import agreement_told, value_told
from metaeval.values import undefined

Json = dict[str, Any]
_IMPORTANCE = {"vital": VITAL, "okay": OKAY, "": ABSENT}


class LabelsFound(NamedTuple):
    """Labels that both sides gave the same things. by_topic: (topics, labels, labels), rows the first side's.

    shared: how many labels both sides could give, the first of all; why_not: why there is agreement after a threshold
    alone, if so.
    """

    told: Json
    agreement: Agreement
    given: Counts  # (sides, labels): all that each side gave
    topics: list[int]  # by key
    by_topic: Counts
    shared: int
    why_not: str


def label_results(first: Side, second: Side, shared: int) -> LabelsFound | None:
    """Compare labels of the same things; None where the sides have none, or not of the same.

    shared: how many labels both sides could give; fewer than all where grades are on two scales.
    """
    if first.labels is None or second.labels is None or first.basis != second.basis:
        return None
    size = len(first.words)
    pairs = match_labels(first.labels, second.labels)
    topics = np.unique(pairs.topic)
    by_topic = matrices(np.searchsorted(topics, pairs.topic), len(topics), pairs.first, pairs.second, size)
    why_not = f"on two scales, 0 to {shared - 1} and 0 to {size - 1}" if shared < size else ""
    found = agreement(by_topic.sum(axis=0), why_not)
    given = np.stack([distribution(labels.code, size) for labels in (first.labels, second.labels)])
    alphas = {
        f"alpha_{level}": value_told(
            undefined(len(pairs.first), why_not)
            if why_not
            else krippendorff_alpha(np.stack([pairs.first, pairs.second]), size, level)
        )
        for level in (Level.NOMINAL, Level.ORDINAL)
    }
    told = {
        "labels": list(first.words),
        "pairs": len(pairs.first),
        "by_rule": pairs.by_rule,
        "unmatched": list(pairs.unmatched),
        "given": given.tolist(),
        **agreement_told(found),
        **alphas,
    }
    if first.basis == GRADES:
        told["thresholds"] = [_threshold_told(pairs, least) for least in range(1, shared)]
    return LabelsFound(told, found, given, topics.tolist(), by_topic, shared, why_not)


def _threshold_told(pairs: Matched, least: int) -> Json:
    """Return how far both sides agree on which grades are at least so high."""
    codes = np.stack([pairs.first, pairs.second]) >= least
    told = agreement_told(agreement(confusion_matrix(codes[0], codes[1], 2)))
    rates = {"kappa": told["unweighted"], "alpha": value_told(krippendorff_alpha(codes, 2))}
    return {"least": least, **{name: told[name] for name in ("matrix", "percent", "match")}, **rates}


class Others(NamedTuple):
    """What is told of further conditions: how far each agrees with both sides, and what its labels look like."""

    judges: list[Json]
    described: list[Json]


def further_conditions(first: Side, second: Side, policy: Policy, restriction: Restriction, names: Names) -> Others:
    """Tell of all further conditions of the same kind.

    Of those that label the same things: how far each two of the three agree, where all labelled. So people beside
    people stand beside people and a model, on the very same things.
    """
    judges, told = [], []
    is_judged = isinstance(first.record, Condition) and isinstance(second.record, Condition)
    for other in _of_the_same_kind(first, second):
        try:
            third, _ = restrict(load_side(other, policy, names), restriction, names)
        except Nothing:  # it has nothing of what is asked for
            continue
        if found := described(third, restriction):
            told.append(found)
        if is_judged and third.basis == first.basis == second.basis and (found := _three(first, second, third)):
            judges.append(found)
    return Others(judges, told)


def _of_the_same_kind(first: Side, second: Side) -> Iterator[Condition]:
    sides = [side.record for side in (first, second) if isinstance(side.record, Condition)]
    if not sides:
        return iter(())
    same = scored_conditions(sides[0].campaign).filter(kind=sides[0].kind)
    return same.exclude(pk__in=[side.pk for side in sides]).order_by("name").iterator()


def _three(first: Side, second: Side, third: Side) -> Json | None:
    sides = (first, second, third)
    given = [side.labels for side in sides if side.labels is not None]
    size, places = places_in_all(given)
    if not size:
        return None
    codes = [labels.code[at] for labels, at in zip(given, places, strict=True)]
    count = len(first.words)

    def two(one: int, other: int) -> Json:
        found = agreement(confusion_matrix(codes[one], codes[other], count))
        return {
            "first": sides[one].name,
            "second": sides[other].name,
            "who": " and ".join(sorted((_who(sides[one]), _who(sides[other])), reverse=True)),
            **agreement_told(found),
        }

    alpha = krippendorff_alpha(np.stack(codes), count, Level.ORDINAL)
    return {
        "third": third.name,
        "pairs": size,
        "alpha_ordinal": value_told(alpha),
        "rows": [two(0, 1), two(0, 2), two(1, 2)],
    }


def _who(side: Side) -> str:
    record = side.record
    if isinstance(record, Condition) and record.is_peoples:
        return "people"
    return "model" if isinstance(record, Condition) and record.is_a_models else "unknown"


def described(side: Side, restriction: Restriction) -> Json | None:
    """Return what a condition's nuggets and labels look like, over the topics asked for."""
    record = side.record
    if side.labels is None:
        return None
    counts = distribution(side.labels.code, len(side.words)).tolist()
    told: Json = {
        "name": side.name,
        "topics": len(np.unique(side.labels.topic)),
        "labels": sum(counts),
        "shares": [
            {"label": word, "count": count, "share": count / sum(counts) if counts and sum(counts) else None}
            for word, count in zip(side.words, counts, strict=True)
        ],
        "nuggets": None,
    }
    if isinstance(record, Condition) and kind_of(record).needs_nuggets:
        nuggets = [
            (at, len(nugget["text"].split()), _IMPORTANCE[nugget["importance"]])
            for at, edition in enumerate(scored_editions(record))
            if restriction.topics is None or edition.bank.topic.qid in restriction.topics
            for nugget in edition.nuggets
        ]
        found = describe_nuggets(*(np.array([row[place] for row in nuggets]) for place in range(3)))
        told["nuggets"] = {
            "topics": found.topics,
            "nuggets": found.nuggets,
            **{name: value_told(getattr(found, name)) for name in ("per_topic", "words", "vital")},
        }
    return told
