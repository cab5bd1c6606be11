"""JSON lines: a key that stands twice is found wherever it stands, and nothing else is taken for one."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import identifiers, ids_to_json, json_object, to_json, topic_id

KEYS = st.sampled_from(["a", "b", 'c": 1', "d:", 'e\\":', ""])
BLANKS = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def written(draw, depth=2):
    """Return a JSON value as text, and whether a key stands twice in an object of it."""
    kind = draw(st.sampled_from(["text", "object", "list"] if depth else ["text"]))
    if kind == "text":
        return json.dumps(draw(KEYS | st.integers())), False
    inner = [draw(written(depth=depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    is_twice = any(twice for _, twice in inner)
    if kind == "list":
        return "[" + ", ".join(text for text, _ in inner) + "]", is_twice
    keys = [draw(KEYS) for _ in inner]
    pairs = [f"{json.dumps(key)}{draw(BLANKS)}:{text}" for key, (text, _) in zip(keys, inner, strict=True)]
    return "{" + ",".join(pairs) + "}", is_twice or len(set(keys)) < len(keys)


@given(written())
@example(('{"a": 1, "a": 2}', True))
@example(('{"a": 1, "a" : 2}', True))
@example(('{"a"\t:1, "b": {"c": 1, "c":2}}', True))
@example(('{"a": "x\\":", "b": ":"}', False))
def test_a_key_twice_is_an_error_and_all_else_is_read(value):
    text, is_twice = value
    line, report = Line(1, f'{{"x": {text}}}'), Report("file")
    record = json_object(line, report)
    if is_twice:
        assert (record, [error.found for error in report.errors]) == (None, ["the key twice in one object"])
    else:
        assert (record, report.errors) == (json.loads(line.text), [])


def test_lists_of_ids():
    for found, good, errors in [
        (["d1", "é", "x" * 256], ["d1", "é", "x" * 256], []),
        ([], [], []),
        ([""], [], ["references[0]"]),
        (["d1", "", "d2"], ["d1", "d2"], ["references[1]"]),
        (["a b"], [], ["references[0]"]),
        (["a b", "c"], ["c"], ["references[0]"]),
        (["d1 ", "d2"], ["d1", "d2"], []),
        (["d1", "x" * 257], ["d1"], ["references[1]"]),
        (["d1", None, 5], ["d1"], ["references[1]", "references[2]"]),
        (["d\x01"], [], ["references[0]"]),
    ]:
        report = Report("file")
        assert identifiers(found, "references", Line(1, ""), report) == good
        assert [error.field for error in report.errors] == errors


def test_topic_ids_may_be_numbers():
    for found, qid in [("464", "464"), (464, "464"), (0, "0"), (-1, "-1"), (True, None), (4.0, None), (None, None)]:
        assert topic_id(found, "topic_id", Line(1, ""), Report("file")) == qid


def test_a_key_twice_among_many_is_found_at_once():
    keys = [f'"{number}":0' for number in range(60_000)]
    line, report = Line(1, "{" + ",".join([*keys, '"59999":1']) + "}"), Report("file")
    began = time.process_time()
    assert json_object(line, report) is None
    assert [error.field for error in report.errors] == ["59999"]
    assert time.process_time() - began < 5  # holding each key against each other one takes minutes


@pytest.mark.parametrize("ids", [[], ["d1"], ["d1", "d2#3"], ['d"1', "d2"], ["d\\1"], ['"', '", "'], ["é", "文"]])
def test_ids_are_written_as_any_json(ids):
    assert ids_to_json(ids) == to_json(ids)
