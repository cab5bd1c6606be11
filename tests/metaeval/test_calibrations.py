"""Calibrations of judges: which labels count, what comes of them, and what tables say below the gate."""

import csv
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition
from assessor.campaigns.condition_kind import CIRCULAR, ConditionKind
from assessor.campaigns.models import Campaign, Condition, Event, Judge
from assessor.labels.label_kind import label_kind
from assessor.runtime.processes import me
from assessor.scores.leaderboards import name_of, score_lines
from assessor.work.models import Exposure
from metaeval.actions import (
    create_calibration,
    create_comparison,
    create_hybrid,
    request_calibration,
    set_calibration_gate,
)
from metaeval.calibrations import (
    NotCalibrated,
    calibrate_labels,
    headlines,
    human_sides,
    judged_conditions,
    newest_of,
    refusal,
)
from metaeval.models import Calibration, CalibrationGate, CalibrationRequest, HumanSide
from metaeval.queries import side_key
from metaeval.stats.agreement import Weights, kappa
from metaeval.stats.means import Policy
from metaeval.tasks import calibrate, take_up
from tests.assignment.conftest import run_file
from tests.assignment.scored import import_banks, label, say, sheet_on
from tests.conftest import client_of
from tests.judging import label_rows
from tests.support.scores_helpers import DOCIDS, judge

TOPICS = [f"c{number:02}" for number in range(12)]
NUGGETS = [("first", "vital"), ("second", "okay"), ("third", "vital")]
# By run, of each topic; on every third topic people are stricter with the first nugget.
MODELS = {"one": "spn", "two": "ssn"}
PEOPLES = {"one": "spn", "two": "psn"}
STRICT = {"one": "nnn", "two": "psp"}


@pytest.fixture
def edits(campaign: Campaign, import_file) -> Condition:
    """Nuggets on twelve topics, which two runs answer, one of them at length."""
    lines = "".join(f"{qid}\twhat is {qid}\n" for qid in TOPICS)
    assert import_file(campaign, "topics", lines).state == "done"
    for tag, text in (("one", "Words."), ("two", "Many more words than one.")):
        answers = {qid: [text] for qid in TOPICS}
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    return import_banks(campaign, import_file, dict.fromkeys(TOPICS, NUGGETS))


@pytest.fixture
def people(edits: Condition) -> Condition:
    """People's labels of all answers."""
    said = {qid: (STRICT if at % 3 == 0 else PEOPLES) for at, qid in enumerate(TOPICS)}
    return label(imported(edits, "Edits/People"), said)


@pytest.fixture
def auto(edits: Condition) -> Condition:
    """A model's labels of the same."""
    return label(by_model(edits, "Edits/Auto"), dict.fromkeys(TOPICS, MODELS))


@pytest.fixture
def made(people: Condition, auto: Condition) -> Calibration:
    return create_calibration(campaign=people.campaign, human=people, judged=auto, acting_user=None)


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def imported(edits: Condition, name: str, by: str = "people", **fields: object) -> Condition:
    maker = Judge.objects.create(kind="imported", name=name, parameters={"by": by})
    condition = Condition(
        campaign=edits.campaign, name=name, kind="assignment", method="imported", nuggets=edits, judge=maker, **fields
    )
    return create_condition(condition, acting_user=None)


def by_model(
    edits: Condition, name: str, model: str = "gpt-4o", prompt: str = "ab" * 32, **fields: object
) -> Condition:
    maker, _ = Judge.objects.get_or_create(kind="model", name=f"judge {model}", parameters={"model": model})
    condition = Condition(
        campaign=edits.campaign,
        name=name,
        kind="assignment",
        method="AutoAssign",
        nuggets=edits,
        judge=maker,
        prompts={"assignment": prompt},
        **fields,
    )
    return create_condition(condition, acting_user=None)


def set_gate(campaign: Campaign, kappa: float | None, labels: int = 10, topics: int = 10) -> CalibrationGate:
    least = None if kappa is None else Decimal(f"{kappa:.2f}")
    gate = CalibrationGate(campaign=campaign, least_kappa=least, least_labels=labels, least_topics=topics)
    return set_calibration_gate(gate, acting_user=None)


def pairs() -> Iterator[tuple[int, int]]:
    codes = "nps"
    for at in range(len(TOPICS)):
        of_people = STRICT if at % 3 == 0 else PEOPLES
        for tag in ("one", "two"):
            for human, model in zip(of_people[tag], MODELS[tag], strict=True):
                yield codes.index(human), codes.index(model)


