"""Queries whose plans PostgreSQL keeps."""

import pytest
from django.db import connection
from django.db.models import BigIntegerField, F
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Judge, Protocol
from assessor.runtime.sql import Parameter, Prepared, fetch_prepared


@pytest.mark.django_db
def test_what_is_asked_often_is_planned_once():
    query = "SELECT CAST(%s AS integer) + 1 AS next"
    assert [fetch_prepared(query, [number]) for number in range(8)] == [[(number + 1,)] for number in range(8)]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE '%AS next'"
            )
            [(plans,)] = cursor.fetchall()
        assert plans > 0


def conditions_of(campaign: object):
    return Condition.objects.filter(campaign=campaign).select_related("protocol", "judge").annotate(twice=2 * F("pk"))


def plain(condition: Condition) -> list[object]:
    related = (condition, condition.protocol, condition.judge)
    return [condition.twice, *(one and model_to_dict(one) for one in related)]


def test_records_are_those_of_the_queryset(campaign: Campaign, olga: Person):
    judge = Judge.objects.create(kind=Judge.Kind.MODEL, name="Mia", parameters={"model": "mia", "temperature": 0.5})
    protocol = Protocol.objects.filter(campaign=campaign).latest("version")
    for number, by in enumerate((None, judge)):
        told = {"name": f"c{number}", "kind": "nuggets", "method": "x", "prompts": {"a": "b"}}
        Condition.objects.create(campaign=campaign, protocol=protocol, judge=by, created_by=olga, **told)
    prepared = Prepared(conditions_of(Parameter("campaign")).order_by("pk"))
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            found = [plain(condition) for condition in prepared.fetch(campaign=campaign.pk)]
        assert len(asked) == 1, "what is related comes with them"
        assert found == [plain(condition) for condition in conditions_of(campaign).order_by("pk")]
        assert [one[3] and one[3]["parameters"] for one in found] == [None, judge.parameters]


def test_each_fetch_has_values_of_its_own(campaign: Campaign):
    prepared = Prepared(Campaign.objects.filter(pk=Parameter("pk"), slug=Parameter("slug")))
    assert list(prepared.fetch(pk=campaign.pk, slug=campaign.slug)) == [campaign]
    assert list(prepared.fetch(pk=campaign.pk, slug="another")) == []
    assert list(prepared.fetch(pk=BigIntegerField.MAX_BIGINT + 1, slug=campaign.slug)) == []
