"""The writers of exports: asked for, written in the background or while they are sent, stopped, removed."""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import ChoiceError, Chosen, Exportable, Page
from assessor.exports.checksums import Checked, Tally
from assessor.exports.exposure import kept, shown_in
from assessor.exports.freeze import FreezeError, freeze, parts_of, topics_of
from assessor.exports.manifests import as_text, file_payload, manifest_of
from assessor.exports.models import FREEZE, RELEASE, Export, Frozen
from assessor.exports.progress import Progress, Stopped
from assessor.exports.releases import Release, release_parts
from assessor.exports.selection import Options, choose, exportable_called, kept_options
from assessor.exports.signatures import OddKey
from assessor.exports.zip_exports import ZipExport, zip_exports
from assessor.exports.zips import Zip
from assessor.runtime import hints, replica
from assessor.runtime.claims import MAX_ATTEMPTS, begun, claim, held, hold, left_behind, let_go, mine, waits_again
from assessor.runtime.commits import after_commit
from assessor.runtime.storage import StoredFile
from assessor.runtime.storage import sweep as sweep_storage
from assessor.scores.leaderboards import Incomplete
from assessor.work.exposure import take_file

_log = logging.getLogger(__name__)


_EXPORTS = "exports"


def made(export: Export) -> StoredFile:
    """Return the file that an attempt at an export makes: none puts its own in the place of another's."""
    attempt = f".{export.attempts}" if export.attempts > 1 else ""
    return StoredFile(_EXPORTS, f"{export.pk}{attempt}.export")


def open_file(export: Export) -> Checked:
    """Open the file of an export. Raises FileNotFoundError and StorageAway."""
    return Checked(made(export).open(), size=export.size, sha256=export.sha256)


def _new(
    kind: Exportable,
    chosen: Chosen,
    options: Options,
    person: Person | None,
    *,
    at_once: bool,
    page: Page | None = None,
    **more: Any,
) -> Export:
    return Export.objects.create(
        campaign=chosen.campaign,
        kind=kind.name,
        options=kept_options(options, chosen),
        file_name=kind.name_of(chosen, page),
        expected=kind.size(chosen),
        person=person,
        at_once=at_once,
        **more,
    )


def _told(options: Options) -> dict[str, Any]:
    """Return what the history tells of options: what was left out of all there is, and what incomplete scores."""
    return {name: options[name] for name in ("topics", "runs", "policy", "allow_incomplete", "at") if options.get(name)}


@transaction.atomic
def ask_for(*, campaign: Campaign, kind: Exportable, options: Options, acting_user: Person | None) -> Export:
    """Note down an export to be written in the background. Raises ChoiceError."""
    export = _new(kind, choose(campaign, kind, options), options, acting_user, at_once=False)
    history.record("export asked for", export, campaign=campaign, person=acting_user, **_told(export.options))
    return export


def hint(export: Export) -> None:
    """Tell the workers of an export once it is committed. Should the queue be gone, the next look finds it."""
    after_commit(hints.send, "assessor.exports.tasks.write_export", export.pk)


@transaction.atomic
def stop(*, export: Export, acting_user: Person | None) -> bool:
    """Stop an export that waits or runs. Return False where it was over already."""
    active = Export.objects.filter(pk=export.pk, state__in=Export.ACTIVE)
    stopped = bool(active.update(state=Export.State.STOPPED, ended_at=timezone.now()))
    if stopped:
        verb = of_zip.stopped if (of_zip := zip_exports().get(export.kind)) else "export stopped"
        history.record(verb, export, campaign=export.campaign, person=acting_user)
    return stopped


@transaction.atomic
def take(*, export: Export, acting_user: Person) -> None:
    """Record that a person takes a file away, and what of a model's they have seen by it."""
    if of_zip := zip_exports().get(export.kind):
        of_zip.take(export, acting_user)
        return
    take_file(acting_user, kept(export.shown))
    history.record("exported", export, campaign=export.campaign, person=acting_user)


def _finish(export: Export, **facts: Any) -> None:
    """Note that an export is done. Raises Stopped where it is this process's no longer."""
    if not mine(export).update(state=Export.State.DONE, **{"ended_at": timezone.now()} | facts):
        raise Stopped


def _facts(export: Export, kind: Exportable, chosen: Chosen, tally: Tally) -> dict[str, Any]:
    """Return what the record of a file tells, with its manifest."""
    now, facts = timezone.now(), tally.facts()
    file = file_payload(export.file_name, **facts)
    manifest = manifest_of(kind, chosen, file, at=now.isoformat(), by=export.person)
    return {**facts, "ended_at": now, "manifest": as_text(manifest)}