def filled_in(human: HumanSide, judged: Condition) -> dict[str, str]:
    """Return what the form of a new calibration sends."""
    return {"human": side_key(human), "judged": side_key(judged)}


def base(calibration: Calibration) -> str:
    return f"/campaigns/study/calibrations/{calibration.pk}/"


def test_all_pairs_are_counted_by_hand(made: Calibration):
    matrix = np.zeros((3, 3), dtype=int)
    for human, model in pairs():
        matrix[human, model] += 1
    assert made.result["steps"][0]["matrix"] == matrix.tolist()
    assert (made.labels, made.topics) == (72, 12)
    assert made.kappa["value"] == kappa(matrix, Weights.QUADRATIC).value
    assert made.kappa["low"] < made.kappa["value"] < made.kappa["high"]
    all_labels = made.result["steps"][0]["strata"][0]
    assert [row["human"][2]["value"] for row in all_labels["rows"]] == (matrix[2] / matrix.sum(axis=0)).tolist()
    assert all_labels["human_mean"]["value"] == pytest.approx((matrix.sum(axis=1) @ [0, 0.5, 1]) / 72)
    assert made.result["steps"][0]["transfer"]["rest"] == 0
    assert [step["label"] for step in made.result["steps"][0]["curve"]] == [0, 1, 2]


def test_strata_are_of_importance_and_length(made: Calibration):
    strata = {one["name"]: one["n"] for one in made.result["steps"][0]["strata"]}
    assert strata == {"all labels": 72, "vital": 48, "okay": 24, "shortest third": 36, "longest third": 36}


def test_it_is_bound_to_judge_model_and_prompts(made: Calibration, auto: Condition):
    assert made.identity == {"judge": "judge gpt-4o", "model": "gpt-4o", "prompts": {"assignment": "ab" * 32}}
    edits = auto.nuggets
    assert edits is not None
    assert newest_of([made], auto) == made
    assert newest_of([made], by_model(edits, "again", replicate=1)) == made
    assert newest_of([made], by_model(edits, "prompt", prompt="cd" * 32)) is None
    assert newest_of([made], by_model(edits, "model", model="gpt-5")) is None


def test_on_other_nuggets_it_does_not_count(made: Calibration, auto: Condition, import_file):
    others = import_banks(auto.campaign, import_file, dict.fromkeys(TOPICS, NUGGETS), name="Others")
    assert newest_of([made], by_model(others, "others")) is None


def test_labels_of_others_beside_a_models_and_by_rule_do_not_count(
    people: Condition, auto: Condition, monkeypatch: pytest.MonkeyPatch
):
    def calibrate() -> Calibration:
        return create_calibration(campaign=people.campaign, human=people, judged=auto, acting_user=None)

    say(sheet_on(people, "c01", "one"), 0, label=None, cannot="unclear", adopted="support")
    assert calibrate().labels == 71
    shown = label_rows(people).filter(sheet=sheet_on(people, "c02", "one"))
    assert shown.update(shown_value="support") == 3
    assert calibrate().labels == 68
    sheet = sheet_on(people, "c04", "two")
    type(sheet).objects.filter(pk=sheet.pk).update(by_rule=True)
    found = calibrate()
    assert found.labels == 65
    assert found.result["left_out"] == {"of control and circular runs": 0, "by rule": 3, "not given unaided": 4}
    people.campaign.runs.filter(tag="two").update(task="control")
    found = calibrate()
    assert found.result["left_out"]["of control and circular runs"] == 36
    assert found.labels == 32
    people.campaign.runs.filter(tag="two").update(task="")
    monkeypatch.setattr(ConditionKind, "run_marks", lambda self, condition: {"two": CIRCULAR})
    assert calibrate().labels == 32


def test_what_people_did_not_label_is_told_apart(people: Condition, auto: Condition):
    sheets = [sheet_on(people, qid, "two") for qid in TOPICS]
    label_rows(people).filter(sheet__in=sheets).update(value=None, state="open")
    transfer = create_calibration(campaign=people.campaign, human=people, judged=auto, acting_user=None)
    transfer = transfer.result["steps"][0]["transfer"]
    assert transfer["rest"] == 36
    # The other run has two labels of three at the top, the calibrated one has one: no agreement.
    assert [round(one["difference"], 3) for one in transfer["shares"]] == [0, -0.333, 0.333]
    assert transfer["agrees"] is False


