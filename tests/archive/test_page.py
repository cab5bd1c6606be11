"""The page of the archive: for the campaign's organizers, and each archive that is taken is in the history."""

from typing import Any

from assessor.collection.models import Campaign, Event, Person
from assessor.work.exposing import take_all
from assessor.work.models import Exposure
from tests.archive.campaigns import written
from tests.conftest import Importer, client_of


def test_an_organizer_takes_the_archive_and_it_is_told_who_did(campaign: Campaign, olga: Person):
    client = client_of(olga)
    assert b"None yet." in client.get("/campaigns/study/archive/").content
    response = client.get("/campaigns/study/archive/file/")
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"] == 'attachment; filename="study.archive.zip"'
    assert b"".join(response.streaming_content) == written(campaign)
    event = Event.objects.latest("pk")
    assert (event.verb, event.person, event.campaign) == ("archive written", olga, campaign)
    assert b"<bdi>olga</bdi>" in client.get("/campaigns/study/archive/").content


def taken(campaign: Campaign, person: Person) -> bytes:
    """Return the archive as a person gets it."""
    return b"".join(client_of(person).get(f"/campaigns/{campaign.slug}/archive/file/").streaming_content)


def test_who_takes_it_has_seen_what_models_gave_and_the_next_one_is_the_same(whole: Campaign, olga: Person):
    before = written(whole)
    assert [taken(whole, olga), taken(whole, olga)] == [before, before]
    seen = Exposure.objects.filter(person=olga, where="archive").order_by("kind", "topic__qid")
    assert [*seen.values_list("kind", "topic__qid")] == [
        (kind, qid) for kind in ("assignment", "nuggets", "support") for qid in ("t1", "t2")
    ]


def test_of_a_campaign_without_models_nothing_of_theirs_is_seen(campaign: Campaign, olga: Person):
    taken(campaign, olga)
    assert not Exposure.objects.exists()


def test_grades_of_a_model_are_seen_too(campaign: Campaign, olga: Person, import_file: Importer):
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="Mia's", by="model")
    taken(campaign, olga)
    assert [*Exposure.objects.values_list("kind", "topic__qid")] == [("relevance", "t1"), ("relevance", "t2")]


def test_what_is_seen_is_recorded_in_few_statements(whole: Campaign, olga: Person, django_assert_max_num_queries: Any):
    assert whole.conditions.count() > 7
    with django_assert_max_num_queries(8):  # the conditions, the sources, and two for each kind
        take_all(olga, whole, "archive")


def test_to_ask_whether_there_is_one_takes_none(campaign: Campaign, olga: Person):
    before = Event.objects.count()
    assert client_of(olga).head("/campaigns/study/archive/file/").status_code == 200
    assert Event.objects.count() == before


def test_it_is_nobody_elses(campaign: Campaign, otto: Person, anna: Person, admin: Person):
    for person in (otto, anna, admin):
        for address in ("archive/", "archive/file/"):
            assert client_of(person).get(f"/campaigns/study/{address}").status_code == 404
