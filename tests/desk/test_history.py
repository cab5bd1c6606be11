"""The history page: who did what, filtered, paged by key, and as CSV."""

import csv
from datetime import timedelta

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Event
from assessor.desk.views import history as views
from tests.conftest import client_of

ADDRESS = "/campaigns/study/history/"


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def events(empty_campaign: Campaign, olga: Person, otto: Person) -> Campaign:
    """Events of two people and of the system, one of them long ago; after the campaign's own first."""
    history.record("task given", "nuggets of t1 by anna", campaign=empty_campaign, person=olga, condition="Manual")
    history.record("job done", "Support 3", campaign=empty_campaign, person=None, topics="t1é", items=3)
    history.record("exported", "=cmd|topics", campaign=empty_campaign, person=otto)
    old = history.record("task given", "nuggets of t2 by anna", campaign=empty_campaign, person=olga)
    QuerySet(Event).filter(pk=old.pk).update(at=timezone.now() - timedelta(days=10))
    history.record("task given", "of another campaign: t1", campaign=None, person=olga)
    return empty_campaign


def subjects(client: Client, **asked: object) -> list[str]:
    return [event.subject for event, _ in client.get(ADDRESS, asked).context["events"]]


def test_all_of_it_the_newest_first(events: Campaign, as_olga: Client):
    assert subjects(as_olga)[:4] == ["nuggets of t2 by anna", "=cmd|topics", "Support 3", "nuggets of t1 by anna"]
    assert len(subjects(as_olga)) == events.events.count()


def test_details_are_words(empty_campaign: Campaign, as_olga: Client):
    counts = {"lines": 6, "runs": {"added": 1, "as": ["a", "b"]}, "left out": []}
    history.record("imported", "runs", campaign=empty_campaign, person=None, counts=counts, before="", sha256="ab")
    (_, details), *_ = as_olga.get(ADDRESS).context["events"]
    told = [("counts", "lines 6, runs added 1, as a, b, left out none"), ("before", "none"), ("sha256", "ab")]
    assert details == told


def test_filters(events: Campaign, as_olga: Client, olga: Person):
    day = timezone.now().date()
    assert subjects(as_olga, person="olga", verb="task given") == ["nuggets of t2 by anna", "nuggets of t1 by anna"]
    assert subjects(as_olga, person="(system)") == ["Support 3"]
    assert subjects(as_olga, about="t1") == ["Support 3", "nuggets of t1 by anna"]  # in the details too
    assert subjects(as_olga, about="t1é") == ["Support 3"]
    assert subjects(as_olga, verb="task given", since=day - timedelta(days=5)) == ["nuggets of t1 by anna"]
    assert subjects(as_olga, until=day - timedelta(days=5)) == ["nuggets of t2 by anna"]
    assert subjects(as_olga, until=day, since=day, verb="job done") == ["Support 3"]


@pytest.mark.parametrize("asked", [{"since": "soon"}, {"person": "0"}, {"verb": "x"}, {"about": "\x00"}])
def test_what_can_not_be_asked_shows_nothing_and_says_why(events: Campaign, as_olga: Client, asked: dict[str, str]):
    response = as_olga.get(ADDRESS, asked)
    assert response.status_code == 200
    assert response.context["events"] == []
    assert response.context["form"].errors


def test_pages_by_key(events: Campaign, as_olga: Client, monkeypatch):
    monkeypatch.setattr(views, "_ON_A_PAGE", 2)
    first = as_olga.get(ADDRESS, {"about": "t"})
    found = [event.pk for event, _ in first.context["events"]]
    assert f"about=t&amp;before={found[-1]}" in first.content.decode()
    # What comes meanwhile moves nothing.
    history.record("task given", "t", campaign=events, person=None)
    rest = as_olga.get(ADDRESS, {"about": "t", "before": first.context["older"]})
    found += [event.pk for event, _ in rest.context["events"]]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


def test_as_csv_with_the_same_filters(events: Campaign, as_olga: Client):
    response = as_olga.get("/campaigns/study/history.csv", {"verb": "exported"})
    lines = b"".join(response.streaming_content).decode().splitlines()
    [row, *own] = csv.DictReader(lines)
    assert (row["subject"], row["person"], row["verb"]) == ("'=cmd|topics", "otto", "exported")
    assert [one["subject"] for one in own] in ([], ["history.csv"])
    assert events.events.filter(verb="exported", subject="history.csv").count() == 1


def test_hostile_text_is_text(empty_campaign: Campaign, as_olga: Client):
    history.record("x", "<script>alert(1)</script>", campaign=empty_campaign, person=None, why="<b>")
    page = as_olga.get(ADDRESS).content.decode()
    assert ("<script>alert" in page, "&lt;script&gt;alert(1)" in page, "&lt;b&gt;" in page) == (False, True, True)
