"""Score tables as other tools, papers and Assay's own exports write them."""

import math
from pathlib import Path

import numpy as np
import pytest

from assessor.campaigns.models import CONTROL as CONTROL_OF_RUNS
from assessor.formats.lines import SourceFile
from assessor.formats.report import Problem, Report, Unreadable
from metaeval.formats.score_tables import read_score_table
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import CONTROL, ScoreMatrix, match

NAN = math.nan


def read(tmp_path: Path, text: str, policy: Policy = Policy.ZERO) -> ScoreMatrix:
    found, report = attempt(tmp_path, text, policy)
    assert report.errors == []
    assert found is not None
    return found


def attempt(tmp_path: Path, text: str, policy: Policy = Policy.ZERO) -> tuple[ScoreMatrix | None, Report]:
    path = tmp_path / "table"
    path.write_bytes(text.encode())
    report = Report("table")
    try:
        lines = SourceFile(path).lines(report)
        return read_score_table(lines, report, name="one", run="file-run", policy=policy), report
    except Unreadable:
        return None, report


def same(found: np.ndarray, expected: list[object]) -> bool:
    return bool(np.array_equal(found, np.array(expected, dtype=float), equal_nan=True))


def test_csv_of_a_paper_has_means_and_tasks(tmp_path: Path):
    found = read(tmp_path, "\ufeffrun_id,task,vstrict,length\r\nb,AG,0.5,120.25\r\na,RAG,,80\r\n")
    assert found[:5] == ("one", ["a", "b"], ["RAG", "AG"], [], ["vstrict", "length"])
    assert same(found.means, [[NAN, 80], [0.5, 120.25]])
    assert found.cells.shape == (2, 0, 2)


def test_own_csv_has_no_scores_in_its_counts_and_no_runs_in_its_spread(tmp_path: Path):
    found = read(
        tmp_path,
        "run_id,team,task,condition,policy,topics,complete,incomplete,topics_without_vital,topics_without_importance,"
        "nuggets_left_out,vstrict,v,not_judged_by_plan\n"
        "'=a,'+t,RAG,C,unanswered=0,2,2,0,0,0,0,0.25,0.5,0\n"
        "minimum,,,C,unanswered=0,2,2,0,0,0,0,0.25,0.5,0\n"
        "minimum,team,RAG,C,unanswered=0,2,2,0,0,0,0,0.75,1,0\n",
    )
    assert (found.runs, found.measures) == (["=a", "minimum"], ["vstrict", "v"])
    assert same(found.means, [[0.25, 0.5], [0.75, 1]])


def test_standard_errors_and_counts_of_own_files_are_no_scores(tmp_path: Path):
    header = (
        "run_id,policy,questions_left_out,n_cover_runs,n_cover_run_set,NUGGET_COVERAGE,NUGGET_COVERAGE_standard_error"
    )
    found = read(tmp_path, f"{header}\na,unanswered=0,0,2,1f3a5b7c,0.5,0.25\nb,unanswered=0,0,2,1f3a5b7c,1,\n")
    assert found.measures == ["NUGGET_COVERAGE"]
    assert same(found.means, [[0.5], [1]])
    line = '{"qid": "all", "run_id": "a", "vital_score": 0.5, "vital_score_standard_error": null}\n'
    assert read(tmp_path, line).measures == ["v"]


def test_csv_by_topic(tmp_path: Path):
    found = read(
        tmp_path,
        "run_id,team,task,condition,policy,topic,state,v\n"
        "a,t,RAG,C,unanswered=0,t1,complete,0.5\na,t,RAG,C,unanswered=0,t2,unanswered,0\n"
        "b,t,RAG,C,unanswered=0,t1,incomplete,\nb,t,RAG,C,unanswered=0,t2,complete,1\n",
    )
    assert (found.topics, found.tasks) == (["t1", "t2"], ["RAG", "RAG"])
    assert same(found.cells[..., 0], [[0.5, 0], [NAN, 1]])
    assert same(found.means[:, 0], [0.25, 1])


