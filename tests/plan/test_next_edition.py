"""The plan of the next edition: what it takes from scores, time and jobs, its page, files and command."""

import csv
import io
import json
from html import unescape

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.models import ManualSetup
from assessor.llm.models import Job, ModelJudge, Unit
from assessor.plan.next_edition import (
    Choices,
    NoPlan,
    PerTopic,
    Plan,
    basis,
    cost_per_topic,
    hours_per_topic,
    make_plan,
)
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores
from assessor.work.models import Task
from metaeval.stats.generalizability import (
    Criterion,
    assessor_components,
    dependability,
    expected_tau,
    generalizability,
    smallest_difference,
    variance_components,
    with_second_opinions,
)
from metaeval.stats.layout import Cells
from metaeval.stats.means import COMPLETE
from tests.assignment.conftest import run_file
from tests.assignment.scored import auto_condition, import_banks, label
from tests.conftest import client_of

RUNS, TOPICS, NUGGETS = ("a.one", "b.two", "c.three", "d.four"), [f"q{at:02}" for at in range(12)], 4
NO_SECOND = "Each topic has one assessor"


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def banks(campaign: Campaign, import_file) -> Condition:
    """Four runs that answered twelve topics, but for the last run and topic, with four vital nuggets each."""
    import_file(campaign, "topics", "".join(f"{qid}\tquery {qid}\n" for qid in TOPICS))
    for tag in RUNS:
        of = TOPICS[:-1] if tag == RUNS[-1] else TOPICS
        import_file(campaign, "runs", run_file(tag, {qid: [f"{tag} on {qid}."] for qid in of}), name=tag)
    nuggets = {qid: [(f"{qid} nugget {at}", "vital") for at in range(NUGGETS)] for qid in TOPICS}
    return import_banks(campaign, import_file, nuggets)


def labelled(nuggets: Condition, name: str, seed: int, topics: int = len(TOPICS)) -> Condition:
    """Label all answers to so many topics under a new condition: the better runs, a to d, have more nuggets."""
    chance = np.random.default_rng(seed)
    labels = {
        qid: {
            tag: "".join("s" if chance.random() < 0.85 - 0.2 * at else "n" for _ in range(NUGGETS))
            for at, tag in enumerate(RUNS)
            if (tag, qid) != (RUNS[-1], TOPICS[-1])
        }
        for qid in TOPICS[:topics]
    }
    return label(auto_condition(nuggets, name), labels)


@pytest.fixture
def scored(banks: Condition) -> Condition:
    return labelled(banks, "Scored", 1)


def second_opinions(of: Condition, topics: int) -> Condition:
    """Have all answers to this number of topics labelled again by somebody else."""
    assert of.nuggets
    second = labelled(of.nuggets, "Second", 2, topics)
    ManualSetup.objects.create(condition=second, of=of, purpose=ManualSetup.Purpose.SECOND, seed=1)
    return second


def base(condition: Condition) -> str:
    return f"/campaigns/study/scores/{condition.pk}/next-edition/"


def told(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return " ".join(unescape(response.content.decode()).split())


def table(client: Client, address: str) -> list[dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200, address
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))  # type: ignore[attr-defined]


def scores(condition: Condition) -> np.ndarray:
    """Return the first measure, (runs, topics), 0 where a run did not answer."""
    return condition_scores(condition).scores[..., 0]


# What scores tell.


def test_components_are_of_all_cells_with_0_for_what_was_not_submitted(scored: Condition):
    found = basis(scored, "vstrict", Cells.ZERO)
    assert found.components == variance_components(scores(scored))
    assert (found.components.runs, found.components.topics) == (4, 12)
    assert (found.zeros, found.runs_left_out, found.topics_left_out) == (1, 0, 0)
    assert found.half == 6
    assert found.halves.draws > 900


@pytest.mark.parametrize("cells", [Cells.COMMON, Cells.ANSWERED])
def test_a_topic_that_a_run_did_not_submit_can_be_left_out(scored: Condition, cells: Cells):
    found = basis(scored, "vstrict", cells)
    assert found.components == variance_components(scores(scored)[:, :-1])
    assert (found.zeros, found.runs_left_out, found.topics_left_out) == (0, 0, 1)


def test_a_run_that_skipped_most_topics_can_be_left_out(campaign: Campaign, scored: Condition, import_file):
    import_file(campaign, "runs", run_file("e.five", {TOPICS[0]: ["Only this."]}), name="e.five")
    label(scored, {TOPICS[0]: {"e.five": "ssss"}})
    assert basis(scored, "vstrict", Cells.ZERO).components.runs == 5
    found = basis(scored, "vstrict", Cells.MOST)
    assert found.components == variance_components(scores(scored)[:-1])
    assert (found.zeros, found.runs_left_out, found.topics_left_out) == (1, 1, 0)


