"""What files hold, by their first lines."""

import gzip
import json

import pytest

from assessor.formats.beginning import read_beginning
from assessor.formats.lines import MAX_LINE
from assessor.imports.loaders import LOADERS, recognise
from tests.browser.conftest import ROOT

SENTENCE = {"text": "Cats purr.", "citations": [0]}
NUGGET = {"text": "they purr", "importance": "vital"}
DEMO = {
    "topics.tsv": "topics",
    "segments.jsonl": "segments",
    "qrels.people.txt": "qrels",
    "runs.csv": "run_list",
    "runs/tundra.dense-7b.jsonl": "runs",
    "retrieval/willow.titles-2.txt": "retrieval",
    "nuggets.people.jsonl": "nuggets",
    "questions.people.jsonl": "questions",
    "assignments.people.jsonl": "assignments",
    "support.people.jsonl": "support",
}
FILES = [
    ("topics", "1\ta question of five words\n"),
    ("topics", '{"id": "464", "title": "I want it"}\n'),
    ("topics", '{"request_id": "leaf", "problem_statement": "Tell me.", "limit": 2000}\n'),
    ("segments", '{"docid": "d1", "contents": "Cats."}\n'),
    ("segments", {"query": {"qid": "t1", "text": "q"}, "candidates": [{"docid": "d1", "doc": {"segment": "s"}}]}),
    ("qrels", "t1 0 d1 1\nt1 0 d2 -1\n"),
    ("qrels", "t1\t0\td1\t1\n"),
    ("retrieval", "t1 Q0 d1 1 2.5e0 bm25\n"),
    ("run_list", "tag,team,task,type,priority,aliases\nr1,,,,,\n"),
    ("run_list", "generator,aliases,priority,type,task,team,tag\n"),
    ("run_list", "priority,tag,team,task,type,aliases\n"),
    ("runs", {"run_id": "r", "topic_id": "t1", "topic": "q", "references": [], "answer": [SENTENCE]}),
    ("runs", {"metadata": {"run_id": "r", "narrative_id": "t1"}, "references": ["d1"], "answer": [SENTENCE]}),
    ("runs", {"metadata": {"run_id": "r", "topic_id": "t1"}, "responses": [SENTENCE], "references": []}),
    ("nuggets", {"query": "q", "qid": "t1", "nuggets": [NUGGET]}),
    ("nuggets", {"query": "q", "qid": "t1", "nuggets": []}),
    ("questions", {"query_id": "t1", "title_query": "q", "nugget_bank": {}}),
    ("questions", '{\n  "query_id": "t1",\n  "nugget_bank": {\n    "Q?": {}\n  }\n}\n'),
    ("questions", {"metadata": {"topic_id": "t1", "run_id": "r"}, "nugget_bank": []}),
    ("questions", {"Q?": ["OR", {"A": ["d1"]}]}),
    ("questions", {"query_id": "t1", "test_collection": "c", "items": []}),
    ("drafts", {"query": "q", "qid": "t1", "nuggets": [{"text": "they purr"}]}),
    ("assignments", {"query": "q", "qid": "t1", "nuggets": [NUGGET | {"assignment": "support"}], "run_id": "r"}),
    ("question_grades", {"run_id": "r", "query_id": "t1", "question": "Q?", "passage": "a", "grade": 4}),
    ("question_grades", {"query_id": "t1", "question": "Q?", "passage": "a", "doc_id": "d1", "grade": 4}),
    ("argue_judgments", {"report": {"metadata": {"topic_id": "t1", "run_id": "r"}, "responses": []}, "judgments": []}),
    ("passages", {"query_id": "t1", "doc_id": "d1", "passage": "a"}),
    ("preferences", {"_type": "comparison", "run_id": "r", "run_id2": "s", "query_id": "t1", "better_passage": 1}),
    ("support", {"topic_id": "t1", "run_id": "r", "sentences": []}),
    ("plan", "topic,nuggets,assessor\nt1,N,anna\n"),
    ("", ""),
    ("", "only words in a line\n"),
    ("", "run_id,task,v\nr1,AG,0.5\n"),
    ("", "{broken\n"),
    ("", "[" * 100_000 + "\n"),
    ("", "PK\x03\x04 a document\n"),
    ("", b"\xff\xfe\x00binary\n"),
    ("", "version https://git-lfs.github.com/spec/v1\n"),
]


def kind_of(path) -> str:
    loader = recognise(read_beginning(path))
    return loader.kind if loader else ""


@pytest.mark.parametrize(("name", "kind"), DEMO.items())
def test_the_demos_files_are_recognised(name, kind):
    assert kind_of(ROOT / "demo" / name) == kind


@pytest.mark.parametrize(("kind", "content"), FILES)
def test_what_a_file_holds_is_seen_in_its_first_lines(tmp_path, kind, content):
    if isinstance(content, dict):
        content = json.dumps(content) + "\n"
    content = content if isinstance(content, bytes) else content.encode()
    path = tmp_path / "file"
    path.write_bytes(content)
    assert kind_of(path) == kind
    path.write_bytes(gzip.compress(content))
    assert kind_of(path) == kind


def test_every_kind_is_recognised():
    # Nuggets of a former edition look like others.
    assert {kind for kind, _ in FILES} - {""} == set(LOADERS) - {"former_nuggets"}


@pytest.mark.parametrize("form", ["array", "indented"])
def test_json_that_is_not_one_object_a_line_is_recognised(tmp_path, form):
    record = {"qid": "t1", "nuggets": [NUGGET]}
    path = tmp_path / "file"
    path.write_text(json.dumps([record] * 9) if form == "array" else json.dumps(record, indent=2))
    assert kind_of(path) == "nuggets"


def test_little_of_a_large_file_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"".join(b"t%d\ta title\n" % n for n in range(200_000)))
    assert len(read_beginning(path).lines) == 5
    path.write_bytes(gzip.compress(b"x" * (MAX_LINE * 3)))
    assert read_beginning(path).lines == []


@pytest.mark.parametrize(
    ("kind", "asked", "quiet"),
    [
        (
            "segments",
            {"query": {"qid": "t1"}, "candidates": [{"docid": "d", "judgment": 1, "doc": {"segment": "s"}}]},
            {"query": {"qid": "t1"}, "candidates": [{"docid": "d", "doc": {"segment": "s"}}]},
        ),
        (
            "runs",
            {"metadata": {}, "responses": [], "documents": {}},
            {"metadata": {}, "responses": []},
        ),
    ],
)
def test_a_person_is_asked_only_where_the_file_has_what_it_is_about(tmp_path, kind, asked, quiet):
    for content, is_asked in ((asked, True), (quiet, False)):
        path = tmp_path / "file"
        path.write_text(json.dumps(content))
        beginning = read_beginning(path)
        assert (kind_of(path), LOADERS[kind].asks_first(beginning)) == (kind, is_asked)


def test_files_are_imported_in_the_order_in_which_they_need_each_other():
    order = list(LOADERS)
    for first, second in (
        ("topics", "segments"),
        ("segments", "runs"),
        ("run_list", "runs"),
        ("qrels", "drafts"),
        ("runs", "assignments"),
        ("nuggets", "assignments"),
        ("support", "plan"),
    ):
        assert order.index(first) < order.index(second)
