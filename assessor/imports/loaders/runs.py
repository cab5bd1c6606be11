"""Loading runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.campaigns import changed_answers
from assessor.campaigns.history import record as record_event
from assessor.campaigns.models import Answer, Campaign, Import, Run, Sentence
from assessor.campaigns.passages import any_from_runs, cited_by_other_runs, from_other_runs
from assessor.campaigns.queries import AmbiguousRun, among, find_run, lacking_docids
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.runs import AnswerRecord, Limits, begins_run, read_answers, topic_field
from assessor.formats.values import ids_to_json, to_json
from assessor.imports.loaders.answers import ANSWER_FIELDS, difference, warn_of
from assessor.imports.loaders.base import AddError, Loader, Options
from assessor.imports.loaders.documents import OWN, DocumentSifter
from assessor.imports.loaders.segments import SegmentRow
from assessor.runtime.sql import insert


class Joined(NamedTuple):
    """A loaded answer that came with labels, by its key, and what the file's answer has that is the same."""

    answer: int
    qid: str
    values: dict[str, Any]


class SetApart(NamedTuple):
    """A loaded answer that came with labels, by its key, to a topic of which the file has another answer."""

    answer: int
    qid: str


class NewAnswers(NamedTuple):
    """What a batch brings. rows: topic's key, form, references, content, extras, words, apart."""

    documents: list[SegmentRow]
    run_id: str
    rows: list[tuple[Any, ...]]
    joined: list[Joined]
    apart: list[SetApart]
    sentences: int
    citations: int


