"""Imports: checked first, all or nothing, one at a time, stopped, broken off, swept."""

import gc
import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from django.core.management import call_command
from django.db import IntegrityError, InterfaceError, OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assessor.campaigns.exports import topics_lines
from assessor.campaigns.models import Event, Import, Topic
from assessor.campaigns.models.imports import VisibleManager
from assessor.celery import app as celery
from assessor.imports import importer, tasks
from assessor.imports.importer import Busy, new_import, run, stop, sweep
from assessor.imports.loaders.topics import TopicLoader
from assessor.runtime import garbage, processes
from tests.conftest import client_of
from tests.imports.conftest import told
from tests.stored_files import upload_path

# More than two batches of topics.
MANY = "".join(f"t{n}\ttitle {n}\n" for n in range(1, 1_201))
LEFT = 5  # topics of an import that was broken off: more than two batches of a sweep


@pytest.fixture(autouse=True)
def _no_uploads_of_others(settings, tmp_path):
    """A folder of its own for each test's uploads."""
    settings.DATA_DIR = tmp_path / "data"
    (settings.DATA_DIR / "uploads").mkdir(parents=True)


@pytest.fixture
def waiting(empty_campaign):
    """Make an import that waits."""

    def make(kind="topics", campaign=empty_campaign, **fields):
        record = new_import(campaign=campaign, kind=kind, file_name="file", options={}, person=None, check_only=False)
        Import.objects.filter(pk=record.pk).update(**fields)
        record.refresh_from_db()
        return record

    return make


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text(MANY)
    return path


def after_batch(monkeypatch, count, act):
    """Do something when this many batches of topics are written."""
    plain, written = TopicLoader.write, []

    def write(self, records, import_record):
        plain(self, records, import_record)
        written.append(len(records))
        if len(written) == count:
            act(import_record)

    monkeypatch.setattr(TopicLoader, "write", write)
    return written


def test_what_an_import_says_of_itself(empty_campaign, import_file, olga):
    done = import_file(empty_campaign, "topics", "t1\ta\n\nt2\tb", name="topics.tsv")
    assert done.report == {
        "file": "topics.tsv",
        "counts": {"topics added": 2, "lines": 3},
        "error_count": 0,
        "errors": [],
        "warning_count": 0,
        "warnings": [],
    }
    assert (done.stage, done.bytes_read, done.bytes_total, done.percent) == (Import.Stage.WRITING, 10, 10, 100)
    assert (done.has_leftovers, done.attempts, done.is_over) == (False, 1, True)
    event = Event.objects.get(verb="imported")
    assert (event.subject, event.campaign) == ("topics from topics.tsv", empty_campaign)
    assert event.details == {"counts": done.report["counts"], "sha256": done.sha256}


def test_what_a_process_has_frozen_stays_so(empty_campaign, import_file, monkeypatch):
    """A worker's children share it; a command, which has nothing frozen, has nothing afterwards either."""
    garbage.freeze_what_is_loaded()
    frozen = gc.get_freeze_count()
    import_file(empty_campaign, "topics", "t1\ta")
    assert gc.get_freeze_count() > 0.99 * frozen, "but for the few that nobody needs any more"
    gc.unfreeze()
    monkeypatch.setattr(garbage, "_is_frozen", False)
    try:
        import_file(empty_campaign, "topics", "t2\tb")
        assert gc.get_freeze_count() == 0
    finally:
        gc.freeze()


def test_a_refused_import_is_not_in_the_history(empty_campaign, import_file):
    assert import_file(empty_campaign, "topics", "t1\n").state == Import.State.REFUSED
    assert not Event.objects.filter(verb="imported").exists()


