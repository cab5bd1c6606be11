"""What the admin lets an administrator do: look, export, keep people; never touch history or judgments."""

import csv
import json
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.admin.models import LogEntry
from django.db.models import PROTECT, ForeignObjectRel, Model
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.admin import LookOnly
from assessor.campaigns.models import (
    Answer,
    AppendOnly,
    Campaign,
    Condition,
    Event,
    Import,
    Invitation,
    Judge,
    Role,
    Topic,
)
from assessor.campaigns.models.history import AppendOnlyError
from assessor.exports.actions import ask_for
from assessor.exports.freeze import freeze
from assessor.exports.pseudonyms import pseudonyms
from assessor.exports.registry import BY_NAME
from assessor.labels.replies import note_read, reply
from assessor.llm.models import CampaignPromptSet
from assessor.plan.models import Planned
from assessor.relevance.models import RelevanceJudgment
from assessor.studies.models import Registration
from assessor.training.models import Reference
from assessor.work.actions import put_in_queue
from assessor.work.blindness import record_exposure
from assessor.work.models import Draw, Exposure, Reminder, Scope, TimeSpent, Write
from metaeval.actions import create_comparison, create_hybrid
from metaeval.models import Calibration, CalibrationGate, CalibrationRequest, Figure, ScoreTable
from nuggets import actions
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.api.tokens import make_token
from tests.assignment.argue.conftest import BANK, FILE, ONE
from tests.assignment.conftest import assign
from tests.assignment.scored import auto_condition, vary
from tests.assignment.trials.model import try_on
from tests.candidates.model import miss
from tests.conftest import client_of, make_person
from tests.desk.asking import asked_elsewhere
from tests.judging import all_judged, change, judged
from tests.llm.records import leave_traces
from tests.matching.model import match_with_itself
from tests.notices.records import make_webhook
from tests.nuggets.conftest import A, fill
from tests.nuggets.model import draft, make_condition, make_job, make_model
from tests.preference.model import compare
from tests.relevance.conftest import give_relevance, judge_item
from tests.reports.model import edit, write
from tests.studies.conftest import coded_study
from tests.studies.control import make_control_set
from tests.support.judging_helpers import from_scratch as support_from_scratch
from tests.support.lines import FULL, cites
from tests.support.lines import line as support_line
from tests.support.test_own_texts import run_with_documents

PACKAGES = ("assessor", "nuggets", "assignment", "support", "metaeval")
KEPT_HERE = {"person", "membership"}  # what an administrator may change
# Models, as app.Model, with the reason why nobody has to look them up.
WITHOUT_ADMIN = {"work.Installation": "a name that pages carry; it says nothing to anybody"}
TO_DO = """{model} is not in Django's admin. Register it in its app's admin.py, as LookOnly with list_display,
search_fields, list_select_related for each key in list_display, and list_filter by what has few values; make one in
one_of_each() here and some in grow() of test_query_counts.py. Or name it in WITHOUT_ADMIN with the reason."""
ANSWER = {"run_id": "r1", "topic_id": "t1", "references": ["d1"], "answer": [{"text": "Yes.", "citations": [0]}]}


@pytest.fixture
def client(admin: Person) -> Client:
    return client_of(admin)


def our_models() -> set[type[Model]]:
    """Return every model of this project, whatever apps it has by now."""
    return {model for model in apps.get_models() if model.__module__.split(".")[0] in PACKAGES}


def ours() -> list[type[Model]]:
    return [model for model in django_admin.site._registry if model in our_models()]


def address(model: type[Model], rest: str = "") -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/{rest}"


