"""Exports: chosen, sent at once, made in the background, with manifests; who has seen what."""

import json
from datetime import timedelta
from hashlib import sha256

import pytest
from django.db import OperationalError
from django.utils import timezone

from assessor.campaigns.models import Event, Topic
from assessor.exportables import ChoiceError
from assessor.exports import actions
from assessor.exports.freeze import freeze
from assessor.exports.models import Export
from assessor.exports.registry import BY_NAME, EXPORTABLES
from assessor.exports.selection import choose
from assessor.work.models import Exposure
from tests.conftest import QRELS, TOPICS, client_of, make_person
from tests.stored_files import export_path, files_of_exports

NUGGETS = [
    {"query": "", "qid": qid, "nuggets": [{"text": f"nugget of {qid}", "importance": "vital"}]} for qid in ("t1", "t2")
]


@pytest.fixture
def as_olga(olga, campaign):
    return client_of(olga)


@pytest.fixture(autouse=True)
def _folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "exports").mkdir()


@pytest.fixture
def models_nuggets(campaign, import_file):
    import_file(campaign, "nuggets", NUGGETS, condition="Mia", by="model")
    return campaign.conditions.get(name="Mia")


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def asked(campaign, kind, person=None, **options) -> Export:
    return actions.ask_for(campaign=campaign, kind=BY_NAME[kind], options=options, acting_user=person)


def test_a_file_sent_at_once_has_a_manifest(as_olga, campaign, olga):
    content = body(as_olga.get("/campaigns/study/exports/qrels/file/?of=NIST&topics=t2"))
    assert content.decode() == "t2 0 d1 0\nt2 0 d5 2\n"
    export = Export.objects.get()
    assert (export.state, export.records, export.at_once, export.person) == ("done", 2, True, olga)
    response = as_olga.get(f"/campaigns/study/exports/made/{export.pk}/manifest.json")
    assert response["Content-Disposition"] == 'attachment; filename="study.qrels.NIST.txt.manifest.json"'
    manifest = json.loads(response.content)
    settings = manifest["protocol"].pop("settings")
    assert settings["max_grade"] == 3
    assert settings["name"] == "trec-2024"
    assert manifest == {
        "format": "assay-export",
        "format_version": 1,
        "program": "assay 0.1.0",
        "made_at": export.ended_at.isoformat(),
        "made_by": "olga",
        "campaign": {"slug": "study", "name": "Study"},
        "what": "qrels",
        "title": "Relevance judgments (qrels)",
        "form": "txt",
        "source": "NIST",
        "condition": None,
        "protocol": {"version": 1},
        "filters": {"topics": ["t2"], "runs": "all", "practice_topics": "as all others"},
        "file": {"name": "qrels.NIST.txt", "records": 2, "bytes": 20, "sha256": sha256(content).hexdigest()},
    }
    assert as_olga.get(f"/campaigns/study/exports/made/{export.pk}/file").status_code == 404
    assert Event.objects.get(verb="exported").details == {"topics": ["t2"]}


def test_a_download_that_breaks_off_has_no_manifest(as_olga, campaign, olga):
    export, sent = actions.send(campaign=campaign, kind=BY_NAME["qrels"], options={"of": "NIST"}, acting_user=olga)
    next(sent)
    sent.close()
    export.refresh_from_db()
    assert (export.state, export.why, export.manifest) == ("stopped", "The download broke off.", "")
    assert as_olga.get(f"/campaigns/study/exports/made/{export.pk}/manifest.json").status_code == 404


def test_a_head_request_exports_nothing(as_olga, campaign):
    assert as_olga.head("/campaigns/study/exports/qrels/file/?of=NIST").status_code == 200
    assert not Export.objects.exists()
    assert not Event.objects.filter(verb="exported").exists()


def test_a_file_made_in_the_background_can_be_downloaded_later(as_olga, campaign, django_capture_on_commit_callbacks):
    page = as_olga.post("/campaigns/study/exports/qrels/", {"of": "NIST", "form": "txt", "topics": "t1\r\n t2"})
    export = Export.objects.get()
    assert page["Location"] == f"/campaigns/study/exports/made/{export.pk}/"
    assert (export.state, export.expected, export.options) == (
        "waiting",
        6,
        {"of": "NIST", "form": "txt", "topics": ["t1", "t2"]},
    )
    assert "it starts as soon as the worker is free" in as_olga.get(page["Location"]).content.decode()
    assert as_olga.get(f"{page['Location']}file").status_code == 404
    done = actions.run(export)
    assert (done.state, done.records, done.size) == ("done", 6, len(QRELS))
    assert files_of_exports() == [f"{export.pk}.export"]
    response = as_olga.get(f"{page['Location']}file")
    assert body(response).decode() == QRELS
    assert response["Content-Disposition"] == 'attachment; filename="study.qrels.NIST.txt"'
    assert json.loads(done.manifest)["file"]["sha256"] == sha256(QRELS.encode()).hexdigest()
    assert Event.objects.get(verb="exported").person.username == "olga"


