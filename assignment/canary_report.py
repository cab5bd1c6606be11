"""How a judge scores canaries, and how it should."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from assessor.campaigns.models import CANARY, CONTROL, Answer, Campaign, Condition
from assessor.exportables import Chosen
from assessor.formats.tables import write_table
from assessor.scores.leaderboards import shown
from assignment.canaries import CANARIES, Answers, Canary, answers_of, changed_topics
from assignment.label_kind import ASSIGNMENT
from assignment.models import AnswerSheet
from assignment.queries import canary_name, labelling, scored_editions
from assignment.score_tables import NuggetScoring
from metaeval.stats.means import COMPLETE

MEASURE = "astrict"  # of all nuggets: defined whatever their importance


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


def with_canaries(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which canaries are labelled."""
    of_canaries = Answer.everything.filter(
        pk=OuterRef("answer"), run__campaign=campaign, run__task=CONTROL, run__tag__startswith=CANARY
    )
    sheets = AnswerSheet.objects.filter(Exists(of_canaries), condition=OuterRef("pk"))
    return labelling(ASSIGNMENT, campaign).filter(Exists(sheets)).order_by("name")


def canary_outcomes(condition: Condition) -> list[Outcome]:
    """Return how each canary that has labels under a condition is scored there."""
    found = NuggetScoring().load_canaries(condition)
    if not found.runs:
        return []
    place = found.measures.keys.index(MEASURE)
    editions = {edition.bank.topic: edition for edition in scored_editions(condition)}
    said: Answers = {topic.qid: [nugget["text"] for nugget in one.nuggets] for topic, one in editions.items()}
    titles = {topic.qid: topic.title for topic in editions}
    runs = condition.campaign.runs.in_bulk([run.pk for run in found.runs])
    rows = {canary_name(run.tag): (at, runs[run.pk]) for at, run in enumerate(found.runs)}
    outcomes = []
    for canary in CANARIES:
        if canary.name not in rows:
            continue
        at, run = rows[canary.name]
        former = set(changed_topics(answers_of(run), canary.answers(said, titles)))
        is_current = np.array([topic.qid not in former for topic in found.topics], dtype=bool)
        scores = found.scores[at, is_current & (found.states[at] == COMPLETE), place]
        mean = float(scores.mean()) if len(scores) else None
        outcomes.append(Outcome(canary, len(scores), mean, int((~is_current).sum())))
    return outcomes


def headline(outcomes: Sequence[Outcome]) -> str:
    """Say in one sentence which canaries the judge scores as it should not."""
    scored = [one for one in outcomes if one.score is not None]
    outside = [one for one in scored if one.is_outside]
    if not scored:
        return "No canary has all its labels yet."
    if not outside:
        return f"All {len(scored)} canaries score as they should."
    told = "; ".join(f"{one.canary.label}: {one.score:.2f}, should be {one.bound}" for one in outside)
    return f"{len(outside)} of {len(scored)} canaries score as they should not. {told[0].upper()}{told[1:]}."


def table_lines(chosen: Chosen) -> Iterator[str]:
    """Yield the table of a condition's canaries as CSV."""
    header = ("canary", "says", "least", "most", "topics", "former_topics", MEASURE, "outside")
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
        for one in canary_outcomes(chosen.record)
    )
    return write_table(header, rows)
