"""Calibration of judges of reports: each step by itself, and all must reach the gate."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.scores.leaderboards import name_of
from assignment.argue.models import ArgueJudgment
from metaeval.actions import create_calibration
from metaeval.calibrations import headlines, step_rows
from metaeval.models import Calibration
from metaeval.stats.agreement import kappa
from tests.assignment.argue.conftest import attested, first, matches, needs, relevance, report, run_line
from tests.conftest import Importer, client_of
from tests.metaeval.test_calibrations import set_gate
from tests.questions.banks import answer, bank, question

TOPICS = [f"c{number:02}" for number in range(12)]
RUNS = ("team.one", "team.two")
SENTENCES: list[tuple[str, list[str]]] = [("Purring heals bones.", ["d1"]), ("Some purr at night.", [])]
STEPS = {
    "attests": "support by documents",
    "answers": "answers stated",
    "needs": "need of a citation",
    "first": "said here first",
}


class Said(NamedTuple):
    """What a judge says of a report: of each step whether yes; "first" is asked where a citation is needed."""

    attests: bool
    answers: bool
    needs: bool
    first: bool | None


def by_model(at: int) -> Said:
    return Said(at % 2 == 0, at % 3 == 0, True, at % 4 == 0)


def by_people(at: int) -> Said:
    """Say what the model says, but for every fifth report on attestation, and every fourth on the need."""
    said = by_model(at)
    said = said._replace(attests=said.attests != (at % 5 == 0), answers=said.answers and at % 6 == 0)
    return said._replace(needs=False, first=None) if at % 4 == 1 else said


def lines(judge: Callable[[int], Said]) -> list[dict[str, Any]]:
    """Return the lines of a judge's file, of each run on each topic."""
    found = []
    for at, (qid, tag) in enumerate((qid, tag) for qid in TOPICS for tag in RUNS):
        said = judge(at)
        stated = {"heal": ["Bones"]} if said.answers else {}
        of_text = [needs(said.needs)] + ([first(said.first)] if said.first is not None else [])
        judged = [[relevance("d1"), matches("d1", **stated), attested("d1", said.attests)], of_text]
        found.append(report(tag, judged, qid, SENTENCES))
    return found


def pairs(step: str) -> list[tuple[int, int]]:
    """Return what people and the model say in a step, of each report in which both were asked."""
    both = ((getattr(by_people(at), step), getattr(by_model(at), step)) for at in range(len(TOPICS) * len(RUNS)))
    return [(int(human), int(model)) for human, model in both if None not in (human, model)]


@pytest.fixture
def judged(campaign: Campaign, import_file: Importer) -> Callable[..., Condition]:
    """Reports of two runs on twelve topics, and what imports judgments of them."""
    heal = question("What does purring heal?", answer("Bones", "d1"), importance="vital")
    files: list[tuple[str, Any, dict[str, str]]] = [
        ("topics", "".join(f"{qid}\twhat is {qid}\n" for qid in TOPICS), {}),
        *(("runs", [run_line(tag, SENTENCES, qid) for qid in TOPICS], {"name": tag}) for tag in RUNS),
        ("questions", [bank(heal, qid=qid) for qid in TOPICS], {"condition": "Questions", "by": "people"}),
    ]
    for kind, content, options in files:
        done = import_file(campaign, kind, content, **options)
        assert done.state == "done", done.report

    def imported(name: str, by: str, judge: Callable[[int], Said]) -> Condition:
        options = {"condition": name, "by": by, "nuggets": "Questions"}
        done = import_file(campaign, "argue_judgments", lines(judge), **options)
        assert done.state == "done", done.report
        return campaign.conditions.get(name=name)

    return imported


@pytest.fixture
def people(judged: Callable[..., Condition]) -> Condition:
    return judged("People", "people", by_people)


@pytest.fixture
def model(judged: Callable[..., Condition]) -> Condition:
    return judged("Model", "model", by_model)


@pytest.fixture
def made(people: Condition, model: Condition) -> Calibration:
    return create_calibration(campaign=people.campaign, human=people, judged=model, acting_user=None)


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def address(made: Calibration) -> str:
    return f"/campaigns/study/calibrations/{made.pk}/"


def test_each_step_is_counted_by_itself(made: Calibration):
    found = {step["name"]: step for step in made.result["steps"]}
    assert {name: step["title"] for name, step in found.items()} == STEPS
    for name, step in found.items():
        matrix = np.zeros((2, 2), dtype=int)
        for human, model in pairs(name):
            matrix[human, model] += 1
        assert step["matrix"] == matrix.tolist(), name
        all_labels = step["strata"][0]
        assert (all_labels["n"], all_labels["kappa"]["value"]) == (matrix.sum(), kappa(matrix).value), name
    assert [one["name"] for one in found["needs"]["strata"]] == ["all labels", "middle third"]
    assert made.result["uncompared"] == []


