"""Whatever a file holds, its reader takes it or reports it; what it takes is written so that it reads the same."""

import gzip
import json
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assessor.formats.lines import SourceFile
from assessor.formats.qrels import read_qrels, write_qrels
from assessor.formats.report import Report, Unreadable
from assessor.formats.retrieval import read_rankings, write_rankings
from assessor.formats.run_list import read_run_list, write_run_list
from assessor.formats.runs import Limits, read_answers, write_answers
from assessor.formats.segments import read_segments, write_segments
from assessor.formats.topics import read_topics, write_topics

LIMITS = Limits(words=400, sentence_citations=20, references=20)
HOSTILE = "\x00\x01\t\r\n\x0b\x1c \"'\\{}[],:;#=<>&é\u0085\u00a0\u0301\u200b\u202e\u2028\ud83d\ufeff😀\U000e0001"
READERS = {
    "topics": read_topics,
    "segments": read_segments,
    "qrels": read_qrels,
    "runs": lambda lines, report: read_answers(lines, report, LIMITS),
    "run_list": read_run_list,
    "retrieval": read_rankings,
}
GOOD = {
    "topics": 't1\twhy do cats purr\nt2\thow\n',
    "topics_json": '{"id": "t1", "title": "why"}\n{"request_id": "t2", "title": "how", "limit": 2000}\n',
    "segments": '{"docid": "d1", "title": "A", "segment": "Cats purr.", "start_char": 0}\n'
    '{"query": {"qid": "t1"}, "candidates": [{"docid": "d2", "judgment": 3, "doc": {"body": "Dogs bark."}}]}\n',
    "qrels": "t1 0 d1 3\nt2 4 d2 0\n",
    "runs": '{"run_id": "r1", "topic_id": "t1", "topic": "why", "references": ["d1", "d2"], "response_length": 1,'
    ' "answer": [{"text": "Yes.", "citations": [0, 1]}]}\n',
    "runs_rag25": '{"metadata": {"team_id": "T", "run_id": "r", "type": "manual", "narrative_id": 1},'
    ' "references": ["d"], "answer": [{"text": "Yes.", "citations": ["d", 0]}]}\n',
    "runs_ragtime": '{"metadata": {"run_id": "r", "topic_id": "t"}, "responses": [{"text": "Yes.", "citations":'
    ' {"d": 0.5}}], "documents": {"d": {"id": "d", "text": "Cats.", "title": "C"}}}\n',
    "retrieval": "t1 Q0 d1 1 2.5 r\nt1 Q0 d2 2 1e-3 r\nt2 Q0 d1 0 7 r\n",
    "run_list": 'tag,team,task,type,priority,aliases,generator\nr1,"T, U",RAG,manual,1,a b,openai meta\n',
}  # fmt: skip


def read(path, kind, data):
    """Return the records of a file and its report. Only Unreadable may be raised, and then the report says why."""
    path.write_bytes(data)
    report, records = Report("file"), []
    try:
        records.extend(READERS[kind](SourceFile(path).lines(report), report))
    except Unreadable:
        assert report.error_count > 0
    for problem in report.errors + [p for warning in report.warnings.values() for p in warning.listed]:
        assert (problem.field + problem.found + problem.expected).isprintable()
        assert max(map(len, problem[1:])) < 900
    json.dumps(report.as_dict(), ensure_ascii=False).encode()
    return records, report


def rewritten(kind, records):
    """Return the text of the records as the project writes them."""
    if kind == "topics":
        form = records[0].form if records else "tsv"
        return write_topics(records, form)
    if kind == "segments":
        return write_segments(records)
    if kind == "qrels":
        return write_qrels((record.qid, record.iteration, record.docid, record.grade) for record in records)
    if kind == "runs":
        answers = [SimpleNamespace(topic=SimpleNamespace(qid=record.qid), **record._asdict()) for record in records]
        texts = {document.docid: document.text for record in records for document in record.documents}
        return write_answers(answers, records[0].run_id if records else "", lambda docids: texts)
    if kind == "retrieval":
        rows = [(record.qid, *ranked) for record in records for ranked in record.ranked]
        return write_rankings(rows, records[0].tag if records else "")
    return write_run_list((*record[1:6], " ".join(record.aliases), record.generator or "") for record in records)


def check(path, kind, data):
    """Show that a file is taken or reported, and that what is taken survives writing, byte by byte."""
    records, _ = read(path, kind, data)
    if not records:
        return
    if kind == "topics" and len({record.form for record in records}) > 1:
        return  # mixed forms are written as the first
    text = "".join(rewritten(kind, records))
    again, report = read(path, kind, text.encode())
    assert report.error_count == 0, report.errors
    assert len(again) == len(records)
    assert "".join(rewritten(kind, again)) == text


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("hypothesis") / "file"


any_bytes = st.binary(max_size=200) | st.binary(max_size=60).map(gzip.compress)
any_bytes |= st.binary(max_size=100).map(lambda data: gzip.compress(data)[: len(data)])
any_lines = st.lists(st.text(st.characters() | st.sampled_from(HOSTILE), max_size=40), max_size=6)
any_lines = any_lines.map(lambda lines: "\n".join(lines).encode(errors="surrogatepass"))
a_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(list(HOSTILE)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", READERS)
@given(data=any_bytes | any_lines)
@example(data=b"\x1f\x8b")
@example(data=b'{"')
@example(data=b"\xef\xbb\xbf\x1c\n")
@example(data=b"\x00\n{\t\x01")
def test_any_bytes_are_read_or_reported(path, kind, data):
    check(path, kind, data)


@st.composite
def mutated(draw, text):
    """Return a good file in which something is replaced, put in, taken out, doubled or cut off."""
    data = text.encode()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 6)))
        new = draw(st.binary(max_size=4) | st.text(st.sampled_from(HOSTILE), max_size=3).map(_as_bytes))
        data = draw(st.sampled_from([data[:start] + new + data[end:], data[:start], data + data[start:end]]))
    return data


def _as_bytes(text):
    return text.encode(errors="surrogatepass")


@pytest.mark.parametrize("name", GOOD)
def test_the_good_files_are_good(path, name):
    records, report = read(path, name.split("_json")[0].split("_rag")[0], GOOD[name].encode())
    assert (len(records) > 0, report.errors, report.warning_count) == (True, [], 0)


@pytest.mark.parametrize("name", GOOD)
@given(data=st.data())
def test_mutated_files_are_read_or_reported(path, name, data):
    check(path, name.split("_json")[0].split("_rag")[0], data.draw(mutated(GOOD[name])))


def places(value, at=()):
    """Yield the way to each value in a JSON object."""
    yield at
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*at, key))


def with_another(value, at, new):
    """Return a JSON value in which the one at a place is another."""
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = with_another(value[at[0]], at[1:], new)
    return copy


@pytest.mark.parametrize("name", ["topics_json", "segments", "runs", "runs_rag25", "runs_ragtime"])
@given(data=st.data())
def test_any_value_in_any_place_is_read_or_reported(path, name, data):
    records = [json.loads(line) for line in GOOD[name].splitlines()]
    which = data.draw(st.integers(0, len(records) - 1))
    place = data.draw(st.sampled_from(list(places(records[which]))))
    records[which] = with_another(records[which], place, data.draw(a_value))
    lines = "".join(json.dumps(record) + "\n" for record in records)
    check(path, name.split("_json")[0].split("_rag")[0], lines.encode())
