"""Databases of before editions were kept, and of before drafts had to be decided."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from assessor.collection.models import Campaign, Person, Topic
from assessor.work.actions import give_tasks
from nuggets import actions
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import undecided_drafts
from tests.nuggets.conftest import A, B, do, fill, restored
from tests.nuggets.model import draft, make_condition, make_model

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE_EDITIONS = [("nuggets", "0001_initial")]


def migrate(targets: list[tuple[str, str]]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)


@pytest.fixture
def newest() -> Iterator[list[tuple[str, str]]]:
    """The newest migrations; whatever a test does, the database is there again afterwards."""
    leaves = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield leaves
    migrate(leaves)


def test_banks_finished_before_editions_were_kept_have_one(
    finished: NuggetBank, anna: Person, olga: Person, newest: list[tuple[str, str]]
):
    """Deleted nuggets are not in it, order and evidence are; open banks have none."""
    topic, condition = Topic.objects.get(qid="t2"), finished.condition
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    still_open = NuggetBank.objects.get(task=task)
    fill(still_open, (A, "open", "vital"))
    actions.reopen_bank(restored(finished), reason="again", acting_user=olga)
    do(finished, actions.move_nugget, uid=B, to=0)
    do(finished, actions.delete_nugget, uid=A)
    do(finished, actions.attach_evidence, uid=B, evidence={"docid": "d1", "start": 0, "end": 4})
    fill(finished, (UUID(int=20), "é \U0001f431", "okay"))
    do(finished, actions.finish_bank)
    fields = ("bank", "edition", "version", "nuggets")
    kept = BankEdition.objects.values(*fields).get(edition=2)
    assert [(nugget["text"], len(nugget["evidence"])) for nugget in kept["nuggets"]] == [("b", 1), ("é \U0001f431", 0)]

    migrate(BEFORE_EDITIONS)
    tables = connection.introspection.table_names()
    assert "nuggets_bankedition" not in tables
    with connection.cursor() as cursor:
        columns = {column.name for column in connection.introspection.get_table_description(cursor, "nuggets_nugget")}
    assert {"note", "extras"}.isdisjoint(columns)

    migrate(newest)
    assert list(BankEdition.objects.values(*fields)) == [kept]
    assert BankEdition.objects.get().consequences == {}
    bank = restored(finished)
    assert (bank.state, bank.edition, bank.reading, bank.read_passages, bank.extras) == ("finished", 2, "", [], {})
    assert [(nugget.note, nugget.extras) for nugget in bank.nuggets.all()] == [("", {})] * 4

    actions.reopen_bank(bank, reason="once more", acting_user=olga)
    do(bank, actions.reword_nugget, uid=B, text="other")
    do(bank, actions.finish_bank)
    assert BankEdition.objects.get(edition=3).consequences["stale"] == [bank.nuggets.get(uid=B).pk]


def test_untouched_drafts_are_undecided_in_open_banks_alone(
    campaign: Campaign, anna: Person, olga: Person, newest: list[tuple[str, str]]
):
    """In a bank that was finished before they had to be decided they count as kept."""
    edits = make_condition(make_model(campaign))
    topics = list(campaign.topics.order_by("qid"))[:2]
    draft(edits, topics, ["a", "b", "c"])
    tasks = give_tasks(campaign=campaign, topics=topics, condition=edits, person=anna, acting_user=olga)
    finished, still_open = (NuggetBank.objects.get(task=task) for task in tasks)
    for nugget in finished.nuggets.all():
        do(finished, actions.set_importance, uid=nugget.uid, importance="okay")
    do(finished, actions.finish_bank)
    by_text = {nugget.text: nugget.uid for nugget in still_open.nuggets.all()}
    do(still_open, actions.set_importance, uid=by_text["a"], importance="vital")
    do(still_open, actions.reword_nugget, uid=by_text["b"], text="b, reworded")

    migrate([("nuggets", "0006_drafts_from_files")])
    migrate(newest)
    assert not finished.nuggets.filter(is_undecided=True).exists()
    assert [nugget.text for nugget in undecided_drafts(restored(still_open))] == ["c"]


def test_an_empty_database_goes_there_and_back(db: None, newest: list[tuple[str, str]]):
    migrate(BEFORE_EDITIONS)
    migrate(newest)
    assert BankEdition.objects.count() == 0