def test_the_least_of_all_steps_stands_for_all(made: Calibration):
    of_steps = [step["strata"][0] for step in made.result["steps"]]
    assert made.labels == len(pairs("first")) < len(pairs("attests"))
    assert made.topics == min(one["topics"] for one in of_steps) == 12
    # The model always says that a citation is needed, so kappa is 0 there, whatever topics are drawn.
    assert made.kappa["low"] == 0 == min(one["kappa"]["low"] for one in of_steps)


def test_every_step_must_reach_the_gate(made: Calibration, model: Condition, client: Client):
    set_gate(model.campaign, 0)
    assert name_of(model) == "Model"
    least = min(one["strata"][0]["kappa"]["low"] for one in made.result["steps"] if one["name"] != "needs")
    assert least > 0.05
    gate = set_gate(model.campaign, 0.05)
    assert [row.passes for row in step_rows(made.result, gate)] == [True, True, False, True]
    assert name_of(model) == "Model (uncalibrated)"
    for step, reached, missed in (("attests", 4, 1), ("needs", 3, 2)):  # in the table, and of the one below
        text = client.get(f"{address(made)}?step={step}").content.decode()
        assert text.count('<span class="chip ok">reached</span>') == reached
        assert text.count('<span class="chip warn">not reached</span>') == missed
    set_gate(model.campaign, 0, made.labels + 1)
    assert name_of(model) == "Model (uncalibrated)"


@pytest.mark.parametrize("without", ["People", "Model"])
def test_a_step_that_one_side_did_not_judge_is_uncalibrated(
    judged: Callable[..., Condition], client: Client, without: str
):
    def told(at: int) -> Said:
        return by_model(at)._replace(needs=False, first=None)

    people = judged("People", "people", told if without == "People" else by_model)
    model = judged("Model", "model", told if without == "Model" else by_model)
    found = create_calibration(campaign=people.campaign, human=people, judged=model, acting_user=None)
    assert [step["name"] for step in found.result["steps"]] == ["attests", "answers", "needs"]
    assert found.result["uncompared"] == ["said here first"]
    assert (found.labels, found.topics) == (0, 0)
    assert found.kappa["why"] == "both labelled nothing in common of: said here first"
    set_gate(model.campaign, 0, 1)
    assert name_of(model) == "Model (uncalibrated)"
    text = client.get(address(found)).content.decode()
    assert '<th scope="row">Said here first</th>' in text
    assert "both labelled nothing in common</td>" in text


def test_labels_of_others_do_not_count(people: Condition, model: Condition):
    row = ArgueJudgment.everything.filter(sheet__condition=people, step="attests").first()
    assert row is not None
    ArgueJudgment.everything.filter(pk=row.pk).update(value=None, resolved_value="yes", state="unjudgeable", reason="x")
    found = create_calibration(campaign=people.campaign, human=people, judged=model, acting_user=None)
    assert found.result["steps"][0]["strata"][0]["n"] == len(pairs("attests")) - 1
    assert found.result["left_out"]["not given unaided"] == 1


def test_the_page_has_a_row_of_each_step_and_all_of_one(made: Calibration, client: Client):
    text = client.get(address(made)).content.decode()
    for name, title in STEPS.items():
        assert f'<a href="?step={name}"' in text
        assert title.capitalize() in text
    for at, name in enumerate(STEPS):
        page = client.get(f"{address(made)}?step={name}")
        assert headlines(made)[at] in page.content.decode()
        assert f"figures/reliability.json?step={name}" in page.content.decode()
        figure = client.get(f"{address(made)}figures/reliability.csv?step={name}")
        told = b"".join(figure.streaming_content).decode()  # type: ignore[attr-defined]
        shares = [float(row["share"]) for row in csv.DictReader(io.StringIO(told)) if row["layer"] == "2"]
        assert shares == [one["yes"]["value"] for one in made.result["steps"][at]["curve"]]
    assert client.get(f"{address(made)}?step=no").status_code == 404
    assert headlines(made)[0].startswith("Support by documents: where Model says yes, people say yes in ")
    assert "; κ is " in headlines(made)[0]


def test_files_and_the_command_tell_of_each_step(made: Calibration, client: Client, capsys: Any):
    text = b"".join(client.get(f"{address(made)}files/csv").streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    kappas = {row["step"]: row["value"] for row in rows if row["outcome"] == "kappa" and row["stratum"] == "all labels"}
    assert {name: float(value) for name, value in kappas.items()} == {
        step["name"]: step["strata"][0]["unweighted"]["value"] for step in made.result["steps"]
    }
    told = b"".join(client.get(f"{address(made)}files/json").streaming_content)  # type: ignore[attr-defined]
    assert json.loads(told)["steps"] == made.result["steps"]
    call_command("calibrate", "study", "People", "Model")
    assert capsys.readouterr().out.splitlines()[: len(STEPS)] == headlines(made)
