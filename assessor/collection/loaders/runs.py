"""Loading runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report
from assessor.collection.formats.runs import AnswerRecord, Limits, read_answers, topic_field
from assessor.collection.formats.values import to_json
from assessor.collection.loaders.base import Loader, Options, insert
from assessor.collection.loaders.documents import DocumentSifter
from assessor.collection.loaders.segments import SegmentRow
from assessor.collection.models import Answer, Campaign, Import, Run
from assessor.collection.queries import AmbiguousRun, find_run, lacking_docids

_FIELDS = ("import_record", "run", "topic", "form", "references", "content", "extras", "words")


class NewAnswers(NamedTuple):
    """What a batch brings. rows: topic's key, form, references, content, extras, words."""

    documents: list[SegmentRow]
    run_id: str
    rows: list[tuple[Any, ...]]
    sentences: int
    citations: int


class RunLoader(Loader):
    kind = "runs"
    label = "Runs (answers)"

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))
        self.run: Run | None = None
        self._given: set[str] = set()
        self._last = Line(0, "")
        self._documents = DocumentSifter(campaign, report)

    def read(self, lines: Iterable[Line]) -> Iterator[AnswerRecord]:
        protocol = self.campaign.protocol
        limits = Limits(protocol.max_answer_words, protocol.max_sentence_citations, protocol.max_references)
        return read_answers(lines, self.report, limits)

    def sift(self, records: Sequence[AnswerRecord]) -> NewAnswers:
        if self._last.number == 0:
            self._find_run(records[0])
        self._last = records[-1].line
        documents = self._documents.new([document for record in records for document in record.documents])
        self._warn_of_lacking_texts(records)
        loaded = self._loaded_answers(records)
        new = [record for record in records if self._is_new(record, loaded)]
        return NewAnswers(
            documents,
            records[0].run_id,
            [self._row(record) for record in new],
            sum(len(record.content) for record in new),
            sum(len(record.cited) for record in new),
        )

    def _row(self, record: AnswerRecord) -> tuple[Any, ...]:
        json = (to_json(record.references), to_json(record.content), to_json(record.extras))
        return (self.topics.get(record.qid), record.form, *json, record.words)

    def _find_run(self, first: AnswerRecord) -> None:
        try:
            self.run = find_run(self.campaign, first.run_id)
        except AmbiguousRun as error:
            self.report.error(first.line.number, "run_id", first.run_id, str(error))

    def _loaded_answers(self, records: Sequence[AnswerRecord]) -> dict[str, Answer]:
        if self.run is None:
            return {}
        answers = self.run.answers.select_related("topic").filter(topic__qid__in=[r.qid for r in records])
        return {answer.topic.qid: answer for answer in answers}

    def _is_new(self, record: AnswerRecord, loaded: dict[str, Answer]) -> bool:
        number = record.line.number
        if record.qid not in self.topics:
            expected = "a topic of the campaign; load the topics first"
            self.report.error(number, topic_field(record.form), record.qid, expected)
            return False
        if self.repeats(record.qid, record.line, topic_field(record.form), record.qid):
            return False
        self._given.add(record.qid)
        answer = loaded.get(record.qid)
        if answer is None:
            return True
        loaded_form = (answer.form, answer.references, answer.content, answer.extras)
        if loaded_form != (record.form, record.references, record.content, record.extras):
            expected = f"the answer of {record.run_id} to {record.qid} as it is loaded already"
            self.report.error(number, "answer", "another answer", expected)
        self.report.counts["answers already there"] += 1
        return False

    def _warn_of_lacking_texts(self, records: Sequence[AnswerRecord]) -> None:
        without_text = lacking_docids(self.campaign, {docid for record in records for docid in record.cited})
        if not without_text:
            return
        for record in records:
            lacking = sorted(without_text.intersection(record.cited))
            lacking = [docid for docid in lacking if not self._documents.has(docid)]
            if lacking:
                found = f"{len(lacking)} of {len(set(record.cited))}, first {lacking[0]}"
                self.report.warn("cited text not loaded", record.line.number, "citations", found, "segments loaded")

    def end(self) -> None:
        """Warn of the topics that the run does not answer."""
        answered = set(self._given)
        if self.run:
            answered |= set(self.run.answers.values_list("topic__qid", flat=True))
        for qid in sorted(self.topics.keys() - answered):
            self.report.warn("topic without an answer", self._last.number, "topic_id", f"none for {qid}", "an answer")

    def write(self, new: NewAnswers, import_record: Import) -> None:
        self._documents.write(new.documents, import_record)
        if not new.rows:
            return
        if self.run is None:
            self.run = Run.everything.create(import_record=import_record, campaign=self.campaign, tag=new.run_id)
            self.report.counts["runs added"] += 1
        insert(Answer, _FIELDS, ((import_record.pk, self.run.pk, *row) for row in new.rows))
        self.report.counts["answers added"] += len(new.rows)
        self.report.counts["sentences added"] += new.sentences
        self.report.counts["citations added"] += new.citations
