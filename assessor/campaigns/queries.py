"""What other apps and pages read of a collection."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection, connections
from django.db.models import Count, ForeignObjectRel, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Collate

from assessor.accounts.models import Person
from assessor.campaigns.models import (
    CONTROL,
    CONTROL_TAG,
    Answer,
    Campaign,
    Condition,
    Import,
    Judge,
    Protocol,
    RankedSegment,
    Run,
    Segment,
    Topic,
)

PASSAGES_RUN = f"{CONTROL_TAG}passages"  # the tag of the run that holds the passages which are graded
_CHUNK = 5_000  # values in one IN (...)
_ANSWERS = 500  # read at a time


def byte_order(field: str) -> Collate:
    """Return an ordering by the text's bytes: PostgreSQL's own depends on the language of the database."""
    return Collate(field, "C" if connection.vendor == "postgresql" else "BINARY")


def told_sides(*names: str) -> "list[Prefetch[Any]]":
    """Return what reads the conditions that records name, with what tells who made what under each.

    Joined to the records, that is a query of up to forty tables, which PostgreSQL plans for 60 ms.
    """
    return [Prefetch(name, Condition.everything.select_related(*Condition.TOLD_WITH)) for name in names]


Records = TypeVar("Records", bound=QuerySet[Any])


def without_practice(records: Records, by: str = "topic") -> Records:
    """Leave out what is about topics for practice: the one place that keeps their labels from whatever counts.

    by: how the records name their topic, or what they name that has one: "answer". Nothing is joined, so that it costs
    little with a track's sheets.
    """
    practice: QuerySet[Any] = Topic.everything.filter(is_practice=True)
    if by.rpartition("__")[2] == "answer":
        practice = Answer.everything.filter(topic__in=practice)
    return records.exclude(**{f"{by}__in": practice.values("pk")})


class AmbiguousRun(Exception):
    """A name stands for more than one run."""


def find_run(campaign: Campaign, name: str) -> Run | None:
    """Return the run with this tag or alias, or None. Raises AmbiguousRun where two runs answer to it."""
    runs = list(campaign.runs.filter(Q(tag=name) | Q(aliases__name=name)).distinct())
    if len(runs) > 1:
        raise AmbiguousRun(f"a name of one run; {' and '.join(run.tag for run in runs)} have it")
    return runs[0] if runs else None


def runs_with_texts(campaign: Campaign) -> QuerySet[Run]:
    """Return the runs, each with the number of its answers of which no more is loaded than came with labels."""
    texts = Answer.objects.filter(run=OuterRef("pk"), form__in=Answer.WITH_LABELS, apart=False)
    count = Subquery(texts.order_by().values("run").annotate(count=Count("pk")).values("count"))
    runs: QuerySet[Run] = Run.objects.filter(campaign=campaign).annotate(texts=Coalesce(count, 0)).order_by("tag")
    return runs


def answers_to(topics: Sequence[Topic]) -> QuerySet[Answer]:
    """Return the systems' own answers to topics; none of control runs, nor texts that only labels refer to."""
    return own_answers([topic.pk for topic in topics]).exclude(run__task=CONTROL)


def texts_to_label(condition: Condition, topics: Sequence[Topic]) -> QuerySet[Answer]:
    """Return the texts of topics that are labelled under a condition: the systems' own answers, or passages."""
    return pooled_passages([topic.pk for topic in topics]) if condition.of_passages else answers_to(topics)


def pooled_passages(topics: Collection[int]) -> QuerySet[Answer]:
    """Return the passages of topics, by key, that were taken in to be graded; none that a file names of a run."""
    passages: QuerySet[Answer] = Answer.objects.filter(
        topic__in=topics, form=Answer.Form.PASSAGE, run__tag=PASSAGES_RUN, run__task=CONTROL
    )
    return passages