def test_a_file_of_the_same_key_that_an_older_database_left_gives_way(as_olga, campaign, settings):
    as_olga.post("/campaigns/study/exports/qrels/", {"of": "NIST", "form": "txt"})
    export = Export.objects.get()
    (settings.DATA_DIR / "exports" / f"{export.pk}.export").write_text("left behind")
    actions.run(export)
    response = as_olga.get(f"/campaigns/study/exports/made/{export.pk}/file")
    assert body(response).decode() == QRELS


def test_what_is_too_large_to_be_sent_at_once_leads_to_the_form(as_olga, campaign, settings):
    settings.EXPORT_AT_ONCE = 5
    response = as_olga.get("/campaigns/study/exports/qrels/file/?of=NIST")
    assert response["Location"] == "/campaigns/study/exports/qrels/?of=NIST&large=1"
    page = as_olga.get(response["Location"]).content.decode()
    assert "Large file: made in the background. We show it here when ready." in page
    assert '<option value="NIST" selected>' in page
    assert 'name="at_once"' not in page
    assert not Export.objects.exists()


def test_the_form_leads_to_the_file(as_olga, campaign):
    data = {"of": "NIST", "form": "txt", "topics": "t2", "at_once": ""}
    response = as_olga.post("/campaigns/study/exports/qrels/", data)
    assert response["Location"] == "/campaigns/study/exports/qrels/file/?of=NIST&form=txt&topics=t2"
    page = as_olga.post("/campaigns/study/exports/qrels/", data | {"topics": "t2 t9"}).content.decode()
    assert "There is no topic t9 in this campaign." in page


def test_exports_that_are_stopped_or_fail_leave_no_file(as_olga, campaign, monkeypatch):
    stopped = asked(campaign, "topics")
    as_olga.post(f"/campaigns/study/exports/made/{stopped.pk}/stop/")
    assert actions.run(stopped).state == "stopped"
    broken = asked(campaign, "topics")

    def lines(*args):
        yield "t1\t"
        raise OSError("disk full")

    monkeypatch.setattr("assessor.campaigns.exports.topics_lines", lines)
    assert (actions.run(broken).state, broken.why) == ("failed", "OSError: disk full")
    assert files_of_exports() == []


def test_an_export_whose_database_went_away_waits_for_two_more_tries(campaign, monkeypatch):
    export = asked(campaign, "topics")

    def lines(*args):
        yield "t1\t"
        raise OperationalError("the connection was refused")

    with monkeypatch.context() as away:
        away.setattr("assessor.campaigns.exports.topics_lines", lines)
        assert [actions.run(export).state for _ in range(2)] == ["waiting", "waiting"]
        assert actions.sweep() == [export.pk]
        assert files_of_exports() == []
    assert actions.run(export).state == "done"
    again = asked(campaign, "topics")
    Export.objects.filter(pk=again.pk).update(attempts=2)
    monkeypatch.setattr("assessor.campaigns.exports.topics_lines", lines)
    assert (actions.run(again).state, again.why) == ("failed", "OperationalError: the connection was refused")


def test_what_was_stopped_meanwhile_is_not_finished(campaign, monkeypatch):
    export = asked(campaign, "topics")

    def lines(*args):
        yield "t1\n"
        actions.stop(export=export, acting_user=None)

    monkeypatch.setattr("assessor.campaigns.exports.topics_lines", lines)
    assert actions.run(export).state == "stopped"
    assert files_of_exports() == []


def test_a_dead_workers_export_is_taken_up_again_three_times(campaign):
    export = asked(campaign, "topics")
    dead = {"state": "running", "owner": "elsewhere 1 1.0", "alive_at": timezone.now() - timedelta(hours=1)}
    for attempts in (1, 2):
        Export.objects.filter(pk=export.pk).update(attempts=attempts, **dead)
        assert actions.sweep() == [export.pk]
    Export.objects.filter(pk=export.pk).update(attempts=3, **dead)
    assert actions.sweep() == []
    export.refresh_from_db()
    assert (export.state, export.why) == ("failed", "Its process died 3 times.")


def test_old_files_are_removed_and_their_records_kept(as_olga, campaign):
    export = actions.run(asked(campaign, "topics"))
    Export.objects.filter(pk=export.pk).update(ended_at=timezone.now() - timedelta(days=29))
    actions.sweep()
    assert export_path(export).exists()
    Export.objects.filter(pk=export.pk).update(ended_at=timezone.now() - timedelta(days=31))
    actions.sweep()
    assert not export_path(export).exists()
    assert as_olga.get(f"/campaigns/study/exports/made/{export.pk}/file").status_code == 404
    assert "the file was removed" in as_olga.get(f"/campaigns/study/exports/made/{export.pk}/").content.decode()
    assert as_olga.get(f"/campaigns/study/exports/made/{export.pk}/manifest.json").status_code == 200


