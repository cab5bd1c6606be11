"""Scores for organizers: leaderboards of conditions, a topic, and a run."""

import math
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition
from assessor.scores.boards import BoardLine, Strip, bar_of, scale_of, strip
from assessor.scores.cache import (
    Counts,
    condition_scores,
    kept_in_state,
    scores_with_intervals,
    state_of,
    with_answers,
)
from assessor.scores.canaries import canary_outcomes, headline, with_canaries
from assessor.scores.leaderboards import FORMS, POLICY_WORDS
from assessor.scores.loading import RunName, Scores, Topic, runs_outside
from assessor.scores.page_tables import LACKING, OUT, Line, places_shown, run_listing, runs_listing, topic_listing
from assessor.scores.score_source import Scoring, scored_conditions, scored_kinds, scoring_of
from assessor.scores.sorting import Head, shown
from assessor.scores.tables import Table, score_table
from metaeval.stats.letters import in_short
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy
from metaeval.stats.measures import Measure

_MOST_BESIDE_LETTERS = 6  # further measures, with which letters fit on a screen of 1,280 pixels
_MOST_COMPARED = 8  # runs topic by topic; a strip of more can't be read


class Choice(NamedTuple):
    """One of a row of links: what it shows, and its address."""

    label: str
    address: str
    is_current: bool


class Tab(NamedTuple):
    """A condition that can be shown."""

    condition: Condition
    address: str
    is_current: bool


class Gap(NamedTuple):
    """A run of which answers lack labels, with their topics."""

    run: RunName
    topics: list[Topic]


class Board(NamedTuple):
    """The leaderboard of a condition. rows: of its table, and topics: with the addresses of their scores; as the page
    has them.

    outside: the tags of runs that answered its topics and are not in it. strip: the chosen runs topic by topic.
    """

    scoring: Scoring
    condition: Condition
    counts: Counts | None
    found: Scores
    table: Table
    measure: Measure
    measures: list[Choice]
    tasks: list[Choice]
    heads: list[Head]
    rows: SafeString
    scale: str
    hsd: str  # the least difference of two means that is significant; "" where scores are missing
    systems: int
    gaps: list[Gap]
    outside: list[str]
    strip: Strip | None
    topics: SafeString
    beside: Any  # what else the notes of its kind tell

    @property
    def basis(self) -> str:
        """What is judged under the condition."""
        return self.scoring.basis(self.condition)

    @property
    def answers(self) -> int:
        """How many answers there are to the judged topics, whether these count or not."""
        return int(np.isin(self.found.states, (COMPLETE, INCOMPLETE)).sum())

    @property
    def unanswered(self) -> int:
        """How many answers there could be and are not."""
        return int((self.found.states == UNANSWERED).sum())

    @property
    def facts(self) -> list[tuple[str, int]]:
        """What is counted of its answers besides."""
        return list(zip(self.scoring.facts, self.counts.facts, strict=True)) if self.counts else []


@require_safe
def scores(request: PersonRequest, slug: str) -> HttpResponse:
    """The leaderboards of the chosen conditions; of the first with answers where none is chosen."""
    campaign = organized_campaign(request.user, slug)
    policy = asked_policy(request)
    kinds = list(scored_kinds())
    conditions = sorted(scored_conditions(campaign).order_by("pk"), key=lambda one: kinds.index(one.kind))
    wanted = set(request.GET.getlist("condition"))
    if not wanted <= {str(one.pk) for one in conditions}:
        raise Http404("There is no such condition in this campaign.")
    chosen = [one for one in conditions if str(one.pk) in wanted]
    if not chosen:
        answered = with_answers(conditions)
        chosen = [one for one in conditions if one.pk in answered][:1] or conditions[:1]
    context = {
        **_context(campaign, policy),
        "kinds": scored_kinds().values(),
        "tabs": [Tab(one, _with(request.GET, only=("policy",), condition=one.pk), one in chosen) for one in conditions],
        "boards": _boards(request.GET, chosen, policy),
        "policies": POLICY_WORDS.items(),
        "asked": [(name, value) for name in ("measure", "task") if (value := request.GET.get(name))],
        "tag": request.GET.get("tag", ""),
        "condition_chosen": bool(wanted),
    }
    return render(request, "scores/scores.html", context)


@require_safe
def topic_scores(request: PersonRequest, slug: str, condition_id: int, topic_id: int) -> HttpResponse:
    """All runs on one topic."""
    campaign = organized_campaign(request.user, slug)
    condition, policy = scored_condition(campaign, condition_id), asked_policy(request)
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
    condition, policy = scored_condition(campaign, condition_id), asked_policy(request)
    found, counting, _ = scores_with_intervals(condition, policy)
    at = _place(found.runs, run_id)
    context = {
        **_context(campaign, policy, condition),
        "run": found.runs[at],
        "strip": strip(found, [at], 0, policy, counting, _topic_pages(condition, policy)),
        "measure": found.measures.all[0],
        "shown": shown(request.GET, run_listing(found, at, policy), "topic"),
    }
    return render(request, "scores/run.html", context)


