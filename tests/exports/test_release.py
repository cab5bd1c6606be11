"""Releases: no name of anybody in any byte, the same pseudonyms each time, no topic for practice."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.exports import actions
from assessor.exports.models import Export, Pseudonym
from assessor.exports.pseudonyms import Names, pseudonyms
from assessor.exports.registry import EXPORTABLES
from assessor.exports.releases import release_parts
from assessor.labels.manual_setups import label_again
from metaeval.actions import create_hybrid
from tests.conftest import client_of, make_person
from tests.judging import all_judged, change, give, judgeable
from tests.stored_files import export_path
from tests.support.judging_helpers import from_scratch, load_runs
from tests.support.scores_helpers import support_condition


@pytest.fixture(autouse=True)
def _folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "exports").mkdir()


def second_opinion(first: Condition, name: str) -> Condition:
    return label_again(of=first, name=name, purpose="second", acting_user=None)


@pytest.fixture
def judged(campaign: Campaign, import_file) -> Campaign:
    """Three people, with full names and addresses, have judged, flagged and given reasons; a file names one more."""
    load_runs(campaign, import_file)
    first = None
    for name in ("zora", "mila", "adam"):
        person = make_person(name, "assessor")
        full = {"first_name": f"{name.title()}vera", "last_name": f"Ob{name}", "email": f"{name}@example.org"}
        Person.objects.filter(pk=person.pk).update(**full)
        condition = second_opinion(first, f"judged by {name}") if first else from_scratch(campaign, "judged by zora")
        first = first or condition
        for qid in ("t1", "t2"):
            give(condition, campaign.topics.get(qid=qid), Person.objects.get(pk=person.pk))
        for sheet in all_judged(condition):
            change(sheet, {key: {"label": "full", "flag": f"{name} flagged it"} for key in judgeable(sheet)})
            for one in judgeable(sheet)[:1]:
                change(sheet, {one: {"label": None, "cannot": f"ask {name}vera"}}, "cannot")
    creator = [{"is_human": True, "assessor_id": "adam"}]
    nuggets = [{"text": "purring heals", "importance": "vital", "creator": creator}]
    import_file(campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": nuggets}], condition="N", by="people")
    campaign.topics.filter(qid="t2").update(is_practice=True)
    return campaign


def released(campaign: Campaign, condition: Any = None) -> dict[str, str]:
    export = actions.ask_for_release(campaign=campaign, condition=condition, acting_user=None)
    done = actions.run(export)
    assert done.state == "done", done.why
    with zipfile.ZipFile(export_path(done)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_nobodys_name_is_in_any_byte(judged, olga):
    files = released(judged)
    text = "\n".join([*files, *files.values()]).lower()
    for person in Person.objects.all():
        for name in (person.username, person.first_name, person.last_name, person.email):
            assert not name or name.lower() not in text
    assert "flagged it" not in text
    manifest = json.loads(files["manifest.json"])
    assert {file["name"] for file in manifest["files"]} == set(files) - {"manifest.json"}
    assert all(file["lines_to_check"] == 0 for file in manifest["files"])
    assert any("notes" in told for told in manifest["left_out"])
    assert "assessor-" in files["manifest.json"], "a condition that is named after somebody has their pseudonym"


def test_the_manifest_names_all_that_could_be_exported_and_is_not_there(judged, olga):
    human = judged.conditions.get(name="judged by zora")
    create_hybrid(campaign=judged, human=human, model=support_condition(judged, "Model"), acting_user=None)
    there = {kind.name for kind, _ in release_parts(judged, None)}
    left_out = json.loads(released(judged)["manifest.json"])["left_out"]
    for kind in EXPORTABLES:
        is_missing = bool(kind.records(judged)) and kind.name not in there
        assert (kind.title in left_out) == is_missing, kind.name
    names = {kind.name for kind in EXPORTABLES if kind.title in left_out}
    assert names > {"hybrid", "significance", "segments", "history"}
    # What the campaign has nothing of is not there to be left out.
    assert not names & {"comparison", "study", "calibration", "retrieval_run"}


def test_names_within_words_are_replaced_in_what_the_project_named(judged):
    judged.conditions.filter(name="judged by zora").update(name="judged_by_zora")
    judged.conditions.filter(name="judged by mila").update(name="supportbymila2")
    files = released(judged)
    text = "\n".join([*files, *files.values()]).lower()
    assert not [name for name in ("zora", "mila", "adam") if name in text]
    numbers = [number for number in (1, 2, 3) if f"judged_by_assessor-{number}" in files["manifest.json"]]
    assert f"scores.judged_by_assessor-{numbers[0]}.csv" in files
    assert all(file["lines_to_check"] == 0 for file in json.loads(files["manifest.json"])["files"])


def named(**names: str) -> Names:
    """Make people of these first names, by sign-in, who are assessor-1, assessor-2, ... in that order."""
    people = [Person.objects.create(username=username, first_name=first) for username, first in names.items()]
    return Names({person.pk: f"assessor-{number}" for number, person in enumerate(people, start=1)})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("title", "masked"),
    [
        ("judged_by_mm", "judged_by_assessor-1"),
        ("mm2", "assessor-12"),
        ("judgedByMm", "judgedByassessor-1"),
        ("comma", "comma"),
        ("ManualAssign of manu", "ManualAssign of assessor-1"),
        ("Manual/Manual", "Manual/Manual"),
        ("kind=support; judge=manumatic", "kind=support; judge=assessor-1matic"),
        ("STRAUSS and Strauß", "assessor-2 and assessor-2"),
        ("who Kim is", "who somebody is"),
    ],
)
def test_names_in_titles(title, masked):
    assert named(mm="Manu", kim1="Strauß", kim2="Kim", kim3="Kim").masked(title) == masked


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Ask Ann.", True),
        ("ask_ann", True),
        ("ANN2 was here", True),
        ("byAnn", True),
        ("planning", False),
        ("mustermannslines", True),
        ("WEISS", True),
        ("nobody", False),
    ],
)
def test_names_in_texts(text, is_named):
    assert named(ann="Mustermann", weiß="").are_in(text) == is_named


def test_people_have_the_same_pseudonyms_in_each_release(judged):
    def judges() -> dict[str, set[str]]:
        tables = {name: text for name, text in released(judged).items() if name.endswith(".csv")}
        return {
            name: {row["judge"] for row in csv.DictReader(io.StringIO(text))}
            for name, text in tables.items()
            if "judge" in text.partition("\n")[0].split(",")
        }

    first = judges()
    assert sorted(next(iter(names)) for names in first.values()) == ["assessor-1", "assessor-2", "assessor-3"]
    late = make_person("bert", "assessor")
    give(second_opinion(judged.conditions.get(name="judged by zora"), "late"), judged.topics.get(qid="t1"), late)
    assert {name: names for name, names in judges().items() if names} == first
    assert Pseudonym.objects.get(person=late).number == 4


def test_pseudonyms_are_in_no_order_that_tells(campaign, monkeypatch):
    topic = campaign.topics.get(qid="t1")
    condition = from_scratch(campaign)
    people = [make_person(f"person{number:02}", "assessor") for number in range(12)]
    for person in people:
        condition.tasks.create(campaign=campaign, topic=topic, kind="support", person=person)
    called = pseudonyms(campaign)
    numbers = [int(called[person.pk].removeprefix("assessor-")) for person in people]
    assert sorted(numbers) == list(range(1, 13))
    assert numbers not in (sorted(numbers), sorted(numbers, reverse=True))
    assert len({one.seed for one in Pseudonym.objects.all()}) == 1


def test_topics_for_practice_are_left_out(judged):
    files = released(judged)
    assert "t2" not in "".join(text for name, text in files.items() if name.endswith((".csv", ".txt")))
    assert [json.loads(line)["id"] for line in files["topics.jsonl"].splitlines()] == ["t1"]
    assert '"qid": "t2"' not in "".join(files.values())


def test_a_campaign_all_of_whose_topics_are_for_practice_releases_none(judged):
    judged.topics.update(is_practice=True)
    files = released(judged)
    assert [name for name, text in files.items() if name.endswith((".jsonl", ".txt")) and text] == []
    assert "t1" not in "".join(text for name, text in files.items() if name.endswith(".csv"))


def test_what_is_no_number_in_a_file_is_released_as_it_came(campaign, import_file):
    citation = {"citationID": 0, "reference": "d1", "support": "2"}
    sentence = {"sentenceID": 0, "text": float("nan"), "citations": [citation]}
    line = {"topic_id": "t1", "run_id": "r1", "sentences": [sentence]}
    assert import_file(campaign, "support", [line], condition="NIST", by="people").state == "done"
    assert '"text": NaN' in released(campaign)["support.NIST.jsonl"]


def test_a_conditions_release_has_what_belongs_to_it(judged, olga, django_capture_on_commit_callbacks):
    client = client_of(olga)
    with django_capture_on_commit_callbacks():
        response = client.post("/campaigns/study/release/", {"of": "judged by mila"})
    export = actions.run(Export.objects.get())
    assert response["Location"] == f"/campaigns/study/exports/made/{export.pk}/"
    response = client.get(f"/campaigns/study/exports/made/{export.pk}/file")
    data = b"".join(response.streaming_content)
    assert response["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        kinds = sorted(name.split(".")[0] for name in archive.namelist())
    assert kinds == ["manifest", "scores", "scores", "support", "support"]
    assert client.post("/campaigns/study/release/", {"of": "none"}).status_code == 404
