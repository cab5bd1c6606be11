"""Files out, streamed."""

from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.collection import exports as collection_exports
from assessor.collection import history
from assessor.collection.access import organized_campaign
from assessor.collection.formats.topics import FORMS
from assessor.collection.http import PersonRequest, download
from assessor.collection.models import Campaign, Condition
from assessor.desk import queries
from assessor.relevance.exports import judgment_lines
from assignment.exports import assignment_lines
from assignment.queries import assigning
from nuggets.exports import condition_lines
from support.exports import support_lines
from support.listing import judgment_lines as support_judgment_lines
from support.queries import supporting


@require_safe
def exports(request: PersonRequest, slug: str) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "loaded": queries.loaded(campaign),
        "runs": queries.runs_with_texts(campaign),
        "retrieval_runs": campaign.retrieval_runs.order_by("tag"),
        "conditions": queries.finished_counts(campaign),
        "assigning": assigning(campaign),
        "supporting": supporting(campaign),
        "grading": queries.grading(campaign),
        "judging": supporting(campaign).filter(judge=None),
    }
    return render(request, "desk/exports.html", context)


@require_safe
def export_topics(request: PersonRequest, slug: str, form: str) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    if form not in FORMS:
        raise Http404("There is no such form of topics.")
    name = f"topics.{'tsv' if form == 'tsv' else 'jsonl'}"
    return _download(request, campaign, name, collection_exports.topics_lines(campaign, form))


@require_safe
def export_segments(request: PersonRequest, slug: str) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    return _download(request, campaign, "segments.jsonl", collection_exports.segments_lines(campaign))


@require_safe
def export_qrels(request: PersonRequest, slug: str, source_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    source = _one(campaign.qrels_sources, source_id, "source of grades")
    return _download(request, campaign, f"qrels.{source.name}.txt", collection_exports.qrels_lines(source))


@require_safe
def export_judgments(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(campaign.conditions.filter(kind=Condition.Kind.RELEVANCE), condition_id, "relevance condition")
    return _download(request, campaign, f"judgments.{condition.name}.csv", judgment_lines(condition))


@require_safe
def export_support_judgments(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(supporting(campaign), condition_id, "support condition")
    return _download(request, campaign, f"support.{condition.name}.csv", support_judgment_lines(condition))


@require_safe
def export_run(request: PersonRequest, slug: str, run_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    run = _one(campaign.runs, run_id, "run")
    return _download(request, campaign, f"{run.tag}.jsonl", collection_exports.run_lines(run))


@require_safe
def export_run_list(request: PersonRequest, slug: str) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    return _download(request, campaign, "runs.csv", collection_exports.run_list_lines(campaign))


@require_safe
def export_retrieval_run(request: PersonRequest, slug: str, run_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    run = _one(campaign.retrieval_runs, run_id, "retrieval run")
    return _download(request, campaign, f"{run.tag}.txt", collection_exports.retrieval_run_lines(run))


@require_safe
def export_pool(request: PersonRequest, slug: str) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    return _download(request, campaign, "pool.txt", collection_exports.pool_lines(campaign))


@require_safe
def export_nuggets(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(campaign.conditions.filter(kind=Condition.Kind.NUGGETS), condition_id, "nugget condition")
    return _download(request, campaign, f"nuggets.{condition.name}.jsonl", condition_lines(condition))


@require_safe
def export_lineage(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(campaign.conditions.filter(kind=Condition.Kind.NUGGETS), condition_id, "nugget condition")
    lines = condition_lines(condition, with_lineage=True)
    return _download(request, campaign, f"nuggets.{condition.name}.lineage.jsonl", lines)


@require_safe
def export_assignments(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(campaign.conditions.filter(kind=Condition.Kind.ASSIGNMENT), condition_id, "assignment condition")
    return _download(request, campaign, f"assignments.{condition.name}.jsonl", assignment_lines(condition))


@require_safe
def export_support(request: PersonRequest, slug: str, condition_id: int) -> HttpResponseBase:
    campaign = organized_campaign(request.user, slug)
    condition = _one(campaign.conditions.filter(kind=Condition.Kind.SUPPORT), condition_id, "support condition")
    return _download(request, campaign, f"support.{condition.name}.jsonl", support_lines(condition))


def _one(records: Any, pk: int, what: str) -> Any:
    """Return that one of a campaign's records. Raises Http404."""
    record = records.filter(pk=pk).first()
    if record is None:
        raise Http404(f"There is no such {what} in this campaign.")
    return record


def _download(request: PersonRequest, campaign: Campaign, name: str, lines: Iterator[str]) -> HttpResponseBase:
    """Stream lines as a file, and record who took it."""
    history.record("exported", name, campaign=campaign, person=request.user)
    return download(f"{campaign.slug}.{name}", lines)