def test_an_answer_that_lacks_labels_is_no_0(scored: Condition):
    assert scored.nuggets
    labels = {qid: dict.fromkeys(RUNS[:2], "ssnn") for qid in TOPICS[:3]}
    labels[TOPICS[0]][RUNS[1]], labels[TOPICS[1]][RUNS[1]] = "sn??", "snnn"
    partly = label(auto_condition(scored.nuggets, "Partly"), labels)
    found = basis(partly, "vstrict", Cells.ZERO)
    assert (found.components.runs, found.components.topics) == (2, 2)
    assert (found.zeros, found.topics_left_out) == (0, 1)


def test_nothing_can_be_planned_without_two_runs(banks: Condition):
    empty = auto_condition(banks, "Empty")
    with pytest.raises(NoPlan, match="two runs, and two topics"):
        basis(empty, "vstrict", Cells.ZERO)
    alike = label(auto_condition(banks, "Alike"), {qid: dict.fromkeys(RUNS[:2], "ssnn") for qid in TOPICS})
    with pytest.raises(NoPlan, match="No two runs differ"):
        basis(alike, "vstrict", Cells.COMMON)


# Assessors.


def test_one_assessor_a_topic_says_nothing_of_assessors(scored: Condition):
    found = basis(scored, "vstrict", Cells.ZERO)
    assert found.of_assessors is None
    assert found.why_not.startswith(NO_SECOND)
    assert found.why_not.endswith("none has one now.")


def test_too_few_second_opinions_are_counted(scored: Condition):
    second_opinions(scored, 9)
    found = basis(scored, "vstrict", Cells.ZERO)
    assert found.of_assessors is None
    assert found.why_not.endswith("at least 10 topics; 9 topics have one now.")


def test_second_opinions_tell_apart_what_assessors_differ_by(scored: Condition):
    second = second_opinions(scored, 11)
    found = basis(scored, "vstrict", Cells.ZERO)
    first = np.where(condition_scores(scored).states == COMPLETE, scores(scored), np.nan)
    expected = assessor_components(found.components, first[:, :11], scores(second))
    assert found.of_assessors == expected
    assert (expected.topics, expected.answers) == (11, 44)
    assert found.why_not == ""


def test_second_opinions_are_of_systems_answers_alone(campaign: Campaign, scored: Condition):
    second_opinions(scored, 12)
    found = basis(scored, "vstrict", Cells.ZERO).of_assessors
    assert found is not None
    assert (found.topics, found.answers) == (12, 47)  # one was not submitted
    campaign.runs.filter(tag=RUNS[0]).update(task="control")
    cache.clear()
    found = basis(scored, "vstrict", Cells.ZERO).of_assessors
    assert found is not None
    assert (found.topics, found.answers) == (12, 35)


# Plans.


def planned(scored: Condition, choices: Choices, hours: PerTopic, cost: PerTopic) -> Plan:
    return Plan(basis(scored, "vstrict", Cells.ZERO), choices, hours, cost)


NOTHING = PerTopic(0, 0, 4)


def test_rows_are_the_predictions_of_the_components(scored: Condition):
    made = planned(scored, Choices(56, 45), NOTHING, NOTHING)
    components = made.basis.components
    [few, many] = made.rows([56, 21, 56])
    assert (few.topics, many.topics, few.runs) == (21, 56, 45)
    assert few.generalizability == generalizability(components, 21).value
    assert few.low < few.generalizability < few.high
    assert few.dependability == dependability(components, 21).value
    assert few.tau == expected_tau(components, 21).value
    for criterion in Criterion:
        assert getattr(few, criterion) == pytest.approx(float(smallest_difference(components, 21, 45, criterion)))
    assert (few.hours, few.cost) == (None, None)


def test_second_opinions_lessen_the_error_and_take_time_for_labels(scored: Condition):
    second_opinions(scored, 11)
    measured = PerTopic(nuggets=1.0, labels=0.5, runs=4)
    made = planned(scored, Choices(20, 8, share=0.5, assessors=3), measured, NOTHING)
    assert made.basis.of_assessors
    with_them = with_second_opinions(made.basis.components, made.basis.of_assessors, share=0.5, assessors=3)
    [row] = made.rows([20])
    assert row.generalizability == generalizability(with_them, 20).value
    assert row.hsd == pytest.approx(float(smallest_difference(with_them, 20, 8, Criterion.HSD)))
    # Twice the runs: 1 + 1 hours a topic; on half of the topics two more people label for an hour.
    assert row.hours == pytest.approx(20 * (2 + 0.5 * 2 * 1))