@pytest.fixture
def one_of_each(bank: NuggetBank, import_file) -> dict[type[Model], Model]:
    """A record of every model that the admin shows to be looked at."""
    campaign, person = bank.condition.campaign, bank.task.person
    fill(bank, (A, "purring", "vital"))
    import_file(campaign, "runs", [ANSWER])
    documents = run_with_documents("own", "t1", {"d1": "a text of its own"})
    import_file(campaign, "runs", [documents], document_texts="own")
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nr1,,,,,other\n")
    import_file(campaign, "retrieval", "t1 Q0 d1 1 1.5 found\n")
    record_exposure(person, [bank.topic], "nuggets", "test")
    Invitation.objects.create(campaign=campaign, person=person, role=Role.ORGANIZER, invited_by=person)
    TimeSpent.objects.create(task=bank.task, key=uuid4(), seconds=1)
    match = match_with_itself(BankEdition.objects.create(bank=bank, edition=1, version=1))
    try_on(bank)
    miss(match.matching.first, Answer.objects.filter(topic=bank.topic)[0])
    grading = give_relevance(campaign, make_person("grader", "assessor"))
    judge_item(RelevanceJudgment.objects.get(topic=grading.topic))
    model = make_model(campaign)
    compare(campaign, model)
    condition = make_condition(model)
    job = make_job(condition, [bank.topic])
    leave_traces(job)
    write(condition, bank.topic, job, 1)
    edit(bank, bank.task)
    draft(condition, [bank.topic], ["a"])
    assign(bank)
    [topic] = Topic.objects.filter(campaign=campaign).exclude(pk=bank.topic_id)
    put_in_queue(topics=[topic], condition=bank.condition, acting_user=None)
    coded_study(campaign, "r1", "t1")
    assert import_file(campaign, "questions", [BANK], condition="Questions", by="people").state == "done"
    assert import_file(campaign, "argue_judgments", [ONE], **FILE).state == "done"
    change(judged(campaign.conditions.get(name="Judged")), {"s0.dd1.attests": {"label": "no"}})
    support_from_scratch(campaign)
    change(all_judged(campaign.conditions.get(name="people on r1"))[0], {"0.0": {"label": "none"}})
    asked = {"task": bank.task, "sheet": None, "item": "1", "question": "odd"}
    note_read([reply(**asked, text="Yes.", acting_user=person)])
    Reminder.objects.create(task=bank.task, person=person)
    ScoreTable.objects.create(campaign=campaign, name="Table", content="run_id,v\nr,1\n")
    first, second = (campaign.conditions.get(name=f"{by} on r1") for by in ("people", "model"))
    compared = create_comparison(campaign=campaign, first=first, second=second, acting_user=None)
    create_hybrid(campaign=campaign, human=first, model=second, acting_user=None)
    Draw.objects.create(condition=first, seed=1, frame=["t1"], topics=["t1"])
    sides = {"human": first, "judged": second}
    Calibration.objects.create(campaign=campaign, name="model against people", labels=0, topics=0, **sides)
    CalibrationRequest.objects.create(campaign=campaign, **sides)
    CalibrationGate.objects.create(campaign=campaign)
    Registration.objects.create(campaign=campaign, title="Asked", document={}, sha256="0" * 64)
    vary(bank.condition)
    Figure.objects.create(calculation=compared, name="labels", title="Labels")
    Reference.objects.create(condition=bank.condition)
    Planned.objects.create(condition=bank.condition, topic=bank.topic, waits_for="its drafts")
    Scope.objects.create(condition=bank.condition, topic=bank.topic, rule="none")
    ask_for(campaign=campaign, kind=BY_NAME["topics"], options={}, acting_user=None)
    make_token(person)
    make_webhook(campaign)
    import_file(
        campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": [{"text": "a"}]}], condition="N", by="people"
    )
    make_control_set(auto_condition(campaign.conditions.get(name="N")))
    CampaignPromptSet.objects.create(campaign=campaign, name="published")
    pseudonyms(campaign)
    freeze(condition=campaign.conditions.get(name="N"), acting_user=None)
    found = {}
    for model in ours():
        if model._meta.model_name not in KEPT_HERE:
            found[model] = model._base_manager.order_by("pk").first()
            assert found[model] is not None, f"one_of_each() makes no {model._meta.label}"
    return found


def snapshot(records: dict[type[Model], Model]) -> list[Any]:
    return [list(model._base_manager.order_by("pk").values()) for model in records]


