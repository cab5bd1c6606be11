"""The report of labels: of both inputs, of other conditions beside them, of each by itself."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assessor.campaigns.models import Condition, QrelsSource
from assessor.campaigns.queries import languages_of
from assessor.labels.label_kind import label_kind
from assessor.scores.score_source import scored_conditions
from metaeval.inputs import GRADES, Input, Names, NothingToCompare, Restriction, load_input, restrict
from metaeval.label_pairs import LabelPairs, match_labels, matrices, places_in_all, told_of_items
from metaeval.models import Comparable
from metaeval.serializers import agreement_json, statistic_json
from metaeval.stats.agreement import (
    Agreement,
    Counts,
    Level,
    confusion_matrix,
    count_labels,
    krippendorff_alpha,
    rate_agreement,
)
from metaeval.stats.descriptive import describe_nuggets
from metaeval.stats.means import Policy
from metaeval.stats.statistic import undefined

Json = dict[str, Any]
_IS_VITAL = {"vital": 1.0, "okay": 0.0, "": math.nan}


class LabelComparison(NamedTuple):
    """Labels of the same things. by_topic: confusion matrices (topics, labels, labels), rows the reference's.

    report: as results have it; groups: the same of each step in which things are judged, and of each language that they
    are in, where there are some. shared: how many labels both could give, the first of all; why_not: why there is
    agreement after a threshold alone, if so.
    """

    report: Json
    groups: dict[str, list[Json]]
    agreement: Agreement
    counts: Counts  # (2, labels): all that each gave
    topics: list[int]  # by key
    by_topic: Counts
    shared: int
    why_not: str


def report_labels(reference: Input, candidate: Input, shared: int) -> LabelComparison | None:
    """Compare labels of the same things; None where there are none.

    shared: how many labels both could give; fewer than all where grades are on two scales.
    """
    if reference.labels is None or candidate.labels is None or reference.basis != candidate.basis:
        return None
    size = len(reference.words)
    pairs = match_labels(reference.labels, candidate.labels)
    topics = np.unique(pairs.topic)
    by_topic = matrices(np.searchsorted(topics, pairs.topic), len(topics), pairs.first, pairs.second, size)
    why_not = f"on two scales, 0 to {shared - 1} and 0 to {size - 1}" if shared < size else ""
    found = rate_agreement(by_topic.sum(axis=0), why_not)
    counts = np.stack([count_labels(labels.code, size) for labels in (reference.labels, candidate.labels)])
    alphas = {
        f"alpha_{level}": statistic_json(
            undefined(len(pairs.first), why_not)
            if why_not
            else krippendorff_alpha(np.stack([pairs.first, pairs.second]), size, level)
        )
        for level in (Level.NOMINAL, Level.ORDINAL)
    }
    report = {
        "labels": list(reference.words),
        "pairs": len(pairs.first),
        "by_rule": pairs.by_rule,
        "unmatched": list(pairs.unmatched),
        "given": counts.tolist(),
        **agreement_json(found),
        **alphas,
    }
    if reference.basis == GRADES:
        report["thresholds"] = [_threshold_json(pairs, least) for least in range(1, shared)]
    groups = {"steps": _steps(reference.record, pairs), "languages": _languages(reference.record, pairs)}
    of_groups = {name: _groups_json(*found, pairs, size) for name, found in groups.items() if found}
    return LabelComparison(report, of_groups, found, counts, topics.tolist(), by_topic, shared, why_not)


# What groups are called, by name, and the place of each pair's, -1 for none.
_Groups = tuple[Mapping[str, str], npt.NDArray[np.int64]]


def _steps(record: Comparable, pairs: LabelPairs) -> _Groups | None:
    """Return the step of each pair, where the kind has steps."""
    kind = label_kind(record.kind) if isinstance(record, Condition) else None
    if kind is None or not kind.steps:
        return None
    names = list(kind.steps)
    places = told_of_items(pairs.item, lambda item: names.index(kind.step_of(item)))
    return kind.steps, places.astype(np.int64)


def _languages(record: Comparable, pairs: LabelPairs) -> _Groups | None:
    """Return the language of the passage that each pair is about, where passages have one."""
    if not record.campaign.segments.exclude(language="").exists():
        return None
    if isinstance(record, Condition):
        things = list(zip(pairs.owner.tolist(), pairs.item.tolist(), strict=True))
        docids = label_kind(record.kind).docids_of(record, things)
    else:
        docids = pairs.item.tolist()  # of grades
    known = languages_of(record.campaign, set(docids))
    names = sorted(set(known.values()))
    return {name: name for name in names}, np.array(
        [names.index(known[docid]) if docid in known else -1 for docid in docids], dtype=np.int64
    )


def _groups_json(titles: Mapping[str, str], group: npt.NDArray[np.int64], pairs: LabelPairs, size: int) -> list[Json]:
    """Return how far both agree in each group in which they label the same things."""
    found = []
    for at, (name, title) in enumerate(titles.items()):
        of_group = group == at
        first, second = pairs.first[of_group], pairs.second[of_group]
        if of_group.any():
            alpha = krippendorff_alpha(np.stack([first, second]), size, Level.NOMINAL)
            told = {"name": name, "title": title, "pairs": int(of_group.sum())}
            agreement = agreement_json(rate_agreement(confusion_matrix(first, second, size)))
            found.append(told | agreement | {"alpha_nominal": statistic_json(alpha)})
    return found


def _threshold_json(pairs: LabelPairs, least: int) -> Json:
    """Return how far both agree on which grades are at least so high."""
    codes = np.stack([pairs.first, pairs.second]) >= least
    found = agreement_json(rate_agreement(confusion_matrix(codes[0], codes[1], 2)))
    rates = {"kappa": found["unweighted"], "alpha": statistic_json(krippendorff_alpha(codes, 2))}
    return {"least": least, **{name: found[name] for name in ("matrix", "percent", "match")}, **rates}


class Others(NamedTuple):
    """The report of further conditions: how far each agrees with both inputs, and what its labels look like."""

    judges: list[Json]
    described: list[Json]


def further_conditions(
    reference: Input, candidate: Input, policy: Policy, restriction: Restriction, names: Names
) -> Others:
    """Describe all further conditions of the same kind.

    Of those that label the same things: how far each two of the three agree, where all labelled. So the agreement of
    two people can be held against that of people and a model, on the very same things.
    """
    judges, descriptions = [], []
    is_judged = isinstance(reference.record, Condition) and isinstance(candidate.record, Condition)
    for other in _of_the_same_kind(reference, candidate):
        try:
            third, _ = restrict(load_input(other, policy, names), restriction, names)
        except NothingToCompare:  # it has nothing of what is asked for
            continue
        if found := describe_input(third, restriction):
            descriptions.append(found)
        is_the_same = third.basis == reference.basis == candidate.basis
        if is_judged and is_the_same and (found := _three_judges(reference, candidate, third)):
            judges.append(found)
    return Others(judges, descriptions)


def _of_the_same_kind(reference: Input, candidate: Input) -> Iterator[Condition]:
    conditions = [data.record for data in (reference, candidate) if isinstance(data.record, Condition)]
    if not conditions:
        return iter(())
    same = scored_conditions(conditions[0].campaign).filter(kind=conditions[0].kind)
    return same.exclude(pk__in=[one.pk for one in conditions]).order_by("name").iterator()


def _three_judges(reference: Input, candidate: Input, third: Input) -> Json | None:
    three = (reference, candidate, third)
    all_labels = [data.labels for data in three if data.labels is not None]
    size, places = places_in_all(all_labels)
    if not size:
        return None
    codes = [labels.code[at] for labels, at in zip(all_labels, places, strict=True)]
    count = len(reference.words)

    def two(one: int, other: int) -> Json:
        found = rate_agreement(confusion_matrix(codes[one], codes[other], count))
        return {
            "first": three[one].name,
            "second": three[other].name,
            "who": " and ".join(
                sorted((labelled_by(three[one].record), labelled_by(three[other].record)), reverse=True)
            ),
            **agreement_json(found),
        }

    alpha = krippendorff_alpha(np.stack(codes), count, Level.ORDINAL)
    return {
        "third": third.name,
        "pairs": size,
        "alpha_ordinal": statistic_json(alpha),
        "rows": [two(0, 1), two(0, 2), two(1, 2)],
    }


def labelled_by(record: Comparable) -> str:
    """Return whose labels or grades a record has: "people", "model", "panel" or "unknown"."""
    if isinstance(record, QrelsSource):
        return str(record.by)
    if isinstance(record, Condition) and record.is_peoples:
        return "people"
    if isinstance(record, Condition) and record.is_panel:
        return "panel"
    return "model" if isinstance(record, Condition) and record.is_a_models else "unknown"


def describe_input(data: Input, restriction: Restriction) -> Json | None:
    """Return what a condition's nuggets and labels look like, over the topics asked for."""
    record, labels = data.record, data.labels
    if labels is None:
        return None
    counts = count_labels(labels.code, len(data.words)).tolist()
    description: Json = {
        "name": data.name,
        "topics": len(np.unique(labels.topic)),
        "labels": sum(counts),
        "shares": [
            {"label": word, "count": count, "share": count / sum(counts) if counts and sum(counts) else None}
            for word, count in zip(data.words, counts, strict=True)
        ],
        "nuggets": None,
    }
    if isinstance(record, Condition) and (kind := label_kind(record.kind)).needs_nuggets:
        nuggets = [
            (at, len(nugget["text"].split()), _IS_VITAL[nugget["importance"]])
            for at, edition in enumerate(kind.scored_editions(record))
            if restriction.topics is None or edition.bank.topic.qid in restriction.topics
            for nugget in edition.nuggets
        ]
        found = describe_nuggets(*(np.array([row[place] for row in nuggets]) for place in range(3)))
        description["nuggets"] = {
            "topics": found.topics,
            "nuggets": found.nuggets,
            **{name: statistic_json(getattr(found, name)) for name in ("per_topic", "words", "vital")},
        }
    return description
