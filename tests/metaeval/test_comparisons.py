"""Comparisons: what stands on their sides, what is compared, what is left out, what is stored, and when it is old."""

import csv
import io
import json
import re
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from assessor.campaigns.models import Answer, Campaign, Condition, Event, Grade, QrelsSource, Run
from assessor.runtime.processes import me
from assessor.work.actions import give_tasks
from assessor.work.models import TimeSpent
from assignment.actions.resolution import leave_out
from metaeval import tasks
from metaeval.actions import ComparisonError, TableError, calculate_again, create_comparison, import_table, run
from metaeval.background import sweep
from metaeval.inputs import Restriction, load_input, names_of, restrict
from metaeval.models import Calculation, Comparison, ScoreTable
from metaeval.pages import differences, layer_rows
from metaeval.queries import latest_calculations
from metaeval.score_report import hours_per_topic
from metaeval.stats.means import Policy
from nuggets.models import Nugget, NuggetBank
from tests.assignment.scored import add_sheets, auto_condition, import_banks, label, row, say, sheet_on
from tests.judging import all_judged, put
from tests.metaeval.conftest import OTHER_LABELS
from tests.support.scores_helpers import judge, support_condition

TABLE = """run_id,task,vstrict,astrict,length
team.one,AG,0.5,0.4,10
team.two,RAG,0.25,0.6,5
stranger,RAG,1,1,3
"""


def computed(**given) -> Calculation:
    """Make a comparison and compute it."""
    campaign = given["first"].campaign
    given = {"draws": 50, "seed": 3} | given
    calculation = run(create_comparison(campaign=campaign, acting_user=None, **given))
    assert calculation.state == Calculation.State.DONE, calculation.why
    return calculation


def keep_table(campaign: Campaign, tmp_path: Path, content: str = TABLE, name: str = "Published") -> ScoreTable:
    path = tmp_path / f"{name}.csv"
    path.write_text(content)
    return import_table(campaign=campaign, name=name, path=path, file_name=path.name, acting_user=None)


def statistics(calculation: Calculation, measure: str) -> dict:
    return calculation.result["scores"]["measures"][measure]["statistics"]


def left_out(calculation: Calculation) -> list[tuple[str, str, str, list[str]]]:
    return [tuple(gap.values()) for gap in calculation.result["left_out"]]


def test_two_conditions_of_nuggets(first: Condition, second: Condition):
    found = computed(first=first, second=second)
    result = found.result
    scores = result["scores"]
    assert [run["run_id"] for run in scores["runs"]] == ["team.empty", "team.one", "team.two"]
    # Means over t1 and t2 of what LABELS and OTHER_LABELS come to; what team.empty did not answer counts 0.
    assert scores["measures"]["vstrict"]["first"] == [0, 0.75, 0.5]
    assert scores["measures"]["vstrict"]["second"] == [0, 1, 0.25]
    assert statistics(found, "vstrict")["tau_run"]["value"] == 1
    assert statistics(found, "vstrict")["tau_run"]["interval"]["draws"] <= 50
    assert statistics(found, "vstrict")["tau_cell"]["n"] == 6
    labels = result["labels"]
    assert labels["labels"] == ["not_support", "partial_support", "support"]
    assert labels["matrix"] == [[5, 0, 0], [0, 1, 1], [2, 0, 4]]
    assert (labels["pairs"], labels["unmatched"]) == (13, [0, 0])
    assert labels["match"] == {"value": round(10 / 13, 10), "n": 13}
    assert labels["above"]["value"] == round(1 / 13, 10)
    assert labels["below"]["value"] == round(2 / 13, 10)
    assert result["left_out"] == []
    assert result["spread"][0]["minimum"]["vstrict"] == 0
    assert result["spread"][0]["maximum"]["vstrict"] == 1
    assert result["spread"][1]["median"]["vstrict"] == 0.25
    described = result["described"][0]
    assert described["nuggets"]["per_topic"] == {"value": 2.5, "n": 2}
    assert described["nuggets"]["vital"] == {"value": 0.6, "n": 5}
    assert described["nuggets"]["words"] == {"value": 2.8, "n": 5}
    assert [share["count"] for share in described["shares"]] == [5, 2, 6]
    topics = {topic["qid"]: topic for topic in result["topics"]}
    assert (topics["t1"]["pairs"], topics["t1"]["differ"]) == (9, 2)
    assert (topics["t2"]["pairs"], topics["t2"]["differ"]) == (4, 1)
    assert topics["t1"]["match"]["value"] == round(7 / 9, 10)


