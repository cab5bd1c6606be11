"""What the admin lets an administrator do: look, export, keep people; never touch history or judgments."""

import csv
import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin as django_admin
from django.contrib.admin.models import LogEntry
from django.db.models import Model
from django.test import Client

from assessor.collection import history
from assessor.collection.actions import add_organizer, create_campaign
from assessor.collection.admin import LookOnly
from assessor.collection.models import AppendOnly, Campaign, Event, Import, Judge, Person, Topic
from assessor.relevance.models import Item
from assessor.work.actions import put_in_queue
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, TimeSpent, Write
from nuggets import actions
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.assignment.conftest import assign
from tests.conftest import client_of, make_person
from tests.llm.records import leave_traces
from tests.nuggets.conftest import A, fill
from tests.nuggets.model import draft, make_condition, make_job, make_model
from tests.relevance.conftest import give_relevance, judge_item
from tests.studies.conftest import coded_study

KEPT_HERE = {"person", "organizer"}  # what an administrator may change
ANSWER = {"run_id": "r1", "topic_id": "t1", "references": ["d1"], "answer": [{"text": "Yes.", "citations": [0]}]}


@pytest.fixture
def client(admin: Person) -> Client:
    return client_of(admin)


def ours() -> list[type[Model]]:
    apps = ("collection", "work", "llm", "studies", "relevance", "nuggets", "assignment")
    return [model for model in django_admin.site._registry if model._meta.app_label in apps]


def address(model: type[Model], rest: str = "") -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/{rest}"


@pytest.fixture
def one_of_each(bank: NuggetBank, import_file) -> dict[type[Model], Model]:
    """A record of every model that the admin shows to be looked at."""
    campaign, person = bank.condition.campaign, bank.task.person
    fill(bank, (A, "purring", "vital"))
    import_file(campaign, "runs", [ANSWER])
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nr1,,,,,other\n")
    import_file(campaign, "retrieval", "t1 Q0 d1 1 1.5 found\n")
    record_exposure(person, [bank.topic], "nuggets", "test")
    TimeSpent.objects.create(task=bank.task, key=uuid4(), seconds=1)
    BankEdition.objects.create(bank=bank, edition=1, version=1)
    grading = give_relevance(campaign, make_person("grader", "assessor"))
    judge_item(Item.objects.get(topic=grading.topic))
    condition = make_condition(make_model(campaign))
    leave_traces(make_job(condition, [bank.topic]))
    draft(condition, [bank.topic], ["a"])
    assign(bank)
    [topic] = Topic.objects.filter(campaign=campaign).exclude(pk=bank.topic_id)
    put_in_queue(topics=[topic], condition=bank.condition, acting_user=None)
    coded_study(campaign, "r1", "t1")
    return {model: model._base_manager.order_by("pk")[0] for model in ours() if model._meta.model_name not in KEPT_HERE}


def snapshot(records: dict[type[Model], Model]) -> list[Any]:
    return [list(model._base_manager.order_by("pk").values()) for model in records]


def test_every_model_of_ours_is_in_the_admin(db):
    from django.apps import apps

    packages = ("assessor", "nuggets", "assignment")
    known = {model for model in apps.get_models() if model.__module__.split(".")[0] in packages}
    assert known == set(ours())
    assert {model for model in known if issubclass(model, AppendOnly)} <= {
        model for model in ours() if isinstance(django_admin.site._registry[model], LookOnly)
    }


def test_no_record_is_added_changed_or_deleted(client: Client, one_of_each: dict[type[Model], Model]):
    before = snapshot(one_of_each)
    for model, record in one_of_each.items():
        values = {field.name: field.value_to_string(record) for field in model._meta.concrete_fields}
        assert client.post(address(model, "add/"), values).status_code == 403, model
        changed = values | {"verb": "forged", "text": "forged", "state": "open", "seconds": "9", "name": "forged"}
        assert client.post(address(model, f"{record.pk}/change/"), changed).status_code == 403, model
        assert client.post(address(model, f"{record.pk}/delete/"), {"post": "yes"}).status_code == 403, model
        many = {"action": "delete_selected", "_selected_action": [record.pk], "post": "yes"}
        page = client.post(address(model), many, follow=True)
        assert "delete_selected" not in page.content.decode(), model
        assert client.get(address(model, f"{record.pk}/change/")).status_code == 200, model
    assert snapshot(one_of_each) == before
    assert not LogEntry.objects.exists()


