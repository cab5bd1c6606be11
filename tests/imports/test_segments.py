"""Segments: one a line, and with a request's candidates and their judgments."""

import json

import pytest

from assessor.campaigns.models import Grade, Import, Segment
from tests.imports.conftest import told, warned

FULL = {
    "docid": "msmarco_v2.1_doc_27_13195298#7_19215443",
    "url": "https://example.org/a",
    "title": "A",
    "headings": "A / B",
    "segment": "the text",
    "start_char": 0,
    "end_char": 812,
}
GOOD = [json.dumps(FULL), '{"docid": "d1", "segment": "Cats purr."}']
NAMED = {"source": "NIST", "by": "people"}
KEYS = "the text under one of segment, text, contents, body"


def candidate(docid="d1", text="Cats purr.", **more):
    return {"docid": docid, "score": 12.5, "doc": {"docid": docid, "segment": text}} | more


def request(*candidates, qid="t1", **more):
    return {"query": {"qid": qid, "text": "why"}, "candidates": list(candidates)} | more


@pytest.mark.parametrize("key", ["segment", "text", "contents", "body"])
def test_the_text_under_each_of_its_keys(empty_campaign, import_file, key):
    record = {key: "the text", **{name: value for name, value in FULL.items() if name != "segment"}}
    done = import_file(empty_campaign, "segments", [record])
    assert (done.state, done.report["counts"]) == (Import.State.DONE, {"segments added": 1, "lines": 1})
    segment = empty_campaign.segments.get()
    assert (segment.docid, segment.text, segment.title, segment.headings) == (FULL["docid"], "the text", "A", "A / B")
    assert segment.extras == {name: FULL[name] for name in ("url", "title", "headings", "start_char", "end_char")}


def test_only_docid_and_text_are_required(empty_campaign, import_file):
    assert import_file(empty_campaign, "segments", GOOD[1]).state == Import.State.DONE
    assert empty_campaign.segments.values_list("docid", "text", "extras").get() == ("d1", "Cats purr.", {})


def test_unknown_keys_are_kept(empty_campaign, import_file):
    import_file(empty_campaign, "segments", [{"docid": "d1", "segment": "s", "x": {"y": [1, None, 0.5]}, "lang": "de"}])
    assert empty_campaign.segments.get().extras == {"x": {"y": [1, None, 0.5]}, "lang": "de"}