def test_equal_citations_count_once(campaign: Campaign, import_file):
    lines = [
        {
            "run_id": "one",
            "topic_id": qid,
            "references": DOCIDS,
            "answer": [{"text": "Words.", "citations": [0, 1]}],
        }
        for qid in ("t1", "t2")
    ]
    assert import_file(campaign, "runs", lines).state == "done"
    said = {"one": {"t1": ["fp"], "t2": ["fp"]}}
    maker = Judge.objects.create(kind="imported", name="people", parameters={"by": "people"})
    human = Condition(campaign=campaign, name="people", kind="support", method="imported", judge=maker)
    judge(create_condition(human, acting_user=None), said)
    of_model = Judge.objects.create(kind="model", name="model", parameters={"model": "m"})
    model = Condition(campaign=campaign, name="model", kind="support", method="support automatic", judge=of_model)
    judge(create_condition(model, acting_user=None), said)
    first, second, *_ = label_rows(human).order_by("pk")
    label_rows(human).filter(pk__in=(first.pk, second.pk)).update(equal_to=first)
    assert label_kind("support").aided_labels(human) == {(second.sheet.answer_id, second.citation)}
    made = create_calibration(campaign=campaign, human=human, judged=model, acting_user=None)
    assert (made.labels, made.topics, made.kappa["low"]) == (3, 2, None)
    assert "on 2 topics" in headlines(made)[0]


def test_post_edited_labels_and_those_of_other_things_are_refused(people: Condition, auto: Condition, import_file):
    edits = auto.nuggets
    assert edits is not None
    edited = imported(edits, "post-edited", shown=auto)
    assert refusal(edited, auto) == "post-edited was labelled with the labels of Edits/Auto in view."
    assert refusal(auto, auto) == "Edits/Auto has no people's labels."
    assert refusal(people, people) == "Edits/People has no model's labels."
    others = import_banks(auto.campaign, import_file, dict.fromkeys(TOPICS, NUGGETS), name="Others")
    assert refusal(imported(others, "others"), auto) == "others and Edits/Auto do not label the same things."
    assert edited not in human_sides(auto.campaign)
    with pytest.raises(NotCalibrated, match="in view"):
        create_calibration(campaign=auto.campaign, human=edited, judged=auto, acting_user=None)
    with pytest.raises(NotCalibrated, match="nothing in common"):
        create_calibration(campaign=auto.campaign, human=imported(edits, "empty"), judged=auto, acting_user=None)


def test_preferences_have_no_calibration_and_no_gate(people: Condition, auto: Condition):
    preferred = Condition(campaign=auto.campaign, name="Preferred", kind="preference", method="PrefJudge")
    preferred.judge = auto.judge
    create_condition(preferred, acting_user=None)
    assert refusal(people, preferred) == "The labels of Preferred are not one ordered scale."
    assert preferred not in judged_conditions(auto.campaign)
    set_gate(auto.campaign, 1)
    assert (name_of(auto), name_of(preferred)) == ("Edits/Auto (uncalibrated)", "Preferred")


def test_the_sentence_says_what_the_figures_say(made: Calibration):
    all_labels = made.result["steps"][0]["strata"][0]
    share, kappa_ = all_labels["rows"][2]["human"][2], all_labels["kappa"]
    apart = all_labels["model_mean"]["value"] - all_labels["human_mean"]["value"]
    assert headlines(made) == [
        f"Where judge gpt-4o says support, people say support in {100 * share['value']:.1f} % of cases "
        f"({100 * share['low']:.1f} to {100 * share['high']:.1f} %), and on average its labels are {apart:.3f} too "
        f"high, on a scale from 0 to 1; quadratic κ is {kappa_['value']:.3f} ({kappa_['low']:.3f} to "
        f"{kappa_['high']:.3f}) over 72 labels on 12 topics."
    ]


def test_the_sentence_says_on_which_side_the_judge_errs(made: Calibration):
    [step] = made.result["steps"]
    human = step["strata"][0]["human_mean"]["value"]
    for apart, words in (
        (-0.12, "on average its labels are 0.120 too low, on a scale from 0 to 1;"),
        (0.0004, "on average its labels are as high as theirs;"),
    ):
        step["strata"][0]["model_mean"]["value"] = human + apart
        assert words in headlines(made)[0]


