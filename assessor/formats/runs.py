"""Runs: the answers of one system, in the forms of the TREC RAG tracks of 2024 to 2026 and of RAGTIME and its kin."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity
from assessor.formats.segments import TEXT_KEYS, SegmentRecord, read_segment

FORMS = ("rag24", "rag25", "rag26", "ragtime")
TYPES = ("automatic", "manual")
RAG26_CITATIONS = 3  # of a sentence
_SENTENCES = {"rag24": "answer", "rag25": "answer", "rag26": "answer", "ragtime": "responses"}
_TOPIC = {"rag24": "topic_id", "rag25": "narrative_id", "rag26": "narrative_id", "ragtime": "topic_id"}
_CITATIONS = {
    "rag24": "a list of positions in references",
    "rag25": "a list of docids or of positions in references",
    "rag26": "a list of docids or of positions in references",
    "ragtime": "a list of docids or of positions in references, or scores by docid",
}
_KNOWN_SHAPES = "run_id, topic_id, references, answer; metadata, references, answer; or metadata, responses"


class AnswerRecord(NamedTuple):
    """An answer of a file. content: its sentences as they came; words: split at white space; cited: in order.

    extras: the further keys as they came. The metadata are among them without the run's name, and the documents
    without their texts.
    """

    line: Line
    form: str
    run_id: str
    qid: str
    references: list[str]
    content: list[dict[str, Any]]
    extras: dict[str, Any]
    documents: list[SegmentRecord]
    words: int
    cited: list[str]


class Limits(NamedTuple):
    """What a campaign expects of an answer; more is worth a warning."""

    words: int
    sentence_citations: int
    references: int


def begins_run(beginning: Beginning) -> bool:
    """Say whether a file begins with an answer in one of the forms."""
    is_rag24 = beginning.has("run_id", "topic_id", "references", "answer")
    return is_rag24 or (beginning.has("metadata") and beginning.has_any("answer", "responses"))


def read_answers(lines: Iterable[Line], report: Report, limits: Limits) -> Iterator[AnswerRecord]:
    """Yield the answers of one run; the first of them says which form the file has."""
    first: AnswerRecord | None = None
    for line in lines:
        record = values.json_object(line, report)
        answer = _answer(record, line, report) if record is not None else None
        if answer is None:
            continue
        first = first or answer
        if answer.form != first.form:
            report.error(line.number, "", f"the form {answer.form}", f"one form a file: {first.form}, as before")
        elif answer.run_id != first.run_id:
            expected = f"one run a file: {first.run_id}, as in the lines before"
            report.error(line.number, _holder(answer.form) + "run_id", answer.run_id, expected)
        else:
            _warn(answer, report, limits)
            yield answer


def topic_field(form: str) -> str:
    """Return where answers of a form name their topic."""
    return _holder(form) + _TOPIC[form]


def _holder(form: str) -> str:
    return "" if form == "rag24" else "metadata."


def _form(record: dict[str, Any]) -> str | None:
    """Return the form that a line's keys belong to."""
    of_rag24 = len(record.keys() & {"run_id", "topic_id", "references", "answer"})
    if of_rag24 == 4 or "metadata" not in record:
        return "rag24" if of_rag24 else None
    if ("answer" in record) == ("responses" in record):
        return None
    if "responses" in record:
        return "ragtime"
    metadata = record["metadata"]
    return "rag26" if isinstance(metadata, dict) and "run_desc" in metadata else "rag25"


def _answer(record: dict[str, Any], line: Line, report: Report) -> AnswerRecord | None:
    """Read one line; what is not taken out of the record stays in it as extras."""
    form = _form(record)
    if form is None:
        report.error(line.number, "", "keys " + ", ".join(record), _KNOWN_SHAPES)
        return None
    errors_before = report.error_count
    sentences_key = _SENTENCES[form]
    if form != "rag24" and not isinstance(record["metadata"], dict):
        report.error(line.number, "metadata", record["metadata"], f"an object with run_id and {_TOPIC[form]}")
        return None
    for key in ("references", sentences_key):
        if key != "references" or form != "ragtime":
            values.required(record, key, line, report)
    run_id, qid = _names(record, form, line, report)
    if report.error_count > errors_before or run_id is None or qid is None:
        return None
    references = _references(record, form, line, report)
    documents = _documents(record, line, report) if form == "ragtime" and "documents" in record else []
    content = record.pop(sentences_key)
    if not isinstance(content, list):
        report.error(line.number, sentences_key, content, "a list of sentences")
    if report.error_count > errors_before:
        return None
    cited = _cited_by_position(content, references or [])
    if cited is None:
        cited = _Citations(references, form, line, report).of(content)
    if report.error_count > errors_before:
        return None
    words = len(" ".join([sentence["text"] for sentence in content]).split())
    return AnswerRecord(line, form, run_id, qid, references or [], content, record, documents, words, cited)


