"""The lists of a campaign's collection: topics, passages, runs and grades."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import CONTROL
from assessor.campaigns.queries import among
from assessor.desk import queries
from assessor.desk.collection import (
    RunRow,
    TopicRow,
    grade_sources,
    judged_topics,
    passage_rows,
    run_rows,
    topic_rows,
    topic_states,
    without_text,
)
from assessor.desk.completeness import KINDS, cited_counts
from assessor.desk.listing import Choice, Column, chosen, holds, listing, paged, query_of

_PASSAGES = 25  # on a page, with their texts
_WITHOUT_GRADES = 100
_GRADE_GAPS = {
    "ungraded": "Topics without grades",
    "nothing-relevant": "Graded, nothing relevant",
    "pooled-ungraded": "In the pool without a grade",
}

_TOPIC_COLUMNS = (
    Column("topic", "Topic", lambda row: row.topic.qid),
    Column("relevant", "Relevant passages", lambda row: row.facts.relevant, is_number=True),
    Column("answers", "Answers", lambda row: row.facts.answers, is_number=True),
    Column("nuggets", "Nuggets"),
    Column("people", "Labels"),
    Column("state", "State"),
)
_TOPIC_VIEWS = {"all": "All", "judged": "In use", "practice": "Practice"}
_RUN_COLUMNS = (
    Column("run", "Run", lambda row: row.run.tag),
    Column("team", "Team", lambda row: row.run.team or None),
    Column("task", "Task", lambda row: row.run.task or None),
    Column("type", "Type", lambda row: row.run.type or None),
    Column("priority", "Priority", lambda row: row.run.priority, is_number=True),
    Column("generator", "Generator", lambda row: row.run.generator_in_words or None),
    Column("answers", "Answers", lambda row: row.answers, is_number=True),
    Column("lacking", "Topics lacking", lambda row: row.lacking, is_number=True),
    Column("words", "Words an answer", lambda row: row.words, is_number=True),
)


@require_safe
def topics(request: PersonRequest, slug: str) -> HttpResponse:
    """All topics, those that are judged, or those for practice."""
    campaign = organized_campaign(request.user, slug)
    rows, judged = topic_rows(campaign, campaign.topics.order_by("qid")), judged_topics(campaign)
    views: dict[str, list[TopicRow]] = {
        "all": rows,
        "judged": [row for row in rows if row.topic.pk in judged and not row.topic.is_practice],
        "practice": [row for row in rows if row.topic.is_practice],
    }
    choices = [Choice(key, label, len(views[key])) for key, label in _TOPIC_VIEWS.items()]
    show, q = chosen(request.GET, choices), query_of(request.GET)
    found = [row for row in views[show] if holds(q, row.topic.qid, row.topic.title)]
    shown = listing(request.GET, found, _TOPIC_COLUMNS, choices, show)
    states = topic_states(campaign, [row.topic.pk for row in shown.page])
    lines = [(row, states[row.topic.pk]) for row in shown.page]
    context = {"campaign": campaign, "listing": shown, "lines": lines, "judged": len(views["judged"])}
    return render(request, "desk/topics.html", context)


@require_safe
def runs(request: PersonRequest, slug: str) -> HttpResponse:
    """All runs, or those that lack something."""
    campaign = organized_campaign(request.user, slug)
    rows = run_rows(campaign)
    views: dict[str, list[RunRow]] = {
        "all": [row for row in rows if row.run.task != CONTROL],
        "lacking": [row for row in rows if row.lacking],
        "no-text": [row for row in rows if row.empty and row.run.task != CONTROL],
        "control": [row for row in rows if row.run.task == CONTROL],
    }
    labels = {"all": "All", "lacking": "Lacking topics", "no-text": "Empty answers", "control": "Control runs"}
    choices = [Choice(key, labels[key], len(of_view)) for key, of_view in views.items()]
    show, q = chosen(request.GET, choices), query_of(request.GET)
    found = [row for row in views[show] if holds(q, row.run.tag, row.run.team, row.run.task)]
    sections = [section for kind in condition_kinds() if (section := kind.runs_section(campaign))]
    context = {
        "campaign": campaign,
        "listing": listing(request.GET, found, _RUN_COLUMNS, choices, show),
        "teams": len({row.run.team for row in views["all"] if row.run.team}),
        "topics": campaign.topics.count(),
        "gap": {"lacking": "runs", "no-text": "empty"}.get(show),
        "sections": sections,
    }
    return render(request, "desk/runs.html", context)


@require_safe
def passages(request: PersonRequest, slug: str) -> HttpResponse:
    """The passages by docid: all, those that answers cite (most often first), or what has no text."""
    campaign = organized_campaign(request.user, slug)
    gaps, loaded = without_text(campaign), queries.loaded(campaign)
    choices = [
        Choice("all", "All", loaded["segments"]),
        Choice("cited", "Cited", len(cited := cited_counts(campaign))),
        Choice("no-text", "Without text", len(gaps)),
    ]
    show, q = chosen(request.GET, choices), query_of(request.GET)
    if show == "all":
        segments = campaign.segments.filter(docid__icontains=q) if q else campaign.segments
        docids = segments.order_by("docid").values_list("docid", flat=True)
        page = paged(request.GET, docids, _PASSAGES, total=None if q else loaded["segments"])
    elif show == "cited":
        most_first = sorted((docid for docid in cited if holds(q, docid)), key=lambda docid: (-cited[docid], docid))
        page = paged(request.GET, most_first, _PASSAGES)
    else:
        page = paged(request.GET, [docid for docid in gaps if holds(q, docid)], _PASSAGES)
    context = {
        "campaign": campaign,
        "choices": choices,
        "show": show,
        "q": q,
        "page": page,
        "rows": passage_rows(campaign, list(page), gaps, cited),
        "why": {name for names in gaps.values() for name in names} if show == "no-text" else (),
    }
    return render(request, "desk/passages.html", context)


@require_safe
def relevance(request: PersonRequest, slug: str) -> HttpResponse:
    """Where grades come from, which there are, which topics have none, and the pool."""
    campaign = organized_campaign(request.user, slug)
    lacking = {name: list(KINDS[name].rows(campaign)) for name in _GRADE_GAPS}
    named = [qid for rows in lacking.values() for qid, _ in rows[:_WITHOUT_GRADES]]
    keys = dict(campaign.topics.filter(qid__in=among(named)).values_list("qid", "pk"))
    context = {
        "campaign": campaign,
        "protocol": campaign.protocol,
        "loaded": queries.loaded(campaign),
        "sources": grade_sources(campaign),
        "gaps": [
            (name, _GRADE_GAPS[name], len(rows), [(keys[qid], qid, what) for qid, what in rows[:_WITHOUT_GRADES]])
            for name, rows in lacking.items()
        ],
        "retrieval_runs": campaign.retrieval_runs.order_by("tag"),
    }
    return render(request, "desk/relevance.html", context)
