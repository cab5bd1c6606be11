"""Judgments and scores of reports in the forms of AUTO-ARGUE."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Condition, Run, Sentence, Topic
from assessor.campaigns.passages import cited_passages
from assessor.campaigns.queries import byte_order
from assessor.campaigns.report_length import characters
from assessor.formats.values import to_json
from assessor.labels.models import Label
from assessor.labels.queries import labels_at_once
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import complete_table
from assessor.scores.tables import topics_counting
from assignment.argue.documents import document_text
from assignment.argue.formats import SegmentWriter, matched_nugget
from assignment.argue.items import Item, item_of_key
from assignment.argue.measures import FORMULAS, Counts, joined, pooled, relevant
from assignment.argue.models import ArgueSheet
from assignment.argue.questions import questions_of
from assignment.argue.score_arrays import Scores
from assignment.argue.vocabulary import ANSWERS, ATTESTS, FIRST, NEEDS, NEGATIVE, YES
from assignment.queries import scored_editions
from metaeval.stats.means import COMPLETE, UNANSWERED, Policy
from nuggets.editions import Snapshot

_AT_A_TIME = 50
_COLUMNS = (
    *("extras", "import_record", "version", "cut", "answer__run", "answer__run__tag", "answer__run__team"),
    *("answer__content", "answer__references"),
)
_OF_JUDGMENT = ("key", "state", "value", "resolved_value")
# Counts by the names that published files have, in their order.
_COUNTS = {
    "sentences_with_citations_or_requiring_citations": "sentences",
    "correctly_cited_sentences": "supported",
    "nuggets": "nuggets",
    "nuggets_weighted": "weight",
    "correct_nuggets": "correct",
    "correct_nuggets_weighted": "correct_weight",
    "citations": "citations",
    "relevant_citations": "relevant",
    "supporting_citations": "supporting",
}

Json = dict[str, Any]


def judgment_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's judgments, a line for each report, in the order of judgment_records()."""
    return (to_json(record) + "\n" for _, _, record in judgment_records(condition, topics, runs))


