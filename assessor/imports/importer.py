"""Imports: check the whole file, write what is new in short batches nobody sees, then show it all at once.

One long transaction would hold SQLite's only write lock, and assessors' saves would fail meanwhile. What a killed
import left behind stays invisible and is swept away at the next start.
"""

import pickle
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import (
    Answer,
    Campaign,
    Grade,
    Import,
    QrelsSource,
    RankedSegment,
    RetrievalRun,
    Run,
    RunDocument,
    Segment,
    Topic,
)
from assessor.campaigns.signals import ended, import_done
from assessor.formats.lines import Openable, SourceFile
from assessor.formats.report import Report, Unreadable
from assessor.imports.loaders import LOADERS, Loader
from assessor.runtime import hints
from assessor.runtime.analyze import look_at_grown_tables
from assessor.runtime.claims import MAX_ATTEMPTS, claim, held, left_behind, mine, waits_again
from assessor.runtime.clock import shared_now
from assessor.runtime.commits import after_commit
from assessor.runtime.garbage import spare_for_a_while
from assessor.runtime.storage import StoredFile
from assessor.runtime.storage import sweep as sweep_storage
from assessor.runtime.turns import let_others_write

# The rows that unfinished imports brought.
Leftovers = Callable[[QuerySet[Import]], QuerySet[Any]]


def brought(model: type[Model], path: str = "import_record") -> Leftovers:
    """Say that imports bring rows of a model, which lead to their import by this path."""
    return lambda imports: model._base_manager.filter(**{f"{path}__in": imports})


# In this order: no row is removed before the rows that point to it.
_BROUGHT: list[Leftovers] = [
    brought(model)
    for model in (Answer, RunDocument, Run, RankedSegment, RetrievalRun, Grade, QrelsSource, Segment, Topic)
]


def register(loader: type[Loader], *leftovers: Leftovers) -> None:
    """Add the loader of an app above, with what its imports bring: first the rows that point to others."""
    LOADERS[loader.kind] = loader
    _BROUGHT[:0] = leftovers


_UPLOADS = "uploads"
_SWEEP_BATCH = 2_000
_SIGN_OF_LIFE = 0.5  # seconds between two writes of an import's progress
# Characters of the lines of one batch: memory does not follow the length of lines, and an assessor who saves meanwhile
# waits for one short transaction. The file of a track's run is one batch: each costs some queries and a commit.
_BATCH_CHARACTERS = 1_200_000


class Busy(Exception):
    """Another import of the campaign is running."""


class Stopped(Exception):
    """Somebody stopped the import."""


def new_import(
    *,
    campaign: Campaign,
    kind: str,
    file_name: str,
    options: dict[str, str],
    person: Person | None,
    check_only: bool,
    is_held: bool = False,
    **columns: Any,
) -> Import:
    """Note down an import to be run. is_held: once a person has said more of it; see release()."""
    # A name on disk may be no text at all.
    name = Path(file_name).name.encode(errors="replace").decode()[:255]
    return Import.objects.create(
        campaign=campaign,
        kind=kind,
        file_name=name,
        report=Report(name).as_dict(),
        options=options,
        person=person,
        check_only=check_only,
        state=Import.State.HELD if is_held else Import.State.WAITING,
        **columns,
    )


class Upload(NamedTuple):
    """An uploaded file that is kept until its import is over."""

    name: str
    size: int  # bytes


def keep(path: Path) -> Upload:
    """Keep an uploaded file for take_in(); before its transaction, as that may take long. Raises StorageAway."""
    upload = Upload(f"{uuid.uuid4().hex}.upload", path.stat().st_size)
    StoredFile(_UPLOADS, upload.name).take(path)
    return upload


def take_in(upload: Upload, **noted: Any) -> Import:
    """Note down an import of a kept file, as new_import() does."""
    return new_import(**noted, upload=upload.name, bytes_total=upload.size)


def release(import_record: Import, *, kind: str, options: dict[str, str]) -> bool:
    """Let a held import wait for the worker, now that its kind and options are known. False: it was not held."""
    held = Import.objects.filter(pk=import_record.pk, state=Import.State.HELD)
    return bool(held.update(state=Import.State.WAITING, kind=kind, options=options))


def next_in_line(campaign: Campaign) -> Import | None:
    """Return the waiting import to be run first: what other files need comes before them.

    None where nothing can be checked yet: files that name topics wait until the campaign has some.
    """
    waiting = campaign.imports.filter(state=Import.State.WAITING).values_list("kind", "pk")
    if not campaign.topics.exists():
        waiting = waiting.filter(kind__in=[kind for kind, loader in LOADERS.items() if not loader.needs_topics])
    order = list(LOADERS)
    first = min(((order.index(kind), pk) for kind, pk in waiting), default=None)
    return campaign.imports.select_related("campaign").get(pk=first[1]) if first else None


