"""The scale 0 to 4: people grade on their condition's scale, beside a model's grades on the same one alone."""

import re
from pathlib import Path

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.archive.actions import restore
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Campaign, Condition, Grade, QrelsSource
from assessor.relevance.actions import create_relevance
from assessor.relevance.models import RelevanceJudgment
from assessor.training.queries import possible_references
from assessor.work.actions import give_tasks
from assessor.work.models import Task
from tests.archive.campaigns import forget_everything, written
from tests.conftest import client_of
from tests.imports.conftest import told
from tests.relevance.conftest import give_relevance, send

FIVE = "t1 0 d1 4\nt1 0 d2 0\nt1 0 d3 -1\n"


@pytest.fixture
def model_grades(pooled: Campaign, import_file) -> QrelsSource:
    """A model's grades, on the scale 0 to 4."""
    assert import_file(pooled, "qrels", FIVE, source="Mia's", by="model").state == "done"
    return pooled.qrels_sources.get(name="Mia's")


def five_grades(campaign: Campaign, person: Person, shown: QrelsSource | None = None) -> Task:
    """Give a person t1 to grade on the scale 0 to 4."""
    condition = create_relevance(
        campaign=campaign, name="Five grades", shown=shown, from_queue=False, max_grade=4, acting_user=None
    )
    topics = [campaign.topics.get(qid="t1")]
    [task] = give_tasks(campaign=campaign, topics=topics, condition=condition, person=person, acting_user=None)
    return task


def item(task: Task, docid: str) -> RelevanceJudgment:
    return RelevanceJudgment.objects.get(condition=task.condition, topic=task.topic, docid=docid)


def keys(page: str) -> list[str]:
    return re.findall(r'data-act="label" data-label="(\d)" aria-keyshortcuts="\d" data-key="\d"', page)


def test_a_person_grades_0_to_4_where_the_condition_says_so(
    pooled: Campaign, anna: Person, as_anna: Client, model_grades: QrelsSource
):
    task = five_grades(pooled, anna)
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    assert keys(page) == ["0", "1", "2", "3", "4"]
    assert "dedicated to the query, answers all of it" in page
    assert "<span>some answer, but unclear" not in page
    assert "Mia" not in page
    assert send(as_anna, task, "judge", item=item(task, "d1").pk, grade=4).status_code == 200
    refused = send(as_anna, task, "judge", item=item(task, "d2").pk, grade=5)
    assert (refused.status_code, "A grade is one of 0, 1, 2, 3, 4." in refused.content.decode()) == (400, True)
    source = QrelsSource.objects.get(condition=task.condition)
    assert ("".join(qrels_lines(source)), source.max_grade) == ("t1 0 d1 4\n", 4)
    assert task.condition.identity.split("; ")[1] == "scale=0 to 4"


def test_a_person_grades_0_to_3_else(task: Task, as_anna: Client):
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    assert keys(page) == ["0", "1", "2", "3"]
    assert "<span>some answer, but unclear" in page
    for grade in (4, -1):
        refused = send(as_anna, task, "judge", item=item(task, "d1").pk, grade=grade)
        assert (refused.status_code, Grade.objects.filter(source__condition=task.condition).count()) == (400, 0)
    assert task.condition.identity == "kind=relevance; method=manual relevance; judge=people; protocol=trec-2024 v1"


def test_a_models_grades_are_post_edited_on_their_own_scale_alone(
    pooled: Campaign, anna: Person, as_anna: Client, model_grades: QrelsSource, import_file
):
    why = "Mia's is graded 0 to 4, and people would grade 0 to 3 beside it: choose the scale 0 to 4."
    with pytest.raises(ConditionError, match=why):
        create_relevance(campaign=pooled, name="A", shown=model_grades, from_queue=False, acting_user=None)
    import_file(pooled, "qrels", "t1 0 d1 3\n", source="Three", by="model")
    with pytest.raises(ConditionError, match="Three is graded 0 to 3, and people would grade 0 to 4 beside it"):
        five_grades(pooled, anna, pooled.qrels_sources.get(name="Three"))
    task = five_grades(pooled, anna, model_grades)
    page = as_anna.get(f"/relevance/{task.pk}/").content.decode()
    # d3 was not judged by the model, and waits as one that it has not graded: so does d4, without a text.
    assert set(re.findall(r'id="i(\d+)"', page)) == {str(item(task, docid).pk) for docid in ("d1", "d2")}
    shown = send(as_anna, task, "show", item=item(task, "d1").pk)
    assert shown.json()["shown"] == "4"
    assert send(as_anna, task, "show", item=item(task, "d3").pk).status_code == 400


def test_no_file_puts_post_edited_grades_on_another_scale(pooled: Campaign, anna: Person, import_file):
    import_file(pooled, "qrels", "t1 0 d1 3\n", source="Mia's", by="model")
    source = pooled.qrels_sources.get(name="Mia's")
    give_relevance(pooled, anna, shown=source)
    refused = import_file(pooled, "qrels", "t1 0 d2 2\nt1 0 d3 4\n", source="Mia's", by="model")
    expected = "a grade from 0 to 3, the scale on which people post-edit Mia's (post-edited)"
    assert told(refused) == [(2, "grade", "4", expected)]
    assert refused.report["errors"][0]["remedy"] == "Import the file under another source."
    source.refresh_from_db()
    assert (source.max_grade, source.grades.count()) == (3, 1)


def test_the_form_asks_for_the_scale_and_names_it_with_each_source(pooled: Campaign, olga: Person, model_grades):
    client, address = client_of(olga), "/campaigns/study/conditions/new/"
    page = client.get(address).content.decode()
    assert f'<option value="{model_grades.pk}">Mia&#x27;s, 0 to 4</option>' in page
    assert '<option value="3" selected>0 to 3</option>' in page
    form = {"method": "relevance post-edited", "name": "Five", "shown": model_grades.pk, "given": "given"}
    assert "choose the scale 0 to 4." in client.post(address, form | {"max_grade": "3"}).content.decode()
    assert client.post(address, form | {"max_grade": "4"}).status_code == 302
    assert Condition.objects.get(name="Five").max_grade == 4
    form = {"method": "manual relevance", "name": "By hand", "max_grade": "4", "given": "given"}
    assert client.post(address, form | {"max_grade": "5"}).status_code == 200
    assert client.post(address, form).status_code == 302
    assert QrelsSource.objects.get(name="By hand").max_grade == 4


def test_practice_is_held_against_grades_on_its_scale(pooled: Campaign, anna: Person, import_file):
    task = five_grades(pooled, anna)
    assert [source.name for source in possible_references(task.condition)] == []
    import_file(pooled, "qrels", FIVE, source="People's", by="people")
    assert [source.name for source in possible_references(task.condition)] == ["People's"]


def test_scales_and_what_was_not_judged_are_in_an_archive(
    pooled: Campaign, anna: Person, as_anna: Client, model_grades: QrelsSource, tmp_path: Path
):
    task = five_grades(pooled, anna, model_grades)
    send(as_anna, task, "show", item=item(task, "d1").pk)
    send(as_anna, task, "judge", item=item(task, "d1").pk, grade=4)
    before = written(pooled)
    path = tmp_path / "study.zip"
    path.write_bytes(before)
    forget_everything()
    again = restore(path)
    assert written(again) == before
    sources = dict(again.qrels_sources.values_list("name", "max_grade"))
    assert sources == {"NIST": 3, "Mia's": 4, "Five grades": 4}
    assert "".join(qrels_lines(again.qrels_sources.get(name="Mia's"))) == FIVE
    assert again.conditions.get(name="Five grades").max_grade == 4