def test_every_model_of_ours_is_in_the_admin():
    registered = django_admin.site._registry
    for model in sorted(our_models(), key=lambda model: model._meta.label):
        assert model in registered or WITHOUT_ADMIN.get(model._meta.label), TO_DO.format(model=model._meta.label)
        if model in registered and model._meta.model_name not in KEPT_HERE:
            assert isinstance(registered[model], LookOnly), f"{model._meta.label} can be changed in the admin"
    assert set(WITHOUT_ADMIN) <= {model._meta.label for model in our_models()}


def test_no_record_is_added_changed_or_deleted(client: Client, one_of_each: dict[type[Model], Model]):
    before = snapshot(one_of_each)
    for model, record in one_of_each.items():
        values = {field.name: field.value_to_string(record) for field in model._meta.concrete_fields}
        assert client.get(address(model, "add/")).status_code == 403, model
        assert client.post(address(model, "add/"), values).status_code == 403, model
        changed = values | {"verb": "forged", "text": "forged", "state": "open", "seconds": "9", "name": "forged"}
        assert client.post(address(model, f"{record.pk}/change/"), changed).status_code == 403, model
        assert client.get(address(model, f"{record.pk}/delete/")).status_code == 403, model
        assert client.post(address(model, f"{record.pk}/delete/"), {"post": "yes"}).status_code == 403, model
        many = {"action": "delete_selected", "_selected_action": [record.pk], "post": "yes"}
        page = client.post(address(model), many, follow=True)
        assert "delete_selected" not in page.content.decode(), model
        assert asked_elsewhere(page) == [], model
        page = client.get(address(model, f"{record.pk}/change/"))
        assert asked_elsewhere(page) == [], model
        assert page.status_code == 200, model
        assert 'name="_save"' not in page.content.decode(), model
        shown = django_admin.site._registry[model]
        assert not [*shown.inlines, *shown.list_editable], model
    assert snapshot(one_of_each) == before
    assert not LogEntry.objects.exists()


def append_only() -> list[type[Model]]:
    return [model for model in our_models() if issubclass(model, AppendOnly)]


def test_what_is_only_added_to_can_not_be_changed_or_deleted_by_any_way(one_of_each: dict[type[Model], Model]):
    assert {"Event", "Exposure", "TimeSpent", "LabelEvent", "Call"} <= {model.__name__ for model in append_only()}
    before = snapshot(one_of_each)
    for model in append_only():
        record = one_of_each[model]
        for manager in (model._default_manager, model._base_manager):
            ways = (
                manager.all().delete,
                manager.filter(pk=record.pk).delete,
                lambda manager=manager, pk=record.pk: manager.update(pk=pk),
                lambda manager=manager, one=record: manager.bulk_update([one], ["pk"]),
                lambda manager=manager, one=record: manager.bulk_create([one], update_conflicts=True),
            )
            for way in (*ways, record.delete, record.save):
                with pytest.raises(AppendOnlyError):
                    way()
    assert snapshot(one_of_each) == before


def test_no_key_lets_a_person_or_a_record_go():
    """Whatever names a person, the judge that they are, or what is only added to, keeps it: nothing goes along."""
    for kept in (Person, Judge, *append_only()):
        for relation in kept._meta.get_fields(include_hidden=True):
            is_ours = isinstance(relation, ForeignObjectRel) and relation.related_model in our_models()
            if is_ours and not relation.related_model._meta.auto_created:
                assert relation.on_delete is PROTECT, f"{relation.related_model._meta.label}.{relation.field.name}"


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
    add_member(campaign=topic.campaign, person=person, role=Role.ORGANIZER, acting_user=None)


def _founded(person: Person, topic: Topic) -> None:
    create_campaign(name="Other", slug="other", acting_user=person)


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (_told, "1 events"),
        (_saw, "1 exposures"),
        (_wrote, "1 writes"),
        (_imported, "1 imports"),
        (_organized, "1 memberships"),
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
    from assessor.campaigns.models import Run

    import_file(campaign, "runs", [ANSWER])
    assert body(act(client, Campaign, "export_topics", campaign)).startswith("t1\twhy do cats purr\n")
    assert body(act(client, Campaign, "export_segments", campaign)).count("\n") == 4
    assert body(act(client, Campaign, "export_run_list", campaign)).splitlines()[1] == "r1,,,,,,"
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