FILES = [
    pytest.param("topics", "t9\tnew\n", {}, id="topics"),
    pytest.param("segments", [{"docid": "d9", "segment": "s"}], {}, id="segments"),
    pytest.param("qrels", "t1 0 d9 1\n", {"source": "Other", "by": "model"}, id="qrels"),
    pytest.param(
        "runs", [{"run_id": "r9", "topic_id": "t1", "references": [], "answer": []}], {}, id="runs"
    ),
    pytest.param("retrieval", "t1 Q0 d9 1 2.5 bm25\n", {}, id="retrieval"),
    pytest.param(
        "nuggets", [{"query": "", "qid": "t1", "nuggets": []}], {"condition": "N", "by": "model"}, id="nuggets"
    ),
    pytest.param("run_list", "tag,team,task,type,priority,aliases\nr9,,,,,x\n", {}, id="run_list"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "content", "options"), FILES)
def test_checking_imports_nothing(campaign, import_file, rows, kind, content, options):
    before = rows()
    checked = import_file(campaign, kind, content, check_only=True, **options)
    assert (checked.state, told(checked), checked.has_leftovers) == (Import.State.CHECKED, [], False)
    assert rows() == before
    assert import_file(campaign, kind, content, **options).state == Import.State.DONE
    assert rows() != before


def test_checking_a_bad_file_tells_its_errors(empty_campaign, import_file):
    refused = import_file(empty_campaign, "topics", "t1\n", check_only=True)
    assert told(refused) == [(1, "", "1 column: t1", "two columns, id and title, with a tab")]
    assert refused.state == Import.State.REFUSED


def test_nothing_is_visible_before_the_end(empty_campaign, waiting, file, monkeypatch):
    seen = []
    written = after_batch(
        monkeypatch, 2, lambda record: seen.append((Topic.everything.count(), empty_campaign.topics.count()))
    )
    run(waiting(), file)
    assert (seen, written) == ([(1_000, 0)], [500, 500, 200])
    assert empty_campaign.topics.count() == Topic.objects.count() == 1_200


@pytest.mark.parametrize("state", [state for state in Import.State if state != Import.State.DONE])
def test_rows_of_an_import_in_any_other_state_are_invisible(empty_campaign, import_file, state):
    done = import_file(empty_campaign, "topics", "t1\ta\n")
    assert Topic.objects.count() == empty_campaign.topics.count() == 1
    Import.objects.filter(pk=done.pk).update(state=state)
    assert isinstance(Topic._default_manager, VisibleManager)
    assert (Topic.objects.count(), empty_campaign.topics.count(), Topic.everything.count()) == (0, 0, 1)


CHANGED = [
    pytest.param(MANY.replace("title 7\n", "another\n").encode(), id="another-title"),
    pytest.param((MANY + "t1201\tmore\n").encode(), id="a-line-more"),
    pytest.param(MANY[:12_000].rsplit("\n", 1)[0].encode(), id="lines-lacking"),
    pytest.param(gzip.compress(MANY.encode()), id="the-same-lines-packed"),
    pytest.param(b"", id="empty"),
    pytest.param((MANY + "t1\tonce more\n").encode(), id="an-error-at-the-end"),
    pytest.param(MANY.encode() + b"\xff\n", id="unreadable-at-the-end"),
    pytest.param(b"\xff\n" + MANY.encode(), id="unreadable-from-the-start"),
    pytest.param(gzip.compress(MANY.encode())[:-3], id="truncated-gzip"),
]


@pytest.mark.parametrize("data", CHANGED)
def test_what_is_written_is_what_was_checked_whatever_becomes_of_the_file(
    empty_campaign, waiting, file, monkeypatch, data
):
    plain = importer._write

    def write(*args):
        file.write_bytes(data)
        plain(*args)

    monkeypatch.setattr(importer, "_write", write)
    done = run(waiting(), file)
    assert (done.state, done.sha256) == (Import.State.DONE, hashlib.sha256(MANY.encode()).hexdigest())
    assert sorted(topics_lines(empty_campaign)) == sorted(MANY.splitlines(keepends=True))