def _names(record: dict[str, Any], form: str, line: Line, report: Report) -> tuple[str | None, str | None]:
    """Take the run's and the topic's id out of a line. Of a topic id that is a number, the number stays."""
    where, holder = _holder(form), record if form == "rag24" else record["metadata"]
    topic_key = _TOPIC[form]
    lacking = [key for key in ("run_id", topic_key) if key not in holder]
    for key in lacking:
        report.error(line.number, where + key, "keys " + ", ".join(holder), f"the key {key}")
    if lacking:
        return None, None
    if form != "rag24" and holder.get("type", TYPES[0]) not in TYPES:
        report.warn("type of run", line.number, "metadata.type", holder["type"], " or ".join(TYPES))
    run_id = values.identifier(holder.pop("run_id"), f"{where}run_id", line, report)
    qid = values.topic_id(holder[topic_key], where + topic_key, line, report)
    if isinstance(holder[topic_key], str):
        del holder[topic_key]
    return run_id, qid


def _references(record: dict[str, Any], form: str, line: Line, report: Report) -> list[str] | None:
    """Take the references out of a line; None where there are none, which only RAGTIME allows."""
    if form == "ragtime" and "references" not in record:
        return None
    found = record.pop("references")
    if not isinstance(found, list):
        report.error(line.number, "references", found, "a list of docids")
        return None
    docids = values.identifiers(found, "references", line, report)
    if len(docids) == len(found) and len(set(docids)) < len(docids):
        known: set[str] = set()
        for at, docid in enumerate(docids):
            if docid in known:
                report.error(line.number, f"references[{at}]", docid, "each docid once")
            known.add(docid)
    if form == "ragtime" and not found:
        record["references"] = found  # to be written again, unlike those that were never there
    return docids


def _documents(record: dict[str, Any], line: Line, report: Report) -> list[SegmentRecord]:
    """Return the segments that came with an answer; in the record, their texts give way to null."""
    found = record["documents"]
    if not isinstance(found, dict):
        report.error(line.number, "documents", found, "an object of documents by docid")
        return []
    segments: list[SegmentRecord] = []
    without_texts: dict[str, dict[str, Any]] = {}
    for key, document in found.items():
        where = f"documents.{key}"
        if not isinstance(document, dict) or any(document.get(name, key) != key for name in ("id", "docid")):
            report.error(line.number, where, document, "an object with text whose id, if it has one, is its key")
            continue
        fields = {name: value for name, value in document.items() if name != "id"}
        segment = read_segment({"docid": key} | fields, f"{where}.", line, report)
        if segment and segment.docid in without_texts:
            report.error(line.number, where, segment.docid, "each docid once")
        elif segment:
            segments.append(segment)
            without_texts[segment.docid] = {
                name: None if name in TEXT_KEYS else segment.docid if name in ("id", "docid") else value
                for name, value in document.items()
            }
    record["documents"] = without_texts
    return segments


def _cited_by_position(content: list[Any], references: list[str]) -> list[str] | None:
    """Return what sentences cite where all is plain and right, as in most answers, or None: a short cut."""
    try:
        citations = [sentence["citations"] for sentence in content]
        types = {type(sentence["text"]) for sentence in content}
    except (KeyError, TypeError):
        return None
    if not types <= {str} or not {type(of_one) for of_one in citations} <= {list}:
        return None
    positions = list(chain.from_iterable(citations))
    if not set(map(type, positions)) <= {int} or min(positions, default=0) < 0:
        return None
    return [references[at] for at in positions] if max(positions, default=-1) < len(references) else None