def delete(client: Client, *people: Person, in_bulk: bool) -> str:
    """Confirm the deletion of people, and return the page that comes back."""
    if in_bulk:
        data = {"action": "delete_selected", "_selected_action": [person.pk for person in people], "post": "yes"}
        response = client.post(address(Person), data, follow=True)
    else:
        [person] = people
        response = client.post(address(Person, f"{person.pk}/delete/"), {"post": "yes"}, follow=True)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("in_bulk", [False, True])
def test_a_person_without_a_trace_can_be_deleted(client: Client, admin: Person, anna: Person, in_bulk: bool):
    delete(client, anna, in_bulk=in_bulk)
    assert not Person.objects.filter(username="anna").exists()
    event = Event.objects.get()
    assert (event.verb, event.subject, event.person) == ("person deleted", "anna", admin)


@pytest.mark.parametrize("in_bulk", [False, True])
def test_a_person_with_work_stays_and_the_page_says_what_and_what_to_do(client: Client, bank, anna: Person, in_bulk):
    fill(bank, (A, "purring", "vital"))
    page = delete(client, anna, in_bulk=in_bulk)
    for said in (
        "Nobody is deleted.",
        "anna stays on record as the maker of what they left",
        "1 tasks",
        "1 nugget banks",
        "1 nuggets",
        "2 bank edits",
        "make them inactive",
        "open tasks can be withdrawn",
    ):
        assert said in page
    assert 'name="post"' not in page
    assert Person.objects.filter(pk=anna.pk).exists()
    assert not Event.objects.filter(verb="person deleted").exists()


def test_one_with_work_keeps_all_that_were_chosen_with_them(client: Client, bank, anna: Person, ben: Person):
    assert "Nobody is deleted." in delete(client, anna, ben, in_bulk=True)
    assert Person.objects.filter(username__in=["anna", "ben"]).count() == 2


def test_several_without_a_trace_go_together(client: Client, anna: Person, ben: Person):
    delete(client, anna, ben, in_bulk=True)
    assert not Person.objects.filter(username__in=["anna", "ben"]).exists()


def test_nobody_deletes_themselves(client: Client, admin: Person):
    assert "another administrator can" in delete(client, admin, in_bulk=False)
    assert "another administrator can" in delete(client, admin, in_bulk=True)
    assert Person.objects.filter(pk=admin.pk).exists()


def _told(person: Person, topic: Topic) -> None:
    history.record("told", "something", campaign=None, person=person)


def _saw(person: Person, topic: Topic) -> None:
    record_exposure(person, [topic], "nuggets", "test")


def _wrote(person: Person, topic: Topic) -> None:
    Write.objects.create(key=uuid4(), person=person, request="")


def _imported(person: Person, topic: Topic) -> None:
    Import.objects.create(campaign=topic.campaign, kind="topics", file_name="x", person=person)


def _organized(person: Person, topic: Topic) -> None:
    add_organizer(campaign=topic.campaign, person=person, acting_user=None)


def _founded(person: Person, topic: Topic) -> None:
    create_campaign(name="Other", slug="other", acting_user=person)


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (_told, "1 events"),
        (_saw, "1 exposures"),
        (_wrote, "1 writes"),
        (_imported, "1 imports"),
        (_organized, "1 organizers"),
        (_founded, "1 campaigns"),
    ],
)
def test_every_trace_keeps_a_person(client: Client, topic: Topic, leave, said: str):
    person = make_person("somebody", "organizer")
    leave(person, topic)
    assert said in delete(client, person, in_bulk=False)
    assert said in delete(client, person, in_bulk=True)
    assert Person.objects.filter(pk=person.pk).exists()


def act(client: Client, model: type[Model], action: str, *records: Model) -> Any:
    data = {"action": action, "_selected_action": [record.pk for record in records]}
    return client.post(address(model), data)


def body(response: Any) -> str:
    return b"".join(response.streaming_content).decode()


