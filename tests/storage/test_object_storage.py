"""Uploads, exports and archives on an S3-compatible server."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.utils import timezone

from assay.processes import without_settings
from assessor.accounts.models import Person
from assessor.archive.actions import restore
from assessor.campaigns.models import Campaign, Event, Import
from assessor.exports import actions
from assessor.exports.checksums import Damaged
from assessor.exports.models import Export
from assessor.imports import importer, tasks
from assessor.runtime.storage import StorageAway
from tests.archive.campaigns import exported, forget_everything, written
from tests.archive.conftest import whole  # noqa: F401
from tests.conftest import QRELS, client_of
from tests.llm.endpoint import ROOT
from tests.object_store import BUCKET, ObjectStore
from tests.stored_files import export_path, files_of_exports

Env = dict[str, str]
TOPICS = "".join(f"n{n}\ttitle {n}\n" for n in range(1_200))
FILE = "/campaigns/study/exports/made/{}/file"


def drop(client: Any, capture: Any, text: str = TOPICS) -> Any:
    """Upload a file of topics on the page of imports."""
    with capture(execute=True):
        data = {"kind": "topics", "uploads": SimpleUploadedFile("topics.tsv", text.encode())}
        return client.post("/campaigns/study/imports/", data)


def made(campaign: Campaign, person: Person) -> Export:
    """Have the grades exported in the background."""
    client_of(person).post(f"/campaigns/{campaign.slug}/exports/qrels/", {"of": "NIST", "form": "txt"})
    return actions.run(Export.objects.latest("pk"))


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_an_upload_is_kept_there_until_it_is_imported(
    stored: ObjectStore,
    as_olga: Any,
    empty_campaign: Campaign,
    work: Callable[[], None],
    folder: Path,
    django_capture_on_commit_callbacks: Any,
):
    response = drop(as_olga, django_capture_on_commit_callbacks)
    record = Import.objects.get()
    assert response["Location"] == f"/campaigns/study/imports/{record.pk}/"
    assert stored.names() == [f"assay/uploads/{record.upload}"]
    assert record.bytes_total == len(TOPICS)
    assert [*(folder / "uploads").iterdir()] == []
    work()
    record.refresh_from_db()
    assert (record.state, empty_campaign.topics.count()) == (Import.State.DONE, 1_200)
    assert stored.names() == []


def test_an_export_is_the_same_bytes_as_in_the_data_folder(
    stored: ObjectStore, as_olga: Any, campaign: Campaign, olga: Person, use: Callable[[Env], None]
):
    export = made(campaign, olga)
    assert (export.state, export.why) == ("done", "")
    assert stored.names() == [f"assay/exports/{export.pk}.export"]
    assert files_of_exports() == []
    there = as_olga.get(FILE.format(export.pk))
    assert there["Content-Length"] == str(len(QRELS))
    use({"ASSAY_STORAGE": ""})
    export = made(campaign, olga)
    assert (
        body(there) == body(as_olga.get(FILE.format(export.pk))) == export_path(export).read_bytes() == QRELS.encode()
    )
    assert export_path(export).stat().st_mode & 0o777 == 0o600
    assert Event.objects.filter(verb="exported").count() == 2


def test_an_archive_is_the_same_and_its_campaign_is_restored_from_it(
    stored: ObjectStore,
    whole: Campaign,  # noqa: F811
    olga: Person,
    tmp_path: Path,
):
    client_of(olga).post("/campaigns/whole/archive/make/")
    export = actions.run(Export.objects.latest("pk"))
    assert (export.state, export.why) == ("done", "")
    expected, files = written(whole), exported(whole)
    response = client_of(olga).get(f"/campaigns/whole/exports/made/{export.pk}/file")
    path = tmp_path / "whole.zip"
    path.write_bytes(body(response))
    assert path.read_bytes() == expected
    Export.objects.all().delete()
    forget_everything()
    assert exported(restore(path)) == files


def test_old_files_are_removed(stored: ObjectStore, as_olga: Any, campaign: Campaign, olga: Person, settings: Any):
    export = made(campaign, olga)
    for days, names in ((settings.EXPORT_DAYS - 1, [f"assay/exports/{export.pk}.export"]), (settings.EXPORT_DAYS, [])):
        ended_at = timezone.now() - timedelta(days=days, minutes=1)
        Export.objects.filter(pk=export.pk).update(ended_at=ended_at)
        actions.sweep()
        assert stored.names() == names
    assert as_olga.get(FILE.format(export.pk)).status_code == 404


@pytest.mark.skipif(connection.vendor == "postgresql", reason="there it is the server's clock")
def test_what_was_left_behind_is_removed_after_an_hour_and_nothing_else(
    stored: ObjectStore,
    as_olga: Any,
    campaign: Campaign,
    olga: Person,
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
):
    export = made(campaign, olga)
    drop(as_olga, django_capture_on_commit_callbacks)
    waiting = Import.objects.latest("pk")
    left = [f"assay/{folder}/left" for folder in ("exports", "uploads")]
    others = ["assay2/exports/1.export", "exports/1.export"]
    for name in (*left, *others):
        stored.client.put_object(Bucket=BUCKET, Key=name, Body=b"x")
        if name != others[1]:
            stored.client.create_multipart_upload(Bucket=BUCKET, Key=name)
    wanted = [*others, f"assay/exports/{export.pk}.export", f"assay/uploads/{waiting.upload}"]

    def sweep() -> tuple[list[str], list[str]]:
        importer.sweep()
        actions.sweep()
        unfinished = stored.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
        return stored.names(), sorted(one["Key"] for one in unfinished)

    assert sweep() == (sorted([*wanted, *left]), [*left, others[0]])
    with time_machine.travel(timezone.now() + timedelta(hours=2), tick=True):
        assert sweep() == (sorted(wanted), [*left, others[0]])
    with time_machine.travel(timezone.now() + timedelta(hours=25), tick=True):
        assert sweep() == (sorted(wanted), [others[0]])


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "another-secret"}, "The object storage refused PutObject: SignatureDoesNotMatch."),
        ({"AWS_ACCESS_KEY_ID": "AKIANOBODYKNOWSTHIS0"}, "The object storage refused PutObject: InvalidAccessKeyId."),
        ({"bucket": "gone"}, "The object storage refused PutObject: NoSuchBucket."),
    ],
)
def test_where_the_storage_refuses_nothing_is_noted(
    store: ObjectStore,
    as_olga: Any,
    campaign: Campaign,
    olga: Person,
    use: Callable[[Env], None],
    changed: Env,
    why: str,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
):
    env = store.env(bucket=changed.pop("bucket", BUCKET)) | changed
    use(env)
    before = Import.objects.count()
    as_olga.raise_request_exception = False
    response = drop(as_olga, django_capture_on_commit_callbacks)
    assert response.status_code == 503
    assert b"Its database or file storage does not answer" in response.content
    assert Import.objects.count() == before
    assert why in caplog.text
    export = made(campaign, olga)
    for state in ("waiting", "waiting", "failed"):
        assert export.state == state
        export = actions.run(export)
    assert (export.state, export.why) == ("failed", f"StorageAway: {why}")
    with pytest.raises(SystemCheckError) as refused:
        call_command("check", "--deploy", "--fail-level", "ERROR")
    assert why in str(refused.value)
    assert store.names() == []
    assert not any(env[key] in text for key in store.keys for text in (caplog.text, str(refused.value), export.why))


def test_the_check_of_deployments_leaves_nothing(stored: ObjectStore):
    call_command("check", "--deploy", "--fail-level", "ERROR")
    assert stored.names() == []


def test_a_download_while_the_server_is_down(stored: ObjectStore, as_olga: Any, campaign: Campaign, olga: Person):
    export = made(campaign, olga)
    stored.stop()
    as_olga.raise_request_exception = False
    response = as_olga.get(FILE.format(export.pk))
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert not Event.objects.filter(verb="exported").exists()
    stored.start()
    assert body(as_olga.get(FILE.format(export.pk))) == QRELS.encode()


def test_an_export_while_the_server_is_down(stored: ObjectStore, as_olga: Any, campaign: Campaign, olga: Person):
    stored.stop()
    export = made(campaign, olga)
    assert export.state == "waiting"
    assert as_olga.get(FILE.format(export.pk)).status_code == 404
    assert actions.sweep() == [export.pk]
    stored.start()
    assert actions.run(export).state == "done"
    assert stored.names() == [f"assay/exports/{export.pk}.2.export"]
    assert body(as_olga.get(FILE.format(export.pk))) == QRELS.encode()


def test_an_import_while_the_server_is_down_waits_for_it(
    stored: ObjectStore,
    as_olga: Any,
    empty_campaign: Campaign,
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
):
    drop(as_olga, django_capture_on_commit_callbacks)
    stored.stop()
    for _ in range(4):
        with pytest.raises(StorageAway):
            tasks.run_import.run(Import.objects.get().pk)
    record = Import.objects.get()
    assert (record.state, record.attempts) == (Import.State.WAITING, 0)
    stored.start()
    work()
    assert (Import.objects.get().state, empty_campaign.topics.count()) == (Import.State.DONE, 1_200)


def test_a_file_that_breaks_off_as_it_is_read_is_not_imported(
    stored: ObjectStore,
    as_olga: Any,
    empty_campaign: Campaign,
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
):
    drop(as_olga, django_capture_on_commit_callbacks)
    stored.breaks_off = True
    with pytest.raises(StorageAway):
        tasks.run_import.run(Import.objects.get().pk)
    record = Import.objects.get()
    assert (record.state, empty_campaign.topics.count()) == (Import.State.WAITING, 0)
    stored.breaks_off = False
    work()
    assert (Import.objects.get().state, empty_campaign.topics.count()) == (Import.State.DONE, 1_200)


@pytest.mark.parametrize("is_there", [True, False], ids=["bucket", "folder"])
def test_a_download_of_other_bytes_breaks_off(
    store: ObjectStore, as_olga: Any, campaign: Campaign, olga: Person, use: Callable[[Env], None], is_there: bool
):
    use(store.env() if is_there else {"ASSAY_STORAGE": ""})
    export = made(campaign, olga)
    other = QRELS.replace("2", "0", 1).encode()
    assert len(other) == export.size
    if is_there:
        store.client.put_object(Bucket=BUCKET, Key=f"assay/exports/{export.pk}.export", Body=other)
    else:
        export_path(export).write_bytes(other)
    response = as_olga.get(FILE.format(export.pk))
    with pytest.raises(Damaged):
        body(response)


def test_a_stopped_export_leaves_nothing(stored: ObjectStore, campaign: Campaign, olga: Person, monkeypatch: Any):
    client_of(olga).post("/campaigns/study/exports/qrels/", {"of": "NIST", "form": "txt"})
    export = Export.objects.latest("pk")
    save = actions.StoredFile.take

    def then_stop(*args: Any) -> None:
        save(*args)
        actions.stop(export=export, acting_user=olga)

    monkeypatch.setattr(actions.StoredFile, "take", then_stop)
    assert actions.run(export).state == "stopped"
    assert stored.names() == files_of_exports() == []


def test_files_are_for_nobody_without_the_keys(stored: ObjectStore, campaign: Campaign, olga: Person):
    export = made(campaign, olga)
    acl = stored.client.get_object_acl(Bucket=BUCKET, Key=f"assay/exports/{export.pk}.export")
    assert [(one["Grantee"]["Type"], one["Permission"]) for one in acl["Grants"]] == [("CanonicalUser", "FULL_CONTROL")]


def test_the_client_is_loaded_only_where_a_bucket_is_named_and_used(folder: Path):
    code = (
        "import sys, assessor.wsgi; from django.core.files.storage import storages; storages['uploads'].listdir(''); "
        "print(sorted({'boto3', 'botocore', 's3transfer', 'storages'} & {*sys.modules}))"
    )
    env = without_settings(os.environ) | {"ASSAY_DATA_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["[]"]), done.stderr