ASSIGNMENT = {
    "query": "why do cats purr",
    "qid": "t1",
    "nuggets": [{"text": "of a model", "assignment": "support"}],
    "run_id": "r1",
    "answer_text": "Yes.",
    "response_length": 1,
}


@pytest.fixture
def exportable(campaign: Campaign, import_file) -> Campaign:
    """Conditions of each kind whose labels are a model's, and one of each whose labels are people's."""
    import_file(campaign, "runs", [ANSWER])
    for by in ("people", "model"):
        import_file(campaign, "nuggets", [NUGGETS], condition=f"N {by}", by=by)
        import_file(campaign, "assignments", [ASSIGNMENT], condition=f"A {by}", nuggets="N people", by=by)
        import_file(campaign, "support", [support_line("t1", "r1", cites("Yes.", d1=FULL))], condition=f"S {by}", by=by)
    return campaign


@pytest.mark.parametrize(
    ("action", "name", "file"),
    [
        ("export_nuggets", "N", "nuggets"),
        ("export_assignments", "A", "assignments"),
        ("export_support", "S", "support"),
    ],
)
@pytest.mark.parametrize("by", ["people", "model"])
def test_the_admin_exports_what_stands_under_a_condition(
    client: Client, admin: Person, exportable: Campaign, action: str, name: str, file: str, by: str
):
    condition = exportable.conditions.get(name=f"{name} {by}")
    response = act(client, Condition, action, condition)
    assert response.streaming
    assert response["Content-Disposition"] == f'attachment; filename="study.{file}.{name}_{by}.jsonl"'
    [line] = map(json.loads, body(response).splitlines())
    said = {"N": "nuggets", "A": "nuggets", "S": "sentences"}[name]
    if name == "S":
        assert line["topic_id"] == "t1"
        assert line[said][0]["citations"][0]["support"] == "2"
    else:
        assert line["qid"] == "t1"
        assert line[said][0].get("assignment") == ("support" if name == "A" else None)
    assert [*Event.objects.filter(verb="exported").values_list("subject", "person__username", "campaign__slug")] == [
        (f"{file}.{condition}.jsonl", "admin", "study")
    ]
    seen = [("t1", condition.kind, f"export of {condition}")] if by == "model" else []
    assert [*Exposure.objects.filter(person=admin).values_list("topic__qid", "kind", "where")] == seen


def test_an_export_in_the_admin_is_of_one_condition_and_of_its_kind(client: Client, exportable: Campaign):
    people, model = (exportable.conditions.get(name=f"A {by}") for by in ("people", "model"))
    for action, records, said in (
        ("export_assignments", [people, model], "Choose one: each has a file of its own."),
        ("export_support", [people], "A people is a condition of assignment: it has no support judgments to export."),
    ):
        data = {"action": action, "_selected_action": [record.pk for record in records]}
        assert said in client.post(address(Condition), data, follow=True).content.decode()
    assert not Event.objects.filter(verb="exported").exists()


def change_person(client: Client, person: Person, **fields: str) -> None:
    joined = person.date_joined
    data = {"username": person.username, "date_joined_0": f"{joined:%Y-%m-%d}", "date_joined_1": f"{joined:%H:%M:%S}"}
    data["groups"] = [group.pk for group in person.groups.all()]
    assert client.post(address(Person, f"{person.pk}/change/"), data | fields).status_code == 302


def test_who_is_made_inactive_is_signed_out_for_good(client: Client, admin: Person, anna: Person, ben: Person):
    session, others = client_of(anna), client_of(ben)
    assert session.get("/").status_code == 200
    change_person(client, anna)
    assert not Person.objects.get(pk=anna.pk).is_active
    assert session.get("/").status_code == 302
    change_person(client, anna, is_active="on")
    assert Person.objects.get(pk=anna.pk).is_active
    assert session.get("/").status_code == 302  # a session from before is none any more
    assert others.get("/").status_code == client.get("/").status_code == 200
    events = Event.objects.exclude(verb="person changed").order_by("pk")  # the form leaves the name out
    assert [*events.values_list("verb", "subject", "person__username")] == [
        ("person made inactive", "anna", "admin"),
        ("person active again", "anna", "admin"),
    ]
