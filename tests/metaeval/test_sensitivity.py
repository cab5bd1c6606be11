"""Sensitivity studies: drawn, launched against the rehearsal endpoint, and what came of them."""

import csv
import io
import json
import re
from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.runner import run_job
from assessor.scores.score_source import scored_conditions
from assessor.studies.actions import StudyError, draw_study
from assessor.studies.models import Sensitivity
from assessor.studies.sensitivity import Variant, conditions_of, in_order, is_crossed, variants_of
from assessor.studies.sensitivity_actions import draw_sensitivity, plan_variants
from metaeval.sensitivity import sensitivity_result
from tests.assignment.conftest import run_file
from tests.assignment.scored import import_banks, vary
from tests.conftest import client_of
from tests.judging import all_judged, label_rows, model_of
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
FACTORS = {
    "judge": ["j"],
    "prompt_set": ["assay-1"],
    "batch": [4],
    "order": ["bank", "reversed"],
    "replicate": [0, 1],
}
MEASURE = "vstrict"
# Each nugget has two words of its own: an answer with both supports it, with one does so in part.
NUGGETS = [f"first{letter} second{letter}" for letter in "abcdefgh"]
FLIPS = 0.2
TEAMS = {"team.one": "one", "team.two": "one", "team.three": "three", "team.four": ""}


@pytest.fixture
def nuggets(empty_campaign: Campaign, import_file) -> Condition:
    """Twelve topics with eight nuggets each; four runs, of which the last answered one topic."""
    qids = [f"t{number:02}" for number in range(12)]
    topics = "".join(f"{qid}\tabout {qid}\n" for qid in qids)
    assert import_file(empty_campaign, "topics", topics).state == "done"
    for place, (tag, team) in enumerate(TEAMS.items()):
        answers = {
            qid: [
                f"It says {part.split()[0]}{' ' + part.split()[1] if (at + place) % 2 else ''}."
                for at, part in enumerate(NUGGETS)
                if (at * 5 + number + place * 3) % 7 > place
            ]
            for number, qid in enumerate(qids[: 1 if tag == "team.four" else None])
        }
        run = run_file(tag, answers)
        for line in run:
            line["references"], line["answer"] = [], [one | {"citations": []} for one in line["answer"]]
        assert import_file(empty_campaign, "runs", run, name=tag).state == "done"
        empty_campaign.runs.filter(tag=tag).update(team=team)
    importance = ["vital", "okay"]
    banks = {qid: [(text, importance[at % 2]) for at, text in enumerate(NUGGETS)] for qid in qids}
    return import_banks(empty_campaign, import_file, banks)


NOTHING_LEFT = "All variants are labelled, or their jobs are at work."


def drawn(nuggets: Condition, factors: dict[str, list[Any]] = FACTORS, **fields: Any) -> Sensitivity:
    options = {"name": "Sens", "topics": 12, "runs": 3, "seed": 5, "acting_user": None} | fields
    return draw_sensitivity(nuggets=nuggets, factors=factors, **options)


def launched(client: Client, study: Sensitivity, **budget: Any) -> list[Job]:
    """Launch all variants from the page; no worker is told."""
    address = reverse("sensitivity", args=["study", study.pk])
    response = client.post(address, {"launch": 1} | budget)
    assert response.status_code == 302, response.content.decode()
    return list(Job.objects.filter(condition__sample=study.name).order_by("pk"))


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def judge(nuggets: Condition) -> ModelJudge:
    return make_judge(nuggets.campaign)


def labels(condition: Condition) -> dict[tuple[str, str, str], str]:
    rows = label_rows(condition).filter(sheet__by_rule=False)
    columns = ("sheet__answer__run__tag", "sheet__answer__topic__qid", "nugget__text", "value")
    return {tuple(key): value for *key, value in rows.values_list(*columns)}