def test_a_cell_that_counts_on_one_side_alone_is_in_no_figure(first_support: Condition, second_support: Condition):
    """On t1 the second side's answer of team.two is incomplete: there the first side has team.one alone."""
    found = computed(first=first_support, second=second_support)
    of_runs = found.result["scores"]["measures"]["weighted_precision"]["first"]
    # The least and largest of each topic, then the mean over topics.
    assert found.result["spread"][0]["minimum"]["weighted_precision"] == pytest.approx((0.75 + 0) / 2)
    assert found.result["spread"][0]["maximum"]["weighted_precision"] == pytest.approx((0.75 + 1) / 2)
    figure = found.figures.get(name="support-first").specification
    runs = next(rows for rows in layer_rows(figure) if "run" in rows[0])
    # The figure's means are over the same cells as the table's.
    place = [run["run_id"] for run in found.result["scores"]["runs"]]
    for point in runs:
        assert point["x"] == pytest.approx(of_runs[place.index(point["run"])])
    both = found.figures.get(name="scatter-1-weighted_precision").specification
    topics = next(rows for rows in layer_rows(both) if "topic" in rows[0])
    assert [row["topic"] for row in topics] == ["t1", "t2"]


def test_how_many_pairs_are_by_rule_is_told(first: Condition, second: Condition):
    assert computed(first=first, second=second, name="before").result["labels"]["by_rule"] == 0
    put(all_judged(second, "team.empty"), by_rule=True)
    found = computed(first=first, second=second)
    assert (found.result["labels"]["pairs"], found.result["labels"]["by_rule"]) == (13, 3)
    assert "pairs by rule,,,3,," in found.files["labels.csv"]


def test_labels_of_different_texts_are_no_pairs(first: Condition, import_file):
    """An imported condition's labels may be of another text than what the run answered."""
    other = auto_condition(first.nuggets, "Imported")
    Condition.objects.filter(pk=other.pk).update(method="imported")
    other.refresh_from_db()
    own = Answer.objects.get(run__tag="team.one", topic__qid="t1", apart=False)
    content = [{"text": "Something else entirely.", "citations": []}]
    apart = Answer.objects.create(
        run=own.run, topic=own.topic, content=content, words=3, apart=True, import_record=own.import_record
    )
    add_sheets([row(other, NuggetBank.objects.get(condition=first.nuggets, topic__qid="t1"), apart, "nsp")])
    found = computed(first=first, second=other)
    assert (found.result["labels"]["pairs"], found.result["labels"]["unmatched"]) == (0, [13, 3])
    assert found.result["scores"]["topics"] == ["t1"]


def test_what_differs_on_a_topic_is_as_many_as_are_told(first: Condition, second: Condition, olga):
    """Also what was adopted from another person, and without what is left out."""
    say(sheet_on(first, "t1", "team.one"), 0, label=None, cannot="why", adopted="partial_support")
    bank = NuggetBank.objects.get(condition=first.nuggets, topic__qid="t1")
    left_out_one = Nugget.objects.get(bank=bank, uid=bank.order[2])
    for condition in (first, second):
        leave_out(condition=condition, nugget=left_out_one, is_out=True, reason="twice", acting_user=olga)
    found = computed(first=first, second=second)
    [told] = [topic for topic in found.result["topics"] if topic["qid"] == "t1"]
    topic = first.campaign.topics.get(qid="t1")
    listed = differences(found.comparison, topic)
    assert len(listed) == told["differ"] > 0
    other = computed(first=first, second=second, runs=["team.two"])
    [told] = [topic for topic in other.result["topics"] if topic["qid"] == "t1"]
    assert {one.run for one in differences(other.comparison, topic)} <= {"team.two"}
    assert len(differences(other.comparison, topic)) == told["differ"] < len(listed)
    assert ("team.one", "partial_support", "support") in [(one.run, one.first, one.second) for one in listed]
    assert left_out_one.text not in [one.what for one in listed]


def test_a_table_whose_names_became_one_runs_is_not_compared(first: Condition, tmp_path: Path, import_file):
    table = keep_table(first.campaign, tmp_path, "run_id,vstrict\none,0.9\nteam.one,0.2\nteam.two,0.3\n")
    found = computed(first=first, second=table)
    assert found.result["scores"]["measures"]["vstrict"]["second"] == [0.2, 0.3]
    aliases = "tag,team,task,type,priority,aliases\nteam.one,,RAG,,,one\n"
    assert import_file(first.campaign, "run_list", aliases).state == "done"
    assert "Published" in latest_calculations(found.comparison).changed
    again = run(calculate_again(found.comparison, acting_user=None))
    assert (again.state, again.why) == ("empty", "Published has several names of one run: team.one.")


def test_topics_of_another_condition_that_changed_are_told(first: Condition, second: Condition):
    third = label(auto_condition(first.nuggets, "Third"), {"t2": {"team.one": "ss"}})
    found = computed(first=first, second=second, topics_of=third)
    assert latest_calculations(found.comparison).changed == []
    label(third, {"t1": {"team.one": "sss"}})
    assert latest_calculations(found.comparison).changed == ["Third"]