class Sent:
    """The lines of a file that is sent while it is written; when the last one is gone, its record says so."""

    def __init__(self, export: Export, kind: Exportable, chosen: Chosen, lines: Iterator[str]) -> None:
        self._export, self._kind, self._chosen, self._lines = export, kind, chosen, lines
        self._tally, self._progress = Tally(kind.forms[chosen.form].heads), Progress(export)
        self._is_over = False
        hold(export)

    def __iter__(self) -> "Sent":
        return self

    def __next__(self) -> bytes:
        try:
            data = self._tally.add(next(self._lines))
        except StopIteration:
            if self._end():
                self._progress.close()
                # All of it is sent, whatever became of its record meanwhile.
                with suppress(Stopped):
                    _finish(self._export, **_facts(self._export, self._kind, self._chosen, self._tally))
            raise
        self._progress.show(self._tally.records)
        return data

    def close(self) -> None:
        """Note that it broke off, unless it came to its end."""
        if self._end():
            self._lines = iter(())  # reads no more
            why = "The download broke off."
            self._progress.note(state=Export.State.STOPPED, why=why, ended_at=timezone.now())
            self._progress.close()

    def _end(self) -> bool:
        """Let the export go; return False where it was over already."""
        was_over, self._is_over = self._is_over, True
        let_go(self._export)
        return not was_over


def send(
    *,
    campaign: Campaign,
    kind: Exportable,
    options: Options,
    acting_user: Person,
    page: Page | None = None,
    chosen: Chosen | None = None,
) -> tuple[Export, Sent]:
    """Begin to send a file; what the person sees by it is recorded first. Raises ChoiceError and Incomplete.

    page: that which offered it, where this is not the page of exports. chosen: what the options name, where it is
    known already.
    """
    chosen = chosen or choose(campaign, kind, options)
    lines, shown = kind.lines(chosen), shown_in([(kind, chosen)])
    with transaction.atomic():
        export = _new(kind, chosen, options, acting_user, at_once=True, page=page, **begun(), attempts=1)
        take_file(acting_user, kept(shown))
        history.record("exported", export, campaign=campaign, person=acting_user, **_told(export.options))
    return export, Sent(export, kind, chosen, lines)


def run(export: Export) -> Export:
    """Write the file of a waiting export, and return it as it then is; what doesn't wait any more is left alone."""
    if not claim(export, records=0):
        return export
    with held(export):
        try:
            _write_file(export)
        except Stopped:
            pass
        except (ChoiceError, Incomplete, FreezeError, OddKey) as error:
            _fail(export, str(error))
        except Exception as error:
            _log.exception("Export %s failed", export.pk)
            if not waits_again(export, error):
                _fail(export, f"{type(error).__name__}: {error}")
    export.refresh_from_db()
    return export


def _write_file(export: Export) -> None:
    unfinished = Path(settings.DATA_DIR) / "exports" / f"{export.pk}.{export.attempts}.part"
    try:
        if export.kind == FREEZE:
            _freeze(export)
        else:
            _keep(export, unfinished, **replica.read(_write, export, unfinished))
    finally:
        # Before what became of it is noted: the disk may be full, and the database be on it.
        unfinished.unlink(missing_ok=True)


def _fail(export: Export, why: str) -> None:
    mine(export).update(state=Export.State.FAILED, why=why, ended_at=timezone.now())


def _write(export: Export, unfinished: Path) -> dict[str, Any]:
    """Write a file; return what its record tells of it."""
    if export.kind == RELEASE:
        return _write_release(export, unfinished)
    if of_zip := zip_exports().get(export.kind):
        return _write_made(of_zip, export, unfinished)
    return _write_lines(export, unfinished)