def own_answers(topics: Collection[int]) -> QuerySet[Answer]:
    """Return what runs, control runs too, answered to topics, by key; no texts that only labels refer to."""
    own: QuerySet[Answer] = Answer.everything.filter(
        topic__in=topics, apart=False, run__import_record__state=Import.State.DONE
    )
    # Without a look at the import of each, an index says who answered what, and no answer is read for it.
    return own.exclude(pk__in=hidden_answers())


def hidden_answers() -> QuerySet[Answer]:
    """Return the answers of imports that are not done."""
    hidden: QuerySet[Answer] = Answer.everything.filter(
        import_record__in=Import.objects.exclude(state=Import.State.DONE)
    )
    return hidden


def cited_docids(topics: Sequence[Topic]) -> Iterator[tuple[int, str]]:
    """Yield topic's key and docid of what systems' own answers to topics cite."""
    for answer in answers_to(topics).order_by().only("topic", "references", "content").iterator(_ANSWERS):
        for sentence in answer.sentences():
            yield from ((answer.topic_id, citation.docid) for citation in sentence.citations)


def among(values: Collection[str] | Collection[int]) -> RawSQL:
    """Return texts or keys for a query's __in, all as one parameter: thousands take ten times as long one by one."""
    if connection.vendor != "postgresql":
        return RawSQL("select value from json_each(%s)", [json.dumps(list(values))])
    if isinstance(next(iter(values), ""), int):
        return RawSQL("select unnest(%s::bigint[]) as value", [list(values)])
    return RawSQL("select unnest(%s::text[]) as value", [list(values)])


def lacking_docids(campaign: Campaign, docids: set[str]) -> set[str]:
    """Return those of the docids whose text is not loaded."""
    # Where no import has left anything unfinished, every row is visible, and the index alone can tell.
    unfinished = campaign.imports.filter(has_leftovers=True).exists()
    segments = campaign.segments if unfinished else Segment.everything.filter(campaign=campaign)
    # In their order, as in that of the index neighbours are on one page.
    asked, same = among(sorted(docids)), segments.filter(docid=RawSQL("asked.value", ())).order_by().values("pk")
    loaded, values = same.query.get_compiler(same.db).as_sql()
    with connections[same.db].cursor() as cursor:
        # To count those that are loaded took twice as long: of every file of a run, hardly any is lacking.
        cursor.execute(
            f"select value from ({asked.sql}) as asked where not exists ({loaded})",  # noqa: S608  # our own names only
            [*asked.params, *values],
        )
        return {docid for [docid] in cursor.fetchall()}


def segments_by_docid(campaign: Campaign, docids: Iterable[str]) -> dict[str, Segment]:
    """Return the segments with these docids, by docid; those without text are absent."""
    return {
        segment.docid: segment
        for chunk in in_chunks(sorted(docids))
        for segment in campaign.segments.filter(docid__in=chunk)
    }


def by_names(records: Any, field: str, names: Collection[str]) -> tuple[list[Any], list[str]]:
    """Return the records that have one of these names in a field, and the names that none has, as they came."""
    possible = [name for name in names if "\x00" not in name]  # what can't be in a database is the name of nothing
    found = list(records.filter(**{f"{field}__in": possible}))
    there = {getattr(one, field) for one in found}
    return found, [name for name in names if name not in there]


def segment_texts(campaign: Campaign, docids: Iterable[str]) -> dict[str, str]:
    """Return the texts of the segments with these docids, by docid."""
    return {docid: segment.text for docid, segment in segments_by_docid(campaign, docids).items()}


def languages_of(campaign: Campaign, docids: Collection[str]) -> dict[str, str]:
    """Return the languages of passages, by docid; those of which it is not known are absent."""
    found: dict[str, str] = {}
    for some in in_chunks(sorted(docids)):
        named = campaign.segments.filter(docid__in=among(some)).exclude(language="").order_by()
        found.update(named.values_list("docid", "language"))
    return found


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


def in_chunks(values: list[str]) -> Iterator[list[str]]:
    """Yield as many values at a time as one query takes."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
