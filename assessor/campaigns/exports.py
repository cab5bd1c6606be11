"""What a collection can be written as. Each function yields lines, from rows read a few at a time.

Where topics are named, it is of these alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import CONTROL, Answer, Campaign, Event, Grade, QrelsSource, RetrievalRun, Run, Topic
from assessor.campaigns.passages import cited_texts
from assessor.campaigns.queries import byte_order, pooled, without_practice
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.qrels import write_qrels
from assessor.formats.retrieval import write_pool, write_rankings
from assessor.formats.run_list import write_run_list
from assessor.formats.runs import write_answers
from assessor.formats.segments import write_segments
from assessor.formats.tables import write_table
from assessor.formats.topics import write_topics
from assessor.formats.values import to_json

_AT_A_TIME = 500


def topics_form(campaign: Campaign) -> str:
    """Return the form in which the campaign's topics came; of several, one that has room for all their keys."""
    first = campaign.topics.exclude(form="tsv").order_by("pk").first()
    return first.form if first else "tsv"


def topics_lines(campaign: Campaign, form: str | None = None, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield the topics by id, as TSV or as JSONL; without a form, as they came."""
    rows = _of_topics(campaign.topics.order_by(byte_order("qid")), topics, "pk")
    return write_topics(rows.iterator(_AT_A_TIME), form or topics_form(campaign))


def _of_topics(rows: QuerySet[Any], topics: Collection[Topic] | None, path: str = "topic") -> QuerySet[Any]:
    return rows if topics is None else rows.filter(**{f"{path}__in": [topic.pk for topic in topics]})


def segments_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the segments by docid, as JSONL."""
    return write_segments(campaign.segments.order_by(byte_order("docid")).iterator(_AT_A_TIME))


def qrels_lines(source: QrelsSource, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield a source's grades by topic id and docid, in the four columns of qrels.

    Of grades that were made here none are on topics for practice; a file goes out as it came, with what was not judged.
    """
    grades = Grade.with_unjudged.filter(source=source)
    if source.condition_id is not None:
        grades = without_practice(grades)
    grades = _of_topics(grades.order_by(byte_order("topic__qid"), byte_order("docid")), topics)
    return write_qrels(grades.values_list("topic__qid", "iteration", "docid", "grade").iterator(_AT_A_TIME))


def grades_side_by_side(campaign: Campaign, topics: Collection[Topic] | None, form: str) -> Iterator[str]:
    """Yield the graded passages of topics with the grade of each source, people's first: as "csv" or "tex".

    LaTeX has a table for each topic; where sources give different grades, the passage is marked.
    """
    people = QrelsSource.By.PEOPLE
    sources = sorted(campaign.qrels_sources.all(), key=lambda source: (source.by != people, source.name))
    grades = _of_topics(without_practice(Grade.objects.filter(source__in=sources)), topics)
    rows = grades.order_by(byte_order("topic__qid"), byte_order("docid"), "pk")
    named = rows.values_list("topic__qid", "docid", "source", "grade").iterator(_AT_A_TIME)
    by_passage = groupby(named, itemgetter(0, 1))
    found = ((qid, docid, dict(one[2:] for one in of_passage)) for (qid, docid), of_passage in by_passage)
    if form == "csv":
        columns = ("topic", "docid", *(source.name for source in sources), "differ")
        return write_table(
            columns,
            ((qid, docid, *(of.get(source.pk) for source in sources), int(_differ(of))) for qid, docid, of in found),
        )
    return (line for qid, of_topic in groupby(found, itemgetter(0)) for line in _grades_latex(qid, of_topic, sources))


def _differ(grades: Mapping[int, int]) -> bool:
    return len(set(grades.values())) > 1


def _grades_latex(
    qid: str, passages: Iterable[tuple[str, str, dict[int, int]]], sources: Sequence[QrelsSource]
) -> Iterator[str]:
    rows = (
        latex.row(
            (
                latex.marked(docid, _differ(of)),
                *(str(of.get(source.pk, "--")) for source in sources),
            )
        )
        for _, docid, of in passages
    )
    return latex.table(
        f"Grades of passages for topic {as_latex(qid)}; $\\ast$: the grades differ",
        "l" + "r" * len(sources),
        ("Passage", *(as_latex(source.name) for source in sources)),
        rows,
    )


def run_lines(run: Run, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield a run's answers by topic id, each in the form it came in, with the run's tag.

    What came with labels is not all of an answer: it goes out with them, and is no line of a run. Nor is what a control
    run says on a topic for practice: these are nuggets that were made there.
    """
    of_run = without_practice(run.answers.all()) if run.task == CONTROL else run.answers
    answers = of_run.exclude(form__in=Answer.WITH_LABELS).select_related("topic")
    answers = _of_topics(answers.order_by(byte_order("topic__qid")), topics)

    def texts(docids: Iterable[str]) -> dict[str, str]:
        found = cited_texts(run.campaign, ((run.pk, docid) for docid in docids))
        return {docid: text for (_, docid), text in found.items()}

    return write_answers(answers.iterator(_AT_A_TIME), run.tag, texts)


def retrieval_run_lines(run: RetrievalRun, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield a retrieval run by topic id and rank, in the six columns of TREC."""
    ranked = _of_topics(run.ranked.order_by(byte_order("topic__qid"), "rank"), topics)
    return write_rankings(ranked.values_list("topic__qid", "docid", "rank", "score").iterator(_AT_A_TIME), run.tag)


def pool_lines(campaign: Campaign, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield the pool, each segment of a topic once, by topic id and docid."""
    segments = _of_topics(pooled(campaign).order_by(byte_order("topic__qid"), byte_order("docid")), topics)
    return write_pool(segments.values_list("topic__qid", "docid").distinct().iterator(_AT_A_TIME))


def run_list_lines(campaign: Campaign) -> Iterator[str]:
    """Yield runs.csv, by tag."""
    runs = campaign.runs.prefetch_related("aliases").order_by(byte_order("tag"))
    return write_run_list(map(_run_row, runs.iterator(_AT_A_TIME)))


def _run_row(run: Run) -> tuple[str, str, str, str, int | None, str, str]:
    aliases = " ".join(alias.name for alias in run.aliases.all())
    return run.tag, run.team, run.task, run.type, run.priority, aliases, run.generator


def event_lines(events: QuerySet[Event]) -> Iterator[str]:
    """Yield events of the history as a table, the oldest first."""
    columns = ("id", "at", "person", "verb", "subject", "campaign", "details")
    rows = events.order_by("pk").select_related("person", "campaign").iterator(_AT_A_TIME)
    return write_table(columns, map(_event_row, rows))


def _event_row(event: Event) -> tuple[object, ...]:
    at, details = event.at.isoformat(), to_json(event.details)
    return event.pk, at, event.person, event.verb, event.subject, event.campaign, details
