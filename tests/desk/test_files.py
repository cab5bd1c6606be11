"""Files that come in by the drop zone: recognised, asked about where they must be, and imported in a sound order."""

import io
import json
import os
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Import
from assessor.imports import importer, tasks
from tests.conftest import client_of
from tests.stored_files import upload_path

BASE = "/campaigns/study/"
TOPICS = ("topics.tsv", "t1\twhy do cats purr\n")
SEGMENTS = ("segments.jsonl", json.dumps({"docid": "d1", "segment": "Cats purr."}) + "\n")
RUN = ("a.jsonl", json.dumps({"run_id": "r1", "topic_id": "t1", "references": ["d1"], "answer": []}) + "\n")
QRELS = ("qrels.NIST.txt", "t1 0 d1 2\n")
UNKNOWN = ("notes.docx", "PK\x03\x04 what I think\n")


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def drop(as_olga, monkeypatch, django_capture_on_commit_callbacks):
    """Upload files, and let a worker run what it was handed to its end."""
    handed: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", handed.append)

    def do(*files, page="imports", work=True, path="imports/", **data):
        uploads = [
            SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
            for name, content in files
        ]
        with django_capture_on_commit_callbacks(execute=True):
            response = as_olga.post(f"{BASE}{path}", {"uploads": uploads, "page": page} | data)
        while work and handed:
            tasks.run_import.run(handed.pop())
        return response

    return do


def states() -> dict[str, str]:
    return {one.file_name: one.state for one in Import.objects.all()}


def page_of(client: Client, name: str = "imports/") -> str:
    return " ".join(client.get(f"{BASE}{name}").content.decode().split())


def test_files_in_any_order_are_imported_as_they_need_each_other(drop, empty_campaign: Campaign):
    response = drop(RUN, SEGMENTS, TOPICS)
    assert response["Location"] == f"{BASE}imports/"
    ended = Import.objects.order_by("ended_at").values_list("kind", "state")
    assert list(ended) == [("topics", "done"), ("segments", "done"), ("runs", "done")]
    assert empty_campaign.runs.get().answers.get().topic.qid == "t1"


def test_what_names_topics_waits_until_there_are_some(drop, as_olga, empty_campaign: Campaign):
    drop(RUN)
    assert states() == {"a.jsonl": "waiting"}
    assert "Waits for the topics of the campaign" in page_of(as_olga)
    drop(SEGMENTS)
    assert states() == {"a.jsonl": "waiting", "segments.jsonl": "done"}
    drop(TOPICS)
    assert states() == {"a.jsonl": "done", "segments.jsonl": "done", "topics.tsv": "done"}


@pytest.mark.usefixtures("empty_queues")
def test_a_hint_for_what_waits_is_sent_once_it_can_be_imported(drop, empty_campaign: Campaign, monkeypatch):
    hints: list[int] = []
    monkeypatch.setattr(tasks.run_import, "apply_async", lambda ids, **options: hints.append(*ids))
    drop(RUN, work=False)
    tasks.take_up_imports()
    assert hints == []
    drop(TOPICS, work=False)
    tasks.take_up_imports()
    assert hints == [Import.objects.get(kind="topics").pk]


def test_a_file_whose_kind_needs_more_is_held_and_imported_once_that_is_said(drop, as_olga, campaign: Campaign, folder):
    drop(QRELS)
    held = Import.objects.get(state=Import.State.HELD)
    assert (held.kind, held.options) == ("qrels", {})
    assert upload_path(held).exists()
    page = page_of(as_olga)
    assert "1 file needs you" in page
    assert f'<input type="text" name="file{held.pk}-source" value="Nist"' in page
    assert '<option value="people" selected>' in page
    assert f'name="file{held.pk}-maker"' not in page, "that is for drafts"
    fields = {"kind": "qrels", "source": "Theirs", "by": "people", "invalid_labels": ""}
    sent = {f"file{held.pk}-{name}": value for name, value in fields.items()}
    response = drop(path="imports/held/", page="setup", **sent)
    assert response["Location"] == f"{BASE}setup/"
    held.refresh_from_db()
    assert (held.state, held.options) == (Import.State.DONE, {"source": "Theirs", "by": "people"})
    assert list(folder.iterdir()) == []


def test_what_is_said_completely_goes_in_and_the_rest_is_still_asked(drop, as_olga, campaign: Campaign):
    drop(QRELS, UNKNOWN)
    qrels, unknown = Import.objects.filter(state=Import.State.HELD).order_by("file_name").reverse()
    sent = {f"file{qrels.pk}-{name}": value for name, value in (("kind", "qrels"), ("source", "N"), ("by", "model"))}
    response = drop(path="imports/held/", **sent, **{f"file{unknown.pk}-kind": ""})
    page = " ".join(response.content.decode().split())
    assert "1 file needs you" in page
    assert "Not recognised. Choose a kind or leave it out." in page
    assert "This field is required." in page
    assert (states()[qrels.file_name], states()[unknown.file_name]) == ("done", "held")