def test_a_record_that_turns_up_meanwhile_breaks_the_import_off(empty_campaign, waiting, file, rows, monkeypatch):
    plain = importer._write

    def write(import_record, *args):
        other = Import.objects.create(campaign=empty_campaign, kind="topics", state=Import.State.DONE)
        Topic.everything.create(import_record=other, campaign=empty_campaign, qid="t1100", title="another")
        plain(import_record, *args)

    monkeypatch.setattr(importer, "_write", write)
    record = waiting()
    with pytest.raises(IntegrityError):
        run(record, file)
    record.refresh_from_db()
    assert (record.state, record.has_leftovers) == (Import.State.INTERRUPTED, False)
    assert list(Topic.everything.values_list("title", flat=True)) == ["another"]


def test_an_import_that_is_stopped_half_way_leaves_nothing(empty_campaign, waiting, file, rows, monkeypatch, olga):
    written = after_batch(monkeypatch, 2, lambda record: stop(record, person=olga))
    stopped = run(waiting(), file)
    assert (stopped.state, stopped.has_leftovers, written) == (Import.State.STOPPED, False, [500, 500])
    assert set(rows().values()) == {0}
    event = Event.objects.get(verb="import stopped")
    assert (event.person, event.campaign) == (olga, empty_campaign)
    monkeypatch.undo()
    assert run(waiting(), file).state == Import.State.DONE


def test_an_import_that_is_stopped_at_the_last_moment_leaves_nothing(waiting, file, rows, monkeypatch, olga):
    plain = importer._show

    def show(import_record, loader):
        assert rows()["Topic"] == 1_200
        stop(import_record, person=olga)
        plain(import_record, loader)

    monkeypatch.setattr(importer, "_show", show)
    stopped = run(waiting(), file)
    assert (stopped.state, stopped.has_leftovers) == (Import.State.STOPPED, False)
    assert set(rows().values()) == {0}
    assert not Event.objects.filter(verb="imported").exists()


def test_a_waiting_import_that_was_stopped_does_not_run(waiting, file, rows, olga):
    record = waiting()
    stop(record, person=olga)
    assert run(record, file).state == Import.State.STOPPED
    assert set(rows().values()) == {0}


def test_an_import_that_is_over_cannot_be_stopped(empty_campaign, import_file, olga):
    done = import_file(empty_campaign, "topics", "t1\ta\n")
    stop(done, person=olga)
    done.refresh_from_db()
    assert (done.state, empty_campaign.topics.count()) == (Import.State.DONE, 1)
    assert not Event.objects.filter(verb="import stopped").exists()


@pytest.mark.parametrize("error", [MemoryError("no memory"), KeyboardInterrupt("ctrl-c"), OSError("disk full")])
def test_an_import_that_breaks_off_leaves_nothing(empty_campaign, waiting, file, rows, monkeypatch, error):
    def fail(import_record):
        raise error

    written = after_batch(monkeypatch, 2, fail)
    record = waiting()
    with pytest.raises(type(error)):
        run(record, file)
    record.refresh_from_db()
    assert (record.state, record.has_leftovers, written) == (Import.State.INTERRUPTED, False, [500, 500])
    found = f"{type(error).__name__}: {error}"
    assert told(record) == [(0, "", found, "an import that runs to its end; nothing was imported")]
    assert set(rows().values()) == {0}
    monkeypatch.undo()
    assert run(waiting(), file).report["counts"]["topics added"] == 1_200


@pytest.mark.parametrize("error", [OperationalError("disk is full"), InterfaceError("the connection is closed")])
def test_an_upload_whose_database_went_away_waits_for_two_more_tries(waiting, rows, monkeypatch, error):
    record = waiting()
    upload_path(record).write_text(MANY)

    def fail(import_record):
        raise error

    for state in (Import.State.WAITING, Import.State.WAITING, Import.State.INTERRUPTED):
        with monkeypatch.context() as away:
            after_batch(away, 2, fail)
            with pytest.raises(type(error)):
                run(record)
        record.refresh_from_db()
        assert (record.state, record.has_leftovers, set(rows().values())) == (state, False, {0})
        assert upload_path(record).exists() == (state == Import.State.WAITING)
    assert told(record)[0][2] == f"{type(error).__name__}: {error}"