def file_of(client: Client, study: Sensitivity, name: str) -> str:
    response = client.get(reverse("sensitivity_file", args=["study", study.pk, name]), {"measure": MEASURE})
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def test_equal_requests_flip_at_the_endpoints_rate_and_other_orders_do_not(
    nuggets: Condition,
    client: Client,
    endpoint,  # noqa: F811
):
    server = endpoint(flip_rate=FLIPS)
    make_judge(nuggets.campaign, server.base_url)
    study = drawn(nuggets, topics=10, runs=2)
    requests = []
    for number, job in enumerate(launched(client, study)):
        # Variants whose jobs are not over are left out.
        assert len(sensitivity_result(study, MEASURE).variants) == number
        before = len(server.begun())
        run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.units_failed) == (Job.State.DONE, 0)
        requests.append({call["request"] for call in server.begun()[before:]})
    variants = variants_of(study.factors)
    # Eight nuggets are asked in two calls; a repetition sends the same again, and another order other requests.
    assert [len(one) for one in requests] == [40] * 4
    for (one, sent), (other, also) in combinations(zip(variants, requests, strict=True), 2):
        assert (sent == also) == (one._replace(replicate=other.replicate) == other)
        assert sent == also or not sent & also
    given = [labels(conditions_of(study)[one]) for one in variants]
    assert len(given[0]) == 20 * 8
    found = sensitivity_result(study, MEASURE)
    for variant, own, result in zip(variants[1:], given[1:], found.variants[1:], strict=True):
        flips = sum(own[key] != given[0][key] for key in given[0]) / len(given[0])
        assert result.flips is not None
        assert result.flips.rate.value == pytest.approx(flips)
        if variant.replicate:
            assert abs(flips - FLIPS) < 3 * (FLIPS * (1 - FLIPS) / len(given[0])) ** 0.5
            assert result.flips.rate.low < flips < result.flips.rate.high
        else:
            assert (flips, result.tau.value) == (0, 1)
    # Means by hand: the share of vital nuggets that are supported, over all topics.
    for own, means in zip(given, found.means, strict=True):
        supported = defaultdict(list)
        for (tag, _, text), label in own.items():
            if NUGGETS.index(text) % 2 == 0:
                supported[tag].append(label == "support")
        for tag, mean in zip(found.runs, means, strict=True):
            assert mean == pytest.approx(sum(supported[tag]) / len(supported[tag]))
    signs = {float(np.sign(one - other)) for one, other in found.means}
    assert found.robust == int(signs in ({1.0}, {-1.0}))
    page = client.get(reverse("sensitivity", args=["study", study.pk])).content.decode()
    text = re.sub(r"<[^>]*>", "", page)
    rates = [f"{100 * one.flips.rate.value:.1f} %" for one in found.variants if one.flips]
    assert f"2 other ways, the judge gives another label to 0.0 to {rates[2]} of nuggets; asked the same" in text
    assert f"asked the same again, to {rates[0]}." in text
    assert f"{found.robust} of 1 pairs of runs" in text
    rows = list(csv.DictReader(io.StringIO(file_of(client, study, "variants.csv"))))
    assert [row["name"] for row in rows][:3] == ["base", "repetition 1", "order reversed"]
    assert float(rows[1]["flip_rate"]) == pytest.approx(found.variants[1].flips.rate.value)  # type: ignore[union-attr]
    told = json.loads(file_of(client, study, "json"))
    assert (told["robust_pairs"], told["variants"][1]["factors"]) == (found.robust, ["repetition"])
    runs = list(csv.DictReader(io.StringIO(file_of(client, study, "runs.csv"))))
    assert [float(row["mean"]) for row in runs] == pytest.approx(found.means.ravel().tolist())
    assert len(file_of(client, study, "pairs.csv").splitlines()) == 1 + 1
    figure = client.get(reverse("sensitivity_figure", args=["study", study.pk, "ranks", "csv"]))
    assert b"team.one" in b"".join(figure.streaming_content)  # type: ignore[attr-defined]
    # Nothing is left to be estimated, until a label is.
    assert NOTHING_LEFT in page
    assert 'name="most_calls"' not in page
    sheet = next(one for one in all_judged(conditions_of(study)[variants[0]]) if not one.by_rule)
    label = sheet.assignments.earliest("pk")
    sheet.revise("test", {label.nugget_id: {"label": ""}}, judge_id=sheet.judge_id)
    page = client.get(reverse("sensitivity", args=["study", study.pk])).content.decode()
    assert NOTHING_LEFT not in page
    assert "Estimate what is left" in page
    sheet.refresh_from_db()
    sheet.revise("test", {label.nugget_id: {"label": label.value}}, judge_id=sheet.judge_id)
    # Its conditions are in no score table, and what is done is not asked again.
    assert not scored_conditions(nuggets.campaign).exists()
    assert "There is nothing to do" in client.post(
        reverse("sensitivity", args=["study", study.pk]), {"launch": 1}
    ).content.decode().replace("&#x27;", "'")