def _context(campaign: Campaign, policy: Policy, condition: Condition | None = None) -> dict[str, Any]:
    context = {"campaign": campaign, "policy": policy, "policy_words": POLICY_WORDS[policy], "forms": FORMS.items()}
    if condition is None:
        return context
    return context | {"condition": condition, "scoring": scoring_of(condition.kind)}


def asked_policy(request: PersonRequest) -> Policy:
    """Return the policy that an address asks for. Raises Http404 for one that there is not."""
    try:
        return Policy(request.GET.get("policy", Policy.ZERO))
    except ValueError as error:
        raise Http404("There is no such policy.") from error


def scored_condition(campaign: Campaign, condition_id: int) -> Condition:
    """Return a campaign's condition whose labels are scored. Raises Http404 for another."""
    condition = scored_conditions(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("There is no such condition in this campaign.")
    return condition


def _place(records: Sequence[Any], pk: int) -> int:
    for place, record in enumerate(records):
        if record.pk == pk:
            return place
    raise Http404("It is not in the scope of this condition.")


def _with(asked: QueryDict, *, only: Sequence[str] = (), without: Sequence[str] = (), **changed: object) -> str:
    """Return the address of this page, shown in another way. only: what it keeps of what was asked, if not all."""
    address = asked.copy()
    for name in list(address):
        if name in without or (only and name not in only):
            del address[name]
    for name, value in changed.items():
        address[name] = str(value)
    return f"?{address.urlencode()}"


def _boards(asked: QueryDict, chosen: list[Condition], policy: Policy) -> list[Board]:
    """Return the leaderboards of the chosen conditions. Raises Http404 for a measure or task that none of them has."""
    scorings = {one.kind: scoring_of(one.kind) for one in chosen}
    keys = {key for scoring in scorings.values() for key in scoring.measures.keys}
    if asked.get("measure", next(iter(keys), "")) not in keys and chosen:
        raise Http404("There is no such measure.")
    boards = [_board(asked, one, policy, {LACKING.key, OUT.key, *keys}) for one in chosen]
    if (task := asked.get("task")) and not any(run.task == task for board in boards for run in board.found.runs):
        raise Http404("There are no runs of this task.")
    return boards


def _board(asked: QueryDict, condition: Condition, policy: Policy, others: set[str]) -> Board:
    state = state_of(condition)
    found, counting, counts = scores_with_intervals(condition, policy, state)
    measures, task = found.measures, asked.get("task", "")
    key = asked.get("measure", measures.keys[0])
    at = measures.keys.index(key) if key in measures.keys else 0
    table = score_table(found, policy, task) if task else counting.table
    listed = shown(asked, runs_listing(measures, table, at), f"-{measures.keys[at]}", others)
    bounds = [*counting.high[:, at].tolist(), *(counting.low[:, at].tolist() if measures.all[at].is_signed else ())]
    scale = scale_of([*bounds, *(row.figures[at] for row in (*table.systems, *table.controls))])
    rows = {row.run.pk: row for row in (*table.systems, *table.controls) if row.run}
    places = {run.pk: place for place, run in enumerate(found.runs)}
    means = {pk: row.figures[at] for pk, row in rows.items() if not math.isnan(row.figures[at])}
    in_order = sorted((means[row.run.pk] for row in table.systems if row.run and row.run.pk in means), reverse=True)
    tag = asked.get("tag", "").strip().lower()
    further = len(places_shown(measures, at)) - 1
    groups = counting.groups[at] if further <= _MOST_BESIDE_LETTERS else None
    systems = [run.pk for run in found.runs if not run.is_control]
    letters = dict(zip(systems, map(in_short, groups.groups), strict=True)) if groups else {}

    def lines(some: Sequence[Line], *, are_ranked: bool = False) -> list[BoardLine]:
        made = []
        for line in some:
            row = rows.get(line.pk or 0)
            if row and row.run and tag and tag not in f"{row.name} {row.run.team}".lower():
                continue
            value = means.get(line.pk or 0)
            rank = in_order.index(value) + 1 if are_ranked and value is not None else None
            bar, error = None, ""
            if row and value is not None:
                low, high = (bound[places[line.pk or 0], at] for bound in (counting.low, counting.high))
                bar = bar_of(measures.all[at], value, row.errors[at], low, high, scale)
                error = "" if math.isnan(row.errors[at]) else measures.all[at].on_page(row.errors[at])
            _, _, main, *texts = [cell.text for cell in line.cells]
            others, told = texts[:further], texts[further:]
            is_incomplete = bool(row and row.incomplete)
            address = closed if line.pk == opened else f"{closed}&run={line.pk}"
            anchor = f"run-{condition.pk}-{line.pk}"
            made.append(
                BoardLine(
                    row and row.run,
                    line.name,
                    rank,
                    main,
                    error,
                    bar,
                    letters.get(line.pk or 0, ""),
                    others,
                    told,
                    is_incomplete,
                    anchor,
                    address,
                )
            )
        return made

    slug, topic_page = condition.campaign.slug, _topic_pages(condition, policy)
    picked = sorted((pk for pk in rows if str(pk) in asked.getlist("run")), key=lambda pk: -means.get(pk, -math.inf))
    picked = [places[pk] for pk in picked[:_MOST_COMPARED]]
    opened = found.runs[picked[0]].pk if len(picked) == 1 else None
    closed = _with(asked, without=("run",))
    hsd = measures.all[at].on_page(groups.least) if groups else ""
    of_runs = strip(found, picked, at, policy, counting, topic_page) if picked else None
    chosen = [found.runs[place].pk for place in picked]

    def draw() -> tuple[SafeString, SafeString]:
        context = {
            "campaign": condition.campaign,
            "condition": condition,
            "policy": policy,
            "measure": measures.all[at],
            "columns": len(listed.heads) + 3 + bool(hsd),  # and a box, a place, intervals and letters
            "lines": lines(listed.listing.lines, are_ranked=True),
            "over": lines(listed.listing.over),
            "apart": lines(listed.listing.apart),
            "opened": opened,
            "chosen": chosen,
            "hsd": hsd,
            "strip": of_runs,
            "tag": asked.get("tag", ""),
            "scoring": scoring_of(condition.kind),
            "topics": [(topic, topic_page(topic.pk)) for topic in found.topics],
        }
        return render_to_string("scores/_rows.html", context), render_to_string("scores/_topics.html", context)

    # Of what is searched for there is no end.
    name = f"board.{condition.pk}.{slug}.{policy}.{sha256(asked.urlencode().encode()).hexdigest()}"
    drawn_rows, drawn_topics = draw() if tag else kept_in_state(name, state, draw)
    return Board(
        scoring=scoring_of(condition.kind),
        condition=condition,
        counts=counts,
        found=found,
        table=table,
        measure=measures.all[at],
        measures=[
            Choice(one.in_words, _with(asked, without=("sort",), measure=one.key), one is measures.all[at])
            for one in measures.all
        ],
        tasks=_tasks(asked, found, task),
        heads=listed.heads,
        rows=drawn_rows,
        scale=f"{scale:g}",
        hsd=hsd,
        systems=len(systems),
        gaps=_gaps(found),
        outside=runs_outside(condition, found),
        strip=of_runs,
        topics=drawn_topics,
        beside=scoring_of(condition.kind).beside(condition, found),
    )


def _topic_pages(condition: Condition, policy: Policy) -> Callable[[int], str]:
    """Return what gives the address of a topic's scores by its key: a page has hundreds of them."""
    start = reverse("topic_scores", args=[condition.campaign.slug, condition.pk, 0]).removesuffix("0/")
    return lambda topic: f"{start}{topic}/?policy={policy}"


def _tasks(asked: QueryDict, found: Scores, task: str) -> list[Choice]:
    """Return the tasks of which runs can be shown alone; none where all runs are of one."""
    names = sorted({run.task for run in found.runs if not run.is_control})
    if len(names) < 2 and not task:
        return []
    of = {name: sum(run.task == name and not run.is_control for run in found.runs) for name in names if name}
    return [
        Choice("All runs", _with(asked, without=("task", "run")), not task),
        *(
            Choice(f"{name} {number}", _with(asked, without=("run",), task=name), name == task)
            for name, number in of.items()
        ),
    ]


def _gaps(found: Scores) -> list[Gap]:
    """Return the runs of which answers lack labels."""
    lacking = found.states == INCOMPLETE
    return [
        Gap(found.runs[at], [found.topics[topic] for topic in np.flatnonzero(lacking[at]).tolist()])
        for at in np.flatnonzero(lacking.any(axis=1)).tolist()
    ]


def _best_first(found: Scores) -> str:
    return f"-{found.measures.keys[0]}"


@require_safe
def canaries(request: PersonRequest, slug: str, condition_id: int) -> HttpResponse:
    """How a condition's judge scores canaries."""
    campaign = organized_campaign(request.user, slug)
    condition = with_canaries(campaign).filter(pk=condition_id).first()
    if condition is None:
        raise Http404("No canaries are labelled under this condition.")
    scoring, outcomes = scoring_of(condition.kind), canary_outcomes(condition)
    [measure] = [one for one in scoring.measures.all if one.key == scoring.canary_measure]
    context = {"campaign": campaign, "condition": condition, "outcomes": outcomes, "measure": measure}
    return render(request, "scores/canaries.html", context | {"headline": headline(outcomes)})