def _write_lines(export: Export, unfinished: Path) -> dict[str, Any]:
    kind = exportable_called(export.kind)
    chosen = choose(export.campaign, kind, export.options)
    tally, shown = Tally(kind.forms[chosen.form].heads), shown_in([(kind, chosen)])
    with Progress(export) as progress, _whole(unfinished) as out:
        for line in kind.lines(chosen):
            out.write(tally.add(line))
            progress.show(tally.records)
    # What was finished while it was written may be in it too.
    shown = shown_in([(kind, chosen)], shown)
    return {"shown": shown, **_facts(export, kind, chosen, tally)}


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written; it is whole on disk at the end."""
    with path.open("wb") as out:
        yield out
        out.flush()
        os.fsync(out.fileno())


def _keep(export: Export, unfinished: Path, **facts: Any) -> None:
    """Keep a file that is whole, and note that it is. Raises Stopped and StorageAway."""
    file = made(export)
    with Progress(export) as progress:
        file.take(unfinished, partial(progress.show, facts["records"]))
    try:
        _finish(export, **facts)
    except Stopped:
        file.discard()
        raise


def _freeze(export: Export) -> None:
    """Freeze a condition as its next version; there is no file, as the version has its own."""
    condition = export.campaign.conditions.get(name=export.options["of"])
    with Progress(export) as progress:
        freeze(
            condition=condition,
            acting_user=export.person,
            sign_of_life=progress.show,
            frozen=lambda version: _finish(export, manifest=version.manifest),
        )


def _condition_of(export: Export) -> Condition | None:
    name = export.options.get("of")
    return export.campaign.conditions.select_related("nuggets").get(name=name) if name else None


def _write_release(export: Export, unfinished: Path) -> dict[str, Any]:
    """Write a release, a zip: its manifest is in it, and tells of its files what the export's own would tell."""
    condition = _condition_of(export)
    shown = shown_in(release_parts(export.campaign, condition))
    with Progress(export) as progress:
        facts = _write_zip(Release(export.campaign, condition, progress.show), unfinished)
    return {"shown": shown_in(release_parts(export.campaign, condition), shown), **facts}


def _write_made(of_zip: ZipExport, export: Export, unfinished: Path) -> dict[str, Any]:
    """Write a zip that another app makes."""
    with Progress(export) as progress:
        progress.note(expected=of_zip.size(export.campaign))
        return _write_zip(of_zip.make(export.campaign, progress.show), unfinished)


def _write_zip(found: Zip, unfinished: Path) -> dict[str, Any]:
    """Write a zip; return what its record tells of it."""
    summed, size = hashlib.sha256(), 0
    with _whole(unfinished) as out:
        for data in found:
            summed.update(data)
            size += out.write(data)
    return {"records": found.records, "size": size, "sha256": summed.hexdigest(), "manifest": found.manifest}


@transaction.atomic
def ask_for_release(*, campaign: Campaign, condition: Condition | None, acting_user: Person | None) -> Export:
    """Note down a release of a campaign, or of a condition with its nuggets, to be written in the background."""
    name = f"release.{condition}.zip" if condition else "release.zip"
    options = {"of": condition.name} if condition else {}
    export = Export.objects.create(
        campaign=campaign, kind=RELEASE, options=options, file_name=name, person=acting_user, at_once=False
    )
    history.record("export asked for", export, campaign=campaign, person=acting_user)
    return export


@transaction.atomic
def ask_to_freeze(*, condition: Condition, acting_user: Person | None) -> Export:
    """Note down that a condition is to be frozen in the background; one that waits or runs already is that one."""
    under_way = Export.objects.filter(campaign=condition.campaign, kind=FREEZE, state__in=Export.ACTIVE)
    for export in under_way:
        if export.options == {"of": condition.name}:
            return export
    return Export.objects.create(
        campaign=condition.campaign,
        kind=FREEZE,
        options={"of": condition.name},
        file_name=f"freezing {condition}",
        person=acting_user,
        at_once=False,
    )


@transaction.atomic
def take_frozen(*, frozen: Frozen, acting_user: Person) -> None:
    """Record that a person takes a frozen version away, and what of a model's they have seen by it."""
    topics = topics_of(frozen)
    for kind, chosen in parts_of(frozen.condition, allow_incomplete=True):
        take_file(acting_user, ((seen, topics) for seen, _ in kind.shows(chosen)))
    history.record("exported", frozen, campaign=frozen.condition.campaign, person=acting_user)


def sweep() -> list[int]:
    """Have exports wait again whose process died, three times at most; remove old files. Return what waits, by key."""
    for export, same in left_behind(Export):
        if export.at_once:
            same.update(state=Export.State.STOPPED, why="The download broke off.", ended_at=timezone.now())
        elif export.attempts < MAX_ATTEMPTS:
            same.update(state=Export.State.WAITING)
        else:
            why = f"Its process died {MAX_ATTEMPTS} times."
            same.update(state=Export.State.FAILED, why=why, ended_at=timezone.now())
    _remove_old()
    return list(Export.objects.filter(state=Export.State.WAITING).values_list("pk", flat=True))


def _remove_old() -> None:
    """Remove files that are older than the setting says, and what no export knows; the records stay."""
    now = timezone.now()
    kept = Export.objects.filter(at_once=False, removed_at=None).only("pk", "attempts")  # not the manifests, each time
    for old in kept.filter(state=Export.State.DONE, ended_at__lt=now - timedelta(days=settings.EXPORT_DAYS)):
        made(old).discard()
        Export.objects.filter(pk=old.pk).update(removed_at=now)
    sweep_storage(_EXPORTS, {made(export).name for export in kept})