def seen():
    return list(Exposure.objects.order_by("pk").values_list("person__username", "topic__qid", "kind", "where"))


def test_who_takes_a_models_output_has_seen_it_and_nobody_else(as_olga, campaign, models_nuggets, olga):
    export = actions.run(asked(campaign, "nuggets", olga, of="Mia"))
    assert seen() == []
    oscar = make_person("oscar", "organizer")
    campaign.memberships.create(person=oscar, role="organizer")
    body(client_of(oscar).get(f"/campaigns/study/exports/made/{export.pk}/file"))
    told = [("oscar", qid, "nuggets", "export of Mia") for qid in ("t1", "t2")]
    assert seen() == told
    body(as_olga.get("/campaigns/study/exports/nuggets/file/?of=Mia&topics=t1"))
    assert seen() == [*told, ("olga", "t1", "nuggets", "export of Mia")]


def test_what_a_file_shows_is_what_it_was_made_with(as_olga, campaign, models_nuggets):
    some, all_of_it = (actions.run(asked(campaign, "nuggets", of="Mia", **more)) for more in ({"topics": ["t2"]}, {}))
    release = actions.run(actions.ask_for_release(campaign=campaign, condition=None, acting_user=None))
    freeze(condition=models_nuggets, acting_user=None)
    campaign.topics.filter(qid="t2").update(is_practice=True)
    for address in (
        f"exports/made/{some.pk}/file",
        f"exports/made/{all_of_it.pk}/file",
        f"exports/made/{release.pk}/file",
        f"frozen/{models_nuggets.pk}/1.zip",
    ):
        Exposure.objects.all()._raw_delete(using="default")
        assert b'"t2"' in body(as_olga.get(f"/campaigns/study/{address}")), address
        assert ("olga", "t2", "nuggets", "export of Mia") in seen(), address
    assert [event.details for event in Event.objects.filter(verb="exported")] == [{}] * 4


def test_models_grades_are_seen_too(as_olga, campaign, import_file):
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="Mia's", by="model")
    body(as_olga.get("/campaigns/study/exports/qrels/file/?of=NIST"))
    assert seen() == []
    body(as_olga.get("/campaigns/study/exports/qrels/file/?of=Mia%27s"))
    assert seen() == [("olga", "t1", "relevance", "export of Mia's")]


def test_practice_topics_are_left_out_of_what_is_said_on_topics(as_olga, campaign, models_nuggets):
    Topic.objects.filter(qid="t1").update(is_practice=True)
    lines = body(as_olga.get("/campaigns/study/exports/nuggets/file/?of=Mia")).decode().splitlines()
    assert [json.loads(line)["qid"] for line in lines] == ["t2"]
    assert as_olga.get("/campaigns/study/exports/nuggets/file/?of=Mia&topics=t1").status_code == 404
    with pytest.raises(ChoiceError, match="not exported: t1"):
        choose(campaign, BY_NAME["nuggets"], {"of": "Mia", "topics": ["t1", "t2"]})
    # What came from elsewhere is no label made here.
    assert body(as_olga.get("/campaigns/study/exports/qrels/file/?of=NIST")).decode() == QRELS
    assert body(as_olga.get("/campaigns/study/exports/topics/file/")).decode() == TOPICS


def test_all_that_is_of_labels_leaves_practice_out(campaign):
    of_labels = {kind.name for kind in EXPORTABLES if kind.subject and kind.of_labels(campaign.qrels_sources.get())}
    assert of_labels == {
        "nuggets",
        "questions",
        "assignments",
        "question_grades",
        "rubric_qrels",
        "argue_judgments",
        "argue_scores",
        "preferences",
        "support",
        "judgments",
        "support_judgments",
        "cutoff",
        "drafts",
        "edits",
        "editions",
        "significance",
        "items",
        "reusability",
        "judges",
        "grade_judges",
        "influence",
        "bias",
        "next_edition",
        "canaries",
        "panel",
        "matched_banks",
        "candidates",
        "sensitivity",
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("qrels", {}, "There is no source of grades . There are: NIST."),
        ("qrels", {"of": "a\x00"}, "There is no source of grades a\x00. There are: NIST."),
        ("qrels", {"of": "NIST", "form": "xml"}, "There is no form xml. There are: txt."),
        ("qrels", {"of": "NIST", "runs": ["r"]}, "Relevance judgments (qrels): runs can't be chosen."),
        ("qrels", {"of": "NIST", "topics": ["t1", "\x00"]}, "There is no topic \x00 in this campaign."),
        ("topics", {"topics": ["t1", "t7"]}, "There is no topic t7 in this campaign."),
    ],
)
def test_a_wrong_choice_says_what_is_wrong(campaign, kind, options, message):
    with pytest.raises(ChoiceError) as error:
        choose(campaign, BY_NAME[kind], options)
    assert str(error.value) == message