class RunLoader(Loader):
    kind = "runs"
    label = "Runs (answers)"
    asks = ("document_texts",)

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        return begins_run(beginning)

    @classmethod
    def asks_first(cls, beginning: Beginning) -> bool:
        return beginning.has("documents")

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        super().__init__(campaign, options, report)
        self.topics: dict[str, int] = dict(campaign.topics.values_list("qid", "pk"))
        self.run: Run | None = None
        self._given: set[str] = set()
        self._last = Line(0, "")
        self._documents = DocumentSifter(campaign, report, are_own=options.get("document_texts") == OWN)
        self._any_from_runs = any_from_runs(campaign)  # nothing else brings some while this import runs
        self._from_other_runs: set[str] = set()
        self._joined: list[Joined] = []
        self._apart: list[SetApart] = []

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        options = super().read_form(filled_in, add_error)
        return {"document_texts": OWN} if filled_in.get("document_texts") else options

    def read(self, lines: Iterable[Line]) -> Iterator[AnswerRecord]:
        protocol = self.campaign.protocol
        limits = Limits(protocol.max_answer_words, protocol.max_sentence_citations, protocol.max_references)
        return read_answers(lines, self.report, limits)

    def sift(self, records: Sequence[AnswerRecord]) -> NewAnswers:
        if self._last.number == 0:
            self._find_run(records[0])
        self._last = records[-1].line
        given = [document for record in records for document in record.documents]
        documents = self._documents.new(given, self.run)
        self._warn_of_texts(records)
        loaded = self._loaded_answers(records)
        new = [record for record in records if self._is_new(record, loaded.get(record.qid, []))]
        sentences, citations = (sum(map(len, some)) for some in ([r.content for r in new], [r.cited for r in new]))
        answers = NewAnswers(documents, records[0].run_id, [], [], [], sentences, citations)
        for record in new:
            self._sort(record, loaded.get(record.qid, []), answers)
        return answers

    def _sort(self, record: AnswerRecord, texts: Sequence[Answer], answers: NewAnswers) -> None:
        """Put a new answer with those to be joined to one that came with labels, or with those to be added.

        texts: those loaded; the first of them stands for the run's own answer.
        """
        same = None
        if texts:
            whole = Answer(form=record.form, references=record.references, content=record.content)
            text, sentences = whole.text, list(whole.sentences())
            differences = [difference(text, sentences, loaded, "answer", is_run=True) for loaded in texts]
            same = next((loaded.pk for loaded, found in zip(texts, differences, strict=True) if found is None), None)
            if differences[0]:
                warn_of(differences[0], record.line, record.run_id, self.report)
                answers.apart.append(SetApart(texts[0].pk, record.qid))
        if same is None:
            json = (ids_to_json(record.references), to_json(record.content), to_json(record.extras))
            # Only one can be the run's own: this one is, in place of the text, once the import is done.
            answers.rows.append((self.topics.get(record.qid), record.form, *json, record.words, bool(texts)))
        else:
            values = {name: getattr(record, name) for name in ("form", "references", "content", "extras", "words")}
            answers.joined.append(Joined(same, record.qid, values))

    def _find_run(self, first: AnswerRecord) -> None:
        try:
            self.run = find_run(self.campaign, first.run_id)
        except AmbiguousRun as error:
            self.report.error(first.line.number, "run_id", first.run_id, str(error))

    def _loaded_answers(self, records: Sequence[AnswerRecord]) -> dict[str, list[Answer]]:
        """Return the loaded answers by topic: the run's own, then the texts kept apart from it."""
        loaded: dict[str, list[Answer]] = {}
        if self.run:
            answers = self.run.answers.select_related("topic").filter(topic__qid__in=[r.qid for r in records])
            for answer in answers.exclude(form=Answer.Form.PASSAGE).order_by("apart", "pk"):
                loaded.setdefault(answer.topic.qid, []).append(answer)
        return loaded

    def _is_new(self, record: AnswerRecord, loaded: Sequence[Answer]) -> bool:
        number = record.line.number
        if record.qid not in self.topics:
            expected = "a topic of the campaign; load the topics first"
            self.report.error(number, topic_field(record.form), record.qid, expected)
            return False
        if self.repeats(record.qid, record.line, topic_field(record.form), record.qid):
            return False
        self._given.add(record.qid)
        if not loaded or loaded[0].form in Answer.WITH_LABELS:
            return True
        answer = loaded[0]
        loaded_form = (answer.form, answer.references, answer.content, answer.extras)
        if loaded_form != (record.form, record.references, record.content, record.extras):
            expected = f"the answer of {record.run_id} to {record.qid} as it is loaded already"
            self.report.error(number, "answer", "another answer", expected)
        self.report.counts["answers already there"] += 1
        return False

    def _warn_of_texts(self, records: Sequence[AnswerRecord]) -> None:
        """Warn of citations whose text is not loaded, or came with another run's file."""
        cited = set[str]().union(*(record.cited for record in records))
        lacking, others = self._lacking(cited), self._from_others(cited)
        for what, expected, docids in (
            ("cited text not loaded", "segments loaded", lacking),
            ("cited text from another run", "segments, or documents in this file", others),
        ):
            for record in records if docids else ():
                found = [docid for docid in sorted(docids.intersection(record.cited)) if not self._documents.has(docid)]
                if found:
                    shown = f"{len(found)} of {len(set(record.cited))}, first {found[0]}"
                    self.report.warn(what, record.line.number, "citations", shown, expected)
                if docids is others:
                    self._from_other_runs.update(found)

    def _lacking(self, cited: set[str]) -> set[str]:
        """Return those of the docids whose text is not loaded."""
        lacking = lacking_docids(self.campaign, cited)
        if lacking and self.run:
            own = self.run.documents.filter(docid__in=among(lacking)).order_by()
            lacking -= set(own.values_list("docid", flat=True))
        return lacking

    def _from_others(self, cited: set[str]) -> set[str]:
        """Return those of the docids whose text came with another run's file."""
        run = self.run.pk if self.run else 0
        pairs = ((run, docid) for docid in cited)
        return {docid for _, docid in from_other_runs(self.campaign, pairs)} if self._any_from_runs else set()

    def end(self) -> None:
        """Check what own texts would replace, count texts of other runs, and warn of topics without an answer."""
        if self._last.number == 0:
            return  # no line could be read
        self._check_replacing()
        if self._from_other_runs:
            self.report.counts["cited texts from other runs"] = len(self._from_other_runs)
        new = self._documents.new_segments
        if new and (cited := cited_by_other_runs(self.campaign, self.run, new)):
            self.report.counts["texts that loaded runs cite, too"] = len(cited)
        answered = set(self._given)
        if self.run:
            answered |= set(self.run.answers.values_list("topic__qid", flat=True))
        for qid in sorted(self.topics.keys() - answered):
            self.report.warn("topic without an answer", self._last.number, "topic_id", f"none for {qid}", "an answer")

    def _check_replacing(self) -> None:
        """Refuse own texts of what the run's loaded answers came with another text of, or was judged by it."""
        replacing = self._documents.replacing
        if self.run is None or not replacing:
            return
        answers = self.run.answers.filter(form=Answer.Form.RAGTIME).order_by("pk").values_list("topic__qid", "extras")
        came = {docid: qid for qid, extras in answers.iterator() for docid in extras.get("documents", ())}
        judged = changed_answers.judged_by_segments(self.run, replacing)
        for docid, line in replacing.items():
            if docid in came:
                expected = f"the text that came with the answer of {self.run} to {came[docid]}"
                self.report.error(line, "documents", docid, expected)
            elif docid in judged:
                expected = "the loaded text: citations of the run were judged by it already"
                remedy = (
                    "Cut this document out of the file to keep the loaded text, or import the run under another name."
                )
                self.report.error(line, "documents", docid, expected, remedy=remedy)

    def write(self, new: NewAnswers, import_record: Import) -> None:
        self._joined += new.joined
        self._apart += new.apart
        if self.run is None:
            self.run = Run.everything.create(import_record=import_record, campaign=self.campaign, tag=new.run_id)
            self.report.counts["runs added"] += 1
        self._documents.write(new.documents, import_record, self.run)
        if not new.rows and not new.joined:
            return
        if new.rows:
            insert(Answer, ANSWER_FIELDS, ((import_record.pk, self.run.pk, *row) for row in new.rows))
            self.report.counts["answers added"] += len(new.rows)
        self.report.counts["sentences added"] += new.sentences
        self.report.counts["citations added"] += new.citations

    def finish(self, import_record: Import) -> None:
        """Change what came with labels: it gets the run's sentences and citations, or gives way to what it answered."""
        if self._apart:
            Answer.objects.filter(pk__in=[apart.answer for apart in self._apart]).update(apart=True)
            Answer.everything.filter(import_record=import_record, apart=True).update(apart=False)
        before: dict[Answer, Sequence[Sentence]] = {}
        for joined in self._joined:
            answer = Answer.objects.get(pk=joined.answer)
            before[answer] = tuple(answer.sentences())
            for name, value in joined.values.items():
                setattr(answer, name, value)
            answer.apart = False
            answer.save(update_fields=[*joined.values, "apart"])
        if before:
            changed_answers.answers_changed(before)
        self._record("answers joined", self._joined, import_record)
        self._record("texts kept apart", self._apart, import_record)

    def follow(self) -> None:
        """Tell that texts of the run's own have taken the place of segments."""
        if self._documents.replacing and self.run:
            changed_answers.texts_replaced(self.run, self._documents.replacing)

    def _record(self, what: str, changed: Sequence[Joined | SetApart], import_record: Import) -> None:
        if changed:
            self.report.counts[what] += len(changed)
            qids = [one.qid for one in changed]
            record_event(what, self.run, campaign=self.campaign, person=import_record.person, topics=qids)
