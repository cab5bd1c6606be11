"""Score tables for organizers: of conditions, of a topic, and of a run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from assessor.scores.cache import Counts, Scope, condition_scores, counts_by_condition, scopes
from assessor.scores.leaderboards import FORMS, POLICY_WORDS
from assessor.scores.loading import Scores, runs_outside
from assessor.scores.page_tables import OUT, run_listing, runs_listing, topic_listing
from assessor.scores.score_source import Scoring, scored_conditions, scored_kinds, scoring_of
from assessor.scores.sorting import Shown, shown
from assessor.scores.tables import Table, score_table
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy


class ConditionRow(NamedTuple):
    """A condition that can be chosen. counts and scope are None where it has no answers yet."""

    condition: Condition
    basis: str
    labels_by: str
    counts: Counts | None
    scope: Scope | None
    is_chosen: bool


class Group(NamedTuple):
    """The conditions of a kind."""

    scoring: Scoring
    rows: list[ConditionRow]


class ConditionTable(NamedTuple):
    """A chosen condition, with its scores. outside: the tags of runs that answered its topics and are not in it."""

    scoring: Scoring
    condition: Condition
    counts: Counts | None
    found: Scores
    table: Table
    shown: Shown
    outside: list[str]

    @property
    def answers(self) -> int:
        """How many answers there are to the judged topics, whether these count or not."""
        return int(np.isin(self.found.states, (COMPLETE, INCOMPLETE)).sum())

    @property
    def unanswered(self) -> int:
        """How many answers there could be and are not."""
        return int((self.found.states == UNANSWERED).sum())


@require_safe
def scores(request: PersonRequest, slug: str) -> HttpResponse:
    """The conditions, and the score tables of those that are chosen."""
    campaign = organized_campaign(request.user, slug)
    policy = _policy(request)
    conditions = list(scored_conditions(campaign))
    wanted = set(request.GET.getlist("condition"))
    if not wanted <= {str(condition.pk) for condition in conditions}:
        raise Http404("There is no such condition in this campaign.")
    counts = counts_by_condition(conditions)
    sizes = scopes(counts)

    def row(scoring: Scoring, one: Condition) -> ConditionRow:
        told = scoring.basis(one), scoring.labels_by(one)
        return ConditionRow(one, *told, counts.get(one.pk), sizes.get(one.pk), str(one.pk) in wanted)

    groups = [
        Group(scoring, [row(scoring, one) for one in conditions if one.kind == name])
        for name, scoring in scored_kinds().items()
    ]
    context = {
        **_context(campaign, policy),
        "groups": groups,
        "is_empty": not conditions,
        "tables": _tables(request, groups, policy),
        "policies": POLICY_WORDS.items(),
    }
    return render(request, "scores/scores.html", context)


@require_safe
def topic_scores(request: PersonRequest, slug: str, condition_id: int, topic_id: int) -> HttpResponse:
    """All runs on one topic."""
    campaign = organized_campaign(request.user, slug)
    condition, policy = _condition(campaign, condition_id), _policy(request)
    found = condition_scores(condition)
    at = _place(found.topics, topic_id)
    context = {
        **_context(campaign, policy, condition),
        "topic": found.topics[at],
        "shown": shown(request.GET, topic_listing(found, at, policy), _best_first(found)),
    }
    return render(request, "scores/topic.html", context)


@require_safe
def run_scores(request: PersonRequest, slug: str, condition_id: int, run_id: int) -> HttpResponse:
    """One run on all topics."""
    campaign = organized_campaign(request.user, slug)
    condition, policy = _condition(campaign, condition_id), _policy(request)
    found = condition_scores(condition)
    at = _place(found.runs, run_id)
    context = {
        **_context(campaign, policy, condition),
        "run": found.runs[at],
        "shown": shown(request.GET, run_listing(found, at, policy), "topic"),
    }
    return render(request, "scores/run.html", context)


def _context(campaign: Campaign, policy: Policy, condition: Condition | None = None) -> dict[str, Any]:
    context = {"campaign": campaign, "policy": policy, "policy_words": POLICY_WORDS[policy], "forms": FORMS.items()}
    return context | ({"condition": condition, "scoring": scoring_of(condition.kind)} if condition else {})


def _policy(request: PersonRequest) -> Policy:
    try:
        return Policy(request.GET.get("policy", Policy.ZERO))
    except ValueError as error:
        raise Http404("There is no such policy.") from error


def _condition(campaign: Campaign, condition_id: int) -> Condition:
    condition = scored_conditions(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def _place(records: Sequence[Any], pk: int) -> int:
    for place, record in enumerate(records):
        if record.pk == pk:
            return place
    raise Http404("It is not in the scope of this condition.")


def _tables(request: PersonRequest, groups: list[Group], policy: Policy) -> list[ConditionTable]:
    """Return the tables of the chosen conditions."""
    chosen = [(group.scoring, row) for group in groups for row in group.rows if row.is_chosen]
    columns = {OUT.key, *(key for scoring, _ in chosen for key in scoring.measures.keys)}
    tables = []
    for scoring, row in chosen:
        found = condition_scores(row.condition)
        table = score_table(found, policy)
        listed = shown(request.GET, runs_listing(found.measures, table), _best_first(found), columns)
        tables.append(ConditionTable(scoring, row.condition, row.counts, found, table, listed, runs_outside(found)))
    return tables


def _best_first(found: Scores) -> str:
    return f"-{found.measures.keys[0]}"
