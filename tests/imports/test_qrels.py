"""Relevance judgments."""

import pytest
from django.core.management import call_command

from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Grade, Import
from assessor.desk.queries import loaded
from tests.imports.conftest import told, warned

GOOD = ["t1 0 d1 3", "t1 4 d2 0", "t2 0 d1 1"]
NIST = {"source": "NIST", "by": "people"}
GRADE = "a grade from 0 to 5, or -1 or -2 for not judged"


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
    assert done.report["counts"] == {"grades added": 3, "graded on the scale 0 to 3": 3, "lines": 3}
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
    pytest.param("t1,0,d3,1", "", "1 field: t1,0,d3,1", "four fields separated by blanks", id="commas"),
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
        for grade in ["2.0", "-3", "6", "10", "+1", "01", "1e0", "two", "²", "٣", "NaN", "null", "0x1", "''"]
    ),
]


@pytest.mark.parametrize(("line", "field", "found", "expected"), BAD)
def test_bad_qrels(with_topics, refuses, line, field, found, expected):
    refuses(with_topics, "qrels", GOOD, line, (field, found, expected), **NIST)


def scale(campaign, name="NIST"):
    return campaign.qrels_sources.get(name=name).get_max_grade_display()


def test_a_grade_of_4_puts_its_source_on_the_scale_0_to_4(with_topics, import_file):
    done = import_file(with_topics, "qrels", "t1 0 d1 4\nt1 0 d2 1\n", **NIST)
    assert (done.state, done.report["counts"]["graded on the scale 0 to 4"]) == (Import.State.DONE, 2)
    assert grades(with_topics) == [("t1", "0", "d1", 4), ("t1", "0", "d2", 1)]
    import_file(with_topics, "qrels", "t1 0 d1 3", source="Another", by="people")
    assert (scale(with_topics), scale(with_topics, "Another")) == ("0 to 4", "0 to 3")


def test_a_later_file_with_a_4_puts_a_loaded_source_on_its_scale_but_for_a_refused_one(with_topics, import_file):
    import_file(with_topics, "qrels", "t1 0 d1 3", **NIST)
    assert import_file(with_topics, "qrels", "t1 0 d2 4\nt1 0 d3 x", **NIST).state == Import.State.REFUSED
    assert scale(with_topics) == "0 to 3"
    assert import_file(with_topics, "qrels", "t1 0 d2 4", **NIST).state == Import.State.DONE
    assert scale(with_topics) == "0 to 4"


def test_grades_below_0_are_not_judged_and_go_out_as_they_came(with_topics, import_file, olga):
    lines = ["t1 0 d1 3", "t1 7 d2 -1", "t1 0 d3 -2", "t2 0 d1 -1"]
    done = import_file(with_topics, "qrels", "\n".join(lines), **NIST)
    counts = {"grades added": 1, "graded on the scale 0 to 3": 1, "not judged (-1 or -2)": 3, "lines": 4}
    assert (done.state, warned(done), done.report["counts"]) == (Import.State.DONE, {}, counts)
    source = with_topics.qrels_sources.get()
    assert grades(with_topics) == [("t1", "0", "d1", 3)]
    assert "".join(qrels_lines(source)) == "".join(line + "\n" for line in lines)
    [counted] = loaded(with_topics)["sources"]
    assert (counted.grade_count, counted.topic_count) == (1, 1)
    again = import_file(with_topics, "qrels", "\n".join(lines), **NIST)
    assert (again.state, again.report["counts"]["grades already there"]) == (Import.State.DONE, 1)
    assert Grade.everything.count() == 4
    refused = import_file(with_topics, "qrels", "t1 7 d2 0", **NIST)
    expected = "grade -1, column 2 7, as NIST is loaded already"
    assert told(refused) == [(1, "grade", "d2: grade 0, column 2 7", expected)]


def test_what_is_no_grade_is_left_out_where_asked_and_a_refusal_names_the_option(with_topics, import_file, tmp_path):
    lines = ["t1 0 d1 3", "t1 0 d2 6", "t1 0 d3 x", "t2 0 d1 0"]
    refused = import_file(with_topics, "qrels", "\n".join(lines), **NIST)
    expected = "a grade from 0 to 5, or -1 or -2 for not judged"
    assert told(refused) == [(2, "grade", "6", expected), (3, "grade", "x", expected)]
    assert all("--invalid-labels missing" in error["remedy"] for error in refused.report["errors"])
    path = tmp_path / "qrels.txt"
    path.write_text("\n".join(lines) + "\n")
    slug = with_topics.slug
    call_command("import_qrels", slug, str(path), "--source=NIST", "--by=people", "--invalid-labels=missing")
    done = Import.objects.latest("pk")
    assert (done.state, done.report["counts"]["grades added"], done.report["counts"]["grades missing"]) == (
        "done",
        2,
        2,
    )
    assert warned(done)["grade missing"] == told(refused)
    assert grades(with_topics) == [("t1", "0", "d1", 3), ("t2", "0", "d1", 0)]


def test_a_file_of_which_nothing_was_judged(with_topics, import_file):
    done = import_file(with_topics, "qrels", "t1 0 d1 -1", **NIST)
    assert (done.state, done.report["counts"]) == (
        Import.State.DONE,
        {"grades added": 0, "not judged (-1 or -2)": 1, "lines": 1},
    )


def test_the_same_grade_twice_is_a_warning_and_one_grade(with_topics, import_file):
    done = import_file(with_topics, "qrels", "\n".join([*GOOD, "t1 2 d1 3"]), **NIST)
    assert warned(done) == {"grade given twice": [(4, "docid", "t1 d1", "once; see line 1")]}
    assert grades(with_topics) == [("t1", "0", "d1", 3), ("t1", "4", "d2", 0), ("t2", "0", "d1", 1)]


def test_importing_twice_changes_nothing(with_topics, import_file, rows):
    import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    before, loaded = rows(), grades(with_topics)
    again = import_file(with_topics, "qrels", "\n".join(GOOD), **NIST)
    counts = {"grades already there": 3, "graded on the scale 0 to 3": 3, "lines": 3}
    assert (again.state, again.report["counts"]) == (Import.State.DONE, counts)
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
