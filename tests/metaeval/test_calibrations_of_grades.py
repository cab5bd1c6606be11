"""Calibration of a judge of relevance by people's grades, imported such as NIST's or given here."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_condition, grades_made_under
from assessor.campaigns.models import Campaign, Condition, Grade, Judge, QrelsSource
from assessor.relevance.actions import create_relevance
from assessor.relevance.models import RelevanceJudgment
from assessor.work.models import Exposure
from metaeval.actions import create_calibration, create_comparison, import_table, request_calibration, run
from metaeval.calibrations import NotCalibrated, human_sides, judged_conditions, refusal
from metaeval.models import Calibration, CalibrationRequest
from metaeval.stats.agreement import Weights, kappa
from metaeval.tasks import calibrate
from tests.conftest import Importer, client_of
from tests.metaeval.test_calibrations import CHIP, filled_in, set_gate

TOPICS = [f"c{number:02}" for number in range(12)]
PASSAGES = [f"p{number}" for number in range(5)]
LOADED = PASSAGES[:3]  # whose texts are there: short, longer, longest


def model_grade(at: int) -> int:
    return at % 4


def human_grade(at: int) -> int:
    return max(0, at % 4 - (at % 3 == 0))


def qrels(grade: Callable[[int], int], passages: list[str] = PASSAGES) -> str:
    """Return a file of grades, by the place of a topic and passage among all."""
    places = [(at, qid, docid) for at, (qid, docid) in enumerate((qid, docid) for qid in TOPICS for docid in PASSAGES)]
    return "".join(f"{qid} 0 {docid} {grade(at)}\n" for at, qid, docid in places if docid in passages)


@pytest.fixture
def study(campaign: Campaign, import_file: Importer) -> Campaign:
    texts = [{"docid": docid, "segment": "word " * (at + 1)} for at, docid in enumerate(LOADED)]
    for kind, content in (("topics", "".join(f"{qid}\twhat\n" for qid in TOPICS)), ("segments", texts)):
        assert import_file(campaign, kind, content).state == "done"
    return campaign


@pytest.fixture
def nist(study: Campaign, import_file: Importer) -> QrelsSource:
    """People's grades from a file, of all passages but one on each topic."""
    done = import_file(study, "qrels", qrels(human_grade, PASSAGES[:4]), source="NIST", by="people")
    assert done.state == "done", done.report
    return study.qrels_sources.get(name="NIST")


@pytest.fixture
def umbrela(study: Campaign) -> Condition:
    """A model's grades of all passages, made here."""
    return graded(by_model(study), model_grade)


def by_model(study: Campaign, name: str = "UMBRELA", prompt: str = "ab" * 32) -> Condition:
    judge, _ = Judge.objects.get_or_create(kind="model", name="Mia", parameters={"model": "mia"})
    prompts = {"relevance": prompt}
    condition = Condition(campaign=study, name=name, kind="relevance", method="UMBRELA", judge=judge, prompts=prompts)
    return create_condition(condition, acting_user=None)


def by_people(study: Campaign, name: str, shown: QrelsSource | None = None) -> Condition:
    return create_relevance(campaign=study, name=name, shown=shown, from_queue=False, acting_user=None)


def graded(condition: Condition, grade: Callable[[int], int]) -> Condition:
    """Write grades that are made under a condition, as jobs and people leave them."""
    topics = {topic.qid: topic for topic in condition.campaign.topics.all()}
    source = grades_made_under(condition)
    for at, (qid, docid) in enumerate((qid, docid) for qid in TOPICS for docid in PASSAGES):
        of = {"topic": topics[qid], "docid": docid}
        RelevanceJudgment.objects.create(condition=condition, value=str(grade(at)), state="given", version=1, **of)
        Grade.objects.create(source=source, grade=grade(at), iteration="0", **of)
    return condition


@pytest.fixture
def made(nist: QrelsSource, umbrela: Condition) -> Calibration:
    return create_calibration(campaign=nist.campaign, human=nist, judged=umbrela, acting_user=None)


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def both() -> list[tuple[int, int]]:
    """Return the grades of people and model of each passage that NIST graded."""
    places = [at for at in range(len(TOPICS) * len(PASSAGES)) if at % len(PASSAGES) < 4]
    return [(human_grade(at), model_grade(at)) for at in places]


def test_grades_from_a_file_calibrate_a_model(made: Calibration, nist: QrelsSource, umbrela: Condition):
    matrix = np.zeros((4, 4), dtype=int)
    for human, model in both():
        matrix[human, model] += 1
    [step] = made.result["steps"]
    assert step["matrix"] == matrix.tolist()
    assert (made.result["labels"], made.result["left_out"]) == (["0", "1", "2", "3"], {"not given unaided": 0})
    assert (made.labels, made.topics, made.kappa["value"]) == (48, 12, kappa(matrix, Weights.QUADRATIC).value)
    top = step["strata"][0]["rows"][3]["human"][3]["value"]
    assert top == matrix[3, 3] / matrix[:, 3].sum()
    assert step["transfer"]["rest"] == 12
    assert (made.people, made.human, made.kind, made.name) == (nist, None, "relevance", "UMBRELA against NIST")
    assert made.identity == {"judge": "Mia", "model": "mia", "prompts": {"relevance": "ab" * 32}}


def test_strata_are_of_passages_whose_texts_are_loaded(made: Calibration):
    strata = {one["name"]: (one["what"], one["n"]) for one in made.result["steps"][0]["strata"]}
    thirds = {f"{which} third": ("length of the passage", 12) for which in ("shortest", "middle", "longest")}
    assert strata == {"all labels": ("", 48), **thirds}