def judgment_records(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[tuple[str, str, Json]]:
    """Yield (topic id, run's tag, what a line says) of each report, by topic id and run's tag.

    Of several texts of a run it is its own report. A missing judgment has no place there; nor has what a sentence
    answers by a citation where one of these judgments is missing. A line of a file goes out as it came, unless its
    bank was changed since.
    """
    sheets = ArgueSheet.objects.filter(condition=condition)
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    wanted = None if topics is None else {topic.pk for topic in topics}
    for edition in scored_editions(condition):
        topic = edition.bank.topic
        if wanted is None or topic.pk in wanted:
            of_bank = sheets.filter(bank=edition.bank_id, edition=edition.edition)
            yield from _Writer(condition, topic, edition.nuggets).records(of_bank)


class _Writer:
    """Writes the reports on a topic."""

    def __init__(self, condition: Condition, topic: Topic, nuggets: Snapshot) -> None:
        self._condition = condition
        self._topic = topic
        self._nuggets = nuggets
        self._relevant = relevant(questions_of(nuggets))

    def records(self, sheets: QuerySet[ArgueSheet]) -> Iterator[tuple[str, str, Json]]:
        in_order = sheets.order_by(byte_order("answer__run__tag"), "answer__run", "answer__apart", "pk")
        rows = in_order.annotate(rows=labels_at_once(ArgueSheet, *_OF_JUDGMENT)).values(*_COLUMNS, "rows")
        of_runs = groupby(rows.iterator(_AT_A_TIME), itemgetter("answer__run"))
        sheets_of_runs = (next(of_run) for _, of_run in of_runs)
        while some := list(islice(sheets_of_runs, _AT_A_TIME)):
            sentences = {sheet["answer__run"]: _judged(sheet) for sheet in some if not _is_as_it_came(sheet)}
            cited = {
                (run, citation.docid)
                for run, of_run in sentences.items()
                for sentence in of_run
                for citation in sentence.citations
            }
            passages = cited_passages(self._condition.campaign_id, cited) if cited else {}
            documents = {one: document_text(passage) for one, passage in passages.items()}
            for sheet in some:
                of_run = sentences.get(sheet["answer__run"])
                record = sheet["extras"]["line"] if of_run is None else self._record(sheet, of_run, documents)
                yield self._topic.qid, sheet["answer__run__tag"], record

    def _record(self, sheet: Json, judged: Sequence[Sentence], documents: Mapping[tuple[int, str], str]) -> Json:
        content, cut = sheet["answer__content"], sheet["cut"]
        sentences = Answer(content=content, references=sheet["answer__references"]).sentences()
        responses = [
            {"text": sentence.text, "citations": _scores(sentence, as_kept["citations"])}
            for sentence, as_kept in zip(sentences, content, strict=True)
        ]
        metadata = {
            "team_id": sheet["answer__run__team"],
            "topic_id": self._topic.qid,
            "run_id": sheet["answer__run__tag"],
            "collection_ids": [],
        }
        references = list(dict.fromkeys(docid for response in responses for docid in response["citations"]))
        report = {"metadata": metadata, "responses": responses, "references": references}
        judgments = self._segments(sheet, judged, documents)
        return {"report": report, "judgments": judgments} | ({"sentences_cut": cut} if cut else {})

    def _segments(
        self, sheet: Json, sentences: Sequence[Sentence], documents: Mapping[tuple[int, str], str]
    ) -> list[Json]:
        labels: dict[int, dict[Item, str | None]] = {}
        for key, state, value, resolved in json.loads(sheet["rows"] or "[]"):
            item = item_of_key(key)
            labels.setdefault(item.sentence, {})[item] = value if state == Label.State.GIVEN else resolved
        run, segments = sheet["answer__run"], []
        for sentence in sentences:
            docids = dict.fromkeys(citation.docid for citation in sentence.citations)
            texts = {docid: documents.get((run, docid), "") for docid in docids}
            writer = SegmentWriter(sentence.text, texts, self._condition.maker)
            self._write(writer, list(docids), labels.get(sentence.position, {}))
            segments.append(writer.segment)
        return segments

    def _write(self, writer: SegmentWriter, docids: Sequence[str], labels: Mapping[Item, str | None]) -> None:
        for docid in docids or [""]:
            of_docid = {item: label for item, label in labels.items() if item.docid == docid}
            if docid:
                writer.add_relevance(docid, is_relevant=docid in self._relevant)
            steps = {item.step: label for item, label in of_docid.items() if item.step != ANSWERS}
            answers = {(item.nugget, item.gold): label for item, label in of_docid.items() if item.step == ANSWERS}
            if answers and None not in answers.values():
                writer.add_matches(docid, self._matched({answer for answer, label in answers.items() if label == YES}))
            for step in (ATTESTS, NEEDS, FIRST, NEGATIVE):
                if (label := steps.get(step)) is not None:
                    writer.add_step(step, docid, value=label == YES)

    def _matched(self, stated: set[tuple[str, str]]) -> list[Json]:
        found = []
        for nugget in self._nuggets:
            answers = [gold["text"] for gold in nugget["gold"] if (nugget["uid"], gold["id"]) in stated]
            if answers:
                found.append(matched_nugget(nugget["text"], answers, nugget["importance"]))
        return found


def _is_as_it_came(sheet: Json) -> bool:
    return sheet["import_record"] is not None and not sheet["version"]


def _judged(sheet: Json) -> list[Sentence]:
    """Return the sentences that are judged."""
    sentences = list(Answer(content=sheet["answer__content"], references=sheet["answer__references"]).sentences())
    return sentences[: len(sentences) - sheet["cut"]]


def _scores(sentence: Sentence, as_kept: Any) -> dict[str, Any]:
    """Return what a sentence cites, each with the score that the run gave to it, or null."""
    given = as_kept if isinstance(as_kept, dict) else {}
    return {citation.docid: given.get(citation.docid) for citation in sentence.citations}


class _Row(NamedTuple):
    """A report on a topic. characters: of its sentences that are judged; there: whether there is a report at all."""

    qid: str
    counts: Counts
    sentences: int
    characters: int
    is_there: bool


def score_lines(
    condition: Condition,
    policy: Policy,
    topics: Collection[Topic] | None = None,
    runs: Collection[Run] | None = None,
    *,
    allow_incomplete: bool = False,
) -> Iterator[str]:
    """Yield a condition's scores, for each run those over all topics and then those of each, as AUTO-ARGUE has them.

    Over all topics they are of the complete reports; where the policy counts a topic without a report as 0, it is as
    one with an empty report. A score that hangs on a missing judgment has no line. Raises Incomplete.
    """
    found = condition_scores(condition)
    assert isinstance(found, Scores), "reports are judged there"
    complete_table(condition, found, policy, allow_incomplete=allow_incomplete)
    wanted = None if topics is None else {topic.pk for topic in topics}
    of_runs = None if runs is None else {run.pk for run in runs}
    counting = topics_counting(found, policy)
    yield "run_id\trequest_id\tmetric\tvalue\n"
    for at, run in enumerate(found.runs):
        if of_runs is not None and run.pk not in of_runs:
            continue
        places = [
            place
            for place, topic in enumerate(found.topics)
            if counting[place] and (wanted is None or topic.pk in wanted)
        ]
        complete, rows = _rows(found, at, places, policy)
        if complete:
            yield from _lines(run.tag, "all", _over_all(complete))
        for row in rows:
            yield from _lines(run.tag, row.qid, _of_report(row))


def _rows(found: Scores, run: int, places: Sequence[int], policy: Policy) -> tuple[list[_Row], list[_Row]]:
    """Return the complete reports of a run, and all of them, by topic."""
    complete, rows = [], []
    reports = found.reports
    key = found.runs[run].pk
    answers = [one.answer for place in places if (one := reports.get((key, found.topics[place].pk)))]
    texts = dict(Answer.objects.filter(pk__in=answers).values_list("pk", "content"))
    for place in places:
        topic, state = found.topics[place], found.states[run, place]
        report = reports.get((key, topic.pk))
        if report is not None:
            content = texts[report.answer]
            judged = content[: len(content) - report.cut]
            length = sum(characters(sentence["text"]) for sentence in judged)
            rows.append(_Row(topic.qid, report.counts, len(judged), length, True))
        elif state == UNANSWERED and policy == Policy.ZERO:
            rows.append(_Row(topic.qid, found.empty[topic.pk], 0, 0, False))
        else:
            continue
        if state in (COMPLETE, UNANSWERED):
            complete.append(rows[-1])
    return complete, rows


def _over_all(rows: Sequence[_Row]) -> dict[str, float]:
    each = joined(row.counts for row in rows)
    sums = pooled(each)
    lengths = [row.characters for row in rows if row.is_there] or [0]
    scores = {
        f"{name}_{what}": value
        for name, formula in FORMULAS.items()
        for what, value in (("micro", float(formula(sums))), ("macro", float(np.mean(formula(each)))))
    }
    return {
        "sentences": sum(row.sentences for row in rows),
        **{name: getattr(sums, ours) for name, ours in _COUNTS.items()},
        "character_count_median": median(lengths),
        "character_count_max": max(lengths),
        **scores,
    }


def _of_report(row: _Row) -> dict[str, float]:
    return {
        "sentences": row.sentences,
        "character_count": row.characters,
        **{name: getattr(row.counts, ours) for name, ours in _COUNTS.items()},
        **{name: float(formula(row.counts)) for name, formula in FORMULAS.items()},
    }


def _lines(tag: str, qid: str, values: Mapping[str, float]) -> Iterator[str]:
    for name, value in values.items():
        if not np.isnan(value):
            yield f"{tag}\t{qid}\t{name}\t{float(value)!r}\n"