def test_jsonl_of_the_nuggetizer_is_of_the_run_that_its_file_names(tmp_path: Path):
    found = read(
        tmp_path,
        '{"qid": "t1", "strict_vital_score": 0.5, "vital_score": 1, "other": 3}\n'
        '{"qid": 2, "strict_vital_score": 0, "vital_score": null, "other": 4}\n'
        '{"qid": "all", "strict_vital_score": 0.25, "vital_score": 1, "other": 3.5}\n',
    )
    assert (found.runs, found.topics, found.measures) == (["file-run"], ["2", "t1"], ["vstrict", "v", "other"])
    assert same(found.cells[0], [[0, NAN, 4], [0.5, 1, 3]])
    assert same(found.means, [[0.25, 1, 3.5]])


@pytest.mark.parametrize("form", ["{run} {measure} {topic} {value}\n", "{run}\t{topic}\t{measure}\t{value}\n"])
def test_leaderboards_tell_by_all_in_which_column_topics_are(tmp_path: Path, form: str):
    values = [("a", "P@5", "t1", 0.5), ("a", "P@5", "t2", 0.25), ("a", "P@5", "all", 0.375), ("b", "P@5", "t1", 1.0)]
    text = "".join(form.format(run=run, measure=measure, topic=topic, value=v) for run, measure, topic, v in values)
    found = read(tmp_path, text)
    assert found[1:5] == (["a", "b"], ["", ""], ["t1", "t2"], ["P@5"])
    assert same(found.cells[..., 0], [[0.5, 0.25], [1, 0]])
    # The mean that a file tells goes before one over its topics.
    assert same(found.means[:, 0], [0.375, 0.5])


def test_a_topic_without_a_line_counts_by_the_policy(tmp_path: Path):
    text = "run_id,topic,v\na,t1,0.5\na,t2,0.25\nb,t1,1\n"
    assert same(read(tmp_path, text).cells[..., 0], [[0.5, 0.25], [1, 0]])
    found = read(tmp_path, text, Policy.ANSWERED)
    assert same(found.cells[..., 0], [[0.5, 0.25], [1, NAN]])
    assert same(found.means[:, 0], [0.375, 1])


@pytest.mark.parametrize(
    "text",
    [
        "a v[C;unanswered=0] t1 0.5\na v[C;unanswered=0] t2 1\na v[C;unanswered=0] all 0.5\nb v[C;unanswered=0] t1 1\n",
        '{"qid": "t1", "run_id": "a", "policy": "answered", "v": 0.5}\n'
        '{"qid": "t2", "run_id": "a", "policy": "answered", "v": 1}\n'
        '{"qid": "t1", "run_id": "b", "policy": "answered", "v": 1}\n',
    ],
)
def test_a_table_that_tells_its_policy_has_a_line_for_all_that_counts(tmp_path: Path, text: str):
    found = read(tmp_path, text)
    assert found.measures == ["v"]
    assert same(found.cells[..., 0], [[0.5, 1], [1, NAN]])