def test_an_upload_whose_database_is_back_comes_in(empty_campaign, waiting, monkeypatch):
    record = waiting()
    upload_path(record).write_text(MANY)

    def fail(import_record):
        raise OperationalError("the connection was refused")

    with monkeypatch.context() as away:
        after_batch(away, 2, fail)
        with pytest.raises(OperationalError):
            run(record)
    tasks.take_up_imports()
    assert run(record).state == Import.State.DONE
    assert empty_campaign.topics.count() == 1_200


def me():
    return processes.identity(os.getppid())


def dead():
    """Return a process as it is written down when it can't be alive: this one's number, another start."""
    return f"{socket.gethostname()} {os.getpid()} 1.0"


def test_one_import_of_a_campaign_at_a_time(empty_campaign, other_campaign, waiting, file, rows):
    running = waiting(state=Import.State.RUNNING, owner=me(), alive_at=timezone.now())
    record = waiting()
    with pytest.raises(Busy) as busy:
        run(record, file)
    assert str(busy.value) == "Another import of Study is running."
    record.refresh_from_db()
    assert (record.state, record.attempts, record.report["errors"]) == (Import.State.WAITING, 0, [])
    assert set(rows().values()) == {0}
    assert run(waiting(campaign=other_campaign), file).state == Import.State.DONE
    Import.objects.filter(pk=running.pk).update(state=Import.State.REFUSED)
    assert run(record, file).state == Import.State.DONE


def test_an_import_started_in_the_middle_of_another_is_busy_and_harms_neither(
    empty_campaign, waiting, file, monkeypatch
):
    refusals = []

    def start_another(import_record):
        with pytest.raises(Busy) as busy:
            run(waiting(), file)
        refusals.append(str(busy.value))

    after_batch(monkeypatch, 1, start_another)
    assert run(waiting(), file).state == Import.State.DONE
    assert refusals == ["Another import of Study is running."]
    assert empty_campaign.topics.count() == 1_200


def test_an_import_is_not_run_twice_at_once_even_by_one_process(empty_campaign, waiting, file, monkeypatch):
    refusals = []

    def start_again(import_record):
        with pytest.raises(Busy) as busy:
            run(Import.objects.get(pk=import_record.pk), file)
        refusals.append(str(busy.value))

    after_batch(monkeypatch, 1, start_again)
    assert run(waiting(), file).state == Import.State.DONE
    assert refusals == ["topics from file is being run already."]
    assert empty_campaign.topics.count() == 1_200


def test_an_import_that_is_over_does_not_run_again(empty_campaign, waiting, file):
    record = run(waiting(), file)
    assert run(record, file).attempts == 1
    assert Event.objects.filter(verb="imported").count() == 1


@pytest.fixture
def broken_off(empty_campaign, waiting, monkeypatch):
    """Make an import that runs, says its record, and has written topics."""
    monkeypatch.setattr(importer, "_SWEEP_BATCH", 2)

    def make(prefix="x", **fields):
        fields = {"state": Import.State.RUNNING, "has_leftovers": True, "attempts": 1} | fields
        record = waiting(stage=Import.Stage.WRITING, **fields)
        Topic.everything.bulk_create(
            Topic(import_record=record, campaign=empty_campaign, qid=f"{prefix}{n}", title="t") for n in range(LEFT)
        )
        return record

    return make


def state_of(record):
    record.refresh_from_db()
    return record.state


def test_sweep_removes_what_a_dead_process_left(empty_campaign, import_file, broken_off):
    import_file(empty_campaign, "topics", "t1\ta\n")
    record = broken_off(owner=dead(), alive_at=timezone.now())
    sweep()
    assert state_of(record) == Import.State.INTERRUPTED
    assert (record.has_leftovers, record.ended_at is None) == (False, False)
    assert [topic.qid for topic in Topic.everything.all()] == ["t1"]


