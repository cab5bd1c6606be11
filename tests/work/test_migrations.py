"""A database of before writes named their campaign: they do afterwards, where it can be told."""

from uuid import uuid4

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from assessor.collection.models import Campaign, Person
from assessor.work.models import Task, Write


@pytest.mark.django_db(transaction=True)
def test_writes_of_who_worked_in_one_campaign_alone_are_of_that(task: Task, anna: Person, ben: Person, olga: Person):
    other = Campaign.objects.create(name="Other", slug="other")
    fields = {"topic": task.topic, "condition": task.condition, "kind": task.kind}
    for campaign in (task.campaign, other):
        Task.objects.create(campaign=campaign, person=ben if campaign == other else olga, **fields)
    Task.objects.create(campaign=task.campaign, person=ben, **fields | {"kind": "support"})
    for person in (anna, ben, olga):
        Write.objects.create(key=uuid4(), person=person, request="0" * 64)
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        MigrationExecutor(connection).migrate([("work", "0007_plan")])
    finally:
        MigrationExecutor(connection).migrate(newest)
    told = Write.objects.order_by("person__username").values_list("person__username", "campaign__slug")
    assert [*told] == [("anna", "study"), ("ben", None), ("olga", "study")]
