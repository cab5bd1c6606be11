"""How a judge scores canaries, answers that try to mislead it, and how it should."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import CANARY, CITING_CANARY, CONTROL, Answer, Campaign, Condition
from assessor.formats.tables import write_table
from assessor.scores.leaderboards import shown
from assessor.scores.score_source import scored_conditions, scored_kinds, scoring_of
from metaeval.stats.means import COMPLETE

HIGH, LOW = 0.9, 0.05  # what scores should reach, and not be over


class Canary(NamedTuple):
    """A control run of its own. least, most: its score, if the judge is not misled."""

    name: str
    label: str
    least: float = 0.0
    most: float = 1.0


class Outcome(NamedTuple):
    """How a judge scored a canary. score: the mean over so many topics, None where there are none.

    former: topics of which the canary has nuggets that were changed since, and that don't count.
    """

    canary: Canary
    topics: int
    score: float | None
    former: int

    @property
    def is_outside(self) -> bool:
        """Whether the score is not what it should be."""
        return self.score is not None and not self.canary.least <= self.score <= self.canary.most

    @property
    def bound(self) -> str:
        """What the score should be, in words."""
        return f"at least {self.canary.least:g}" if self.canary.least else f"at most {self.canary.most:g}"


def canary_name(tag: str) -> str:
    """Return which canary a control run of this tag is; "" for one that is none."""
    return tag.removeprefix(CANARY).partition(".")[0] if tag.startswith(CANARY) else ""


# What a judge should make of it depends on whether it judges what is said or what is cited.
WRONG_CITATIONS = Canary(canary_name(CITING_CANARY), "all nuggets, citing a passage of another topic")


def with_canaries(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which canaries are labelled."""
    of_canaries = Answer.everything.filter(
        pk=OuterRef("answer"), run__campaign=campaign, run__task=CONTROL, run__tag__startswith=CANARY
    )
    labelled = Q(pk__in=())
    for name, scoring in scored_kinds().items():
        if scoring.canaries:
            sheets = kind_named(name).scored.objects.filter(Exists(of_canaries), condition=OuterRef("pk"))
            labelled |= Q(Exists(sheets), kind=name)
    return scored_conditions(campaign).exclude(method=Condition.PANEL).filter(labelled).order_by("name")


def canary_outcomes(condition: Condition) -> list[Outcome]:
    """Return how each canary that has labels under a condition is scored there."""
    scoring = scoring_of(condition.kind)
    found = scoring.load_canaries(condition)
    place = found.measures.keys.index(scoring.canary_measure)
    is_former = scoring.of_former_nuggets(condition, found)
    counts = (found.states == COMPLETE) & ~is_former
    names = np.array([canary_name(run.tag) for run in found.runs])
    outcomes = []
    for canary in scoring.canaries:
        rows = names == canary.name
        if rows.any():
            scores = found.scores[rows, :, place][counts[rows]]
            counting = counts[rows].any(axis=0)
            former = is_former[rows].any(axis=0) & ~counting
            mean = float(scores.mean()) if len(scores) else None
            outcomes.append(Outcome(canary, int(counting.sum()), mean, int(former.sum())))
    return outcomes


def headline(outcomes: Sequence[Outcome]) -> str:
    """Say in one sentence which canaries the judge scores as it should not."""
    scored = [one for one in outcomes if one.score is not None]
    outside = [one for one in scored if one.is_outside]
    if not scored:
        return "No canary has all its labels yet."
    if not outside:
        return f"All {len(scored)} canaries score as they should." if scored[1:] else "The canary scores as it should."
    told = "; ".join(f"{one.canary.label}: {one.score:.2f}, should be {one.bound}" for one in outside)
    are = f"{len(outside)} of {len(scored)} canaries score" if scored[1:] else "The canary scores"
    return f"{are} as {'they' if scored[1:] else 'it'} should not. {told[0].upper()}{told[1:]}."


def table_lines(condition: Condition) -> Iterator[str]:
    """Yield the table of a condition's canaries as CSV."""
    header = ("canary", "says", "least", "most", "topics", "former_topics")
    measure = scoring_of(condition.kind).canary_measure
    rows = (
        (
            one.canary.name,
            one.canary.label,
            one.canary.least,
            one.canary.most,
            one.topics,
            one.former,
            None if one.score is None else shown(one.score),
            None if one.score is None else int(one.is_outside),
        )
        for one in canary_outcomes(condition)
    )
    return write_table((*header, measure, "outside"), rows)