def test_sweep_keeps_what_a_living_process_writes(broken_off):
    record = broken_off(owner=me(), alive_at=timezone.now() - timedelta(minutes=4))
    sweep()
    assert (state_of(record), record.has_leftovers) == (Import.State.RUNNING, True)
    assert Topic.everything.count() == LEFT


def test_sweep_knows_a_process_by_its_number_and_its_start(broken_off):
    gone = max(psutil.pids()) + 100_000
    record = broken_off(owner=f"{socket.gethostname()} {gone} 1.0", alive_at=timezone.now())
    sweep()
    assert (state_of(record), Topic.everything.count()) == (Import.State.INTERRUPTED, 0)


@pytest.mark.parametrize(
    ("minutes", "state", "left"), [(4, Import.State.RUNNING, LEFT), (6, Import.State.INTERRUPTED, 0)], ids=["4", "6"]
)
def test_a_process_elsewhere_is_presumed_dead_after_5_minutes(broken_off, minutes, state, left):
    silent_since = timezone.now() - timedelta(minutes=minutes)
    record = broken_off(owner="another machine 7 1.0", alive_at=silent_since)
    sweep()
    assert (state_of(record), Topic.everything.count()) == (state, left)


def test_an_import_first_sweeps_what_a_dead_one_left(empty_campaign, waiting, broken_off):
    dead_one, record = broken_off("t", owner=dead()), waiting()
    upload_path(record).write_text(MANY)
    tasks.run_import(record.pk)
    assert (state_of(dead_one), state_of(record)) == (Import.State.INTERRUPTED, Import.State.DONE)
    assert Topic.everything.count() == empty_campaign.topics.count() == 1_200


def test_an_import_by_command_first_sweeps_what_a_dead_one_left(empty_campaign, broken_off, file):
    dead_one = broken_off("t", owner=dead())
    call_command("import_topics", "study", str(file), stdout=io.StringIO())
    assert (state_of(dead_one), Topic.everything.count()) == (Import.State.INTERRUPTED, 1_200)


@pytest.mark.parametrize("state", [Import.State.STOPPED, Import.State.REFUSED, Import.State.INTERRUPTED])
def test_sweep_finishes_a_removal_that_was_killed(broken_off, state):
    record = broken_off(state=state, owner=dead())
    sweep()
    assert (state_of(record), record.has_leftovers, Topic.everything.count()) == (state, False, 0)


def test_a_late_sweep_removes_nothing_of_an_import_that_was_taken_up_again(broken_off):
    record = broken_off(owner=me(), alive_at=timezone.now())
    # As another process knew it a moment ago.
    importer._remove_leftovers(Import(pk=record.pk, state=Import.State.WAITING, has_leftovers=True))
    assert (state_of(record), record.has_leftovers, Topic.everything.count()) == (Import.State.RUNNING, True, LEFT)


@pytest.mark.parametrize(
    ("attempts", "state"), [(1, Import.State.WAITING), (2, Import.State.WAITING), (3, Import.State.INTERRUPTED)]
)
def test_an_upload_whose_worker_died_is_tried_three_times(broken_off, empty_campaign, attempts, state):
    record = broken_off("t", owner=dead(), attempts=attempts)
    upload_path(record).write_text(MANY)
    sweep()
    assert (state_of(record), Topic.everything.count()) == (state, 0)
    if state == Import.State.WAITING:
        tasks.run_import(record.pk)
        assert (state_of(record), record.attempts) == (Import.State.DONE, attempts + 1)
        assert empty_campaign.topics.count() == 1_200


@pytest.mark.parametrize("content", ["t1\ta\n", "bad\n"], ids=["done", "refused"])
def test_an_uploaded_file_goes_when_its_import_is_over(waiting, content):
    record = waiting()
    upload_path(record).write_text(content)
    tasks.run_import(record.pk)
    assert state_of(record) in (Import.State.DONE, Import.State.REFUSED)
    assert not upload_path(record).exists()


