"""Score tables as files, byte for byte."""

import csv
import json
import math
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.models import CONTROL, Campaign, Condition, Judge
from assessor.runtime.process_cache import cache
from assessor.scores.leaderboards import FORMS, Board, Incomplete, score_lines
from assessor.scores.loading import RunName
from assessor.scores.tables import cell_figures, score_table
from assignment.score_arrays import ScoredTopic, Scores
from metaeval.stats.means import COMPLETE, INCOMPLETE, UNANSWERED, Policy
from tests.assignment.scored import auto_condition, import_banks, label

NAN = math.nan
FIGURES = [0.5, 2 / 3, 0.4, 0.6, 1 / 3, 0.5, 9]
RUNS = [RunName(1, "a.one", "a", "AG"), RunName(2, "b.two", "", ""), RunName(3, "control.all", "", CONTROL)]


def topic(pk: int, qid: str) -> ScoredTopic:
    return ScoredTopic(pk, qid, "title", 3, False, False, [])


def board(
    policy: Policy = Policy.ZERO,
    *,
    runs: list[RunName] = RUNS,
    states: list[list[int]] | None = None,
    name: str = "E/A",
) -> Board:
    """Two topics: the first run answered both, the second only the first, without importance on the second topic."""
    scores = np.zeros((3, 2, 7))
    scores[0] = [FIGURES, [NAN, NAN, NAN, NAN, 1, 1, 4]]
    scores[1] = [[0, 0, 0, 0, 0, 0.0000125, 3], [NAN, NAN, NAN, NAN, 0, 0, 0]]
    scores[2] = [[1] * 7, [NAN, NAN, NAN, NAN, 1, 1, 7]]
    of_cells = states or [[COMPLETE, COMPLETE], [COMPLETE, UNANSWERED], [COMPLETE, COMPLETE]]
    array = np.array(of_cells, dtype=np.int8)
    scores[array == INCOMPLETE] = NAN
    found = Scores(runs, [topic(8, "t1"), topic(9, "t2")], scores, array, [])
    return Board(name, policy, found, score_table(found, policy), cell_figures(found, policy))


LACKING = [[COMPLETE, INCOMPLETE], [COMPLETE, UNANSWERED], [COMPLETE, COMPLETE]]


def written(form: str, given: Board) -> str:
    return "".join(FORMS[form].write(given))


def test_csv():
    assert written("csv", board()) == (
        "run_id,team,task,condition,policy,topics,complete,incomplete,topics_without_vital,topics_without_importance,nuggets_left_out,vstrict,v,wstrict,w,astrict,a,length,not_judged_by_plan,"
        "vstrict_standard_error,v_standard_error,wstrict_standard_error,w_standard_error,astrict_standard_error,"
        "a_standard_error,length_standard_error\n"
        "a.one,a,AG,E/A,unanswered=0,2,2,0,0,0,0,0.5,0.6666666667,0.4,0.6,0.6666666667,0.75,6.5,0,,,,,0.3333333333,0.25,2.5\n"
        "b.two,,,E/A,unanswered=0,2,1,0,0,0,0,0.0,0.0,0.0,0.0,0.0,6.25e-06,1.5,0,,,,,0.0,6.25e-06,1.5\n"
        "minimum,,,E/A,unanswered=0,2,3,0,0,0,0,0.0,0.0,0.0,0.0,0.0,6.25e-06,1.5,0,,,,,,,\n"
        "median,,,E/A,unanswered=0,2,3,0,0,0,0,0.25,0.3333333333,0.2,0.3,0.3333333333,0.375003125,4.0,0,,,,,,,\n"
        "maximum,,,E/A,unanswered=0,2,3,0,0,0,0,0.5,0.6666666667,0.4,0.6,0.6666666667,0.75,6.5,0,,,,,,,\n"
        "control.all,,control,E/A,unanswered=0,2,2,0,0,0,0,1.0,1.0,1.0,1.0,1.0,1.0,4.0,0,,,,,0.0,0.0,3.0\n"
    )