def hand_over(made: Sequence[Import]) -> None:
    """Wake a worker: it takes one import after the other, in the order in which they need each other.

    Should the queue be gone, the next start of a worker finds them waiting in the database.
    """
    if waiting := [one.pk for one in made if one.is_under_way]:
        after_commit(hints.send, "assessor.imports.tasks.run_import", waiting[0])


def uploaded(import_record: Import) -> StoredFile:
    """Return the file of an uploaded import, which is kept until it is over."""
    return StoredFile(_UPLOADS, import_record.upload)


def run(import_record: Import, path: Path | None = None) -> Import:
    """Run a waiting import of the file at path, or else of its upload, to its end; return it with state and report.

    Raises Busy where another import of the campaign is running; this one then goes on waiting. Sweep first: an
    import whose process died counts as running until then. Raises StorageAway before it has begun, or as it breaks off.
    """
    if path is None:
        uploaded(import_record).exists()  # where that can't be told, no attempt is used up
    _claim(import_record, path.stat().st_size if path and path.exists() else import_record.bytes_total)
    try:
        # An import makes and drops millions of values: the garbage collector need not look at all else each time.
        with spare_for_a_while(), held(import_record):
            _run(import_record, path or uploaded(import_record))
    finally:
        import_record.refresh_from_db()
        if import_record.is_over:
            _discard_upload(import_record)
    if import_record.state == Import.State.DONE:
        look_at_grown_tables()
    return import_record


def _discard_upload(import_record: Import) -> None:
    if import_record.upload:
        uploaded(import_record).discard()


def _run(import_record: Import, file: Openable) -> None:
    try:
        if import_record.state == Import.State.RUNNING:
            _check_then_write(import_record, file)
    except Stopped:
        _remove_leftovers(import_record)
    except BaseException as error:
        _break_off(import_record, error)
        raise


def _break_off(import_record: Import, error: BaseException) -> None:
    """End an import with the reason; an uploaded one whose database or file was away waits for another try."""
    if not waits_again(import_record, error, may_wait=bool(import_record.upload)):
        expected = "an import that runs to its end; nothing was imported"
        report = Report(import_record.file_name)
        report.error(0, "", f"{type(error).__name__}: {error}", expected)
        _end(import_record, Import.State.INTERRUPTED, report)
    _remove_leftovers(import_record)


def stop(import_record: Import, *, person: Person) -> bool:
    """Stop an import before it is over; nothing of it will be visible. Return False where it was over already."""
    with transaction.atomic():
        active = Import.objects.filter(pk=import_record.pk, state__in=Import.OPEN)
        stopped = bool(active.update(state=Import.State.STOPPED, ended_at=timezone.now()))
        if stopped:
            history.record("import stopped", import_record, campaign=import_record.campaign, person=person)
            _tell(import_record)
            if import_record.state == Import.State.HELD:
                transaction.on_commit(uploaded(import_record).discard)
    return stopped


def _claim(import_record: Import, bytes_total: int) -> None:
    stage = Import.Stage.CHECKING
    try:
        with transaction.atomic():
            is_mine = claim(import_record, stage=stage, bytes_read=0, bytes_total=bytes_total)
    except IntegrityError as error:
        raise Busy(f"Another import of {import_record.campaign} is running.") from error
    if not is_mine and import_record.state == Import.State.RUNNING:
        raise Busy(f"{import_record} is being run already.")


def _check_then_write(import_record: Import, file: Openable) -> None:
    with _Spool() as spool:
        loader = _check(import_record, file, spool)
        import_record.sha256 = loader.sha256
        if loader.report.error_count:
            _end(import_record, Import.State.REFUSED, loader.report)
        elif import_record.check_only:
            _end(import_record, Import.State.CHECKED, loader.report)
        else:
            _write(import_record, loader, spool)
            _show(import_record, loader)
            import_done.send_robust(Import, import_record=import_record)