def test_hours_and_costs_can_be_typed(scored: Condition):
    measured = PerTopic(nuggets=1.0, labels=3.0, runs=4)
    assert planned(scored, Choices(10, 4), measured, measured).hours_each == 4
    made = planned(scored, Choices(10, 8, hours=2.0, cost=0.25), measured, measured)
    assert (made.hours_each, made.cost_each) == (2, 0.25)
    assert planned(scored, Choices(10, 8), measured, measured).cost_each == 7
    # Where nothing is measured all of it is for labels.
    assert planned(scored, Choices(10, 4, 1.0, 2, hours=2.0), NOTHING, NOTHING).hours_each == 4
    assert planned(scored, Choices(10, 4, cost=0.0), NOTHING, NOTHING).cost_each == 0


def test_hours_are_the_medians_of_finished_tasks(scored: Condition, anna: Person):
    for under, seconds in ((scored, (1800, 3600, 7200)), (scored.nuggets, (7200, 7200, 36_000))):
        for qid, spent in zip(TOPICS, seconds, strict=False):
            topic = scored.campaign.topics.get(qid=qid)
            given = {"campaign": scored.campaign, "topic": topic, "condition": under, "person": anna}
            Task.objects.create(**given, kind=under.kind, state="finished", seconds=spent, done=4)
    assert hours_per_topic(scored, 4) == PerTopic(nuggets=2.0, labels=1.0, runs=4)


def test_costs_are_those_of_jobs_by_topic(scored: Condition):
    assert cost_per_topic(scored, 4) == PerTopic(0, 0, 4)
    judge = ModelJudge.objects.create(judge=scored.judge, campaign=scored.campaign, base_url="http://127.0.0.1/v1")
    for cost, qids in (("1.5", TOPICS[:4]), ("0.5", TOPICS[2:5])):
        given = {"campaign": scored.campaign, "kind": "auto_assign", "condition": scored, "judge": judge}
        job = Job.objects.create(**given, cost=cost)
        for qid in qids:
            Unit.objects.create(job=job, topic=scored.campaign.topics.get(qid=qid), item=qid, state=Unit.State.DONE)
    assert cost_per_topic(scored, 4) == PerTopic(nuggets=0, labels=0.4, runs=4)  # 2 for five topics


# The page.


def test_the_headline_says_what_all_pairs_need(as_olga: Client, scored: Condition):
    text = told(as_olga, f"{base(scored)}?next_topics=56&next_runs=45")
    [row] = planned(scored, Choices(56, 45), NOTHING, NOTHING).rows([56])
    assert (
        f"With 56 topics and 45 runs, two runs must differ by {row.hsd:.3f} in V strict to be told apart with 80 % "
        "power when all pairs are compared (Tukey's HSD at .05)."
    ) in text
    [today] = planned(scored, Choices(56, 45), NOTHING, NOTHING).rows([12])
    assert f"12 topics it is {today.hsd:.3f}." in text
    assert f"A paired t-test of one pair alone finds {row.t:.3f};" in text


def test_today_is_chosen_at_first(as_olga: Client, scored: Condition):
    text = told(as_olga, base(scored))
    assert "With 12 topics and 4 runs, two runs must differ by" in text
    assert "topics it is" not in text
    assert 'name="next_topics" id="id_next_topics" min="2" max="300" value="12"' in text
    assert 'name="next_runs" id="id_next_runs" min="2" max="100" value="4"' in text
    assert "1 answer that was not submitted counts 0" in text
    assert "Nothing is measured here yet." in text


def test_sliders_of_assessors_are_disabled_with_the_reason(as_olga: Client, scored: Condition):
    text = told(as_olga, f"{base(scored)}?second=50&assessors=3")
    assert text.count("disabled aria-describedby") == 2
    assert NO_SECOND in text
    assert 'id="second-value" for="id_second">0<' in text
    second_opinions(scored, 11)
    text = told(as_olga, f"{base(scored)}?second=50&assessors=3")
    assert "disabled aria-describedby" not in text
    assert 'id="second-value" for="id_second">50<' in text
    assert "44 answers to 11 topics" in text


def test_the_form_works_without_scripts_and_in_parts(as_olga: Client, scored: Condition):
    text = told(as_olga, base(scored))
    assert f'<form method="get" class="card" action="{base(scored)}"' in text
    assert f'hx-get="{base(scored)}"' in text
    assert '<button class="go">Update</button>' in text
    for name in ("next_topics", "next_runs", "second", "assessors"):
        assert f'<output id="{name}-value" for="id_{name}">' in text
        assert f"#{name}-value" in text