def test_an_uploaded_file_stays_while_its_import_waits_for_another(waiting):
    waiting(state=Import.State.RUNNING, owner=me(), alive_at=timezone.now())
    record = waiting()
    upload_path(record).write_text(MANY)
    with pytest.raises(Busy):
        run(record)
    assert upload_path(record).exists()


def test_sweep_removes_uploads_that_broke_off(waiting):
    record = waiting()
    wanted = upload_path(record)
    old, new = wanted.with_name("999.upload"), wanted.with_name("half.part")
    for path in (wanted, old, new):
        path.write_text("t1\t")
    for path in (wanted, old):
        os.utime(path, (time.time() - 3_700,) * 2)
    sweep()
    assert [path.exists() for path in (wanted, old, new)] == [True, False, True]


class Broken:
    """The body of a request whose sender goes away behind its first bytes."""

    def __init__(self, data):
        self._data = data

    def read(self, size=-1):
        if not self._data:
            raise OSError("connection reset")
        data, self._data = self._data[:size], self._data[size:]
        return data

    readline = read


def upload(client: Client, slug: str, whole: bool):
    boundary = "----b"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="kind"\r\n\r\ntopics\r\n',
        f'--{boundary}\r\nContent-Disposition: form-data; name="uploads"; filename="t.tsv"\r\n',
        f"Content-Type: text/plain\r\n\r\n{MANY}\r\n--{boundary}--\r\n",
    ]
    body = "".join(parts).encode()
    more = {} if whole else {"wsgi.input": Broken(body[:-8_000]), "CONTENT_LENGTH": str(len(body))}
    content_type = f"multipart/form-data; boundary={boundary}"
    return client.generic("POST", reverse("imports", args=[slug]), body, content_type=content_type, **more)


def test_an_upload_that_dies_half_way_leaves_nothing(empty_campaign, olga, settings):
    client = client_of(olga)
    client.raise_request_exception = False
    assert upload(client, "study", whole=False).status_code in (400, 500)
    assert Import.objects.count() == 0
    assert list((settings.DATA_DIR / "uploads").iterdir()) == []
    assert upload(client, "study", whole=True).status_code == 302
    record = Import.objects.get()
    assert (record.state, record.file_name, record.person) == (Import.State.WAITING, "t.tsv", olga)
    tasks.run_import(record.pk)
    assert (state_of(record), empty_campaign.topics.count()) == (Import.State.DONE, 1_200)
    assert list((settings.DATA_DIR / "uploads").iterdir()) == []


def test_a_file_name_that_is_no_text(empty_campaign, import_file):
    record = new_import(
        campaign=empty_campaign,
        kind="topics",
        file_name="a/b\udcff" + "x" * 300,
        options={},
        person=None,
        check_only=True,
    )
    record.refresh_from_db()
    assert record.file_name == "b?" + "x" * 253


def test_an_import_that_its_own_process_gave_up_is_swept(broken_off):
    """A lost connection can keep a process from writing down that its import broke off."""
    record = broken_off(owner=processes.me(), alive_at=timezone.now())
    sweep()
    assert (state_of(record), Topic.everything.count()) == (Import.State.INTERRUPTED, 0)


def test_a_batch_is_short_where_lines_are_long(empty_campaign, waiting, tmp_path, monkeypatch):
    sizes = []
    sift = importer.LOADERS["topics"].sift

    def measured(self, batch):
        sizes.append(len(batch))
        return sift(self, batch)

    monkeypatch.setattr(importer.LOADERS["topics"], "sift", measured)
    path = tmp_path / "long.tsv"
    path.write_text("".join(f"t{n}\t{'long ' * 30_000}\n" for n in range(19)))
    assert run(waiting(check_only=True), path).state == Import.State.CHECKED
    assert sizes == [8, 8, 3]