def test_a_sample_is_drawn_by_its_seed_and_takes_one_run_of_each_team_first(nuggets: Condition, judge: ModelJudge):
    study = drawn(nuggets, topics=5, runs=2)
    assert len(study.topics) == 5
    assert study.topics == sorted(study.topics)
    again = drawn(nuggets, topics=5, runs=2, name="Again")
    assert (again.topics, again.runs) == (study.topics, study.runs)
    assert drawn(nuggets, topics=5, runs=2, name="Other", seed=6).topics != study.topics
    for seed in range(8):
        two = drawn(nuggets, topics=5, runs=2, name=f"Seed {seed}", seed=seed)
        assert {TEAMS[tag] for tag in two.runs} == {"one", "three"}
    # Who answered one topic comes last.
    assert drawn(nuggets, topics=12, runs=3, name="Three").runs == ["team.one", "team.three", "team.two"]
    event = Event.objects.filter(verb="sensitivity study drawn").order_by("pk")[0]
    assert (event.details["topics"], event.details["seed"]) == (study.topics, 5)


def test_what_a_rule_labels_can_not_flip_and_what_was_not_submitted_counts_0(edits: Condition):
    study = vary(edits)  # all nuggets are supported, then none; team.empty did not answer t2
    model_of(conditions_of(study).popitem()[1]).objects.filter(answer__run__tag="team.empty").update(by_rule=True)
    found = sensitivity_result(study, MEASURE)
    assert found.means.tolist() == [[0.5, 1, 1], [0, 0, 0]]
    [flips] = [one.flips for one in found.variants if one.flips]
    assert (flips.rate.value, flips.rate.n, found.items) == (1, 10, 10)
    assert (flips.agreement.below.value, flips.agreement.above.value) == (1, 0)
    assert (found.robust, found.variants[1].tau.value) == (0, None)


def test_more_than_sixteen_variants_vary_one_factor_at_a_time():
    factors = FACTORS | {"judge": ["j", "k", "l"], "batch": [8, 3], "order": ["bank", "reversed", "shuffled"]}
    assert is_crossed(FACTORS)
    assert len(variants_of(FACTORS)) == 4
    found = variants_of(factors)
    assert (is_crossed(factors), len(found), found[0]) == (False, 7, Variant("j", "assay-1", 8, "bank", 0))
    assert [one.differing(found[0]) for one in found[1:]] == [
        *[["judge"]] * 2,
        ["batch"],
        *[["order"]] * 2,
        ["replicate"],
    ]
    assert in_order("abc", "bank", str) == ["a", "b", "c"]
    assert in_order("abc", "reversed", str) == ["c", "b", "a"]
    shuffled = in_order(NUGGETS, "shuffled 3", str)
    assert (sorted(shuffled), shuffled != NUGGETS, shuffled == in_order(NUGGETS[::-1], "shuffled 3", str)) == (
        NUGGETS,
        True,
        True,
    )


