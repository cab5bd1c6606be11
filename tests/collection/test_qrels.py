"""Relevance judgments."""

import pytest

from assessor.collection.actions import change_protocol
from assessor.collection.models import Grade, Import
from tests.collection.conftest import told, warned

GOOD = ["t1 0 d1 3", "t1 4 d2 0", "t2 0 d1 1"]
NIST = {"source": "NIST", "by": "people"}
GRADE = "a grade: a whole number from 0 to 3"


@pytest.fixture
def with_topics(empty_campaign, import_file):
    """Three topics, and nothing else."""
    import_file(empty_campaign, "topics", "t1\twhy\nt2\thow\nt10\twhen\n")
    return empty_campaign


def grades(campaign, name="NIST"):
    rows = campaign.qrels_sources.get(name=name).grades.order_by("pk")
    return list(rows.values_list("topic__qid", "iteration", "docid", "grade"))


def test_qrels(with_topics, import_file):
    done = import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {"grades added": 3, "lines": 3}
    assert grades(with_topics) == [("t1", "0", "d1", 3), ("t1", "4", "d2", 0), ("t2", "0", "d1", 1)]
    assert with_topics.qrels_sources.values_list("name", "by").get() == ("NIST", "people")


def test_any_blanks_separate_fields(with_topics, import_file):
    assert import_file(with_topics, "qrels", "  t1\t0   d1 \t 3  \r\n", **NIST).state == Import.State.DONE
    assert grades(with_topics) == [("t1", "0", "d1", 3)]


def test_column_2_is_kept_as_it_came(with_topics, import_file):
    import_file(with_topics, "qrels", "t1 5 d1 3\nt1 Q0 d2 2\nt1 05 d3 1\n", **NIST)
    assert [row[1] for row in grades(with_topics)] == ["5", "Q0", "05"]


BAD = [
    pytest.param("t1 0 d3", "", "3 fields: t1 0 d3", "four fields separated by blanks", id="three-fields"),
    pytest.param("t1 0 d3 1 x", "", "5 fields: t1 0 d3 1 x", "four fields separated by blanks", id="five-fields"),
    pytest.param("t1,0,d3,1", "", "1 fields: t1,0,d3,1", "four fields separated by blanks", id="commas"),
    pytest.param("t9 0 d3 1", "topic", "t9", "a topic of the campaign; load the topics first", id="unknown-topic"),
    pytest.param(
        "T1 0 d3 1", "topic", "T1", "a topic of the campaign; load the topics first", id="topic-in-other-letters"
    ),
    pytest.param("t1 0 d1 2", "grade", "d1 with grade 2", "grade 3, as on line 1", id="two-grades"),
    pytest.param(
        "t1 0 d\u202e3 1", "docid", "d\\u202e3", "an id without control or invisible characters", id="bidirectional"
    ),
    pytest.param(
        "t\x001 0 d3 1", "topic", "t\\u00001", "an id without control or invisible characters", id="nul-in-topic"
    ),
    pytest.param(
        "t1 \x01 d3 1", "column 2", "\\u0001", "an id without control or invisible characters", id="control-in-column-2"
    ),
    pytest.param(
        "t1 0 " + "d" * 257 + " 1", "docid", "d" * 120 + "…", "an id of at most 256 characters", id="long-docid"
    ),
    *(
        pytest.param(f"t1 0 d3 {grade}", "grade", grade, GRADE, id=f"grade-{grade}")
        for grade in ["2.0", "-1", "4", "10", "+1", "01", "1e0", "two", "²", "٣", "NaN", "null", "0x1", "''"]
    ),
]


@pytest.mark.parametrize(("line", "field", "found", "expected"), BAD)
def test_bad_qrels(with_topics, refuses, line, field, found, expected):
    refuses(with_topics, "qrels", GOOD, line, (field, found, expected), **NIST)


def test_grade_4_where_the_protocol_allows_it(with_topics, import_file, olga):
    line = "t1 0 d1 4"
    assert told(import_file(with_topics, "qrels", line, **NIST)) == [(1, "grade", "4", GRADE)]
    change_protocol(campaign=with_topics, settings={"max_grade": 4}, acting_user=olga)
    assert import_file(with_topics, "qrels", line, **NIST).state == Import.State.DONE
    assert grades(with_topics) == [("t1", "0", "d1", 4)]
    refused = import_file(with_topics, "qrels", "t1 0 d2 5", **NIST)
    assert told(refused) == [(1, "grade", "5", "a grade: a whole number from 0 to 4")]