@pytest.mark.parametrize(
    ("text", "line", "field", "found", "expected"),
    [
        ("", 0, "", "nothing", "a score table"),
        ("run,v\na,1\n", 1, "header", "run,v", "a column run_id"),
        ("run_id,v,v\na,1,2\n", 1, "header", "run_id,v,v", "each column named, and once"),
        ("run_id,task\na,AG\n", 1, "header", "run_id,task", "a column of scores besides run_id"),
        ("run_id,v\na,1\nb,high\n", 3, "v", "high", "a finite number up to 1e+15, or nothing where it is undefined"),
        ("run_id,v\na,nan\n", 2, "v", "nan", "a finite number up to 1e+15, or nothing where it is undefined"),
        ("run_id,v\na,-inf\n", 2, "v", "-inf", "a finite number up to 1e+15, or nothing where it is undefined"),
        ("run_id,v\na,1,2\n", 2, "", "3 columns: a,1,2", "2 columns"),
        ("run_id,v\na,1\na,1\n", 3, "v", "a on all again", "each run, topic and measure once"),
        ("run_id,task,topic,v\na,AG,t1,1\na,RAG,t2,1\n", 3, "task", "RAG", "the task AG of a line before"),
        ('run_id,v\n"a,1\n', 2, "", 'unexpected end of data: "a,1', "one row of CSV"),
        ("run_id,v\n ,1\n", 2, "run_id", " ", "an id that is not empty"),
        ("run_id,v\n", 1, "", "no scores", "at least one score"),
        ('{"qid": "t1", "v": "1"}\n', 1, "v", "1", "a number or null"),
        ('{"qid": "t1", "v": true}\n', 1, "v", "True", "a number or null"),
        ('{"v": 1}\n', 1, "qid", "keys v", "the key qid"),
        ("a v t1 0.5\n", 0, "topic", "no line of the topic all", "one, which tells in which column topics stand"),
        ("a all v 1\na v all 1\n", 2, "topic", "a v all 1", "the topic all in one column alone"),
        ("a v all\n", 1, "", "3 columns: a v all", "four columns, or CSV or JSONL"),
        ("run_id,v,team\na,1,x\x00y\n", 2, "", "a,1,x\\u0000y", "text without NUL characters"),
        ("run_id,v\u202e\na,1\n", 2, "v\\u202e", "v\\u202e", "a name of at most 256 visible characters"),
        ("run_id,task,v\na,A\u200bG,1\n", 2, "task", "A\\u200bG", "a name of at most 256 visible characters"),
        ("run_id,v\na,1e308\n", 2, "v", "1e308", "a finite number up to 1e+15, or nothing where it is undefined"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_field(
    tmp_path: Path, text: str, line: int, field: str, found: str, expected: str
):
    _, report = attempt(tmp_path, text)
    assert report.errors[0][:4] == (line, field, found, expected)


def test_a_number_too_large_for_a_score_is_refused(tmp_path: Path):
    _, report = attempt(tmp_path, '{"qid": "t1", "v": 1' + "0" * 400 + "}\n")
    assert [problem.field for problem in report.errors] == ["v"]


def test_a_small_file_that_names_much_is_refused_before_it_takes_memory(tmp_path: Path):
    lines = [f"run{at} measure{at} topic{at} 1\n" for at in range(400)]
    found, report = attempt(tmp_path, "".join(lines) + "run0 measure0 all 1\n")
    assert found is None
    told = "400 runs on 401 topics by 400 measures"
    assert report.errors == [Problem(0, "", told, "a table of at most 10,000,000 scores")]


def matrix(name: str, runs: list[str], tasks: list[str], topics: list[str], measures: list[str]) -> ScoreMatrix:
    size = len(runs), len(topics), len(measures)
    cells = np.arange(np.prod(size), dtype=float).reshape(size)
    return ScoreMatrix(
        name, runs, tasks, topics, measures, cells, np.arange(len(runs) * len(measures)).reshape(size[::2])
    )


def test_sides_are_matched_by_name_and_what_is_left_out_is_told():
    first = matrix("one", ["c", "a", "b", "k"], ["RAG", "", "AG", CONTROL], ["t2", "t1"], ["v", "a", "w"])
    second = matrix("two", ["a", "k", "c", "d"], ["AG", "", "", ""], ["t1", "t3", "t2"], ["w", "v"])
    scores = match(first, second)
    for found in scores[:2]:
        assert found[1:5] == (["a", "c"], ["AG", "RAG"], ["t1", "t2"], ["v", "w"])
    assert scores.reference.cells.tolist() == [[[9, 11], [6, 8]], [[3, 5], [0, 2]]]
    assert scores.candidate.cells[0].tolist() == [[1, 0], [5, 4]]
    assert scores.reference.means.tolist() == [[3, 5], [0, 2]]
    assert scores.left_out == ((["b"], ["d"]), ([], ["t3"]), (["a"], []), ["k"])


def test_nothing_in_common_matches_as_nothing():
    scores = match(matrix("one", ["a"], [""], ["t1"], ["v"]), matrix("two", ["b"], [""], ["t2"], ["w"]))
    assert scores.reference.cells.shape == scores.candidate.cells.shape == (0, 0, 0)
    assert scores.left_out.runs == (["a"], ["b"])


def test_control_runs_are_called_as_in_campaigns():
    assert CONTROL == CONTROL_OF_RUNS