def test_without_a_gate_nothing_is_said(auto: Condition, people: Condition, client: Client):
    before = "".join(score_lines(auto, "csv", Policy.ZERO))
    assert "uncalibrated" not in before
    gate = set_gate(auto.campaign, 0.2)
    assert name_of(auto) == "Edits/Auto (uncalibrated)"
    assert name_of(people) == "Edits/People"
    assert "Edits/Auto (uncalibrated)" in "".join(score_lines(auto, "csv", Policy.ZERO))
    set_gate(gate.campaign, None)
    assert "".join(score_lines(auto, "csv", Policy.ZERO)) == before


def test_what_passes_the_gate_is_calibrated(made: Calibration, auto: Condition):
    set_gate(auto.campaign, below(made))
    assert name_of(auto) == "Edits/Auto"


def below(made: Calibration) -> float:
    """Return the highest gate that the start of the interval reaches."""
    return int(made.kappa["low"] * 100) / 100


@pytest.mark.parametrize(("kappa", "labels", "topics"), [(0.01, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_what_does_not_reach_the_gate_is_not(
    made: Calibration, auto: Condition, kappa: float, labels: int, topics: int
):
    least = below(made)
    assert least + 0.01 < made.kappa["value"]  # the start of the interval counts, and not the point
    set_gate(auto.campaign, least, 72, 12)
    assert name_of(auto) == "Edits/Auto"
    set_gate(auto.campaign, least + kappa, 72 + labels, 12 + topics)
    assert name_of(auto) == "Edits/Auto (uncalibrated)"


def test_below_ten_topics_no_kappa_passes(people: Condition, auto: Condition):
    label_rows(people).filter(sheet__answer__topic__qid__gt="c08").update(value=None, state="open")
    found = create_calibration(campaign=people.campaign, human=people, judged=auto, acting_user=None)
    assert (found.topics, found.kappa["low"]) == (9, None)
    set_gate(auto.campaign, 0)
    assert name_of(auto) == "Edits/Auto (uncalibrated)"


CHIP = '<span class="chip warn">uncalibrated</span>'


def pages_of(condition: Condition) -> dict[str, str]:
    """Return the addresses of all pages with scores of a condition alone."""
    scores = "/campaigns/study/scores/"
    [run] = condition.campaign.runs.filter(tag="one")
    topic = condition.campaign.topics.get(qid="c01")
    of_condition = {
        "run": f"runs/{run.pk}/",
        "topic": f"topics/{topic.pk}/",
        "figures": "figures/",
        "reusability": "reusability/",
        "nuggets": "nuggets/",
        "significance": "significance/",
        "next edition": "next-edition/",
    }
    addresses = {name: f"{scores}{condition.pk}/{end}" for name, end in of_condition.items()}
    return {"scores": f"{scores}?condition={condition.pk}"} | addresses


def test_pages_say_uncalibrated(made: Calibration, auto: Condition, people: Condition, client: Client, olga: Person):
    compared = create_comparison(campaign=auto.campaign, first=people, second=auto, acting_user=olga).comparison
    hybrid = create_hybrid(campaign=auto.campaign, human=people, model=auto, acting_user=olga)
    pages = pages_of(auto) | {
        "comparisons": "/campaigns/study/comparisons/",
        "comparison": f"/campaigns/study/comparisons/{compared.pk}/",
        "all hybrid scores": "/campaigns/study/hybrids/",
        "hybrid scores": f"/campaigns/study/hybrids/{hybrid.pk}/",
        "calibrations": "/campaigns/study/calibrations/",
    }
    note = "Tables call these uncalibrated"
    for name, address in pages.items():
        text = client.get(address).content.decode()
        assert CHIP not in text, name
        assert note not in text, name
    set_gate(auto.campaign, 1)
    for name, address in pages.items():
        assert (note if name == "calibrations" else CHIP) in client.get(address).content.decode(), name
    for name, address in pages_of(people).items():
        assert "uncalibrated" not in client.get(address).content.decode(), name


def test_tables_of_a_judge_that_changed_say_uncalibrated(made: Calibration, auto: Condition, client: Client):
    assert auto.nuggets is not None
    set_gate(auto.campaign, below(made))
    said = dict.fromkeys(TOPICS, MODELS)
    others = [
        label(by_model(auto.nuggets, name, **fields), said)
        for name, fields in (("Prompt", {"prompt": "cd" * 32}), ("Model", {"model": "gpt-5"}))
    ]
    again = label(by_model(auto.nuggets, "Again", replicate=1), said)
    for condition, is_changed in ((auto, False), (again, False), *((one, True) for one in others)):
        for name, address in pages_of(condition).items():
            assert (CHIP in client.get(address).content.decode()) == is_changed, f"{condition}, {name}"
        assert ("uncalibrated" in "".join(score_lines(condition, "csv", Policy.ZERO))) == is_changed
    listed = client.get("/campaigns/study/calibrations/").content.decode()
    assert "uncalibrated: <bdi>Model</bdi>, <bdi>Prompt</bdi>." in listed


def test_results_that_pages_keep_are_named_anew(auto: Condition, people: Condition, client: Client):
    hybrid = create_hybrid(campaign=auto.campaign, human=people, model=auto, acting_user=None)
    files = [
        f"/campaigns/study/hybrids/{hybrid.pk}/files/tot",
        f"/campaigns/study/scores/{auto.pk}/significance/tables/runs.csv",
    ]

    def texts() -> list[bool]:
        responses = [client.get(file) for file in files]
        sent = [b"".join(one.streaming_content).decode() for one in responses]  # type: ignore[attr-defined]
        return [re.search(r"Edits/Auto[ _]\(uncalibrated\)", text) is not None for text in sent]

    assert texts() == [False, False]
    set_gate(auto.campaign, 0.2)
    assert texts() == [True, True]


def test_an_organizer_calibrates_and_sets_a_gate(auto: Condition, people: Condition, client: Client, olga: Person):
    page = "/campaigns/study/calibrations/"
    assert "Nothing to calibrate" not in client.get(page).content.decode()
    assert client.post(page, filled_in(people, auto))["Location"] == page
    text = client.get(page).content.decode()
    assert "waiting for the worker" in text
    assert 'hx-trigger="every 1s"' in text
    assert not Calibration.objects.exists()
    calibrate(CalibrationRequest.objects.get().pk)
    made = Calibration.objects.get()
    assert made.created_by == olga
    assert base(made) in client.get(page).content.decode()
    text = client.get(base(made)).content.decode()
    assert headlines(made)[0] in text
    assert f'data-figure="{base(made)}figures/reliability.json"' in text
    assert "People labelled all that the model labelled here." in text
    sent = {"least_kappa": "0.9", "least_labels": "100", "least_topics": "10"}
    assert client.post(f"{page}gate/", sent)["Location"] == page
    assert "not reached" in client.get(page).content.decode()
    assert [event.verb for event in Event.objects.filter(verb__startswith="calibration").order_by("pk")] == [
        "calibration made",
        "calibration gate set",
    ]
    text = client.post(f"{page}gate/", sent | {"least_topics": "5"}).content.decode()
    assert "greater than or equal to 10" in text
    assert CalibrationGate.objects.count() == 1


def test_how_far_a_calibration_is_is_asked_each_second(auto: Condition, people: Condition, client: Client):
    page, asked = "/campaigns/study/calibrations/", {"HX-Request": "true"}
    client.post(page, filled_in(people, auto))
    CalibrationRequest.objects.update(state="running", stage="labels", percent=10)
    response = client.get(page, headers=asked)
    text = response.content.decode()
    assert "labels" in text
    assert 'value="10"' in text
    assert "New calibration" not in text
    assert "HX-Refresh" not in response
    CalibrationRequest.objects.update(state="waiting")
    calibrate(CalibrationRequest.objects.get().pk)
    response = client.get(page, headers=asked)
    assert response["HX-Refresh"] == "true"
    assert "Edits/Auto" not in response.content.decode()


def test_asked_twice_a_calibration_is_made_once(auto: Condition, people: Condition, client: Client):
    for _ in range(2):
        client.post("/campaigns/study/calibrations/", filled_in(people, auto))
    asked = CalibrationRequest.objects.get()
    for _ in range(2):
        calibrate(asked.pk)
    assert Calibration.objects.count() == 1
    client.post("/campaigns/study/calibrations/", filled_in(people, auto))
    calibrate(CalibrationRequest.objects.latest("pk").pk)
    assert list(Calibration.objects.order_by("pk").values_list("name", flat=True)) == [
        "Edits/Auto against Edits/People",
        "Edits/Auto against Edits/People (2)",
    ]


def test_a_killed_calibration_is_taken_up_again_and_made_once(
    auto: Condition, people: Condition, monkeypatch: pytest.MonkeyPatch
):
    asked = request_calibration(campaign=auto.campaign, human=people, judged=auto, acting_user=None)
    rows = CalibrationRequest.objects.filter(pk=asked.pk)
    dead = me().rsplit(" ", 2)[0] + " 999999 1.0"
    rows.update(state="running", owner=dead, attempts=1)
    calibrate(asked.pk)  # another process may have it
    assert not Calibration.objects.exists()
    sent: list[int] = []
    monkeypatch.setattr(calibrate, "delay", sent.append)
    take_up()
    assert sent == [asked.pk]

    def taken_over(*args: object) -> dict:
        rows.update(owner=dead)
        return calibrate_labels(people, auto)

    monkeypatch.setattr("metaeval.actions.calibrate_labels", taken_over)
    calibrate(asked.pk)
    assert not Calibration.objects.exists()
    assert not Event.objects.filter(verb="calibration made").exists()
    monkeypatch.undo()
    take_up()
    calibrate(asked.pk)
    assert rows.get().calibration == Calibration.objects.get()
    rows.update(state="running", calibration=None, owner=dead, attempts=3)
    take_up()
    assert (rows.get().state, rows.get().why) == ("failed", "its process died 3 times")


def test_what_this_process_computes_is_not_taken_up(
    auto: Condition, people: Condition, monkeypatch: pytest.MonkeyPatch
):
    asked = request_calibration(campaign=auto.campaign, human=people, judged=auto, acting_user=None)

    def meanwhile(*args: object) -> dict:
        take_up()
        return calibrate_labels(people, auto)

    monkeypatch.setattr("metaeval.actions.calibrate_labels", meanwhile)
    calibrate(asked.pk)
    asked.refresh_from_db()
    assert (asked.state, asked.attempts) == ("done", 1)


def test_what_does_not_go_together_is_refused_on_the_page(auto: Condition, people: Condition, client: Client):
    page, edits = "/campaigns/study/calibrations/", auto.nuggets
    assert edits is not None
    empty = imported(edits, "empty")
    client.post(page, filled_in(empty, auto))
    calibrate(CalibrationRequest.objects.get().pk)
    text = client.get(page).content.decode()
    assert "was not calibrated: empty and Edits/Auto have labelled nothing in common that counts." in text
    assert 'hx-trigger="every 1s"' not in text
    text = client.post(page, filled_in(auto, auto)).content.decode()
    assert "Select a valid choice" in text


def test_files_have_what_the_record_has_and_are_recorded(made: Calibration, client: Client, olga: Person):
    text = b"".join(client.get(f"{base(made)}files/csv").streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    found = {(row["stratum"], row["given"], row["label"], row["outcome"]): row["value"] for row in rows}
    share = made.result["steps"][0]["strata"][0]["rows"][2]["human"][2]["value"]
    assert float(found["all labels", "model", "support", "human support"]) == share
    assert float(found["all labels", "", "", "kappa, quadratic"]) == made.kappa["value"]
    assert Exposure.objects.filter(person=olga, kind="assignment").exists()
    response = client.get(f"{base(made)}files/json")
    told = json.loads(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    assert (told["model"], told["steps"][0]["matrix"]) == ("gpt-4o", made.result["steps"][0]["matrix"])
    assert client.get(f"{base(made)}files/no").status_code == 404


def test_the_figure_shows_the_curve(made: Calibration, client: Client):
    response = client.get(f"{base(made)}figures/reliability.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))  # type: ignore[attr-defined]
    shares = [float(row["share"]) for row in rows if row["layer"] == "2"]
    assert shares == [step["yes"]["value"] for step in made.result["steps"][0]["curve"]]
    for form in ("svg", "pdf", "png"):
        assert client.get(f"{base(made)}figures/reliability.{form}").status_code == 200, form
    assert client.get(f"{base(made)}figures/no.svg").status_code == 404


def test_the_command_says_and_writes_the_same(people: Condition, auto: Condition, capsys, tmp_path):
    call_command("calibrate", "study", "Edits/People", "Edits/Auto")
    made = Calibration.objects.get()
    printed = capsys.readouterr().out
    assert printed.startswith(headlines(made)[0])
    assert "kappa, quadratic" in printed
    call_command("calibrate", "study", "Edits/People", "Edits/Auto", "--out", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["calibration.csv", "calibration.json"]
    with pytest.raises(CommandError, match="has no people's labels"):
        call_command("calibrate", "study", "Edits/Auto", "Edits/Auto")