def test_the_same_grade_twice_is_a_warning_and_one_grade(with_topics, import_file):
    done = import_file(with_topics, "qrels", "\n".join([*GOOD, "t1 2 d1 3"]), **NIST)
    assert warned(done) == {"grade given twice": [(4, "docid", "t1 d1", "once; see line 1")]}
    assert grades(with_topics) == [("t1", "0", "d1", 3), ("t1", "4", "d2", 0), ("t2", "0", "d1", 1)]


def test_importing_twice_changes_nothing(with_topics, import_file, rows):
    import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    before, loaded = rows(), grades(with_topics)
    again = import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    assert (again.state, again.report["counts"]) == (Import.State.DONE, {"grades already there": 3, "lines": 3})
    assert (rows(), grades(with_topics)) == (before, loaded)


@pytest.mark.parametrize(
    ("line", "found"),
    [("t1 0 d1 2", "grade 2, column 2 0"), ("t1 1 d1 3", "grade 3, column 2 1")],
    ids=["grade", "column"],
)
def test_a_grade_that_differs_from_the_loaded_one_is_refused(with_topics, import_file, rows, line, found):
    import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    before, loaded = rows(), grades(with_topics)
    refused = import_file(with_topics, "qrels", f"t10 0 d1 1\n{line}", **NIST)
    assert told(refused) == [(2, "grade", f"d1: {found}", "grade 3, column 2 0, as NIST is loaded already")]
    assert (rows(), grades(with_topics)) == (before, loaded)


def test_sources_have_grades_of_their_own(with_topics, import_file):
    import_file(with_topics, "qrels", "t1 0 d1 3", **NIST)
    done = import_file(with_topics, "qrels", "t1 0 d1 0", source="UMBRELA gpt-4o", by="model")
    assert done.state == Import.State.DONE
    assert grades(with_topics) == [("t1", "0", "d1", 3)]
    assert grades(with_topics, "UMBRELA gpt-4o") == [("t1", "0", "d1", 0)]


def test_a_source_is_either_peoples_or_a_models(with_topics, import_file, rows):
    import_file(with_topics, "qrels", "t1 0 d1 3", **NIST)
    before = rows()
    refused = import_file(with_topics, "qrels", "t1 0 d2 3", source="NIST", by="model")
    expected = "graded by people, as this source is loaded already"
    assert told(refused) == [(0, "source", "NIST, graded by model", expected)]
    assert rows() == before


def test_a_refused_file_leaves_no_source(with_topics, import_file, rows):
    import_file(with_topics, "qrels", "t1 0 d1 3\nt1 0 d2 9", **NIST)
    assert (rows()["QrelsSource"], rows()["Grade"]) == (0, 0)


@pytest.mark.parametrize(
    "name", ["x" * 121, "", "  ", "a\x00b", "a\u202eb"], ids=["121", "empty", "blank", "nul", "bidi"]
)
def test_the_name_of_a_source_must_be_one(with_topics, import_file, rows, name):
    before = rows()
    refused = import_file(with_topics, "qrels", "t1 0 d1 3", source=name, by="people")
    assert refused.state == Import.State.REFUSED
    assert [(line, field, expected) for line, field, _, expected in told(refused)] == [
        (0, "source", "a name of 1 to 120 visible characters")
    ]
    assert rows() == before
    assert import_file(with_topics, "qrels", "t1 0 d1 3", source="x" * 120, by="people").state == Import.State.DONE


def test_qrels_of_thousands_of_lines_with_a_bad_last_one(with_topics, import_file, rows):
    lines = [f"t{1 + n % 2} 0 d{n} {n % 4}" for n in range(1_200)]
    before = rows()
    refused = import_file(with_topics, "qrels", "\n".join([*lines, "t1 0 d0 3"]), **NIST)
    assert told(refused) == [(1_201, "grade", "d0 with grade 3", "grade 0, as on line 1")]
    assert rows() == before
    assert import_file(with_topics, "qrels", "\n".join(lines), **NIST).report["counts"]["grades added"] == 1_200
    assert Grade.objects.count() == 1_200
