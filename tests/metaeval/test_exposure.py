"""Who takes away files of comparisons and studies has seen what a model gave there, and its record says so."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.exports import actions as exporting
from assessor.exports.models import Export
from assessor.exports.registry import BY_NAME
from assessor.studies.actions import let_people_judge
from assessor.studies.models import Study
from assessor.work.blindness import has_seen
from assessor.work.models import Exposure
from metaeval.actions import create_comparison, run
from metaeval.models import Comparison
from metaeval.report import JSON
from tests.conftest import client_of
from tests.studies.conftest import answered as answered
from tests.studies.conftest import draw
from tests.studies.conftest import model as model
from tests.studies.conftest import n_model as n_model
from tests.studies.conftest import n_people as n_people
from tests.studies.conftest import nuggets as nuggets
from tests.studies.conftest import others as others
from tests.studies.conftest import people as people


def seen() -> list[tuple[str, str, str, str]]:
    """Return all exposures: who, of which topic, for which kind, where."""
    found = Exposure.objects.order_by("topic__qid", "kind", "where")
    return list(found.values_list("person__username", "topic__qid", "kind", "where"))


def compare(first: object, second: object, **options: object) -> Comparison:
    campaign = first.campaign  # type: ignore[attr-defined]
    options = {"draws": 20, "seed": 1, "acting_user": None} | options
    calculation = create_comparison(campaign=campaign, first=first, second=second, **options)
    assert run(calculation).state == "done"
    return calculation.comparison


WAYS = ["page", "export", "background"]


def take(client: Client, person: Person, kind: str, record: object, form: str, way: str) -> None:
    """Take a file away in one of all ways."""
    campaign = record.campaign  # type: ignore[attr-defined]
    if way == "page":
        where = {"comparison": f"comparisons/{record.pk}/files/", "study": f"studies/{record.pk}/export/"}  # type: ignore[attr-defined]
        response = client.get(f"/campaigns/study/{where[kind]}{form}")
    elif way == "export":
        response = client.get(f"/campaigns/study/exports/{kind}/file/", {"of": str(record), "form": form})
    else:
        options = {"of": str(record), "form": form}
        export = exporting.ask_for(campaign=campaign, kind=BY_NAME[kind], options=options, acting_user=person)
        assert exporting.run(export).state == "done"
        assert not Exposure.objects.exists(), "nobody has it yet"
        response = client.get(f"/campaigns/study/exports/made/{export.pk}/file")
    assert response.status_code == 200
    b"".join(response.streaming_content)


@pytest.fixture(autouse=True)
def _folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "exports").mkdir()


@pytest.mark.parametrize("way", WAYS)
def test_of_a_comparison(people: Condition, model: Condition, olga: Person, anna: Person, topic: Topic, way: str):
    comparison = compare(people, model)
    client = client_of(olga)
    assert client.get(f"/campaigns/study/comparisons/{comparison.pk}/").status_code == 200
    take(client, olga, "comparison", comparison, "labels.csv", way)
    assert seen() == [("olga", qid, "support", "export of Mia's") for qid in ("t1", "t2")]
    take(client, olga, "comparison", comparison, JSON, "page")
    assert Exposure.objects.count() == 2, "the same seen again is told once"
    blind = Condition(campaign=topic.campaign, kind="support", method="support from scratch")
    assert has_seen(olga, [topic], blind) == {topic.pk}
    assert has_seen(anna, [topic], blind) == set()


def test_of_a_comparison_of_some_topics(people: Condition, model: Condition, olga: Person):
    compare_t2 = compare(people, model, topics=["t2"])
    take(client_of(olga), olga, "comparison", compare_t2, "labels.csv", "page")
    assert seen() == [("olga", "t2", "support", "export of Mia's")]


def test_of_a_comparison_of_grades_and_of_one_by_the_api(campaign: Campaign, import_file, olga: Person):
    for name, by in (("Mia's", "model"), ("Umpires'", "people")):
        import_file(campaign, "qrels", "t1 0 d1 2\nt1 0 d2 0\n", source=name, by=by)
    comparison = compare(*(campaign.qrels_sources.get(name=name) for name in ("Umpires'", "Mia's")))
    secret = create_token(person=olga, name="notebook", expires_at=None, acting_user=olga).secret
    headers = {"Authorization": f"Bearer {secret}"}
    told = Client().get(f"/api/v1/campaigns/study/comparisons/{comparison.pk}", headers=headers)
    assert told.status_code == 200
    assert seen() == [("olga", "t1", "relevance", "export of Mia's")]


def test_of_people_alone_nothing_of_a_model_is_seen(people: Condition, others: Condition, olga: Person):
    take(client_of(olga), olga, "comparison", compare(people, others), "labels.csv", "page")
    study = draw(people, others, purpose="adjudication")
    take(client_of(olga), olga, "study", study, "items.csv", "page")
    assert seen() == []


@pytest.mark.parametrize("form", ["items.csv", "json"])
@pytest.mark.parametrize("way", WAYS)
def test_of_a_study(people: Condition, model: Condition, olga: Person, way: str, form: str):
    study = draw(people, model)
    let_people_judge(study=study, name="Judge", acting_user=None)
    take(client_of(olga), olga, "study", study, form, way)
    assert seen() == [("olga", qid, "support", "export of Mia's") for qid in ("t1", "t2")]


def test_of_a_study_of_nuggets_that_a_model_may_have_made(
    nuggets: Condition, n_people: Condition, n_model: Condition, olga: Person
):
    nuggets.judge.parameters = {"by": "model"}
    nuggets.judge.save()
    take(client_of(olga), olga, "study", draw(n_people, n_model), "items.csv", "page")
    kinds = {(qid, kind, where) for _, qid, kind, where in seen()}
    assert kinds == {
        (qid, kind, "export of Mia assigned") for qid in ("t1", "t2") for kind in ("assignment", "nuggets")
    }


def test_a_file_that_is_not_there_shows_nothing(people: Condition, model: Condition, olga: Person):
    study: Study = draw(people, model)
    client = client_of(olga)
    assert client.get(f"/campaigns/study/studies/{study.pk}/export/nothing").status_code == 404
    assert client.get("/campaigns/study/comparisons/99/files/labels.csv").status_code == 404
    assert seen() == []
    assert not Export.objects.exists()


@pytest.mark.parametrize(
    "table",
    [
        "judges/tables/pairs.csv",
        "significance/tables/pairs.csv",
        "next-edition/plan.csv",
        "nuggets/table.csv",
        "reusability/table.csv",
    ],
)
def test_of_statistics_of_scores(n_model: Condition, olga: Person, table: str):
    client, page = client_of(olga), f"/campaigns/study/scores/{n_model.pk}/"
    assert client.get(f"{page}{table.split('/')[0]}/").status_code == 200
    assert seen() == []
    assert client.get(f"{page}{table}").status_code == 200
    assert {place for *_, place in seen()} == {f"export of {n_model}"}


def test_of_all_judges_of_the_same(
    n_people: Condition, n_model: Condition, campaign: Campaign, import_file, olga: Person
):
    client = client_of(olga)
    assert client.get(
        f"/campaigns/study/scores/{n_people.pk}/judges/tables/labels.csv?judges=NIST assigned"
    ).status_code
    assert seen() == []
    assert client.get(f"/campaigns/study/scores/{n_people.pk}/judges/tables/labels.csv").status_code == 200
    assert seen() == [("olga", qid, "assignment", f"export of {n_model}") for qid in ("t1", "t2")]
    import_file(campaign, "qrels", "t1 0 d1 2\nt1 0 d2 0\n", source="Mia's grades", by="model")
    source = campaign.qrels_sources.get(name="NIST")
    assert client.get(f"/campaigns/study/relevance/{source.pk}/judges/tables/labels.csv").status_code == 200
    assert ("olga", "t1", "relevance", "export of Mia's grades") in seen()


def test_of_the_influence_of_nuggets(n_people: Condition, n_model: Condition, olga: Person, topic: Topic):
    comparison = compare(n_people, n_model)
    page = f"/campaigns/study/comparisons/{comparison.pk}/topics/{topic.pk}/"
    assert client_of(olga).get(f"{page}influence.csv").status_code == 200
    assert seen() == [("olga", topic.qid, "assignment", f"export of {n_model}")]


def test_of_biases_of_a_judge(n_people: Condition, n_model: Condition, olga: Person):
    client, page = client_of(olga), f"/campaigns/study/comparisons/{compare(n_people, n_model).pk}/bias/"
    assert client.get(page).status_code == 200
    assert seen() == []
    assert client.get(f"{page}table.csv").status_code == 200
    assert {place for *_, place in seen()} == {f"export of {n_model}"}