THREE = "t1 0 d1 3\nt1 0 d2 2\nt1 0 d3 1\nt1 0 d4 0\nt1 0 d5 1\nt1 0 d6 -1\nt2 0 d1 0\n"
MODEL = "t1 0 d1 2\nt1 0 d2 2\nt1 0 d3 0\nt1 0 d4 1\nt1 0 d5 1\nt1 0 d6 3\nt2 0 d1 -2\n"
FOUR = MODEL.replace("d1 2\n", "d1 4\n", 1)


def graded_by(campaign: Campaign, import_file, **files: str) -> list[QrelsSource]:
    """Import grades by the name of their source, and return the sources."""
    for name, lines in files.items():
        assert import_file(campaign, "qrels", lines, source=name, by="people").state == "done"
    return [QrelsSource.objects.get(campaign=campaign, name=name) for name in files]


def test_grades_have_binary_kappa_at_each_threshold_beside_the_graded_one(campaign: Campaign, import_file):
    first, second = graded_by(campaign, import_file, Three=THREE, Model=MODEL)
    found = computed(first=first, second=second)
    labels = found.result["labels"]
    # What nobody judged is no label: five pairs.
    assert (labels["pairs"], labels["unmatched"], [sum(given) for given in labels["given"]]) == (5, [1, 1], [6, 6])
    assert labels["matrix"] == [[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
    assert labels["unweighted"]["value"] == round((2 / 5 - 7 / 25) / (1 - 7 / 25), 10)
    assert [told["least"] for told in labels["thresholds"]] == [1, 2, 3]
    # By hand: observed 3/5, 1 and 4/5 equal; by chance 17/25, 13/25 and 4/5.
    assert [told["matrix"] for told in labels["thresholds"]] == [[[0, 1], [1, 3]], [[3, 0], [0, 2]], [[4, 0], [1, 0]]]
    assert [told["match"]["value"] for told in labels["thresholds"]] == [0.6, 1.0, 0.8]
    assert [told["kappa"]["value"] for told in labels["thresholds"]] == [-0.25, 1.0, 0.0]
    assert [told["alpha"]["value"] for told in labels["thresholds"]] == [1 - 9 * 2 / (2 * 8), 1.0, 1 - 9 * 1 / (9 * 1)]
    rows = list(csv.reader(io.StringIO(found.files["labels.csv"])))
    assert rows[-7:-3] == [
        ["binary pairs", "below 3", "below 3", "4", "80.0", ""],
        ["binary pairs", "below 3", "3 or more", "0", "0.0", ""],
        ["binary pairs", "3 or more", "below 3", "1", "20.0", ""],
        ["binary pairs", "3 or more", "3 or more", "0", "0.0", ""],
    ]
    assert ["binary kappa, 1 or more", "", "", "5", "-0.25", ""] in rows
    assert (
        "{}1 & 60.0 & -0.250 & -0.125 \\\\\n{}2 & 100.0 & 1.000 & 1.000 \\\\\n{}3 & 80.0 & 0.000 & 0.000 \\\\\n"
        in found.files["labels.tex"]
    )
    assert "grade 1 or more: equal 0.6000, kappa -0.2500, alpha -0.1250\n" in found.files["summary.txt"]


def test_binary_agreement_of_grades_is_what_llmjudge_published(campaign: Campaign, import_file):
    # codes/0-corr-analysis.ipynb of github.com/llm4eval/LLMJudge-benchmark: its run h2oloo-fewself against NIST, where
    # a grade of 2 or more is relevant: the four counts, and 0.428016 (Krippendorff's alpha) in its table.
    counts = {(0, 1): 2_719, (1, 2): 519, (3, 0): 483, (2, 3): 702}
    grades = [pair for pair, count in counts.items() for _ in range(count)]
    lines = ("".join(f"t1 0 d{at} {pair[side]}\n" for at, pair in enumerate(grades)) for side in (0, 1))
    first, second = graded_by(campaign, import_file, **dict(zip(("Assessors", "h2oloo-fewself"), lines, strict=True)))
    told = computed(first=first, second=second).result["labels"]["thresholds"][1]
    assert (told["least"], told["matrix"]) == (2, [[2_719, 519], [483, 702]])
    assert round(told["alpha"]["value"], 6) == 0.428016
    assert told["kappa"]["value"] == round(
        (3_421 / 4_423 - (3_238 * 3_202 + 1_185 * 1_221) / 4_423**2) / (1 - (3_238 * 3_202 + 1_185 * 1_221) / 4_423**2),
        10,
    )


def test_grades_on_two_scales_agree_only_after_a_threshold(campaign: Campaign, import_file):
    first, second = graded_by(campaign, import_file, Three=THREE, Model=FOUR)
    found = computed(first=first, second=second)
    labels = found.result["labels"]
    assert labels["labels"] == ["0", "1", "2", "3", "4"]
    assert (labels["matrix"][3][4], [len(side["shares"]) for side in found.result["described"]]) == (1, [5, 5])
    why = "on two scales, 0 to 3 and 0 to 4"
    rates = ("match", "above", "below", "unweighted", "linear", "quadratic", "alpha_nominal", "alpha_ordinal")
    assert [labels[name] for name in rates] == [{"value": None, "n": 5, "why": why}] * 8
    assert [told["least"] for told in labels["thresholds"]] == [1, 2, 3]
    assert [told["kappa"]["value"] for told in labels["thresholds"]] == [-0.25, 1.0, 1.0]
    [topic] = found.result["topics"]
    assert (topic["pairs"], topic["differ"], topic["match"]["value"]) == (5, 2, None)  # 3 and 4 are alike from 3 on
    differ = differences(found.comparison, campaign.topics.get(qid="t1"))
    assert [(one.what, one.first, one.second) for one in differ] == [("d3", "1", "0"), ("d4", "0", "1")]
    assert f"kappa, unweighted: {why}\n" in found.files["summary.txt"]


def test_grades_on_the_scale_0_to_4_have_four_thresholds(campaign: Campaign, import_file):
    first, second = graded_by(campaign, import_file, People=FOUR, Model=FOUR.replace("d2 2", "d2 4"))
    labels = computed(first=first, second=second).result["labels"]
    assert [told["least"] for told in labels["thresholds"]] == [1, 2, 3, 4]
    assert labels["unweighted"]["value"] is not None


def test_negative_statistics_stay_numbers_in_files(campaign: Campaign, tmp_path: Path):
    rows = "run_id,topic,m\na,t1,{}\nb,t1,0.2\nc,t1,{}\n"
    one = keep_table(campaign, tmp_path, rows.format(0.1, 0.3), "One")
    two = keep_table(campaign, tmp_path, rows.format(0.3, 0.1), "Two")
    lines = computed(first=one, second=two).files["statistics.csv"].splitlines()
    assert any(line.startswith("m,tau_run,-1.0,3,") for line in lines)


def test_all_conditions_of_the_kind_are_described(first: Condition, second: Condition):
    third = label(auto_condition(first.nuggets, "Third"), {"t2": {"team.one": "ss"}})
    found = computed(first=second, second=first)
    assert [one["name"] for one in found.result["described"]] == ["Second", "First", str(third)]
    assert [one["labels"] for one in found.result["described"]] == [13, 13, 2]
    # By t1 alone the third has nothing; that does not end the comparison.
    found = computed(first=second, second=first, topics=["t1"])
    assert [one["name"] for one in found.result["described"]] == ["Second", "First"]
    rows = list(csv.reader(io.StringIO(found.files["described.csv"])))
    assert rows[0] == [
        *("name", "topics", "nuggets", "nuggets_per_topic", "words_per_nugget", "share_vital", "labels"),
        *("share_not_support", "share_partial_support", "share_support"),
    ]
    shares = [0.0, 0.0, 0.0]
    for share in found.result["described"][1]["shares"]:
        shares[["not_support", "partial_support", "support"].index(share["label"])] = share["count"] / 9
    assert rows[2][:2] + rows[2][6:7] == ["First", "1", "9"]
    assert [float(cell) for cell in rows[2][7:]] == pytest.approx(shares)
    assert sum(shares) == pytest.approx(1)


def test_tables_for_papers(first: Condition, second: Condition):
    found = computed(first=first, second=second)
    scores = found.files["scores.tex"]
    assert "\\caption{Scores under First, means over 2 topics.}" in scores
    assert "{}team.one & RAG & 0.7500" in scores or "{}team.one &  & 0.7500" in scores
    assert "{}Maximum &  & 1.0000" in scores
    assert scores.count("\\begin{tabular}") == 2
    of_runs = [float(one) for one in re.findall(r"^\{\}team\.\w+ & [^&]* & ([\d.]+)", scores, re.MULTILINE)]
    assert of_runs == [*sorted(of_runs[:3], reverse=True), *sorted(of_runs[3:], reverse=True)]
    assert len(of_runs) == 6
    described = found.files["described.tex"]
    assert "{}First & 2 & 5 & 2.50 & 2.80 & 60.0 & 13 & 38.5 & 15.4 & 46.2 \\\\\n" in described


def test_topics_come_worst_first(first: Condition, second: Condition):
    taus = [topic["tau"] for topic in computed(first=first, second=second).result["topics"]]
    assert len(taus) == 2
    assert taus == sorted(taus, key=lambda tau: (tau is None, tau))


def test_a_topic_not_answered_counts_as_the_policy_says(first: Condition, second: Condition):
    found = computed(first=first, second=second, policy=Policy.ANSWERED)
    assert statistics(found, "vstrict")["tau_cell"]["n"] == 5
    assert found.result["policy"] == "answered"


def test_the_same_seed_gives_the_same_result(first: Condition, second: Condition):
    one, other = (computed(first=first, second=second).result for _ in range(2))
    assert one == other
    third = computed(first=first, second=second, draws=20, seed=4).result
    assert third["scores"]["measures"]["w"] != one["scores"]["measures"]["w"]


def test_two_conditions_of_support(first_support: Condition, second_support: Condition):
    result = computed(first=first_support, second=second_support).result
    assert result["labels"]["labels"] == ["none", "partial", "full"]
    assert result["labels"]["matrix"] == [[1, 0, 0], [0, 1, 1], [1, 0, 2]]
    assert result["labels"]["unmatched"] == [1, 1]
    assert ["runs", "First support", "not judged under Second support", ["team.empty"]] in [
        list(gap.values()) for gap in result["left_out"]
    ]
    assert [run["run_id"] for run in result["scores"]["runs"]] == ["team.one", "team.two"]
    # team.two's t1 lacks a label in the second condition, so that cell counts on neither side.
    assert result["scores"]["measures"]["weighted_precision"]["first"] == [0.375, 1]


def test_grades_of_two_sources(campaign: Campaign, import_file):
    qrels = "t1 0 d1 2\nt1 0 d2 1\nt1 0 d9 0\nt2 0 d5 3\n"
    assert import_file(campaign, "qrels", qrels, source="Model", by="model").state == "done"
    sources = [QrelsSource.objects.get(name=name) for name in ("NIST", "Model")]
    found = computed(first=sources[0], second=sources[1])
    labels = found.result["labels"]
    assert labels["labels"] == ["0", "1", "2", "3"]
    assert labels["matrix"] == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert labels["unmatched"] == [3, 1]
    assert "scores" not in found.result
    assert [topic["qid"] for topic in found.result["topics"]] == ["t2", "t1"]
    only = computed(first=sources[0], second=sources[1], topics=["t2"])
    assert only.result["labels"]["pairs"] == 1
    assert ("topics", "NIST and Model", "not among those asked for", ["t1"]) in left_out(only)


def test_a_score_table_on_a_side(first: Condition, tmp_path: Path):
    found = computed(first=first, second=keep_table(first.campaign, tmp_path))
    assert [run["run_id"] for run in found.result["scores"]["runs"]] == ["team.one", "team.two"]
    assert list(found.result["scores"]["measures"]) == ["vstrict", "astrict", "length"]
    assert statistics(found, "vstrict")["tau_run"] == {"value": 1, "n": 2}
    assert statistics(found, "vstrict")["tau_cell"]["value"] is None
    assert found.result["labels"] is None
    assert ("runs", "Published", "not judged under First", ["stranger"]) in left_out(found)
    assert ("runs", "First", "not judged under Published", ["team.empty"]) in left_out(found)
    assert ("measures", "First", "not in Published", ["a", "v", "w", "wstrict"]) in left_out(found)


def test_a_table_may_call_runs_by_their_aliases(first: Condition, tmp_path: Path, import_file):
    aliases = "tag,team,task,type,priority,aliases\nteam.one,,RAG,,,one\nteam.two,,AG,,,two\n"
    assert import_file(first.campaign, "run_list", aliases).state == "done"
    table = keep_table(first.campaign, tmp_path, "run_id,vstrict\none,0.5\nteam.two,0.2\n")
    found = computed(first=first, second=table)
    runs = found.result["scores"]["runs"]
    assert runs == [{"run_id": "team.one", "task": "RAG"}, {"run_id": "team.two", "task": "AG"}]
    with pytest.raises(TableError) as refused:
        keep_table(first.campaign, tmp_path, "run_id,vstrict\none,0.5\nteam.one,0.2\n", "Twice")
    assert "2 names of the run team.one" in refused.value.report.errors[0].found


def test_what_is_wrong_in_a_table_is_told_and_nothing_is_kept(campaign: Campaign, tmp_path: Path):
    with pytest.raises(TableError) as refused:
        keep_table(campaign, tmp_path, "run_id,vstrict\nr1,high\n")
    [problem] = refused.value.report.errors
    assert (problem.line, problem.field, problem.found) == (2, "vstrict", "high")
    assert not ScoreTable.objects.exists()


def test_tasks_runs_and_topics_restrict_both_sides(first: Condition, second: Condition, import_file):
    tasks_of = "tag,team,task,type,priority,aliases\nteam.one,,RAG,,,\nteam.two,,AG,,,\nteam.empty,,RAG,,,\n"
    assert import_file(first.campaign, "run_list", tasks_of).state == "done"
    found = computed(first=first, second=second, tasks=["RAG"])
    assert [run["run_id"] for run in found.result["scores"]["runs"]] == ["team.empty", "team.one"]
    assert found.result["labels"]["pairs"] == 3 + 3 + 2
    assert left_out(found) == [("runs", "First and Second", "of another task", ["team.two"])]
    found = computed(first=first, second=second, runs=["team.two"], topics=["t2"])
    assert found.result["labels"]["matrix"] == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert ("topics", "First and Second", "not among those asked for", ["t1"]) in left_out(found)
    assert found.result["scores"]["measures"]["length"]["first"] == [7]
    assert [described["topics"] for described in found.result["described"]] == [1, 1]
    assert found.result["described"][0]["nuggets"]["nuggets"] == 2


def test_another_conditions_topics_restrict_both_sides(first: Condition, second: Condition):
    third = label(auto_condition(first.nuggets, "Third"), {"t2": {"team.one": "ss"}})
    found = computed(first=first, second=second, topics_of=third)
    assert found.result["scores"]["topics"] == ["t2"]
    assert found.result["labels"]["pairs"] == 4


def test_control_runs_are_in_nothing(first: Condition, second: Condition):
    Run.objects.filter(tag="team.two").update(task="control")
    found = computed(first=first, second=second)
    assert [run["run_id"] for run in found.result["scores"]["runs"]] == ["team.empty", "team.one"]
    assert found.result["labels"]["pairs"] == 8
    assert left_out(found) == [("runs", "First and Second", "a control run, no system's", ["team.two"])]


def test_a_table_without_topics_cannot_be_restricted_to_some(first: Condition, tmp_path: Path):
    table = keep_table(first.campaign, tmp_path)
    calculation = create_comparison(campaign=first.campaign, first=first, second=table, topics=["t1"], acting_user=None)
    assert run(calculation).state == Calculation.State.EMPTY
    assert calculation.why == "Published has no scores by topic: it can't be restricted to some topics."


def test_nothing_in_common_is_said_and_is_no_chart(first: Condition, answered: Campaign, import_file):
    other = label(auto_condition(first.nuggets, "Other"), {"t2": {"team.one": "ss"}})
    only = label(auto_condition(first.nuggets, "Only"), {"t1": {"team.one": "sss"}})
    calculation = run(create_comparison(campaign=answered, first=only, second=other, acting_user=None))
    assert (calculation.state, calculation.why) == ("empty", "Only and Other have no topic in common.")
    assert (calculation.result, calculation.figures.count()) == (None, 0)
    with pytest.raises(CommandError, match=r"Nothing to compare: Only and Other have no topic in common\."):
        call_command("compare", answered.slug, "Only", "Other")


def test_labels_of_other_nuggets_are_no_pairs_but_runs_are_compared(first: Condition, answered: Campaign, import_file):
    others = label(auto_condition(import_banks(answered, import_file, name="Others"), "Third"), OTHER_LABELS)
    found = computed(first=first, second=others)
    assert found.result["labels"] is None
    assert statistics(found, "vstrict")["tau_run"]["n"] == 3


def test_f1_of_support_and_nuggets(first: Condition, second: Condition, import_file):
    # Each of their sentences cites once.
    said = {"team.one": {"t1": ["f", "p"], "t2": ["n"]}, "team.two": {"t1": ["p"], "t2": ["f", "n"]}}
    support = judge(support_condition(first.campaign, "Support"), said)
    found = computed(first=first, second=second, first_support=support, second_support=support)
    scores = found.result["scores"]["measures"]["f1"]
    # On t1 precision 0.75 and A_strict 1/3, on t2 0 and 1/2; 0.5 and 1, 0.5 and 1/2.
    one = (2 * 0.75 / 3 / (0.75 + 1 / 3) + 0) / 2
    two = (2 * 0.5 / 1.5 + 0.5) / 2
    assert [run["run_id"] for run in found.result["scores"]["runs"]] == ["team.empty", "team.one", "team.two"]
    assert scores["first"][1:] == pytest.approx([one, two], abs=1e-9)
    with pytest.raises(ComparisonError, match="both sides"):
        create_comparison(campaign=first.campaign, first=first, second=second, first_support=support, acting_user=None)


def test_people_beside_people_on_the_same_things(first: Condition, second: Condition):
    third = label(auto_condition(first.nuggets, "Third"), {"t1": {"team.one": "snn", "team.two": "s?s"}})
    Condition.objects.filter(pk=first.pk).update(judge=None, replicate=1)
    Condition.objects.filter(pk=third.pk).update(judge=None, replicate=2)
    first.refresh_from_db()
    [told] = computed(first=first, second=second).result["judges"]
    assert (told["third"], told["pairs"]) == ("Third", 5)
    rows = {(row["first"], row["second"]): row for row in told["rows"]}
    # On these five alone: spn ss; ssn ns; snn ss.
    assert rows["First", "Second"]["matrix"] == [[1, 0, 0], [0, 0, 1], [1, 0, 2]]
    assert rows["First", "Third"]["matrix"] == [[1, 0, 0], [1, 0, 0], [0, 0, 3]]
    assert rows["First", "Third"]["who"] == "people and people"
    assert rows["First", "Second"]["who"] == "people and model"
    assert rows["Second", "Third"]["matrix"] == [[1, 0, 1], [0, 0, 0], [1, 0, 2]]
    assert rows["First", "Third"]["match"] == {"value": 0.8, "n": 5}


def test_hours_of_people_go_with_the_number_of_topics(first: Condition, second: Condition, condition, anna, olga):
    found = computed(first=first, second=second)
    assert found.result["hours_per_topic"] is None
    topics = list(first.campaign.topics.order_by("qid"))
    given = give_tasks(campaign=first.campaign, topics=topics, condition=condition, person=anna, acting_user=olga)
    for task, seconds in zip(given, (1800, 5400), strict=True):
        TimeSpent.objects.create(task=task, key=uuid4(), seconds=seconds)
    Condition.objects.filter(pk=first.pk).update(nuggets=condition)
    assert hours_per_topic([Condition.objects.get(pk=first.pk), second]) == 1.0
    topics[0].is_practice = True
    topics[0].save()
    assert hours_per_topic([Condition.objects.get(pk=first.pk), second]) == 1.5


def test_a_result_names_its_inputs_and_says_when_they_changed(first: Condition, second: Condition):
    calculation = computed(first=first, second=second)
    comparison = Comparison.objects.get()
    assert latest_calculations(comparison).changed == []
    before = calculation.inputs["second"]["sha256"]
    say(sheet_on(second, "t1", "team.two"), 0, label="support")
    assert latest_calculations(comparison).changed == ["Second"]
    again = run(calculate_again(comparison, acting_user=None))
    assert again.pk != calculation.pk
    assert again.inputs["second"]["sha256"] != before
    assert again.inputs["first"]["sha256"] == calculation.inputs["first"]["sha256"]
    assert again.result["labels"]["matrix"][2] == [1, 0, 5]
    assert latest_calculations(comparison).changed == []
    calculation.refresh_from_db()
    assert calculation.result["labels"]["matrix"][2] == [2, 0, 4]  # what it was then stays


def test_new_grades_change_a_source(campaign: Campaign, import_file):
    assert import_file(campaign, "qrels", "t1 0 d1 2\n", source="Model", by="model").state == "done"
    sources = [QrelsSource.objects.get(name=name) for name in ("NIST", "Model")]
    computed(first=sources[0], second=sources[1])
    assert import_file(campaign, "qrels", "t1 0 d2 2\n", source="Model", by="model").state == "done"
    assert latest_calculations(Comparison.objects.get()).changed == ["Model"]
    assert Grade.objects.filter(source=sources[1]).count() == 2


def test_a_comparison_is_in_the_history(first: Condition, second: Condition, olga):
    create_comparison(campaign=first.campaign, first=first, second=second, seed=8, tasks=[], acting_user=olga)
    event = Event.objects.get(verb="comparison made")
    assert (event.subject, event.person) == ("First and Second", olga)
    assert event.details["seed"] == 8


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"tasks": ["XX"]}, "no task XX"),
        ({"runs": ["nobody"]}, "no run nobody"),
        ({"topics": ["t1", "t9"]}, "no topic t9"),
        ({"draws": 0}, "1 to 10,000"),
    ],
)
def test_what_there_is_not_is_refused(first: Condition, second: Condition, given: dict, why: str):
    with pytest.raises(ComparisonError, match=why):
        create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None, **given)
    assert not Comparison.objects.exists()