def test_unaided_grades_of_people_here_calibrate_too(study: Campaign, umbrela: Condition, nist: QrelsSource):
    here = graded(by_people(study, "Here"), human_grade)
    aided = RelevanceJudgment.objects.filter(condition=here, topic__qid="c00")
    aided.update(shown_value="1")
    found = create_calibration(campaign=study, human=here.grades_made, judged=umbrela, acting_user=None)
    assert found.labels == 55
    assert found.result["left_out"] == {"not given unaided": 5}
    edited = graded(by_people(study, "Edited", umbrela.grades_made), int)
    assert refusal(edited.grades_made, umbrela) == "Edited was labelled with the labels of UMBRELA in view."
    assert [str(one) for one in human_sides(study)] == ["Here", "NIST"]
    assert judged_conditions(study) == [umbrela]


def test_what_does_not_go_together_is_refused(
    study: Campaign, nist: QrelsSource, umbrela: Condition, import_file: Importer
):
    assert import_file(study, "qrels", qrels(model_grade), source="Theirs", by="model").state == "done"
    theirs = study.qrels_sources.get(name="Theirs")
    assert refusal(theirs, umbrela) == "Theirs has no people's labels."
    support = Condition(campaign=study, name="S", kind="support", method="support automatic", judge=umbrela.judge)
    assert refusal(nist, create_condition(support, acting_user=None)) == "NIST and S do not label the same things."
    with pytest.raises(NotCalibrated, match="NIST and New have labelled nothing in common"):
        create_calibration(campaign=study, human=nist, judged=by_model(study, "New", "cd" * 32), acting_user=None)
    fine = "c00 0 p0 4\nc00 0 p1 0\n"
    assert import_file(study, "qrels", fine, source="Fine", by="people", max_grade="4").state == "done"
    sides: dict[str, Any] = {"human": study.qrels_sources.get(name="Fine"), "judged": umbrela}
    with pytest.raises(NotCalibrated, match=r"^Fine \(0 to 4\) and UMBRELA \(0 to 3\) are on two scales"):
        create_calibration(campaign=study, **sides, acting_user=None)


def test_a_calibration_has_one_side_of_people(made: Calibration, nist: QrelsSource, umbrela: Condition):
    of = {"campaign": nist.campaign, "judged": umbrela}
    for sides in ({}, {"human": umbrela, "human_source": nist}):
        with pytest.raises(IntegrityError), transaction.atomic():
            CalibrationRequest.objects.create(**of, **sides)


def test_an_organizer_calibrates_by_grades(nist: QrelsSource, umbrela: Condition, client: Client, olga: Person):
    page = "/campaigns/study/calibrations/"
    assert "NIST (grades)" in client.get(page).content.decode()
    for _ in range(2):
        assert client.post(page, filled_in(nist, umbrela))["Location"] == page
    asked = CalibrationRequest.objects.get()
    assert "by the labels of <bdi>NIST</bdi>: <strong>waiting" in client.get(page).content.decode()
    calibrate(asked.pk)
    made = Calibration.objects.get()
    assert made.human_source == nist
    listed = client.get(page).content.decode()
    assert '<td class="any"><bdi>NIST</bdi></td>' in listed
    assert "UMBRELA</bdi> by the labels" not in listed
    text = client.get(f"{page}{made.pk}/").content.decode()
    assert "By the labels of <bdi>NIST</bdi>" in text
    told = json.loads(b"".join(client.get(f"{page}{made.pk}/files/json").streaming_content))  # type: ignore[attr-defined]
    assert told["human"] == "NIST"
    assert Exposure.objects.filter(person=olga, kind="relevance").count() == len(TOPICS)


def test_comparisons_of_grades_say_uncalibrated(
    made: Calibration, nist: QrelsSource, umbrela: Condition, client: Client
):
    calculation = create_comparison(
        campaign=nist.campaign, first=nist, second=umbrela.grades_made, draws=20, acting_user=None
    )
    compared = calculation.comparison
    pages = ["/campaigns/study/comparisons/", f"/campaigns/study/comparisons/{compared.pk}/"]
    low = made.kappa["low"]
    for least, is_told in ((int(low * 100) / 100, False), (int(low * 100) / 100 + 0.01, True)):
        set_gate(nist.campaign, least)
        for page in pages:
            assert (CHIP in client.get(page).content.decode()) == is_told, f"{page}, {least}"
    assert [side["name"] for side in run(calculation).result["sides"]] == ["NIST", "UMBRELA (uncalibrated)"]
    set_gate(nist.campaign, 0)
    by_model(nist.campaign, "Changed", "cd" * 32)
    text = client.get("/campaigns/study/calibrations/").content.decode()
    assert "Tables call these uncalibrated: <bdi>Changed</bdi>." in text


def test_the_command_takes_grades(nist: QrelsSource, umbrela: Condition, tmp_path: Any, capsys: Any):
    call_command("calibrate", "study", "NIST", "UMBRELA")
    assert capsys.readouterr().out.startswith("Where Mia says 3, people say 3 in ")
    path = tmp_path / "table.csv"
    path.write_text("run_id,v\nr,1\n")
    import_table(campaign=nist.campaign, name="T", path=path, file_name="table.csv", acting_user=None)
    with pytest.raises(CommandError, match="T is a score table"):
        call_command("calibrate", "study", "T", "UMBRELA")
    with pytest.raises(CommandError, match="There is no condition, source of grades or score table No"):
        call_command("calibrate", "study", "No", "UMBRELA")


def test_asked_twice_there_is_one_request(nist: QrelsSource, umbrela: Condition):
    of = {"campaign": nist.campaign, "human": nist, "judged": umbrela, "acting_user": None}
    assert request_calibration(**of) == request_calibration(**of)