class _Spool:
    """What a checked file brings, until it is written: it is read, checked and made ready once only.

    All but the last batch is on disk; most files have but one.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=settings.DATA_DIR)  # noqa: SIM115  # closed by __exit__
        self._last: list[Any] = []
        self._batches = 0

    def __enter__(self) -> "_Spool":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, new: Any) -> None:
        for former in self._last:
            pickle.dump(former, self._file, pickle.HIGHEST_PROTOCOL)
        self._last = [new]
        self._batches += 1

    def batches(self) -> Iterator[tuple[Any, float]]:
        """Yield what was added, each with the share of all batches that has been read with it."""
        self._file.seek(0)
        for number in range(1, self._batches):
            yield pickle.load(self._file), number / self._batches  # noqa: S301  # our own, in a file that has no name
        for last in self._last:
            yield last, 1.0


def _check(import_record: Import, file: Openable, spool: _Spool) -> Loader:
    """Read the whole file and put aside what is new in it; return the loader, with its report."""
    source = SourceFile(file)
    report = Report(import_record.file_name)
    progress = _Progress(import_record, Import.Stage.CHECKING)
    loader: Loader = LOADERS[import_record.kind](import_record.campaign, import_record.options, report)
    records = 0
    try:
        for batch in _batches(loader.read(source.lines(report)), loader.batch_size):
            records += len(batch)
            new = loader.sift(batch)
            if not report.error_count and not import_record.check_only:
                spool.add(new)
            progress.show(source.bytes_read)
        loader.sha256 = source.sha256
        loader.end()
    except Unreadable:
        pass  # the report says why
    if not records and not report.error_count:
        report.error(0, "", "no record", "at least one record")
    return loader


def _write(import_record: Import, loader: Loader, spool: _Spool) -> None:
    """Write what was put aside, a batch a transaction."""
    progress = _Progress(import_record, Import.Stage.WRITING)
    for new, share in spool.batches():
        started = time.monotonic()
        with transaction.atomic():
            progress.show(int(share * import_record.bytes_total), at_once=True)
            loader.write(new, import_record)
        let_others_write(time.monotonic() - started)


def _show(import_record: Import, loader: Loader) -> None:
    """Make everything the import brought visible, in one short transaction."""
    with transaction.atomic():
        loader.finish(import_record)
        report = loader.report.as_dict()
        told = {"report": report, "further_warnings": loader.report.further_warnings, "sha256": loader.sha256}
        done = mine(import_record).update(state=Import.State.DONE, ended_at=timezone.now(), has_leftovers=False, **told)
        if not done:
            raise Stopped
        loader.follow()
        history.record(
            "imported",
            import_record,
            campaign=import_record.campaign,
            person=import_record.person,
            counts=report["counts"],
            sha256=loader.sha256,
        )
        _tell(import_record)


@transaction.atomic
def _end(import_record: Import, state: Import.State, report: Report) -> None:
    told = {"report": report.as_dict(), "further_warnings": report.further_warnings}
    if mine(import_record).update(state=state, ended_at=timezone.now(), **told):
        _tell(import_record)


def _tell(import_record: Import) -> None:
    """Tell apps above that an import has ended; call it in the transaction that says so."""
    ended.send(Import, campaign_id=import_record.campaign_id, pks=[import_record.pk])


class _Progress:
    """Writes an import's progress, which is also its sign of life, and notices when it was stopped."""

    def __init__(self, import_record: Import, stage: Import.Stage) -> None:
        self._rows = mine(import_record)
        self._fixed: dict[str, Any] = {"stage": stage}
        if stage == Import.Stage.WRITING:
            self._fixed["has_leftovers"] = True
        self._shown_at = time.monotonic()

    def show(self, bytes_read: int, *, at_once: bool = False) -> None:
        """Write the progress if the last time is a while ago. Raises Stopped if the import no longer runs."""
        if not at_once and time.monotonic() - self._shown_at < _SIGN_OF_LIFE:
            return
        self._shown_at = time.monotonic()
        if not self._rows.update(bytes_read=bytes_read, alive_at=shared_now(), **self._fixed):
            raise Stopped


def _batches(records: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of records, short ones where the lines are long: memory does not follow the length of lines."""
    batch: list[Any] = []
    characters = last_line = 0
    for record in records:
        batch.append(record)
        if record.line.number != last_line:  # a line may hold many records
            characters += len(record.line.text)
            last_line = record.line.number
        if len(batch) == size or characters > _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def sweep() -> list[int]:
    """Clear away what imports left behind whose process died, or that were stopped; run at every start.

    An import of an uploaded file goes back to waiting, three times at most; return the ids of those.
    """
    waiting_again = []
    for running, same in left_behind(Import):
        again = bool(running.upload) and running.attempts < MAX_ATTEMPTS
        state = Import.State.WAITING if again else Import.State.INTERRUPTED
        with transaction.atomic():
            is_left = same.update(state=state, ended_at=None if again else timezone.now())
            if is_left and not again:
                _tell(running)
        if again:
            waiting_again.append(running.pk)
    for left in _with_leftovers():
        _remove_leftovers(left)
    sweep_storage(_UPLOADS, set(Import.objects.filter(state__in=Import.OPEN).values_list("upload", flat=True)))
    return waiting_again


def _with_leftovers() -> QuerySet[Import]:
    return Import.objects.filter(has_leftovers=True).exclude(state__in=(Import.State.RUNNING, Import.State.DONE))


def _remove_leftovers(import_record: Import) -> None:
    """Remove what an import left behind; never what it writes meanwhile, taken up again by another process."""
    left = _with_leftovers().filter(pk=import_record.pk)
    for leftovers in _BROUGHT:
        rows = leftovers(left)
        while pks := list(rows.order_by().values_list("pk", flat=True)[:_SWEEP_BATCH]):
            # Records that are only ever added, too: nobody has seen these.
            QuerySet(rows.model).filter(pk__in=pks).delete()
    left.update(has_leftovers=False)