def test_sides_must_fit(first: Condition, tmp_path: Path, edits: Condition):
    campaign = first.campaign
    support = support_condition(campaign)
    table, grades = keep_table(campaign, tmp_path), campaign.qrels_sources.get()
    for one, other, why in (
        (first, first, "two different things"),
        (first, support, "different kinds"),
        (first, grades, "different kinds"),
        (grades, table, "Grades are of passages"),
        (edits, first, "no labels of answers"),
    ):
        with pytest.raises(ComparisonError, match=why):
            create_comparison(campaign=campaign, first=one, second=other, acting_user=None)


def test_names_are_told_apart(first: Condition, second: Condition):
    sides = {"campaign": first.campaign, "first": first, "second": second, "acting_user": None}
    names = [create_comparison(**sides).comparison.name for _ in range(3)]
    assert names == ["First and Second", "First and Second (2)", "First and Second (3)"]
    with pytest.raises(ComparisonError):
        create_comparison(**sides, name="First and Second")


def test_the_database_wants_one_thing_on_each_side(first: Condition, second: Condition):
    create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None)
    for change in ({"first_condition": None}, {"second_condition": first}, {"first_source": 1}):
        if "first_source" in change:
            change = {"first_source": first.campaign.qrels_sources.get()}
        with pytest.raises(IntegrityError), transaction.atomic():
            Comparison.objects.update(**change)