class _Citations:
    """What the sentences of an answer cite, one by one, with what is wrong with each."""

    def __init__(self, references: list[str] | None, form: str, line: Line, report: Report) -> None:
        self._references = references or []
        self._known = set(self._references)
        self._form = form
        self._line = line
        self._report = report

    def of(self, sentences: list[Any]) -> list[str]:
        """Check sentences and return the docids that they cite, in order."""
        cited: list[str] = []
        for at, sentence in enumerate(sentences):
            if not isinstance(sentence, dict) or "text" not in sentence or "citations" not in sentence:
                self._error(at, "", sentence, "an object with text and citations")
            elif not isinstance(sentence["text"], str):
                self._error(at, ".text", sentence["text"], "text")
            else:
                cited += self._of_sentence(sentence, at)
        return cited

    def _of_sentence(self, sentence: dict[str, Any], at: int) -> list[str]:
        citations = sentence["citations"]
        if isinstance(citations, list) and set(map(type, citations)) <= {int}:
            return [docid for citation in citations if (docid := self._at(citation, at))]
        if isinstance(citations, dict) and self._form == "ragtime":
            return self._with_scores(sentence, at)
        if not isinstance(citations, list):
            self._error(at, ".citations", citations, _CITATIONS[self._form])
            return []
        docids = [self._at(citation, at) for citation in citations]
        known = [docid for docid in docids if docid]
        if len(known) == len(citations):
            # As they came, but for blanks around them.
            pairs = zip(citations, known, strict=True)
            sentence["citations"] = [docid if isinstance(citation, str) else citation for citation, docid in pairs]
        return known

    def _with_scores(self, sentence: dict[str, Any], at: int) -> list[str]:
        scores: dict[str, float] = {}
        for citation, score in sentence["citations"].items():
            docid = self._at(citation, at)
            if not isinstance(score, (int, float)) or isinstance(score, bool):
                self._error(at, f".citations.{citation}", score, "a score, as a number")
            elif docid in scores:
                self._error(at, ".citations", docid, "each docid once")
            elif docid:
                scores[docid] = score
        sentence["citations"] = scores
        return list(scores)

    def _at(self, citation: object, at: int) -> str | None:
        """Return the docid that a citation stands for: a position in the references or, but for RAG24, a docid."""
        last = len(self._references) - 1
        if isinstance(citation, int) and not isinstance(citation, bool) and 0 <= citation <= last:
            return self._references[citation]
        if isinstance(citation, str) and self._form != "rag24":
            docid = values.identifier(citation, self._field(at, ".citations"), self._line, self._report)
            if docid and self._known and docid not in self._known:
                self._error(at, ".citations", docid, "one of the references")
                return None
            return docid
        expected = f"a position in references, 0 to {last}" if self._references else "none: references is empty"
        if self._form != "rag24":
            expected = f"a docid, or a position in references, 0 to {last}" if self._references else "a docid"
        self._error(at, ".citations", citation, expected)
        return None

    def _field(self, at: int, field: str) -> str:
        return f"{_SENTENCES[self._form]}[{at}]{field}"

    def _error(self, at: int, field: str, found: object, expected: str) -> None:
        self._report.error(self._line.number, self._field(at, field), found, expected)


def _warn(answer: AnswerRecord, report: Report, limits: Limits) -> None:
    number = answer.line.number
    if not answer.content:
        report.warn("answer without sentences", number, _SENTENCES[answer.form], "no sentence", "at least one sentence")
    stated = answer.extras.get("response_length", answer.words)
    if stated != answer.words or isinstance(stated, bool):
        report.warn("response_length differs", number, "response_length", stated, f"{answer.words}, the words counted")
    if answer.words > limits.words:
        report.warn(
            "long answer", number, _SENTENCES[answer.form], quantity(answer.words, "words"), f"at most {limits.words}"
        )
    if len(answer.references) > limits.references:
        found = quantity(len(answer.references), "references")
        report.warn("many references", number, "references", found, f"at most {limits.references}")
    at_most = min(limits.sentence_citations, RAG26_CITATIONS) if answer.form == "rag26" else limits.sentence_citations
    most = max([len(sentence["citations"]) for sentence in answer.content], default=0)
    if most > at_most:
        report.warn("many citations", number, "citations", f"{most} in one sentence", f"at most {at_most}")


def write_answers(
    answers: Iterable[Any], run_id: str, texts: Callable[[Iterable[str]], Mapping[str, str]]
) -> Iterator[str]:
    """Yield the lines of a run's answers, each in the form it came in.

    An answer is anything with form, topic.qid, references, content, extras; texts gives the texts of segments.
    """
    for answer in answers:
        extras = dict(answer.extras)
        names = {"run_id": run_id, _TOPIC[answer.form]: answer.topic.qid}
        if answer.form == "rag24":
            record = names | {key: extras.pop(key) for key in ("topic_id", "topic") if key in extras}
        else:
            metadata = extras.pop("metadata")
            head = {"team_id": metadata["team_id"]} if "team_id" in metadata else {}
            record = {"metadata": head | names | metadata}
        if answer.form == "ragtime":
            record["responses"] = answer.content
            if answer.references:
                record["references"] = answer.references
            if "documents" in extras:
                record["documents"] = _with_texts(extras.pop("documents"), texts)
        else:
            record["references"] = answer.references
            if "response_length" in extras:
                record["response_length"] = extras.pop("response_length")
            record["answer"] = answer.content
        yield values.to_json(record | extras) + "\n"


def _with_texts(
    documents: dict[str, dict[str, Any]], texts: Callable[[Iterable[str]], Mapping[str, str]]
) -> dict[str, dict[str, Any]]:
    text_of = texts(documents)
    return {
        docid: {name: text_of[docid] if name in TEXT_KEYS else value for name, value in document.items()}
        for docid, document in documents.items()
    }