def test_the_admin_exports_a_campaigns_files(client: Client, admin: Person, campaign: Campaign, import_file):
    from assessor.collection.models import Run

    import_file(campaign, "runs", [ANSWER])
    assert body(act(client, Campaign, "export_topics", campaign)).startswith("t1\twhy do cats purr\n")
    assert body(act(client, Campaign, "export_segments", campaign)).count("\n") == 4
    assert body(act(client, Campaign, "export_run_list", campaign)).splitlines()[1] == "r1,,,,,"
    response = act(client, Run, "export_answers", campaign.runs.get())
    assert '"topic_id": "t1"' in body(response)
    assert response["Content-Disposition"] == 'attachment; filename="study.r1.jsonl"'
    taken = Event.objects.filter(verb="exported", person=admin).values_list("subject", "campaign__slug")
    assert [*taken] == [(name, "study") for name in ("r1.jsonl", "runs.csv", "segments.jsonl", "topics.tsv")]


def test_a_file_holds_one_campaign(client: Client, campaign: Campaign, olga: Person):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    data = {"action": "export_topics", "_selected_action": [campaign.pk, other.pk]}
    page = client.post(address(Campaign), data, follow=True).content.decode()
    assert "Choose one: each has a file of its own." in page
    assert not Event.objects.filter(verb="exported").exists()


def test_the_history_as_a_table_harms_no_spreadsheet(client: Client, admin: Person, campaign: Campaign):
    first = history.record("told", "=1+1", campaign=campaign, person=admin, why="é")
    second = history.record("told", "plain", campaign=None, person=None)
    rows = list(csv.reader(body(act(client, Event, "export_events", second, first)).splitlines()))
    assert rows == [
        ["id", "at", "person", "verb", "subject", "campaign", "details"],
        [str(first.pk), first.at.isoformat(), "admin", "told", "'=1+1", "Study", '{"why": "é"}'],
        [str(second.pk), second.at.isoformat(), "", "told", "plain", "", "{}"],
    ]


def test_tasks_as_a_table(client: Client, bank: NuggetBank):
    actions.add_nugget(bank, uid=A, text="a", evidence=None, acting_user=bank.task.person, seen=0)
    bank.task.refresh_from_db()
    [columns, row] = csv.reader(body(act(client, type(bank.task), "export_tasks", bank.task)).splitlines())
    assert dict(zip(columns, row, strict=True)) == {
        "campaign": "study",
        "person": "anna",
        "topic": "t1",
        "condition": "ManualNuggets",
        "kind": "nuggets",
        "state": "open",
        "done": "1",
        "total": "0",
        "seconds": "0",
        "worked_at": str(bank.task.worked_at),
    }


NUGGETS = {"query": "why do cats purr", "qid": "t1", "nuggets": [{"text": "of a model"}]}


def test_nuggets_of_an_unfinished_import_are_not_shown(client: Client, campaign: Campaign, import_file):
    brought = import_file(campaign, "nuggets", [NUGGETS], condition="Mia", by="model")
    assert "of a model" in client.get(address(Nugget)).content.decode()
    assert "Mia" in client.get(address(Judge)).content.decode()
    Import.objects.filter(pk=brought.pk).update(state=Import.State.INTERRUPTED)
    assert "of a model" not in client.get(address(Nugget)).content.decode()
    assert "Mia" not in client.get(address(Judge)).content.decode()


@pytest.mark.parametrize(("by", "exposed"), [("model", True), ("people", False)])
def test_who_takes_a_models_nuggets_away_has_seen_them(
    client: Client, admin: Person, campaign: Campaign, import_file, by: str, exposed: bool
):
    import_file(campaign, "nuggets", [NUGGETS], condition="Mia", by=by)
    bank = NuggetBank.objects.get()
    response = act(client, NuggetBank, "export_nuggets", bank)
    assert json.loads(body(response)) == NUGGETS
    assert response["Content-Disposition"] == 'attachment; filename="study.nuggets.Mia.jsonl"'
    seen = [("t1", "nuggets")] if exposed else []
    assert [*Exposure.objects.filter(person=admin).values_list("topic__qid", "kind")] == seen


def test_a_file_of_nuggets_holds_one_condition(client: Client, campaign: Campaign, import_file):
    for name in ("Mia", "Ada"):
        import_file(campaign, "nuggets", [NUGGETS], condition=name, by="people")
    data = {"action": "export_nuggets", "_selected_action": [bank.pk for bank in NuggetBank.objects.all()]}
    page = client.post(address(NuggetBank), data, follow=True).content.decode()
    assert "Choose banks of one condition: a file holds one." in page