def test_a_comparison_waits_once(first: Condition, second: Condition):
    calculation = create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None)
    assert calculate_again(calculation.comparison, acting_user=None).pk == calculation.pk
    run(calculation)
    assert calculate_again(calculation.comparison, acting_user=None).pk != calculation.pk


def test_a_worker_computes_what_waits_once(first: Condition, second: Condition, monkeypatch: pytest.MonkeyPatch):
    calculation = create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None, draws=10)
    tasks.calculate(calculation.pk)
    calculation.refresh_from_db()
    assert (calculation.state, calculation.percent, calculation.attempts) == ("done", 100, 1)
    again: list[object] = []
    monkeypatch.setattr("metaeval.calculation.compute", lambda *given: again.append(given))
    tasks.calculate(calculation.pk)
    assert again == []
    assert len(set(calculation.figures.values_list("name", flat=True))) == calculation.figures.count() > 5


def test_what_goes_wrong_is_kept_and_told(first: Condition, second: Condition, monkeypatch: pytest.MonkeyPatch):
    calculation = create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None)

    def broken(*args: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("metaeval.calculation.compute", broken)
    run(calculation)
    assert (calculation.state, calculation.why) == ("failed", "ZeroDivisionError: by nothing")


def test_a_calculation_whose_database_went_away_waits_for_two_more_tries(
    first: Condition, second: Condition, monkeypatch: pytest.MonkeyPatch
):
    calculation = create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None)

    def away(*args: object) -> None:
        raise OperationalError("the connection was refused")

    monkeypatch.setattr("metaeval.calculation.compute", away)
    assert [run(calculation).state for _ in range(3)] == ["waiting", "waiting", "failed"]
    assert calculation.why == "OperationalError: the connection was refused"