LANGUAGE = "the code of a language, such as zho or en"
BAD = [
    *(
        pytest.param({"docid": "d2", "segment": "s", "lang": wrong}, "lang", told, LANGUAGE, id=f"lang-{told}")
        for wrong, told in ((7, "7"), (None, "None"), ("", ""), ("z", "z"), ("zh_CN", "zh_CN"), ("a" * 9, "a" * 9))
    ),
    pytest.param(
        {"docid": "d2", "segment": "s", "translation": ["t"]}, "translation", "['t']", "text", id="translated"
    ),
    pytest.param({"segment": "s"}, "docid", "keys segment", "the key docid", id="no-docid"),
    pytest.param({"docid": "d2"}, "segment", "keys docid", KEYS, id="no-text"),
    pytest.param(
        {"docid": "d2", "segment": "a", "body": "a"}, "segment", "keys docid, segment, body", KEYS, id="texts"
    ),
    pytest.param({"docid": "d2", "segment": " \n"}, "segment", " \\u000a", "text that is not blank", id="blank"),
    pytest.param({"docid": "d2", "contents": None}, "contents", "None", "text", id="null"),
    pytest.param({"docid": "d2", "body": ["s"]}, "body", "['s']", "text", id="list"),
    pytest.param({"docid": 2, "segment": "s"}, "docid", "2", "an id, as text", id="docid-number"),
    pytest.param({"docid": "d 2", "segment": "s"}, "docid", "d 2", "an id without blanks inside", id="docid-blank"),
    pytest.param({"docid": "d2", "segment": "s", "title": 5}, "title", "5", "text", id="title"),
    pytest.param({"docid": "d2", "segment": "s", "url": None}, "url", "None", "text", id="url"),
    pytest.param({"docid": "d2", "segment": "s", "headings": []}, "headings", "[]", "text", id="headings"),
    pytest.param({"docid": "d2", "segment": "s", "start_char": "0"}, "start_char", "0", "a whole number", id="start"),
    pytest.param(
        {"docid": "d2", "segment": "s", "start_char": True}, "start_char", "True", "a whole number", id="true"
    ),
    pytest.param({"docid": "d2", "segment": "s", "end_char": 1.0}, "end_char", "1.0", "a whole number", id="end"),
    pytest.param(
        {"docid": "d1", "segment": "Cats purr."}, "docid", "d1", "each once; it stands on line 2 already", id="twice"
    ),
    pytest.param({"candidates": []}, "query", "None", "an object with qid", id="request-no-query"),
    pytest.param({"query": "t1", "candidates": []}, "query", "t1", "an object with qid", id="request-query-text"),
    pytest.param(
        {"query": {"text": "a"}, "candidates": []}, "query", "{'text': 'a'}", "an object with qid", id="no-qid"
    ),
    pytest.param({"query": {"qid": 1.5}, "candidates": []}, "query.qid", "1.5", "an id, as text", id="request-qid"),
    pytest.param({"query": {"qid": "t1"}, "candidates": {}}, "candidates", "{}", "a list", id="request-candidates"),
    pytest.param(request("d2"), "candidates[0].doc", "d2", "an object with docid and doc", id="candidate-text"),
    pytest.param(
        request({"docid": "d2"}), "candidates[0].doc", "{'docid': 'd2'}", "an object with docid and doc", id="no-doc"
    ),
    pytest.param(
        request(candidate("d3"), candidate("d2", doc={"docid": "d4", "segment": "s"})),
        "candidates[1].doc.docid",
        "d4",
        "the candidate's docid d2",
        id="candidate-of-another-docid",
    ),
    pytest.param(
        request(candidate("d2", doc={"title": "A"})),
        "candidates[0].doc.segment",
        "keys docid, title",
        KEYS,
        id="candidate-without-text",
    ),
    pytest.param(
        request({"doc": {"segment": "s"}}), "candidates[0].doc.docid", "None", "an id, as text", id="candidate-no-docid"
    ),
    pytest.param(
        request(candidate("d2", "")), "candidates[0].doc.segment", "", "text that is not blank", id="candidate-blank"
    ),
    pytest.param(
        request(candidate("d2", judgment=1)),
        "judgment",
        "1",
        "no judgment, or a named source of grades (--source)",
        id="judgment-without-a-source",
    ),
    pytest.param(
        request(candidate("d2", "one"), candidate("d2", "two")),
        "docid",
        "d2",
        "the same text as on line 3",
        id="candidate-with-another-text",
    ),
]


@pytest.mark.parametrize(("record", "field", "found", "expected"), BAD)
def test_bad_segments(empty_campaign, refuses, record, field, found, expected):
    refuses(empty_campaign, "segments", GOOD, json.dumps(record), (field, found, expected))


def test_importing_twice_changes_nothing(empty_campaign, import_file, rows):
    import_file(empty_campaign, "segments", "\n".join(GOOD))
    before, segments = rows(), list(empty_campaign.segments.values())
    again = import_file(empty_campaign, "segments", "\n".join(GOOD))
    assert again.state == Import.State.DONE
    assert again.report["counts"] == {"segments already there": 2, "segments added": 0, "lines": 2}
    assert (rows(), list(empty_campaign.segments.values())) == (before, segments)


@pytest.mark.parametrize(
    "record",
    [{"docid": "d1", "segment": "Dogs bark."}, {"docid": "d1", "segment": "Dogs bark.", "title": "A"}],
    ids=["text", "title"],
)
def test_a_segment_that_differs_from_the_loaded_one_is_refused(empty_campaign, import_file, rows, record):
    import_file(empty_campaign, "segments", "\n".join(GOOD))
    before = rows()
    refused = import_file(empty_campaign, "segments", [{"docid": "new", "segment": "s"}, record])
    assert told(refused) == [(2, "segment", "Dogs bark.", "d1 as it is loaded already: Cats purr.")]
    assert rows() == before


@pytest.fixture
def with_topics(empty_campaign, import_file):
    """Three topics, and nothing else."""
    import_file(empty_campaign, "topics", "t1\twhy\nt2\thow\nt10\twhen\n")
    return empty_campaign


def grades(campaign):
    return list(
        Grade.objects.filter(source__campaign=campaign)
        .order_by("pk")
        .values_list("source__name", "source__by", "topic__qid", "docid", "grade", "iteration")
    )


