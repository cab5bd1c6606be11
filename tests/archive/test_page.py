"""The page of the archive: for the campaign's organizers, and each archive that is taken is in the history."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.archive.reader import verify
from assessor.campaigns.models import Campaign, Event
from assessor.exports import actions, progress
from assessor.exports.models import Export
from assessor.work.exposure import take_all
from assessor.work.models import Exposure
from tests.archive.campaigns import written
from tests.conftest import Importer, client_of
from tests.exports.test_beside_writers import in_a_thread
from tests.stored_files import export_path, files_of_exports


@pytest.fixture(autouse=True)
def _folder_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "uploads").mkdir()
    (tmp_path / "exports").mkdir()


def ask(campaign: Campaign, person: Person) -> Export:
    """Ask for an archive on the page; return its record."""
    response = client_of(person).post(f"/campaigns/{campaign.slug}/archive/make/")
    assert response["Location"] == f"/campaigns/{campaign.slug}/archive/"
    return Export.objects.latest("pk")


def taken(campaign: Campaign, person: Person) -> bytes:
    """Return the archive as a person gets it."""
    export = actions.run(ask(campaign, person))
    assert export.state == "done", export.why
    response = client_of(person).get(f"/campaigns/{campaign.slug}/exports/made/{export.pk}/file")
    return b"".join(response.streaming_content)


def test_an_archive_is_made_in_the_background_and_it_is_told_who_took_it(campaign: Campaign, olga: Person):
    client = client_of(olga)
    page = "/campaigns/study/archive/"
    assert b"None yet." in client.get(page).content
    export = ask(campaign, olga)
    assert b"it starts as soon as the worker is free" in client.get(page).content
    assert ask(campaign, olga) == export, "one is under way"
    export = actions.run(export)
    path = export_path(export)
    assert path.read_bytes() == written(campaign)
    assert export.records == sum(verify(path).values())
    assert export.expected == export.records - Person.objects.count(), "without the people"
    with zipfile.ZipFile(path) as opened:
        assert opened.read("manifest.json").decode() == export.manifest
    assert f"/campaigns/study/exports/made/{export.pk}/file".encode() in client.get(page).content
    events = [*Event.objects.order_by("pk").filter(verb__startswith="archive").values_list("verb", "person__username")]
    assert events == [("archive asked for", "olga")]
    response = client.get(f"/campaigns/study/exports/made/{export.pk}/file")
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"] == 'attachment; filename="study.archive.zip"'
    assert b"".join(response.streaming_content) == path.read_bytes()
    event = Event.objects.latest("pk")
    assert (event.verb, event.person, event.campaign) == ("archive written", olga, campaign)
    assert b"<bdi>olga</bdi>" in client.get(page).content


def test_it_can_be_stopped_on_its_page_and_that_changes_no_archive(campaign: Campaign, olga: Person):
    before, export = written(campaign), ask(campaign, olga)
    response = client_of(olga).post(f"/campaigns/study/exports/made/{export.pk}/stop/", follow=True)
    assert response.redirect_chain == [("/campaigns/study/archive/", 302)]
    assert b"Stopped. No file was made." in response.content
    assert actions.run(export).state == "stopped"
    assert [*Event.objects.filter(campaign=campaign).order_by("-pk").values_list("verb", flat=True)[:2]] == [
        "archive stopped",
        "archive asked for",
    ]
    assert written(campaign) == before
    assert ask(campaign, olga) != export


def test_an_archive_whose_worker_died_is_made_again(campaign: Campaign, olga: Person):
    export = ask(campaign, olga)
    dead = {"state": "running", "attempts": 1, "owner": "elsewhere 1 1.0", "alive_at": None, "records": 7}
    Export.objects.filter(pk=export.pk).update(**dead)
    assert actions.sweep() == [export.pk]
    assert actions.run(export).state == "done"
    assert export_path(export).read_bytes() == written(campaign)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ends", ["done", "stopped"])
def test_its_progress_is_written_while_it_is_made(
    campaign: Campaign, olga: Person, monkeypatch: pytest.MonkeyPatch, ends: str
):
    monkeypatch.setattr(progress, "_SIGN_OF_LIFE", 0)
    export, shown = ask(campaign, olga), []
    show = progress.Progress.show

    def look(self: progress.Progress, records: int) -> None:
        show(self, records)
        if records == 5:
            in_a_thread(lambda: shown.append(Export.objects.values_list("records", "expected").get()))
            if ends == "stopped":
                in_a_thread(lambda: actions.stop(export=export, acting_user=None))

    monkeypatch.setattr(progress.Progress, "show", look)
    done = actions.run(export)
    assert (done.state, done.why) == (ends, "")
    [(records, expected)] = shown
    assert (records, expected) == (5, done.expected)
    assert expected > 5
    assert len(files_of_exports()) == (ends == "done")
    if ends == "done":
        assert export_path(done).read_bytes() == written(campaign)


def test_who_takes_it_has_seen_what_models_gave_and_the_next_one_is_the_same(whole: Campaign, olga: Person):
    before = written(whole)
    assert [taken(whole, olga), taken(whole, olga)] == [before, before]
    seen = Exposure.objects.filter(person=olga, where="archive").order_by("kind", "topic__qid")
    assert [*seen.values_list("kind", "topic__qid")] == [
        (kind, qid)
        for kind in ("argue", "assignment", "nuggets", "preference", "relevance", "reports", "support")
        for qid in ("t1", "t2")
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
    with django_assert_max_num_queries(17):  # the conditions, the sources, and two for each kind
        take_all(olga, whole, "archive")


def test_to_ask_whether_there_is_one_takes_none(campaign: Campaign, olga: Person):
    export = actions.run(ask(campaign, olga))
    before = Event.objects.count()
    assert client_of(olga).head(f"/campaigns/study/exports/made/{export.pk}/file").status_code == 200
    assert Event.objects.count() == before


def test_it_is_nobody_elses(campaign: Campaign, olga: Person, otto: Person, anna: Person, admin: Person):
    made = actions.run(ask(campaign, olga))
    for person in (otto, anna, admin):
        for address in ("archive/", f"exports/made/{made.pk}/file"):
            assert client_of(person).get(f"/campaigns/study/{address}").status_code == 404
        assert client_of(person).post("/campaigns/study/archive/make/").status_code == 404
    assert Export.objects.count() == 1