def test_csv_of_the_other_policy_and_with_incomplete_answers():
    lines = written("csv", board(Policy.ANSWERED, states=LACKING)).splitlines()
    assert lines[1:3] == [
        "a.one,a,AG,E/A,answered,2,1,1,0,0,0,0.5,0.6666666667,0.4,0.6,0.3333333333,0.5,9.0,0,,,,,,,",
        "b.two,,,E/A,answered,2,1,0,0,0,0,0.0,0.0,0.0,0.0,0.0,1.25e-05,3.0,0,,,,,,,",
    ]


def test_csv_by_topic():
    assert written("topics", board()) == (
        "run_id,team,task,condition,policy,topic,state,vstrict,v,wstrict,w,astrict,a,length\n"
        "a.one,a,AG,E/A,unanswered=0,t1,complete,0.5,0.6666666667,0.4,0.6,0.3333333333,0.5,9.0\n"
        "a.one,a,AG,E/A,unanswered=0,t2,complete,,,,,1.0,1.0,4.0\n"
        "b.two,,,E/A,unanswered=0,t1,complete,0.0,0.0,0.0,0.0,0.0,1.25e-05,3.0\n"
        "b.two,,,E/A,unanswered=0,t2,unanswered,,,,,0.0,0.0,0.0\n"
        "control.all,,control,E/A,unanswered=0,t1,complete,1.0,1.0,1.0,1.0,1.0,1.0,1.0\n"
        "control.all,,control,E/A,unanswered=0,t2,complete,,,,,1.0,1.0,7.0\n"
    )
    lines = written("topics", board(Policy.ANSWERED, states=LACKING)).splitlines()
    assert lines[2] == "a.one,a,AG,E/A,answered,t2,incomplete,,,,,,,"
    assert lines[4] == "b.two,,,E/A,answered,t2,unanswered,,,,,,,"


def test_csv_that_a_spreadsheet_takes_for_no_formula():
    runs = [RunName(1, "=1+1", "@t", "-x"), RunName(2, 'b,"2"', "", ""), RunName(3, "c", "", CONTROL)]
    for form in ("csv", "topics"):
        rows = list(csv.reader(StringIO(written(form, board(runs=runs, name="+E")))))
        assert rows[1][:4] == ["'=1+1", "'@t", "'-x", "'+E"]
        assert 'b,"2"' in {row[0] for row in rows}
    # Other forms are for programs: names stay as they are.
    assert written("tot", board(runs=runs)).startswith("=1+1 vstrict[E/A;unanswered=0] t1 0.5\n")


def test_jsonl():
    lines = written("jsonl", board()).splitlines()
    assert lines[:3] == [
        '{"qid": "t1", "run_id": "a.one", "condition": "E/A", "policy": "unanswered=0", "strict_vital_score": 0.5, '
        '"vital_score": 0.6666666667, "strict_weighted_score": 0.4, "weighted_score": 0.6, '
        '"strict_all_score": 0.3333333333, "all_score": 0.5, "length": 9.0}',
        '{"qid": "t2", "run_id": "a.one", "condition": "E/A", "policy": "unanswered=0", "strict_vital_score": null, '
        '"vital_score": null, "strict_weighted_score": null, "weighted_score": null, '
        '"strict_all_score": 1.0, "all_score": 1.0, "length": 4.0}',
        '{"qid": "all", "run_id": "a.one", "condition": "E/A", "policy": "unanswered=0", "strict_vital_score": 0.5, '
        '"vital_score": 0.6666666667, "strict_weighted_score": 0.4, "weighted_score": 0.6, '
        '"strict_all_score": 0.6666666667, "all_score": 0.75, "length": 6.5, "topics": 2, "complete": 2, '
        '"incomplete": 0, "topics_without_vital": 0, "topics_without_importance": 0, "nuggets_left_out": 0, '
        '"not_judged_by_plan": 0, "strict_vital_score_standard_error": null, "vital_score_standard_error": null, '
        '"strict_weighted_score_standard_error": null, "weighted_score_standard_error": null, '
        '"strict_all_score_standard_error": 0.3333333333, "all_score_standard_error": 0.25, '
        '"length_standard_error": 2.5}',
    ]
    rows = [json.loads(line) for line in lines]
    assert [(row["run_id"], row["qid"]) for row in rows[3:]] == [("b.two", "t1"), ("b.two", "t2"), ("b.two", "all")]
    assert rows[4]["strict_all_score"] == 0


