"""What the admin's lists show: pages in their order, what is searched for, what is filtered."""

import re
from typing import Any

import pytest
from django.db.models import Model
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Event, Run
from tests.conftest import client_of


@pytest.fixture
def client(admin: Person) -> Client:
    return client_of(admin)


def address(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def listed(client: Client, model: type[Model], **query: Any) -> list[int]:
    """Return the keys of the records on a page, in its order."""
    page = client.get(address(model), query)
    assert page.status_code == 200
    return [int(key) for key in re.findall(rf'<a href="{address(model)}(\d+)/change/', page.content.decode())]


def keys(model: type[Model], **of: Any) -> list[int]:
    return [*model._default_manager.filter(**of).order_by("pk").values_list("pk", flat=True)]


@pytest.fixture
def told(admin: Person) -> list[Event]:
    """More than two pages of the history, in an order of their subjects that is not that of their keys."""
    return [history.record("told", f"{key * 7 % 120:03}", campaign=None, person=admin) for key in range(120)]


def test_pages_follow_one_another(client: Client, told: list[Event]):
    newest = [event.pk for event in reversed(told)]
    assert listed(client, Event) == newest[:50]
    assert listed(client, Event, p=2) == newest[50:100]
    assert listed(client, Event, p=3) == newest[100:]
    by_subject = [event.pk for event in sorted(told, key=lambda event: event.subject)]
    assert listed(client, Event, o=3) == by_subject[:50]
    assert listed(client, Event, o=-3, p=2) == by_subject[::-1][50:100]
    assert listed(client, Event, o=-3, p=3) == by_subject[::-1][100:]
    assert listed(client, Event, all="") == newest


def test_each_word_is_looked_for_in_every_field(client: Client, told: list[Event], campaign: Campaign, olga: Person):
    of_olga = history.record("told", "a long story", campaign=campaign, person=olga)
    of_nobody = history.record("asked", "a story", campaign=campaign, person=None)
    assert listed(client, Event, q="story") == [of_nobody.pk, of_olga.pk]
    assert listed(client, Event, q="STORY told") == [of_olga.pk]
    assert listed(client, Event, q="olg story") == [of_olga.pk]
    assert listed(client, Event, q="olg asked") == []
    assert listed(client, Event, q='"long story"') == [of_olga.pk]
    assert listed(client, Event, q='"story long"') == []
    assert listed(client, Event, q="story", verb="asked") == [of_nobody.pk]
    assert listed(client, Event, q="admin", p=3) == [event.pk for event in told[:20][::-1]]


def test_what_is_found_twice_is_listed_once(client: Client, campaign: Campaign, import_file):
    import_file(campaign, "runs", [{"run_id": "r1", "topic_id": "t1", "references": [], "answer": []}])
    import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nr1,,,,,other others\n")
    assert listed(client, Run, q="other") == [Run.objects.get(tag="r1").pk]
