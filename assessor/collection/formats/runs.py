"""Runs in the form of the TREC 2024 RAG track."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assessor.collection.formats import values
from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report

_KEYS = ("run_id", "topic_id", "references", "answer")


class AnswerRecord(NamedTuple):
    """An answer of a file. content: its sentences as they came; words: split at white space; cited: in order."""

    line: Line
    run_id: str
    qid: str
    references: list[str]
    content: list[dict[str, Any]]
    extras: dict[str, Any]
    words: int
    cited: list[str]


class Limits(NamedTuple):
    """What a campaign expects of an answer; more is worth a warning."""

    words: int
    sentence_citations: int
    references: int


def read_answers(lines: Iterable[Line], report: Report, limits: Limits) -> Iterator[AnswerRecord]:
    """Yield the answers of one run."""
    run_id: str | None = None
    for line in lines:
        record = values.json_object(line, report)
        if record is None or not _has_keys(record, line, report):
            continue
        answer = _answer(record, line, report)
        if answer is None:
            continue
        if run_id is None:
            run_id = answer.run_id
        if answer.run_id != run_id:
            report.error(line.number, "run_id", answer.run_id, f"one run a file: {run_id}, as in the lines before")
            continue
        _warn(answer, report, limits)
        yield answer


def _has_keys(record: dict[str, Any], line: Line, report: Report) -> bool:
    lacking = [key for key in _KEYS if not values.required(record, key, line, report)]
    return not lacking


def _answer(record: dict[str, Any], line: Line, report: Report) -> AnswerRecord | None:
    run_id = values.identifier(record["run_id"], "run_id", line, report)
    qid = values.identifier(record["topic_id"], "topic_id", line, report)
    references = _references(record["references"], line, report)
    if references is None or not run_id or not qid:
        return None
    content = record["answer"]
    if not isinstance(content, list):
        report.error(line.number, "answer", content, "a list of sentences")
        return None
    sentences = [_sentence(item, at, len(references), line, report) for at, item in enumerate(content)]
    if not all(sentences):
        return None
    cited = [references[position] for sentence in content for position in sentence["citations"]]
    words = len(" ".join(sentence["text"] for sentence in content).split())
    extras = {key: value for key, value in record.items() if key not in _KEYS}
    return AnswerRecord(line, run_id, qid, references, content, extras, words, cited)


def _references(found: object, line: Line, report: Report) -> list[str] | None:
    if not isinstance(found, list):
        report.error(line.number, "references", found, "a list of docids")
        return None
    docids = [values.identifier(docid, f"references[{at}]", line, report) for at, docid in enumerate(found)]
    known: set[str] = set()
    for at, docid in enumerate(docids):
        if docid in known:
            report.error(line.number, f"references[{at}]", docid, "each docid once")
        if docid:
            known.add(docid)
    return [docid for docid in docids if docid] if len(known) == len(found) else None


def _sentence(found: object, at: int, references: int, line: Line, report: Report) -> bool:
    """Check one sentence; its citations must be positions in the references."""
    where = f"answer[{at}]"
    if not isinstance(found, dict) or "text" not in found or "citations" not in found:
        report.error(line.number, where, found, "an object with text and citations")
        return False
    if values.text(found["text"], f"{where}.text", line, report, may_be_blank=True) is None:
        return False
    citations = found["citations"]
    if not isinstance(citations, list):
        report.error(line.number, f"{where}.citations", citations, "a list of positions in references")
        return False
    for position in citations:
        if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < references:
            expected = f"a position in references, 0 to {references - 1}" if references else "none: references is empty"
            report.error(line.number, f"{where}.citations", position, expected)
            return False
    return True


def _warn(answer: AnswerRecord, report: Report, limits: Limits) -> None:
    number = answer.line.number
    if not answer.content:
        report.warn("answer without sentences", number, "answer", "no sentence", "at least one sentence")
    stated = answer.extras.get("response_length", answer.words)
    if stated != answer.words or isinstance(stated, bool):
        report.warn("response_length differs", number, "response_length", stated, f"{answer.words}, the words counted")
    if answer.words > limits.words:
        report.warn("long answer", number, "answer", f"{answer.words} words", f"at most {limits.words}")
    if len(answer.references) > limits.references:
        found = f"{len(answer.references)} references"
        report.warn("many references", number, "references", found, f"at most {limits.references}")
    most = max((len(sentence["citations"]) for sentence in answer.content), default=0)
    if most > limits.sentence_citations:
        report.warn(
            "many citations", number, "citations", f"{most} in one sentence", f"at most {limits.sentence_citations}"
        )


def write_answers(answers: Iterable[Any], run_id: str) -> Iterator[str]:
    """Yield the lines of a run's answers (anything with topic.qid, references, content, extras)."""
    for answer in answers:
        extras = dict(answer.extras)
        record = {"run_id": run_id, "topic_id": answer.topic.qid}
        if "topic" in extras:
            record["topic"] = extras.pop("topic")
        record["references"] = answer.references
        if "response_length" in extras:
            record["response_length"] = extras.pop("response_length")
        yield values.to_json({**record, "answer": answer.content, **extras}) + "\n"