def test_jsonl_of_the_other_policy_has_no_line_for_what_a_run_did_not_answer():
    rows = [json.loads(line) for line in written("jsonl", board(Policy.ANSWERED, states=LACKING)).splitlines()]
    assert [(row["run_id"], row["qid"]) for row in rows] == [
        ("a.one", "t1"),
        ("a.one", "t2"),
        ("a.one", "all"),
        ("b.two", "t1"),
        ("b.two", "all"),
    ]
    assert rows[1]["all_score"] is None
    assert (rows[2]["complete"], rows[2]["incomplete"]) == (1, 1)
    assert {row["policy"] for row in rows} == {"answered"}


def test_every_form_says_that_only_topics_in_common_count_and_which():
    given = board(Policy.COMMON)
    assert written("csv", given).splitlines()[1:4] == [
        "a.one,a,AG,E/A,common,1,1,0,0,0,0,0.5,0.6666666667,0.4,0.6,0.3333333333,0.5,9.0,0,,,,,,,",
        "b.two,,,E/A,common,1,1,0,0,0,0,0.0,0.0,0.0,0.0,0.0,1.25e-05,3.0,0,,,,,,,",
        "minimum,,,E/A,common,1,2,0,0,0,0,0.0,0.0,0.0,0.0,0.0,1.25e-05,3.0,0,,,,,,,",
    ]
    assert written("topics", given).splitlines()[1:3] == [
        "a.one,a,AG,E/A,common,t1,complete,0.5,0.6666666667,0.4,0.6,0.3333333333,0.5,9.0",
        "a.one,a,AG,E/A,common,t2,complete,,,,,,,",
    ]
    rows = [json.loads(line) for line in written("jsonl", given).splitlines()]
    assert [(row["run_id"], row["qid"]) for row in rows] == [
        *(("a.one", "t1"), ("a.one", "all"), ("b.two", "t1"), ("b.two", "all"))
    ]
    assert (rows[1]["policy"], rows[1]["topics"], rows[1]["all_score"]) == ("common", 1, 0.5)
    tot = written("tot", given).splitlines()
    assert {line.split()[2] for line in tot} == {"t1", "all"}
    assert tot[0] == "a.one vstrict[E/A;common] t1 0.5"
    words = "1 of 2 topics; a topic that not all runs answered does not count, for any run"
    assert words in written("latex", given)


def test_leaderboards_have_a_line_for_each_value_that_there_is():
    tot = written("tot", board(name="Edits  Auto\n2")).splitlines()
    assert tot[:8] == [
        "a.one vstrict[Edits_Auto_2;unanswered=0] t1 0.5",
        "a.one v[Edits_Auto_2;unanswered=0] t1 0.6666666667",
        "a.one wstrict[Edits_Auto_2;unanswered=0] t1 0.4",
        "a.one w[Edits_Auto_2;unanswered=0] t1 0.6",
        "a.one astrict[Edits_Auto_2;unanswered=0] t1 0.3333333333",
        "a.one a[Edits_Auto_2;unanswered=0] t1 0.5",
        "a.one length[Edits_Auto_2;unanswered=0] t1 9.0",
        "a.one astrict[Edits_Auto_2;unanswered=0] t2 1.0",  # the first four are undefined there
    ]
    assert len(tot) == 2 * (7 + 3 + 7)
    assert "b.two a[Edits_Auto_2;unanswered=0] all 6.25e-06" in tot
    ir = written("ir_measures", board(name="Edits  Auto\n2")).splitlines()
    for one, other in zip(tot, ir, strict=True):
        run, measure, qid, value = one.split(" ")
        assert other == f"{run} {qid} {measure} {value}"