def test_what_a_dead_process_left_waits_again(first: Condition, second: Condition):
    calculation = create_comparison(campaign=first.campaign, first=first, second=second, acting_user=None)
    rows = Calculation.objects.filter(pk=calculation.pk)
    dead = me().rsplit(" ", 2)[0] + " 999999 1.0"
    for attempts, state in ((1, "waiting"), (2, "waiting"), (3, "failed")):
        rows.update(state="running", owner=dead, attempts=attempts)
        assert sweep(Calculation) == ([calculation.pk] if state == "waiting" else [])
        assert rows.get().state == state
    rows.update(state="running", owner="elsewhere 1 1.0", alive_at=timezone.now(), attempts=1)
    assert sweep(Calculation) == []
    assert rows.get().state == "running"


def test_the_command_prints_and_writes(first: Condition, second: Condition, tmp_path: Path, capsys):
    out = tmp_path / "out"
    call_command("compare", "study", "First", "Second", "--draws", "10", "--seed", "5", "--out", str(out))
    printed = capsys.readouterr().out
    assert "13 pairs, unmatched 0 and 0" in printed
    assert "not_support" in printed
    told = json.loads((out / "comparison.json").read_text())
    assert (told["comparison"], told["seed"], told["labels"]["pairs"]) == ("First and Second", 5, 13)
    assert set(told["inputs"]) == {"first", "second"}
    assert (out / "labels.csv").read_text().splitlines()[1].startswith("pairs,not_support,not_support,5,38.4")
    assert (out / "topics.csv").exists()
    assert (out / "labels.tex").read_text().count("\\\\") == 4
    for ending in ("svg", "pdf", "png"):
        assert (out / f"labels.{ending}").stat().st_size > 1000
    assert (out / "labels.svg").read_text().startswith("<svg")


