"""Support scores as files, byte for byte, and by the command that writes those of nuggets too."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.models import Campaign, Condition
from assessor.runtime.process_cache import cache
from assessor.scores.leaderboards import FORMS, Incomplete, score_lines
from metaeval.stats.means import Policy
from tests.support.scores_helpers import ANSWERS, import_answers, judge, say, sheet_on, support_condition

UNUSUAL = "citations_not_judged,citations_without_text,answers_citing_nothing,unworthy_sentences_left_out"
MEASURES = "weighted_precision,weighted_recall,hard_precision,hard_recall"
MEASURES += "," + ",".join(f"{name}_all" for name in MEASURES.split(","))
ERRORS = ",".join(f"{name}_standard_error" for name in MEASURES.split(","))


@pytest.fixture
def auto(campaign: Campaign, import_file) -> Condition:
    cache.clear()
    import_answers(campaign, import_file, ANSWERS)
    return judge(support_condition(campaign))


def written(condition: Condition, form: str, policy: Policy = Policy.ZERO) -> list[str]:
    return "".join(score_lines(condition, form, policy)).splitlines()


def test_csv(auto: Condition):
    assert written(auto, "csv") == [
        f"run_id,team,task,condition,policy,topics,complete,incomplete,{UNUSUAL},{MEASURES},not_judged_by_plan,{ERRORS}",
        "team.empty,,,Auto,unanswered=0,2,1,0,1,0,2,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0" + 8 * ",0.0",
        "team.one,,,Auto,unanswered=0,2,2,0,1,0,2,0,0.375,0.25,0.25,0.1666666667,0.375,0.25,0.25,0.1666666667,0,"
        "0.375,0.25,0.25,0.1666666667,0.375,0.25,0.25,0.1666666667",
        "team.two,,,Auto,unanswered=0,2,2,0,1,0,2,0,0.75,0.6875,0.6666666667,0.625,0.8333333333,0.75,0.75,0.6875,0,"
        "0.25,0.3125,0.3333333333,0.375,0.1666666667,0.25,0.25,0.3125",
        "minimum,,,Auto,unanswered=0,2,5,0,1,0,2,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0,,,,,,,,",
        "median,,,Auto,unanswered=0,2,5,0,1,0,2,0,0.25,0.1875,0.1666666667,0.125,0.3333333333,0.25,0.25,0.1666666667,0,,,,,,,,",
        "maximum,,,Auto,unanswered=0,2,5,0,1,0,2,0,0.875,0.75,0.75,0.6666666667,0.875,0.75,0.75,0.6875,0,,,,,,,,",
    ]


def test_csv_by_topic(auto: Condition):
    lines = written(auto, "topics", Policy.ANSWERED)
    assert lines[0] == f"run_id,team,task,condition,policy,topic,state,{MEASURES}"
    assert lines[1:3] == [
        "team.empty,,,Auto,answered,t1,complete,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0",
        "team.empty,,,Auto,answered,t2,unanswered,,,,,,,,",
    ]
    assert lines[5] == ("team.two,,,Auto,answered,t1,complete,0.5,0.375,0.3333333333,0.25,0.6666666667,0.5,0.5,0.375")


def test_jsonl(auto: Condition):
    rows = [json.loads(line) for line in written(auto, "jsonl", Policy.ANSWERED)]
    assert [(row["run_id"], row["qid"]) for row in rows] == [
        *[("team.empty", "t1"), ("team.empty", "all")],
        *[("team.one", "t1"), ("team.one", "t2"), ("team.one", "all")],
        *[("team.two", "t1"), ("team.two", "t2"), ("team.two", "all")],
    ]
    assert list(rows[2]) == ["qid", "run_id", "condition", "policy", *MEASURES.split(",")]
    assert (rows[2]["weighted_precision"], rows[2]["hard_recall"]) == (0.75, 0.3333333333)
    told = {name: rows[-1][name] for name in ("topics", "complete", "incomplete", *UNUSUAL.split(","))}
    assert list(told.values()) == [2, 2, 0, 1, 0, 2, 0]


def test_leaderboards(auto: Condition):
    tot, ir = written(auto, "tot"), written(auto, "ir_measures")
    assert "team.one weighted_precision[Auto;unanswered=0] t1 0.75" in tot
    assert "team.two hard_precision_all[Auto;unanswered=0] all 0.75" in tot
    assert len(tot) == 3 * 8 * 3
    for one, other in zip(tot, ir, strict=True):
        run, measure, qid, value = one.split(" ")
        assert other == f"{run} {qid} {measure} {value}"


def test_latex(auto: Condition):
    lines = written(auto, "latex")
    assert lines[1] == (
        "\\caption{Support scores under Auto, 2 topics; a topic that a run did not answer counts 0; "
        "citations not judged: 1; answers citing nothing: 2; SE is the standard error over topics.}"
    )
    names = [f"$\\mathrm{{{name}}}{index}$" for index in ("", "_{\\mathrm{all}}") for name in ("WP", "WR", "HP", "HR")]
    assert lines[5] == f"Run & Task & {' & '.join([names[0], 'SE', *names[1:]])} \\\\"
    assert lines[8] == (
        "{}team.one &  & 0.3750 & 0.3750 & 0.2500 & 0.2500 & 0.1667 & 0.3750 & 0.2500 & 0.2500 & 0.1667 "
        "\\\\ % team.one; Auto; unanswered=0"
    )


def test_a_final_table_is_refused_while_an_answer_lacks_a_label(auto: Condition):
    say(sheet_on(auto, "t1", "team.one"), "0.0", label=None)
    for form in FORMS:
        with pytest.raises(Incomplete, match=r"^1 of 5 answers under Auto are incomplete: some citation has no label"):
            score_lines(auto, form, Policy.ZERO)
    rows = "".join(score_lines(auto, "csv", Policy.ZERO, allow_incomplete=True)).splitlines()
    # The mean is over t2 alone, where the run cites nothing; on t1 it has none.
    assert rows[2].startswith("team.one,,,Auto,unanswered=0,2,1,1,1,0,2,0,0.0,")
    topics = "".join(score_lines(auto, "topics", Policy.ZERO, allow_incomplete=True)).splitlines()
    assert topics[3] == "team.one,,,Auto,unanswered=0,t1,incomplete,,,,,,,,"


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("export_scores", "study", "--condition=Auto", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_writes_each_form_under_each_policy(auto: Condition, tmp_path: Path):
    for form in FORMS:
        for policy in Policy:
            path = tmp_path / "out"
            command("--form", form, "--policy", policy, "-o", str(path))
            assert path.read_text().splitlines() == written(auto, form, policy)


def test_the_command_refuses_what_is_incomplete_and_writes_no_file(auto: Condition, tmp_path: Path):
    say(sheet_on(auto, "t1", "team.one"), "0.0", label=None)
    path = tmp_path / "out"
    with pytest.raises(CommandError, match=r"^1 of 5 answers .* With --allow-incomplete, means are over"):
        command("-o", str(path))
    assert not path.exists()
    assert "team.one,,,Auto,unanswered=0,2,1,1," in command("--allow-incomplete")
