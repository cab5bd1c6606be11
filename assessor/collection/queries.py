"""What other apps and pages read of a collection."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from django.db import connection
from django.db.models import ForeignObjectRel, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Collate

from assessor.collection.models import Answer, Campaign, Judge, Person, Protocol, RankedSegment, Run, Segment

_CHUNK = 5_000  # values in one IN (...)


def byte_order(field: str) -> Collate:
    """Return an ordering by the text's bytes: PostgreSQL's own depends on the language of the database."""
    return Collate(field, "C" if connection.vendor == "postgresql" else "BINARY")


class AmbiguousRun(Exception):
    """A name stands for more than one run."""


def find_run(campaign: Campaign, name: str) -> Run | None:
    """Return the run with this tag or alias, or None. Raises AmbiguousRun where two runs answer to it."""
    by_tag = campaign.runs.filter(tag=name)
    by_alias = campaign.runs.filter(aliases__name=name)
    runs = list({run.pk: run for run in [*by_tag, *by_alias]}.values())
    if len(runs) > 1:
        raise AmbiguousRun(f"a name of one run; {' and '.join(run.tag for run in runs)} have it")
    return runs[0] if runs else None


def own_answers(topics: Collection[int]) -> QuerySet[Answer]:
    """Return the answers of runs to topics, named by their keys; no texts that only labels refer to."""
    answers: QuerySet[Answer] = Answer.objects.filter(topic__in=topics, apart=False, run__import_record__state="done")
    return answers


def lacking_docids(campaign: Campaign, docids: set[str]) -> set[str]:
    """Return those of the docids whose text is not loaded."""
    # All of them as one parameter: thousands of single ones take the database's wrapper ten times as long.
    if connection.vendor == "postgresql":
        among = RawSQL("select unnest(%s::text[])", [list(docids)])
    else:
        among = RawSQL("select value from json_each(%s)", [json.dumps(list(docids))])
    # Where no import has left anything unfinished, every row is visible, and the index alone can tell.
    unfinished = campaign.imports.filter(has_leftovers=True).exists()
    loaded = (campaign.segments if unfinished else Segment.everything.filter(campaign=campaign)).filter(docid__in=among)
    if loaded.count() == len(docids):
        return set()
    return docids - set(loaded.values_list("docid", flat=True))


def segments_by_docid(campaign: Campaign, docids: Iterable[str]) -> dict[str, Segment]:
    """Return the segments with these docids, by docid; those without text are absent."""
    return {
        segment.docid: segment
        for chunk in _chunks(sorted(docids))
        for segment in campaign.segments.filter(docid__in=chunk)
    }


def segment_texts(campaign: Campaign, docids: Iterable[str]) -> dict[str, str]:
    """Return the texts of the segments with these docids, by docid."""
    return {docid: segment.text for docid, segment in segments_by_docid(campaign, docids).items()}


def pooled(campaign: Campaign, protocol: Protocol | None = None) -> QuerySet[RankedSegment]:
    """Return the segments in the pool, as often as runs found them: the first of each retrieval run, by topic.

    How many is said by a version of the protocol; without one, by that in force.
    """
    depth = (protocol or campaign.protocol).pool_depth
    return RankedSegment.objects.filter(run__campaign=campaign, place__lt=depth)


def traces_of(person: Person) -> dict[str, int]:
    """Count the records of all apps that name a person, or the judge that they are, by what these records are."""
    traces: Counter[str] = Counter()
    for owners in (Person.objects.filter(pk=person.pk), Judge.objects.filter(person=person)):
        for relation in owners.model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, ForeignObjectRel) or relation.related_model._meta.auto_created:
                continue  # a field of its own, or the row that puts a person into a group
            # The base manager also sees what an unfinished import brought.
            named = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": owners})
            if count := named.count():
                traces[str(relation.related_model._meta.verbose_name_plural)] += count
    return dict(traces)


def _chunks(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