def test_leaderboards_of_incomplete_labels_say_so_in_every_line():
    lines = written("tot", board(Policy.ANSWERED, states=LACKING)).splitlines()
    assert {line.split()[1] for line in lines if "length" in line} == {"length[E/A;answered;incomplete=1]"}
    assert [line.split()[2] for line in lines if line.startswith("b.two v[")] == ["t1", "all"]


def test_latex():
    assert written("latex", board()) == (
        "\\begin{table}\n"
        "\\caption{Nugget scores under E/A, 2 topics; a topic that a run did not answer counts 0; SE is the standard "
        "error over topics.}\n"
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        "\\begin{tabular}{llrrrrrrrr}\n"
        "\\toprule\n"
        "Run & Task & $V_{\\mathrm{strict}}$ & SE & $V$ & $W_{\\mathrm{strict}}$ & $W$ & $A_{\\mathrm{strict}}$ & $A$ "
        "& $L$ \\\\\n"
        "\\midrule\n"
        "{}a.one & AG & 0.5000 & -- & 0.6667 & 0.4000 & 0.6000 & 0.6667 & 0.7500 & 6.50 "
        "\\\\ % a.one; E/A; unanswered=0\n"
        "{}b.two &  & 0.0000 & -- & 0.0000 & 0.0000 & 0.0000 & 0.0000 & 0.0000 & 1.50 "
        "\\\\ % b.two; E/A; unanswered=0\n"
        "\\midrule\n"
        "{}Minimum &  & 0.0000 &  & 0.0000 & 0.0000 & 0.0000 & 0.0000 & 0.0000 & 1.50 "
        "\\\\ % minimum; E/A; unanswered=0\n"
        "{}Median &  & 0.2500 &  & 0.3333 & 0.2000 & 0.3000 & 0.3333 & 0.3750 & 4.00 "
        "\\\\ % median; E/A; unanswered=0\n"
        "{}Maximum &  & 0.5000 &  & 0.6667 & 0.4000 & 0.6000 & 0.6667 & 0.7500 & 6.50 "
        "\\\\ % maximum; E/A; unanswered=0\n"
        "\\bottomrule\n"
        "\\end{tabular}}\n"
        "\\end{table}\n"
    )


def test_latex_takes_no_name_for_a_command():
    runs = [RunName(1, "a_b&c%d#e$f{g}h\\i~j^k<l>m|n", "", "A_G"), *RUNS[1:]]
    text = written("latex", board(runs=runs, name="E_A\n\\input{x}"))
    row = next(line for line in text.splitlines() if line.startswith("{}a\\_b"))
    assert row.startswith(
        "{}a\\_b\\&c\\%d\\#e\\$f\\{g\\}h\\textbackslash{}i\\textasciitilde{}j\\textasciicircum{}k\\textless{}l"
        "\\textgreater{}m\\textbar{}n & A\\_G & "
    )
    assert row.endswith("; E_A \\input{x}; unanswered=0")
    assert "Nugget scores under E\\_A \\textbackslash{}input\\{x\\}, 2 topics" in text


def test_latex_takes_no_name_for_an_argument_of_the_line_before():
    runs = [RunName(1, "[1ex]", "", ""), RunName(2, "*", "", ""), *RUNS[2:]]
    rows = written("latex", board(runs=runs)).splitlines()
    assert [row.split(" & ")[0] for row in rows if row.endswith("=0")][:2] == ["{}[1ex]", "{}*"]


def test_what_makes_scores_other_than_usual_is_in_every_table():
    given = board()
    unusual = [topic(8, "t1")._replace(lacks_vital=True), topic(9, "t2")._replace(lacks_importance=True)]
    gone = topic(10, "t3")._replace(nuggets=0, lacks_vital=True, left_out=[("a", "x"), ("b", "x")])
    given = given._replace(found=given.found._replace(topics=unusual, uncounted=[gone]))
    assert "a.one,a,AG,E/A,unanswered=0,2,2,0,1,1,2,0.5," in written("csv", given)
    assert '"topics_without_vital": 1, "topics_without_importance": 1, "nuggets_left_out": 2, ' in written(
        "jsonl", given
    )
    told = "counts 0; topics without vital: 1; topics without importance: 1; nuggets left out: 2; SE is"
    assert told in written("latex", given)