def test_the_records_of_one_line_make_ordinary_batches(empty_campaign, import_file, monkeypatch):
    import_file(empty_campaign, "topics", "t1\ta\n")
    sizes = []
    sift = importer.LOADERS["segments"].sift

    def measured(self, batch):
        sizes.append(len(batch))
        return sift(self, batch)

    monkeypatch.setattr(importer.LOADERS["segments"], "sift", measured)
    candidates = [{"docid": f"d{n}", "doc": {"segment": "long " * 300}} for n in range(1_200)]
    done = import_file(empty_campaign, "segments", [{"query": {"qid": "t1"}, "candidates": candidates}])
    assert (done.state, max(sizes), len(sizes)) == (Import.State.DONE, 500, 4)


def test_errors_come_by_line_and_the_first_lines_are_kept(empty_campaign, import_file):
    import_file(empty_campaign, "topics", "t1\ta\n")
    lines = ["t1\tanother\n", *(f"t{n}\ttwo\tthree\n" for n in range(2, 62)), "t1\tonce more\n"]
    refused = import_file(empty_campaign, "topics", "".join(lines))
    assert refused.report["error_count"] == 62
    assert [problem["line"] for problem in refused.report["errors"]] == list(range(1, 51))


@pytest.mark.parametrize(
    ("minutes", "state", "left"), [(4, Import.State.RUNNING, LEFT), (6, Import.State.INTERRUPTED, 0)], ids=["4", "6"]
)
def test_a_process_here_that_hangs_is_presumed_dead_after_5_minutes(broken_off, minutes, state, left):
    """It runs, and does nothing."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        silent_since = timezone.now() - timedelta(minutes=minutes)
        record = broken_off(owner=processes.identity(process.pid), alive_at=silent_since)
        sweep()
        process.kill()
    assert (state_of(record), Topic.everything.count()) == (state, left)


def test_a_process_lives_on_when_the_clock_is_set(monkeypatch):
    """The machine then tells that it started, and each of its processes, at another time."""
    owner, booted = processes.identity(os.getpid()), psutil.boot_time()
    monkeypatch.setattr(psutil, "boot_time", lambda: booted - 7_200)
    monkeypatch.setattr(psutil._psplatform, "boot_time", lambda: booted - 7_200)
    assert processes.is_running(owner) is True


@pytest.mark.usefixtures("empty_queues")
def test_what_waits_is_hinted_at_again_unless_an_import_of_its_campaign_runs(waiting, other_campaign, monkeypatch):
    """A queue that was killed has lost its hints."""
    hints = []
    monkeypatch.setattr(tasks.run_import, "apply_async", lambda ids, **options: hints.append((*ids, options)))
    lost = waiting()
    tasks.take_up_imports()
    assert hints == [(lost.pk, {})]
    waiting(state=Import.State.RUNNING, owner=me(), alive_at=timezone.now())
    tasks.take_up_imports()
    assert len(hints) == 1


def test_an_import_that_another_process_took_up_is_not_ended_by_the_first(empty_campaign, waiting, file, monkeypatch):
    """The first one hung, was taken for dead, and fails as it wakes."""
    record = waiting()

    def wake(self):
        Import.objects.filter(pk=record.pk).update(owner=me())
        raise RuntimeError("its file is gone")

    monkeypatch.setattr(TopicLoader, "end", wake)
    with pytest.raises(RuntimeError):
        run(record, file)
    assert (state_of(record), record.owner, record.report["errors"]) == (Import.State.RUNNING, me(), [])


@pytest.fixture
def _broken_queue():
    """A file stands where the embedded broker has its folder."""
    folder = Path(celery.conf.broker_transport_options["data_folder_out"])
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.touch()
    yield
    folder.unlink()
    aside.rename(folder)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_broken_queue")
def test_an_upload_that_the_queue_does_not_take_waits_for_the_next_worker(empty_campaign, olga):
    with pytest.raises(OSError, match="Not a directory"):
        tasks.run_import.delay(0)
    assert upload(client_of(olga), "study", whole=True).status_code == 302
    assert Import.objects.get().state == Import.State.WAITING