def test_the_command_names_what_there_is(first: Condition, tmp_path: Path):
    with pytest.raises(CommandError, match=r"no condition, source of grades or score table Third.*First, NIST"):
        call_command("compare", "study", "First", "Third")
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    call_command("import_scores", "study", str(path))
    assert ScoreTable.objects.get().name == "scores.csv"
    path.write_text("run_id,vstrict\nr1,high\n")
    with pytest.raises(CommandError, match=r"line 2: vstrict: found high"):
        call_command("import_scores", "study", str(path), "--name", "Other")


def test_what_is_restricted_has_means_over_what_is_left(first: Condition):
    names = names_of(first.campaign)
    given = load_input(first, Policy.ZERO, names)
    part, _ = restrict(given, Restriction((), (), {"t1"}), names)
    assert np.round(part.scores.means[:, 0], 4).tolist() == [0, 0.5, 1]
    assert np.round(given.scores.means[:, 0], 4).tolist() == [0, 0.75, 0.5]


def test_scores_that_name_no_run_are_refused_with_the_option_that_does(campaign: Campaign, tmp_path: Path):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"qid": "t1", "v": 0.5}\n')
    with pytest.raises(TableError) as refused:
        import_table(campaign=campaign, name="", path=path, file_name=path.name, acting_user=None)
    [problem] = refused.value.report.errors
    assert (problem.line, problem.field, problem.found, problem.expected) == (
        1,
        "run_id",
        "keys qid, v",
        "the key run_id",
    )
    assert problem.remedy == "Say whose scores they are: --run TAG, or “Run” on the page."
    table = import_table(campaign=campaign, name="", path=path, file_name=path.name, run="r.1", acting_user=None)
    assert table.run == "r.1"