def test_another_kind_asks_what_it_needs(drop, as_olga, campaign: Campaign):
    drop(UNKNOWN)
    held = Import.objects.get(state=Import.State.HELD)
    page = page_of(as_olga, f"imports/?file{held.pk}-kind=drafts&file{held.pk}-condition=Mine")
    assert '<option value="drafts" selected>' in page
    assert f'name="file{held.pk}-maker"' in page
    assert f'name="file{held.pk}-condition" value="Mine"' in page


def test_what_is_said_of_one_file_can_hold_for_all_of_its_kind(drop, as_olga, campaign: Campaign, folder):
    drop(TOPICS)
    banks = [{"query_id": "t1", "nugget_bank": {f"{word}?": {"question": f"{word}?"}}} for word in ("Why", "Who")]
    files = [(f"{number}.json", json.dumps(bank, indent=2)) for number, bank in enumerate(banks)]
    drop(*files, ("2.json", json.dumps({"query": "", "qid": "t1", "nuggets": [{"text": "a", "importance": "vital"}]})))
    first, second, other = Import.objects.filter(state=Import.State.HELD).order_by("pk")
    page = page_of(as_olga, "imports/")
    assert page.count("The same for all 2 files of this kind") == 1
    assert f'name="file{first.pk}-for_all"' in page
    said = {f"file{first.pk}-{name}": value for name, value in {"kind": "questions", "condition": "Q"}.items()}
    # Without who made them it holds for none of them; with it the second file is no other bank of the topic.
    drop(path="imports/held/", **said, **{f"file{first.pk}-for_all": "on"})
    assert {state for name, state in states().items() if name.endswith(".json")} == {"held"}
    drop(path="imports/held/", **said, **{f"file{first.pk}-for_all": "on", f"file{first.pk}-by": "people"})
    assert [Import.objects.get(pk=one.pk).state for one in (first, second, other)] == ["done", "refused", "held"]
    assert {one.options["condition"] for one in Import.objects.filter(kind="questions")} == {"Q"}


def test_a_held_file_is_left_out(drop, as_olga, campaign: Campaign, folder, django_capture_on_commit_callbacks):
    drop(UNKNOWN)
    held = Import.objects.get(state=Import.State.HELD)
    with django_capture_on_commit_callbacks(execute=True):
        response = as_olga.post(f"{BASE}imports/{held.pk}/stop/", {"page": "setup"})
    assert response["Location"] == f"{BASE}setup/"
    held.refresh_from_db()
    assert (held.state, list(folder.iterdir())) == (Import.State.STOPPED, [])


def test_a_held_file_is_neither_run_nor_swept(drop, campaign: Campaign, folder, monkeypatch):
    drop(QRELS)
    held = Import.objects.get(state=Import.State.HELD)
    os.utime(upload_path(held), (0, 0))
    importer.sweep()
    assert upload_path(held).exists()
    assert importer.next_in_line(campaign) is None
    assert importer.release(held, kind="qrels", options={})
    assert not importer.release(held, kind="topics", options={})
    assert importer.next_in_line(campaign) == held


def zipped(*files) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(f"folder/{name}", text)
    return content.getvalue()


def test_the_files_of_a_zip_come_in_each_for_itself(drop, empty_campaign: Campaign, folder):
    drop(("all.zip", zipped(RUN, TOPICS, ("b.jsonl", RUN[1].replace("r1", "r2") + "{broken\n"), QRELS)))
    assert states() == {"topics.tsv": "done", "a.jsonl": "done", "b.jsonl": "refused", "qrels.NIST.txt": "held"}
    assert len(list(folder.iterdir())) == 1


def test_a_bad_zip_is_explained_and_the_other_files_come_in(drop, empty_campaign: Campaign, folder):
    page = drop(("bad.zip", b"PK nothing"), TOPICS).content.decode()
    assert "bad.zip was not taken: it is no whole zip file. Nothing of it was kept." in page
    assert states() == {"topics.tsv": "done"}
    assert list(folder.iterdir()) == []


def test_a_refused_file_says_where_and_why(drop, as_olga, empty_campaign: Campaign):
    drop(("topics.tsv", "t1\ta\nt1\tb\n"))
    page = page_of(as_olga)
    assert "Line 2, id: found <bdi>t1</bdi>; expected <bdi>each once; it stands on line 1 already</bdi>" in page
    assert '<span class="chip bad">1 problem</span>' in page


def test_files_can_be_checked_only(drop, empty_campaign: Campaign):
    drop(TOPICS, check_only="on")
    assert states() == {"topics.tsv": "checked"}
    assert not empty_campaign.topics.exists()


def test_more_files_than_are_taken_at_once_are_refused(drop, empty_campaign: Campaign, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    assert drop(*[(f"{n}.tsv", f"t{n}\ta\n") for n in range(3)]).status_code == 400
    assert not Import.objects.exists()


def test_a_file_of_another_campaign_is_not_imported(drop, as_olga, campaign: Campaign, olga, anna):
    drop(QRELS)
    held = Import.objects.get(state=Import.State.HELD)
    create_campaign(name="Other", slug="other", acting_user=olga)
    sent = {f"file{held.pk}-{name}": value for name, value in (("kind", "qrels"), ("source", "N"), ("by", "model"))}
    as_olga.post("/campaigns/other/imports/held/", sent)
    assert client_of(anna).post(f"{BASE}imports/held/", sent).status_code == 404
    assert states()[held.file_name] == "held"