def test_designs_that_vary_nothing_or_name_what_is_not_there_are_refused(nuggets: Condition, judge: ModelJudge):
    single = {name: levels[:1] for name, levels in FACTORS.items()}
    for factors, fields, reason in (
        (single, {}, "Nothing varies"),
        (FACTORS | {"judge": ["j", "nobody"]}, {}, "no judge nobody"),
        (FACTORS | {"prompt_set": ["assay-1", "x"]}, {}, "no prompt set x"),
        (FACTORS | {"batch": [8, 8]}, {}, "twice"),
        (FACTORS | {"batch": [8, 0]}, {}, "1 to 100"),
        (FACTORS | {"replicate": list(range(11))}, {}, "10 levels"),
        (FACTORS, {"topics": 300, "runs": 10}, "2,000 answers"),
        (FACTORS, {"name": ""}, "blank"),
    ):
        with pytest.raises(StudyError, match=reason):
            drawn(nuggets, factors, **fields)
    drawn(nuggets)
    with pytest.raises(StudyError, match="already exists"):
        drawn(nuggets)
    two = {"kind": "assignment", "method": "imported", "nuggets": nuggets, "protocol": nuggets.protocol}
    sides = {
        by: Condition.objects.create(campaign=nuggets.campaign, name=by, replicate=at, judge=one, **two)
        for at, (by, one) in enumerate((("people", None), ("model", judge.judge)))
    }
    with pytest.raises(StudyError, match="sensitivity study called Sens"):
        draw_study(
            campaign=nuggets.campaign,
            name="Sens",
            purpose="disagreement",
            first=sides["people"],
            second=sides["model"],
            acting_user=None,
        )


def test_the_cost_is_told_first_and_a_budget_holds_for_each_job(
    nuggets: Condition,
    client: Client,
    tmp_path,
    settings,
):
    make_judge(nuggets.campaign, price_in=10, price_out=10)
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "brief").mkdir()
    text = prompt_set("assay-1").texts["assignment"]
    (tmp_path / "brief" / "assignment.md").write_text(text.replace("nugget", "nugget ", 1))
    form = {"name": "By hand", "nuggets": nuggets.pk, "judge": "j", "prompt_set": "assay-1", "batches": "8"}
    form |= {"other_prompt_sets": ["brief"], "repetitions": 1, "topics": 2, "runs": 2, "seed": 1}
    response = client.post(reverse("sensitivities", args=["study"]), form)
    study = Sensitivity.objects.get()
    address = reverse("sensitivity", args=["study", study.pk])
    assert response["Location"] == address
    page = client.post(address).content.decode()
    plans = plan_variants(study)
    assert [plan.estimate["calls"] for plan in plans.values()] == [4, 4]
    assert "All together: 8 calls" in page
    assert "USD" in page
    assert not Job.objects.exists()
    assert not study.campaign.conditions.filter(sample="By hand").exists()
    jobs = launched(client, study, most_calls=3)
    assert [(job.most_calls, job.units_total, job.kind) for job in jobs] == [(3, 4, "AutoAssign")] * 2
    made = conditions_of(study)
    one, other = (made[variant].prompts["assignment"] for variant in variants_of(study.factors))
    assert one != other
    assert all(condition.variant["batch"] == 8 for condition in made.values())
    # Their jobs are at work: nothing more is planned.
    assert plan_variants(study) == {}
    for page in (client.get(address), client.post(address)):
        assert NOTHING_LEFT in page.content.decode()
        assert 'name="most_calls"' not in page.content.decode()


def test_the_command_draws_estimates_and_goes_on_with_what_was_drawn(
    nuggets: Condition,
    capsys,
    endpoint,  # noqa: F811
):
    make_judge(nuggets.campaign, endpoint().base_url)
    words = ["run_sensitivity", "study", "Sens", "--nuggets", "Edits", "--judges", "j", "--topics", "2", "--runs", "2"]
    call_command(*words, "--batches", "8", "--seed", "1", "--estimate")
    assert "All together about 8 calls" in capsys.readouterr().out
    assert not Job.objects.exists()
    call_command("run_sensitivity", "study", "Sens", "--here")
    assert list(Job.objects.values_list("state", flat=True)) == ["done", "done"]
    with pytest.raises(CommandError, match="There is nothing to do"):
        call_command("run_sensitivity", "study", "Sens", "--here")
    with pytest.raises(CommandError, match="name the --nuggets"):
        call_command("run_sensitivity", "study", "Another")