def test_a_request_brings_segments_and_grades_under_the_named_source(with_topics, import_file):
    requests = [
        request(candidate("d1", judgment=3), candidate("d2", "s2"), candidate("d3", "s3", judgment="0")),
        request(candidate("d1", judgment=1), candidate("d3", "s3"), qid="t2"),
    ]
    done = import_file(with_topics, "segments", requests, **NAMED)
    assert (done.state, warned(done)) == (Import.State.DONE, {})
    assert done.report["counts"] == {
        **{"segments added": 3, "grades added": 3, "graded on the scale 0 to 3": 3},
        "lines": 2,
    }
    assert set(with_topics.segments.values_list("docid", "text")) == {("d1", "Cats purr."), ("d2", "s2"), ("d3", "s3")}
    assert grades(with_topics) == [
        ("NIST", "people", "t1", "d1", 3, "0"),
        ("NIST", "people", "t1", "d3", 0, "0"),
        ("NIST", "people", "t2", "d1", 1, "0"),
    ]
    again = import_file(with_topics, "segments", requests, **NAMED)
    # d1 and d3 stand twice in the file, and are one segment each.
    assert again.report["counts"]["segments already there"] == 3
    assert again.report["counts"]["grades already there"] == 3
    assert (Segment.everything.count(), Grade.everything.count()) == (3, 3)


def test_a_request_without_judgments_needs_neither_a_source_nor_its_topic(empty_campaign, import_file):
    done = import_file(empty_campaign, "segments", [request(candidate(), qid="unknown")])
    assert (done.state, done.report["counts"]) == (Import.State.DONE, {"segments added": 1, "lines": 1})


def test_a_candidate_without_docid_in_its_doc_takes_the_candidates(empty_campaign, import_file):
    import_file(empty_campaign, "segments", [request({"docid": "d1", "doc": {"segment": "s"}})])
    assert empty_campaign.segments.get().docid == "d1"


BAD_GRADES = [
    pytest.param(
        request(candidate("d2", judgment=1), qid="t9"),
        "topic",
        "t9",
        "a topic of the campaign; load the topics first",
        id="unknown-topic",
    ),
    pytest.param(
        request(candidate("d1", judgment=1)), "grade", "d1 with grade 1", "grade 2, as on line 1", id="two-grades"
    ),
    *(
        pytest.param(
            request(candidate("d2", judgment=grade)),
            "candidates[0].judgment",
            found,
            "a grade from 0 to 5, or -1 or -2 for not judged",
            id=f"grade-{found}",
        )
        for grade, found in [
            (6, "6"), (-3, "-3"), (2.0, "2.0"), ("2.0", "2.0"), (True, "True"), (None, "None"), ("", ""), ("02", "02")
        ]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("record", "field", "found", "expected"), BAD_GRADES)
def test_bad_judgments(with_topics, refuses, record, field, found, expected):
    good = [json.dumps(request(candidate("d1", judgment=2)))]
    refuses(with_topics, "segments", good, json.dumps(record), (field, found, expected), **NAMED)


def test_a_judgment_may_be_4_or_say_that_there_was_none(with_topics, import_file):
    requests = [request(candidate("d1", judgment=4), candidate("d2", "s2", judgment=-1))]
    done = import_file(with_topics, "segments", requests, **NAMED)
    counts = {"segments added": 2, "grades added": 1, "graded on the scale 0 to 4": 1, "not judged (-1 or -2)": 1}
    assert done.report["counts"] == counts | {"lines": 1}
    assert grades(with_topics) == [("NIST", "people", "t1", "d1", 4, "0")]
    assert list(Grade.with_unjudged.order_by("pk").values_list("docid", "grade")) == [("d1", 4), ("d2", -1)]


def test_what_differs_from_a_loaded_segment_is_named(campaign, import_file):
    import_file(campaign, "segments", [{"docid": "d7", "title": "Seven", "segment": "s"}])
    given = {"docid": "d7", "title": "Seven", "headings": "7", "segment": "s"}
    refused = import_file(campaign, "segments", [given])
    assert told(refused) == [(1, "headings", '"7"', "d7 as it is loaded already: no headings")]


def test_a_line_and_a_candidate_with_the_same_text_are_the_same(campaign, import_file):
    done = import_file(campaign, "segments", [{"docid": "d7", "segment": "s"}, request(candidate("d7", "s"))])
    assert (done.state, told(done), done.report["counts"]["segments added"]) == (Import.State.DONE, [], 1)


def test_a_request_may_number_its_topic(empty_campaign, import_file):
    import_file(empty_campaign, "topics", "7\ta\n")
    given = request(candidate("d7", judgment=2)) | {"query": {"qid": 7}}
    import_file(empty_campaign, "segments", [given], source="NIST", by="people")
    [grade] = empty_campaign.qrels_sources.get().grades.all()
    assert (grade.topic.qid, grade.grade) == ("7", 2)
