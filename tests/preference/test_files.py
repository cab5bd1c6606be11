"""Preferences as files: what goes out comes in again, and what is wrong is named by line and field."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.models import Campaign, Condition, Import
from assessor.formats.beginning import read_beginning
from assessor.imports.importer import LOADERS
from assessor.preference.models import PreferencePair
from tests.conftest import Importer
from tests.preference.conftest import RUNS, TOPICS, comparison, text_of

pytestmark = pytest.mark.django_db


def aggregate(run: str, topic: str, borda: float) -> dict[str, Any]:
    return {"_type": "aggregate", "run_id": run, "topic_id": topic, "borda_score": borda, "win_frac": 0.5}


def preferences(condition: Condition) -> list[tuple[str, str, str, str | None, str | None, str | None]]:
    pairs = PreferencePair.objects.filter(condition=condition).order_by("topic__qid", "position")
    return list(
        pairs.values_list("topic__qid", "first__run__tag", "second__run__tag", "value", "verdict", "reversed_verdict")
    )


def written(condition: Condition, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    call_command("export_preferences", "study", f"--condition={condition.name}", *more)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_file_has_comparisons_and_what_they_come_to(compared: Condition, capsys):
    lines = written(compared, capsys, "--topics", "bee")
    assert [line["_type"] for line in lines] == ["comparison"] * 6 + ["aggregate"] * 4
    assert lines[0] == {
        "_type": "comparison",
        "run_id": "run1",
        "run_id2": "run2",
        "query_id": "bee",
        "query_title": "about bee",
        "query_problem": "Why bee?",
        "query_background": "For a child.",
        "passage_1": text_of("run1", "bee"),
        "passage_2": text_of("run2", "bee"),
        "better_passage": 1,
        "confidence": None,
        "reasoning": None,
    }
    assert lines[7] == {
        "_type": "aggregate",
        "run_id": "run2",
        "topic_id": "bee",
        "borda_score": 1,
        "win_frac": 0.3333333333,
        "better_than": ["run3", "run4"],
        "worse_than": ["run1"],
    }
    assert len(written(compared, capsys)) == 5 * 10


def test_what_goes_out_comes_in_again(compared: Condition, import_file: Importer, capsys):
    lines = written(compared, capsys)
    lines[0]["confidence"] = 0.7
    done = import_file(compared.campaign, "preferences", lines, condition="Again", by="model")
    assert (done.state, done.report["counts"]["pairs added"], done.report["warning_count"]) == ("done", 30, 0)
    again = compared.campaign.conditions.get(name="Again")
    assert preferences(again) == preferences(compared)
    assert written(again, capsys) == lines, "further keys come back"
    once_more = import_file(compared.campaign, "preferences", lines, condition="Again", by="model")
    assert once_more.report["counts"]["pairs already there"] == 30
    assert PreferencePair.objects.filter(condition=again).count() == 30


def test_a_pair_in_both_orders_counts_once(runs: Campaign, import_file: Importer):
    lines = [
        comparison("run2", "run1", "bee", 2),
        comparison("run1", "run2", "bee", 1),
        comparison("run1", "run3", "bee", 1),
        comparison("run3", "run1", "bee", 1),
        comparison("run2", "run3", "bee", 0),
    ]
    done = import_file(runs, "preferences", lines, condition="Both", by="people")
    assert (done.report["counts"]["pairs added"], done.report["counts"]["flipped duplicates"]) == (3, 2)
    assert [warning["kind"] for warning in done.report["warnings"]] == ["two orders disagree"]
    condition = runs.conditions.get(name="Both")
    assert preferences(condition) == [
        ("bee", "run1", "run2", "1", "2", None),
        ("bee", "run1", "run3", "0", "1", "1"),
        ("bee", "run2", "run3", "0", "0", None),
    ]
    assert PreferencePair.objects.get(condition=condition, position=0).second_stood_first
    assert (condition.method, condition.is_peoples) == ("imported", True)


@pytest.mark.parametrize(
    ("lines", "line", "field", "found", "expected"),
    [
        ([comparison("run1", "run2", "bee", 3)], 1, "better_passage", "3", "1, 2, or 0 for neither"),
        ([comparison("run1", "run2", "bee", True)], 1, "better_passage", "True", "1, 2, or 0 for neither"),
        ([comparison("run1", "run2", "bee", None)], 1, "better_passage", "None", "1, 2, or 0 for neither"),  # type: ignore[arg-type]
        ([comparison("run1", "run1", "bee", 1)], 1, "run_id2", "run1", "another run than run1"),
        (
            [comparison("run1", "run2", "ant", 1)],
            1,
            "query_id",
            "ant",
            "a topic of the campaign; load the topics first",
        ),
        (
            [comparison("run1", "run2", "bee", 1), comparison("run1", "run2", "bee", 1)],
            *(2, "run_id2", "run1 and run2 once more", "each once; it stands on line 1 already"),
        ),
        ([comparison("run1", "run2", "bee", 1), {"_type": "mean"}], 2, "_type", "mean", "comparison or aggregate"),
        (
            [comparison("run1", "run2", "bee", 1), aggregate("run3", "bee", 1)],
            *(2, "run_id", "run3", "a run that is compared on bee"),
        ),
        (
            [comparison("run1", "run2", "bee", 1), aggregate("run1", "bee", "many")],  # type: ignore[arg-type]
            *(2, "borda_score", "many", "a number"),
        ),
        (
            [{key: value for key, value in comparison("run1", "run2", "bee", 1).items() if key != "run_id2"}],
            *(1, "run_id2", "keys run_id, query_id, passage_1, passage_2, better_passage", "the key run_id2"),
        ),
    ],
)
def test_bad_input_is_named_and_nothing_is_imported(
    runs: Campaign, import_file: Importer, lines, line: int, field: str, found: str, expected: str
):
    done = import_file(runs, "preferences", lines, condition="Bad", by="model")
    assert done.state == "refused"
    [error] = done.report["errors"]
    assert (error["line"], error["field"], error["found"], error["expected"]) == (line, field, found, expected)
    assert not Condition.everything.filter(name="Bad").exists()
    assert not PreferencePair.everything.exists()


def test_another_preference_than_is_there_is_refused(compared: Condition, import_file: Importer):
    lines = [comparison("run2", "run1", "bee", 1)]
    done = import_file(compared.campaign, "preferences", lines, condition="Imported", by="model")
    assert done.state == "refused"
    [error] = done.report["errors"]
    assert (error["line"], error["field"]) == (1, "better_passage")
    assert error["expected"] == "2, as Imported has run2 and run1 on bee already"


def test_an_aggregate_that_differs_is_a_warning(runs: Campaign, import_file: Importer):
    lines = [comparison("run1", "run2", "bee", 1), aggregate("run1", "bee", 1), aggregate("run2", "bee", 1)]
    done = import_file(runs, "preferences", lines, condition="Few", by="model")
    assert done.state == "done"
    [warning] = done.report["warnings"]
    assert (warning["kind"], warning["count"]) == ("aggregate differs", 1)
    assert warning["listed"][0] | {"remedy": ""} == {
        "line": 3,
        "field": "borda_score",
        "found": "1.0",
        "expected": "-1, by the comparisons",
        "remedy": "",
    }


def test_a_file_is_recognised_by_its_content(tmp_path: Path):
    path = tmp_path / "x"
    path.write_text(json.dumps(comparison("run1", "run2", "bee", 1)) + "\n")
    beginning = read_beginning(path)
    assert [kind for kind, loader in LOADERS.items() if loader.recognises(beginning)] == ["preferences"]


def test_the_command_imports(runs: Campaign, tmp_path: Path, capsys):
    path = tmp_path / "x.preferences.jsonl"
    path.write_text("".join(json.dumps(comparison("run1", run, qid, 2)) + "\n" for qid in TOPICS for run in RUNS[1:]))
    call_command("import_preferences", "study", str(path), condition="Filed", by="people")
    assert PreferencePair.objects.filter(condition__name="Filed", value="2").count() == 15
    path.write_text(json.dumps(comparison("run1", "run2", "bee", 7)) + "\n")
    with pytest.raises(CommandError):
        call_command("import_preferences", "study", str(path), condition="Filed", by="people")
    assert Import.objects.filter(state="refused").count() == 1
