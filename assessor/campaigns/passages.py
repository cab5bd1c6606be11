"""The passages behind citations: a run's own text of what it cites, or else the campaign's segment.

All that shows or judges a citation reads its passage here. Nuggets, relevance and pools are about segments alone.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Length

from assessor.campaigns.models import Answer, Campaign, Run, RunDocument, Segment
from assessor.campaigns.models.texts import PassageDetails
from assessor.campaigns.queries import among, in_chunks, lacking_docids

_AT_A_TIME = 500
Cited = tuple[int, str]  # a run's key and a docid that it cites


@dataclass(frozen=True)
class Passage(PassageDetails):
    """A passage as pages show it."""

    docid: str
    text: str
    extras: dict[str, Any]
    is_own: bool  # the run's text, and not the campaign's


def cited_passages(campaign: Campaign | int, cited: Iterable[Cited]) -> dict[Cited, Passage]:
    """Return the passages behind citations; those without text are absent."""
    found = _found(campaign, cited, "text", "extras")
    return {one: Passage(one[1], text, extras, is_own) for one, is_own, (text, extras) in found}


def cited_texts(campaign: Campaign, cited: Iterable[Cited]) -> dict[Cited, str]:
    """Return the texts behind citations; what has none is absent."""
    return {one: text for one, _, (text,) in _found(campaign, cited, "text")}


def cited_lengths(campaign: Campaign, cited: Iterable[Cited]) -> dict[Cited, int]:
    """Return how many characters the texts behind citations have; what has none is absent."""
    return {one: length for one, _, (length,) in _found(campaign, cited, Length("text"))}


def _found(
    campaign: Campaign | int, cited: Iterable[Cited], *columns: Any
) -> Iterator[tuple[Cited, bool, tuple[Any, ...]]]:
    """Yield citations that have a text, whether it is the run's own, and its columns: one query for some thousand."""
    runs_of: dict[str, set[int]] = {}
    for run, docid in cited:
        runs_of.setdefault(docid, set()).add(run)
    no_run = Value(None, output_field=IntegerField())
    for chunk in in_chunks(sorted(runs_of)):
        runs = {run for docid in chunk for run in runs_of[docid]}
        own = RunDocument.objects.filter(run__in=runs, docid__in=chunk).order_by()
        shared = Segment.objects.filter(campaign=campaign, docid__in=chunk).order_by()
        both = shared.values_list(no_run, "docid", *columns).union(own.values_list("run", "docid", *columns), all=True)
        segments: dict[str, tuple[Any, ...]] = {}
        with_own: set[Cited] = set()
        for owner, docid, *values in both:
            if owner is None:
                segments[docid] = tuple(values)
            elif owner in runs_of[docid]:
                with_own.add((owner, docid))
                yield (owner, docid), True, tuple(values)
        for docid, found in segments.items():
            for run in runs_of[docid]:
                if (run, docid) not in with_own:
                    yield (run, docid), False, found


def lacking_passages(campaign: Campaign, cited: Iterable[Cited]) -> set[Cited]:
    """Return those of the citations whose text is not loaded."""
    wanted = set(cited)
    without_segment = lacking_docids(campaign, {docid for _, docid in wanted}) if wanted else set()
    lacking = {one for one in wanted if one[1] in without_segment}
    return lacking - set(_own(lacking, "run", "docid"))


def own_versions(cited: Iterable[Cited]) -> dict[Cited, str]:
    """Return which text of its own a run has of what it cites, as a hash, where that is not the campaign's text."""
    segments = Segment.objects.filter(campaign=OuterRef("run__campaign"), docid=OuterRef("docid"))
    rows = _own(cited, "run", "docid", "text", Subquery(segments.order_by().values("text")[:1]))
    return {
        (run, docid): hashlib.sha256(text.encode()).hexdigest() for run, docid, text, shared in rows if text != shared
    }


def _own(cited: Iterable[Cited], *columns: Any) -> Iterator[tuple[Any, ...]]:
    """Yield columns of runs' own texts of what they cite, the run's key and the docid first."""
    wanted = set(cited)
    runs = {run for run, _ in wanted}
    for chunk in in_chunks(sorted({docid for _, docid in wanted})):
        rows = RunDocument.objects.filter(run__in=runs, docid__in=chunk).order_by().values_list(*columns)
        yield from (row for row in rows.iterator(_AT_A_TIME) if row[:2] in wanted)


def any_from_runs(campaign: Campaign) -> bool:
    """Say whether a run file brought segments, as few campaigns have any."""
    run_files = campaign.imports.filter(kind="runs").order_by()
    return bool(Segment.everything.filter(import_record__in=run_files).exists())


def from_other_runs(campaign: Campaign, cited: Iterable[Cited]) -> set[Cited]:
    """Return those citations of segments that came with a run file, and with none that brought answers of their run."""
    if not any_from_runs(campaign):
        return set()
    wanted = set(cited)
    docids = {docid for _, docid in wanted}
    segments = campaign.segments.filter(docid__in=among(docids), import_record__kind="runs").order_by()
    came_with = dict(segments.values_list("docid", "import_record"))
    answers = Answer.objects.filter(run__in={run for run, _ in wanted}, import_record__in=set(came_with.values()))
    of_run = set(answers.order_by().values_list("run", "import_record").distinct())
    found = {one for one in wanted if one[1] in came_with and (one[0], came_with[one[1]]) not in of_run}
    return found - set(_own(found, "run", "docid"))


def cited_by_other_runs(campaign: Campaign, run: Run | None, docids: Collection[str]) -> set[str]:
    """Return those of the docids that answers of other runs cite without a text of their own."""
    answers = Answer.objects.filter(run__campaign=campaign, apart=False).exclude(run=run).order_by()
    found = {
        (answer.run_id, citation.docid)
        for answer in answers.only("run", "references", "content").iterator(_AT_A_TIME)
        for sentence in answer.sentences()
        for citation in sentence.citations
        if citation.docid in docids
    }
    return {docid for _, docid in found.difference(_own(found, "run", "docid"))}
