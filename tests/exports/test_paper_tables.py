"""Tables for a paper: nuggets, labels, grades and edits, each side by side, and all of them with figures in one zip."""

import csv
import io
import json
import zipfile

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event, Grade, Topic
from assessor.exports import actions
from assessor.exports.models import Export
from assessor.work.models import Exposure, Task
from metaeval.actions import create_comparison, run
from tests.assignment.conftest import A, answered, finished, label_twice, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.support.judging_helpers import from_scratch

BASE = "/campaigns/study/exports/"


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def labelled(task: Task, import_file) -> Campaign:  # noqa: F811
    return label_twice(task, import_file)


def text(client: Client, address: str) -> str:
    response = client.get(f"{BASE}{address}")
    assert response.status_code == 200, response.status_code
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def rows(client: Client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(client, address))))


def test_labels_of_an_answer_stand_side_by_side_and_those_that_differ_are_marked(labelled: Campaign, as_olga: Client):
    found = rows(as_olga, "labels_by_answer/file/?form=csv&runs=team.one")
    assert [list(row) for row in found[:1]] == [
        ["topic", "run_id", "nuggets", "nugget", "importance", "Manual/Manual", "Auto", "differ"]
    ]
    told = [(row["Manual/Manual"], row["Auto"], row["differ"]) for row in found]
    assert told == [("support", "support", "0"), ("support", "not_support", "1"), ("support", "support", "0")]
    other = rows(as_olga, "labels_by_answer/file/?form=csv&topics=t1&runs=team.two")
    assert [(row["Manual/Manual"], row["Auto"], row["differ"]) for row in other] == [
        ("no label", "not_support", "0")
    ] * 3
    table = text(as_olga, "labels_by_answer/file/?form=tex&topics=t1&runs=team.one")
    assert table.count("\\begin{table}") == 1
    assert "Nugget & Importance & Manual/Manual & Auto \\\\" in table
    assert table.count("$^{\\ast}$ &") == 1
    assert "support & not\\_support \\\\" in table
    # Whoever takes it has seen the model's labels.
    assert Exposure.objects.filter(topic__qid="t1", kind="assignment", where="export of Auto").exists()


def test_practice_is_in_no_table(labelled: Campaign, as_olga: Client):
    Topic.objects.filter(qid="t1").update(is_practice=True)
    assert rows(as_olga, "labels_by_answer/file/?form=csv") == []
    assert rows(as_olga, "nuggets_by_topic/file/?form=csv") == []
    assert text(as_olga, "nuggets_by_topic/file/?form=tex") == ""
    assert {row["topic"] for row in rows(as_olga, "grades/file/?form=csv")} == {"t2"}
    assert as_olga.get(f"{BASE}labels_by_answer/file/?form=csv&topics=t1").status_code == 404


def test_nuggets_of_conditions_stand_side_by_side(labelled: Campaign, as_olga: Client, import_file):
    made = [{"text": "cats & dogs", "importance": "okay"}, {"text": "a lone fact", "importance": "vital"}]
    of_model = json.dumps({"query": "why do cats purr", "qid": "t1", "nuggets": made})
    assert import_file(labelled, "nuggets", f"{of_model}\n", condition="Auto nuggets", by="model").state == "done"
    found = rows(as_olga, "nuggets_by_topic/file/?form=csv&topics=t1")
    assert [(row["condition"], row["place"]) for row in found] == [
        *(("Auto nuggets", str(place)) for place in (1, 2)),
        *(("ManualNuggets", str(place)) for place in (1, 2, 3)),
    ]
    assert [row["importance"] for row in found[:2]] == ["okay", "vital"]
    table = text(as_olga, "nuggets_by_topic/file/?form=tex&topics=t1")
    assert "Auto nuggets & ManualNuggets \\\\" in table
    assert "{}cats \\& dogs & " in table
    assert "{}\\textbf{a lone fact} & " in table
    assert "{} & " in table, "the shorter list ends in an empty cell"


def test_grades_of_sources_stand_side_by_side(labelled: Campaign, as_olga: Client, import_file):
    import_file(labelled, "qrels", "t1 0 d1 2\nt1 0 d2 1\nt1 0 d9 0\n", source="Mia's", by="model")
    found = rows(as_olga, "grades/file/?form=csv&topics=t1")
    told = {row["docid"]: (row["NIST"], row["Mia's"], row["differ"]) for row in found}
    assert (told["d1"], told["d2"], told["d9"]) == (("3", "2", "1"), ("1", "1", "0"), ("", "0", "0"))
    table = text(as_olga, "grades/file/?form=tex&topics=t1")
    assert "Passage & NIST & Mia's \\\\" in table
    assert "{}d1$^{\\ast}$ & 3 & 2 \\\\" in table
    assert "{}d9 & -- & 0 \\\\" in table


def test_all_for_a_paper_is_one_zip(labelled: Campaign, as_olga: Client, olga: Person):
    people, model = labelled.conditions.get(name="Manual/Manual"), labelled.conditions.get(name="Auto")
    done = run(create_comparison(campaign=labelled, first=people, second=model, acting_user=olga))
    assert done.state == "done"
    Grade.objects.all().delete()
    from_scratch(labelled, name="Nothing yet")
    assert as_olga.post("/campaigns/study/paper/").status_code == 302
    assert as_olga.post("/campaigns/study/paper/").status_code == 302  # one that waits is that one
    made = actions.run(Export.objects.get(kind="paper"))
    assert (made.state, made.why) == ("done", "")
    response = as_olga.get(f"/campaigns/study/exports/made/{made.pk}/file")
    found = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))  # type: ignore[attr-defined]
    names = set(found.namelist())
    of_figures = ("Manual_Manual_and_Auto.labels", "Manual_Manual.length", "Auto.length")
    assert {f"figures/{name}.{form}" for name in of_figures for form in ("svg", "pdf", "png")} <= names
    assert {"tables/agreement.tex", "tables/labels_by_answer.csv", "manifest.json"} <= names
    assert "tables/grades.tex" not in names  # as there are none
    assert not [name for name in names if "Nothing" in name], "a condition without labels"
    told = json.loads(found.read("manifest.json"))
    assert {one["name"] for one in told["files"]} == names - {"manifest.json"}
    assert made.records == len(told["files"])
    assert found.read("figures/Manual_Manual_and_Auto.labels.pdf").startswith(b"%PDF")
    assert Exposure.objects.filter(person=olga, where="export of Auto").exists()
    assert Event.objects.filter(verb="exported", person=olga).exists()