def test_latex_of_incomplete_labels_says_how_many_in_each_row():
    text = written("latex", board(states=LACKING))
    assert "counts 0; means over the complete answers alone; SE is" in text
    assert "\\begin{tabular}{llrrrrrrrrrr}" in text
    assert " & $L$ & Complete & Incomplete \\\\\n" in text
    assert "& 0.5000 & 9.00 & 1 & 1 \\\\ % a.one;" in text


def test_latex_has_dashes_where_a_score_is_undefined():
    states = [[INCOMPLETE, INCOMPLETE], [COMPLETE, COMPLETE], [COMPLETE, COMPLETE]]
    assert "a.one & AG & -- & -- & -- & -- & -- & -- & -- & -- & 0 & 2 \\\\" in written("latex", board(states=states))


@pytest.fixture
def auto(answered: Campaign, import_file) -> Condition:
    cache.clear()
    return label(auto_condition(import_banks(answered, import_file)))


@pytest.fixture
def lacking(answered: Campaign, import_file) -> Condition:
    cache.clear()
    labels = {"t1": {"team.one": "sp?", "team.two": "sss"}}
    return label(auto_condition(import_banks(answered, import_file)), labels)


def test_a_final_table_is_refused_while_an_answer_lacks_a_label(lacking: Condition):
    for form in FORMS:
        with pytest.raises(Incomplete, match=r"^1 of 2 answers under Edits/Auto are incomplete"):
            score_lines(lacking, form, Policy.ZERO)
        assert list(score_lines(lacking, form, Policy.ZERO, allow_incomplete=True))


def test_scores_of_a_rehearsal_say_so_in_every_row(auto: Condition):
    Judge.objects.filter(pk=auto.judge_id).update(is_rehearsal=True)
    auto = Condition.objects.get(pk=auto.pk)
    for form, line in [
        ("csv", "team.one,,,Edits/Auto (rehearsal),"),
        ("topics", "team.one,,,Edits/Auto (rehearsal),"),
        ("jsonl", '"condition": "Edits/Auto (rehearsal)"'),
        ("tot", "team.one vstrict[Edits/Auto_(rehearsal);unanswered=0] t1"),
        ("ir_measures", "team.one t1 vstrict[Edits/Auto_(rehearsal);unanswered=0] "),
        ("latex", "under Edits/Auto (rehearsal), 2 topics"),
    ]:
        assert line in "".join(score_lines(auto, form, Policy.ZERO)), form


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("export_scores", "study", "--condition=Edits/Auto", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_writes_each_form_under_each_policy(auto: Condition, tmp_path: Path):
    assert command().startswith(
        "run_id,team,task,condition,policy,topics,complete,incomplete,topics_without_vital,topics_without_importance,nuggets_left_out,vstrict,"
    )
    assert "team.one,,,Edits/Auto,unanswered=0,2,2,0,0,0,0,0.75,0.875,0.5333333333," in command()
    assert "team.empty,,,Edits/Auto,answered,2,1,0,0,0,0,0.0," in command("--policy", "answered")
    for form in FORMS:
        for policy in Policy:
            path = tmp_path / "out"
            command("--form", form, "--policy", policy, "-o", str(path))
            assert (
                path.read_text()
                == "".join(score_lines(auto, form, policy))
                == command(f"--form={form}", f"--policy={policy}")
            )


def test_the_command_refuses_what_is_incomplete_and_writes_no_file(lacking: Condition, tmp_path: Path):
    path = tmp_path / "out"
    with pytest.raises(CommandError, match=r"^1 of 2 answers .* With --allow-incomplete, means are over"):
        command("-o", str(path))
    assert not path.exists()
    assert "team.one,,,Edits/Auto,unanswered=0,1,0,1,0,0,0,,,,,,,,0,,,,,,,\n" in command("--allow-incomplete")


def test_the_command_names_the_conditions_that_there_are(auto: Condition):
    with pytest.raises(CommandError, match=r"There is no scored condition Edits\. There are: Edits/Auto\."):
        call_command("export_scores", "study", "--condition=Edits")
