"""Judgments of reports as JSONL, in the form of AUTO-ARGUE's *.judgments.jsonl: a report a line.

{"report": {"metadata": {"team_id", "topic_id", "run_id", "collection_ids"}, "responses": [{"text", "citations":
{DOCID: SCORE}}], "references": []}, "judgments": [{"segment_type": "sentence", "text", "citations": [{"doc_id",
"text"}], "judgments": [{"judgment_type_id", "response": {"judgment_type_id", ...}, "evaluator", "provenance":
{"doc_id", "sentence", "run_id", "sent_id"}}]}]}

There are as many judgments as responses, or fewer: the last sentences of a report that is too long are not judged.
Judgments of types that are not known here are kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.formats import values
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assignment.argue.vocabulary import ATTESTS, FIRST, NEEDS, NEGATIVE

RELEVANCE, MATCHES = "CITED_DOCUMENT_RELEVANCE", "SENTENCE_ANSWERS_QUESTION"
# Types of judgment with one answer, each with its key there. No published file has the last three: ours until known.
TYPE_OF = {
    ATTESTS: ("SENTENCE_ATTESTED", "is_attested"),
    NEEDS: ("REQUIRES_CITATION", "requires_citation"),
    FIRST: ("FIRST_INSTANCE", "is_first_instance"),
    NEGATIVE: ("NEGATIVE_ASSERTION", "is_negative_assertion"),
}
_STEP_OF = {kind: (step, key) for step, (kind, key) in TYPE_OF.items()}
_SENTENCE = "sentence"

Json = dict[str, Any]


class Matched(NamedTuple):
    """A question that a sentence answers. field: where the file says so; answers: the texts of its gold answers."""

    field: str
    question: str
    answers: list[str]


class JudgedSentence(NamedTuple):
    """What a file says of a sentence. steps: by step and docid; matched: by docid; relevant: by docid, with the field.

    What it cites has a docid, and what is said of the sentence itself has "".
    """

    steps: dict[tuple[str, str], bool]
    matched: dict[str, list[Matched]]
    relevant: dict[str, tuple[str, bool]]


class ReportRecord(NamedTuple):
    """A line. sentences: each with the docids that it cites; judged: the first of them; record: all as it came."""

    line: Line
    qid: str
    run_id: str
    sentences: list[tuple[str, list[str]]]
    judged: list[JudgedSentence]
    record: Json

    @property
    def text(self) -> str:
        """The whole report, its sentences joined with blanks."""
        return " ".join(text for text, _ in self.sentences)


def read_reports(lines: Iterable[Line], report: Report) -> Iterator[ReportRecord]:
    """Yield the lines in which nothing is wrong."""
    for line in lines:
        record = values.json_object(line, report)
        if record is not None:
            found = _Reader(line, report).read(record)
            if found:
                yield found


class _Reader:
    """Reads one line."""

    def __init__(self, line: Line, report: Report) -> None:
        self._line = line
        self._report = report

    def read(self, record: Json) -> ReportRecord | None:
        errors_before = self._report.error_count
        about = self._object(record.get("report"), "report", ("metadata", "responses"))
        judgments = self._list(record.get("judgments"), "judgments")
        if about is None or judgments is None:
            return None
        metadata = self._object(about["metadata"], "report.metadata", ("topic_id", "run_id"))
        responses = self._list(about["responses"], "report.responses")
        if metadata is None or responses is None:
            return None
        qid = values.topic_id(metadata["topic_id"], "report.metadata.topic_id", self._line, self._report)
        run_id = values.identifier(metadata["run_id"], "report.metadata.run_id", self._line, self._report)
        sentences = [self._response(one, f"report.responses[{at}]") for at, one in enumerate(responses)]
        if len(judgments) > len(responses):
            self._error("judgments", f"{len(judgments)} sentences", f"at most {len(responses)}, as in report.responses")
        if self._report.error_count > errors_before or qid is None or run_id is None:
            return None
        known = [one for one in sentences if one]
        pairs = zip(judgments, known, strict=False)
        judged = [self._judged(one, f"judgments[{at}]", *sentence) for at, (one, sentence) in enumerate(pairs)]
        if self._report.error_count > errors_before:
            return None
        return ReportRecord(self._line, qid, run_id, known, [one for one in judged if one], record)

    def _response(self, found: Any, where: str) -> tuple[str, list[str]] | None:
        response = self._object(found, where, ("text", "citations"))
        if response is None:
            return None
        text = values.text(response["text"], f"{where}.text", self._line, self._report, may_be_blank=True)
        cited = response["citations"]
        if not isinstance(cited, dict | list):
            self._error(f"{where}.citations", cited, "an object of docids, or a list of them")
            return None
        docids = values.identifiers(list(cited), f"{where}.citations", self._line, self._report)
        return None if text is None else (text, list(dict.fromkeys(docids)))

    def _judged(self, found: Any, where: str, text: str, docids: Sequence[str]) -> JudgedSentence | None:
        segment = self._object(found, where, ("text", "judgments"))
        if segment is None:
            return None
        if segment.get("segment_type", _SENTENCE) != _SENTENCE:
            self._error(f"{where}.segment_type", segment["segment_type"], f'"{_SENTENCE}"')
        if not isinstance(segment["text"], str) or segment["text"].split() != text.split():
            self._error(f"{where}.text", segment["text"], f"{text}, the sentence in report.responses")
        judged = JudgedSentence({}, {}, {})
        for at, one in enumerate(self._list(segment["judgments"], f"{where}.judgments") or ()):
            self._judgment(one, f"{where}.judgments[{at}]", docids, judged)
        return judged

    def _judgment(self, found: Any, where: str, docids: Sequence[str], judged: JudgedSentence) -> None:
        judgment = self._object(found, where, ("judgment_type_id", "response"))
        if judgment is None:
            return
        kind = judgment["judgment_type_id"]
        if kind not in (RELEVANCE, MATCHES, *_STEP_OF):
            return  # kept as it came
        response = self._object(judgment["response"], f"{where}.response", ())
        docid = self._docid(judgment, where, docids, of_citation=kind in (RELEVANCE, TYPE_OF[ATTESTS][0]))
        if response is None or docid is None:
            return
        if kind == MATCHES:
            matched = self._matched(response, f"{where}.response")
            self._once(judged.matched, docid, matched, where, kind)
        elif kind == RELEVANCE:
            is_relevant = self._boolean(response, "is_relevant", f"{where}.response")
            if is_relevant is not None:
                self._once(judged.relevant, docid, (f"{where}.response.is_relevant", is_relevant), where, kind)
        else:
            step, key = _STEP_OF[kind]
            value = self._boolean(response, key, f"{where}.response")
            if value is not None:
                self._once(judged.steps, (step, docid), value, where, kind)

    def _docid(self, judgment: Json, where: str, docids: Sequence[str], *, of_citation: bool) -> str | None:
        """Return what a judgment is about: a document that the sentence cites, or "" for the sentence itself."""
        provenance = judgment.get("provenance")
        docid = provenance.get("doc_id") if isinstance(provenance, dict) else None
        if docid is None and not of_citation and not docids:
            return ""
        if docid in docids:
            return str(docid)
        expected = (
            f"one of {', '.join(docids)}, which the sentence cites" if docids else "null: the sentence cites nothing"
        )
        self._error(f"{where}.provenance.doc_id", docid, expected)
        return None

    def _matched(self, response: Json, where: str) -> list[Matched]:
        if "matched_nuggets" not in response:
            self._error(where, "keys " + ", ".join(response), "the key matched_nuggets")
        found = []
        for at, one in enumerate(self._list(response.get("matched_nuggets", []), f"{where}.matched_nuggets") or ()):
            field = f"{where}.matched_nuggets[{at}]"
            nugget = self._object(one, field, ("question_text", "matched_answer"))
            if nugget is None:
                continue
            question = values.text(nugget["question_text"], f"{field}.question_text", self._line, self._report)
            answers = nugget["matched_answer"]
            if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
                self._error(f"{field}.matched_answer", answers, "a list of texts")
            elif question is not None:
                found.append(Matched(field, question, answers))
        return found

    def _once(self, known: dict[Any, Any], key: Any, value: Any, where: str, kind: str) -> None:
        if key in known:
            self._error(where, f"{kind} again", "each judgment once")
        known[key] = value

    def _boolean(self, response: Json, key: str, where: str) -> bool | None:
        value = response.get(key)
        if isinstance(value, bool):
            return value
        found = value if key in response else "keys " + ", ".join(response)
        self._error(f"{where}.{key}", found, "true or false; leave a judgment out that is missing")
        return None

    def _object(self, found: Any, where: str, keys: Sequence[str]) -> Json | None:
        if isinstance(found, dict) and all(key in found for key in keys):
            return found
        shown = "keys " + ", ".join(found) if isinstance(found, dict) else found
        self._error(where, shown, f"an object with {' and '.join(keys)}" if keys else "an object")
        return None

    def _list(self, found: Any, where: str) -> list[Any] | None:
        if isinstance(found, list):
            return found
        self._error(where, found, "a list")
        return None

    def _error(self, field: str, found: object, expected: str) -> None:
        self._report.error(self._line.number, field, found, expected)


class SegmentWriter:
    """Writes the judgments of one sentence. citations: what it cites, each with the document's text, "" for none."""

    def __init__(self, text: str, citations: Mapping[str, str], evaluator: str) -> None:
        self._evaluator = evaluator
        self._judgments: list[Json] = []
        self.segment: Json = {
            "segment_type": _SENTENCE,
            "text": text,
            "citations": [{"doc_id": docid, "text": of_document} for docid, of_document in citations.items()],
            "judgments": self._judgments,
        }

    def add_relevance(self, docid: str, *, is_relevant: bool) -> None:
        """Add whether a gold answer refers to a document: nobody judges that, it is looked up."""
        self._add(RELEVANCE, {"doc_id": docid, "is_relevant": is_relevant}, docid, "null")

    def add_matches(self, docid: str, matched: Sequence[Json]) -> None:
        """Add which questions the sentence answers."""
        self._add(MATCHES, {"matched_nuggets": list(matched)}, docid, self._evaluator)

    def add_step(self, step: str, docid: str, *, value: bool) -> None:
        """Add a judgment with one answer."""
        kind, key = TYPE_OF[step]
        self._add(kind, {key: value}, docid, self._evaluator)

    def _add(self, kind: str, response: Json, docid: str, evaluator: str) -> None:
        provenance = {"doc_id": docid or None, "sentence": None, "run_id": None, "sent_id": None}
        self._judgments.append(
            {
                "judgment_type_id": kind,
                "response": {"judgment_type_id": kind, **response},
                "evaluator": evaluator,
                "provenance": provenance,
            }
        )


def matched_nugget(question: str, answers: Sequence[str], importance: str) -> Json:
    """Return a question that a sentence answers, as a file has it."""
    return {"question_text": question, "matched_answer": list(answers), "importance": importance or None}