def test_what_cannot_be_is_refused_and_today_is_planned(as_olga: Client, scored: Condition):
    text = told(as_olga, f"{base(scored)}?next_topics=1&hours=-2")
    assert "With 12 topics and 4 runs" in text
    assert text.count('<a href="#id_') == 2
    assert as_olga.get(f"{base(scored)}plan.csv?next_topics=1").status_code == 404
    told_why = r"Topics: Ensure this value is greater than or equal to 2\."
    with pytest.raises(CommandError, match=told_why):
        call_command("export", "next_edition", "study", condition="Scored", next_topics="1")


def test_hours_and_cost_stand_in_the_table(as_olga: Client, scored: Condition):
    [row] = [
        one
        for one in table(as_olga, f"{base(scored)}plan.csv?next_topics=56&hours=2.5&cost=0.5")
        if one["topics"] == "56"
    ]
    assert (row["runs"], row["hours"], row["cost"]) == ("4", "140.0", "28.0")
    assert '<td class="num">140</td><td class="num">28.00</td>' in told(
        as_olga, f"{base(scored)}?next_topics=56&hours=2.5&cost=0.5"
    )


def test_the_figure_has_the_chosen_number_and_comes_as_files(as_olga: Client, scored: Condition):
    figure = json.loads(as_olga.get(f"{base(scored)}figures/plan.json?next_topics=56").content)
    assert figure["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    rows = table(as_olga, f"{base(scored)}figures/plan.csv?next_topics=56")
    marked = {row["curve"]: float(row["value"]) for row in rows if row["topics"] == "56" and row["curve"]}
    [expected] = planned(scored, Choices(56, 4), NOTHING, NOTHING).rows([56])
    assert marked == pytest.approx(
        {
            "all pairs (HSD)": expected.hsd,
            "one pair (t)": expected.t,
            "one pair (z)": expected.z,
            "E\N{GREEK SMALL LETTER RHO}²": expected.generalizability,
            "Φ": expected.dependability,
            "τ of two editions": expected.tau,
        },
        abs=1e-6,
    )
    response = as_olga.get(f"{base(scored)}figures/plan.svg?next_topics=56")
    assert response.content.startswith(b"<svg")
    assert f'filename="study.{scored}.vstrict.next-edition.svg"' in response["Content-Disposition"]


def test_what_is_not_there_is_not_found(as_olga: Client, scored: Condition):
    for address in ("?policy=no", "?measure=length", "figures/other.svg", "figures/plan.doc"):
        assert as_olga.get(f"{base(scored)}{address}").status_code == 404, address


def test_where_nothing_can_be_planned_all_say_why(as_olga: Client, banks: Condition):
    empty = auto_condition(banks, "Empty")
    assert "A plan needs two runs" in told(as_olga, base(empty))
    assert table(as_olga, f"{base(empty)}plan.csv") == []
    assert "A plan needs two runs" in as_olga.get(f"{base(empty)}figures/plan.json").content.decode()


def test_the_leaderboard_leads_to_the_plan(as_olga: Client, scored: Condition):
    listed = told(as_olga, f"/campaigns/study/scores/?condition={scored.pk}&measure=v")
    assert f'href="{base(scored)}?policy=zero&measure=v"' in listed


# The command.


def test_the_command_prints_the_table(scored: Condition, capsys: pytest.CaptureFixture[str]):
    call_command("plan_next_edition", "study", condition="Scored", topics=[56, 21], runs=45, hours=2.0)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["topics"], row["runs"], row["hours"], row["cost"]) for row in rows] == [
        ("21", "45", "42.0", ""),
        ("56", "45", "112.0", ""),
    ]
    [expected] = make_plan(scored, basis(scored, "vstrict", Cells.ZERO), Choices(12, 45)).rows([56])
    assert float(rows[1]["hsd"]) == pytest.approx(expected.hsd, abs=1e-6)
    call_command("plan_next_edition", "study", condition="Scored")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["topics"] for row in rows[:3]] == ["10", "12", "20"]
    assert {row["runs"] for row in rows} == {"4"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"second_opinions": 20}, NO_SECOND),
        ({"topics": [1]}, "--topics is 2 to 2,000"),
        ({"runs": 1}, "--runs is 2 to 1,000"),
        ({"hours": -1.0}, "--hours is 0 to 1,000"),
        ({"measure": "length"}, "There is no measure length"),
        ({"condition": "Other"}, "There is no condition Other"),
    ],
)
def test_the_command_refuses_what_cannot_be(scored: Condition, options: dict[str, object], why: str):
    with pytest.raises(CommandError, match=why):
        call_command("plan_next_edition", "study", **{"condition": "Scored"} | options)
