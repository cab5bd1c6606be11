"""What a person says of citations in their answers. All of it is called inside work.writes.once, its transaction."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.labels.shown_labels import NOT_SHOWN_HERE, record_seen, require_shown
from assessor.work.models import Task
from assessor.work.write_protocol import (
    SIGNED_OFF,
    BadWrite,
    Gone,
    Result,
    Stale,
    counted,
    end,
    note_work,
    on_one_line,
    place_in_queue,
    require_all_said,
    require_present,
)
from support.access import OwnSheet, shown_label
from support.actions.equal_pairs import has_equal, lock_equal, say_of_equal
from support.citations import EQUAL, LABELS
from support.label_kind import SUPPORT
from support.models import SupportSheet
from support.queries import sheets_on
from support.screen import own_rows


class _Told(NamedTuple):
    """What a browser has to know of a sheet on which equal citations got a label with the one that was given it.

    Its version before, on which what is still to be sent was done, and after.
    """

    sheet: int
    citations: list[str]
    seen: int
    version: int
    to_do: int


def why_closed(task: Task) -> str:
    """Say why nothing can be said of a task's citations now, or ""."""
    return "" if task.state == Task.State.OPEN else gettext(SIGNED_OFF)


def give_label(own: OwnSheet, *, citation: str, label: str, seconds: int | None, seen: int) -> Result:
    """Say how far a passage supports the sentence that cites it: one of LABELS, or "" to take back what was said.

    Raises Stale, Closed, Gone and BadWrite.
    """
    if label not in ("", *LABELS):
        raise BadWrite(f"A label is one of {', '.join(LABELS)}.")
    # Another person's label was for where this one could not judge, here or in an equal one.
    said: dict[str, Any] = {"label": label, "cannot": None, "adopted": None}
    return _judge(own, "label" if label else "take back", citation, said, seconds, seen)


def mark_unjudgeable(own: OwnSheet, *, citation: str, reason: str, seconds: int | None, seen: int) -> Result:
    """Say why there can be no label of a citation. Raises as give_label()."""
    reason = on_one_line(reason)
    if not reason:
        raise BadWrite(gettext("Say why it can't be judged."))
    return _judge(own, "can't judge", citation, {"cannot": reason, "label": None}, seconds, seen)


def flag(own: OwnSheet, *, citation: str, note: str, seen: int) -> Result:
    """Leave a note on a citation for the organizer, or with "" none any more. Raises as give_label()."""
    return _store(own, "flag", {citation: {"flag": on_one_line(note)}}, seen)


def show(own: OwnSheet, *, citation: str, seen: int) -> Result:
    """Return the model's label of a citation that is on screen now, and record that the person has seen it.

    Raises as give_label().
    """
    if own.shown_condition is None:
        raise BadWrite(NOT_SHOWN_HERE)
    require_present(own.sheet, why_closed(own.task), seen)
    _require_asked(own, citation)
    label = shown_label(own, citation)
    if label is None:
        raise BadWrite("The model has not judged this citation.")
    _store(own, "show", {citation: {"shown": label}}, seen)
    record_seen(own)
    return {"shown": label}


def put_off(own: OwnSheet, *, to: int | None, seen: int) -> Result:
    """Put an answer off to the end of the person's queue, or (to) back to where it stood. Raises as give_label()."""
    place = place_in_queue(SupportSheet.in_or_out.filter(task=own.task.pk), to)
    return _store(own, "put off", {}, seen, columns={"put_off": place})


def sign_off(task: Task, *, acting_user: Person, seen: int) -> Result:
    """End a topic, all of whose citations that can be opened are done: its labels can be read, no longer changed.

    seen: the sum of the versions of the person's sheets. Raises Stale, Closed and BadWrite.
    """
    end(task)
    require_all_said(task, own_rows(task), seen)
    if sheets_on(task).filter(to_do__gt=0).exists():
        raise BadWrite(gettext("Answers of this topic that are not among yours lack labels: tell your organizer."))
    history.record(
        "support signed off", task, campaign=task.campaign, person=acting_user, condition=task.condition.name
    )
    return {}


def _judge(own: OwnSheet, verb: str, citation: str, said: Mapping[str, Any], seconds: int | None, seen: int) -> Result:
    require_present(own.sheet, why_closed(own.task), seen)
    _require_asked(own, citation)
    require_shown(own, citation, SUPPORT.item)
    sheet = own.sheet
    here, others = lock_equal(sheet, citation)
    done = sheet.to_do
    row = sheet.labels_by_item[citation].pk
    notes = {key: {EQUAL: row} for key in here}
    sheet.revise(
        verb,
        dict.fromkeys((citation, *here), said),
        judge_id=sheet.judge_id,
        task_id=own.task.pk,
        seconds=counted(seconds),
        guidelines_version=own.task.guidelines_version,
        notes=notes,
    )
    if own.judges_equal_once and not (here or others) and has_equal(row):
        raise Stale  # noted since this was read: who judges one judges all
    done = 0 if sheet.out_of_scope else done - sheet.to_do
    told = [_Told(sheet.pk, here, seen, sheet.version, sheet.to_do)] if here else []
    for other, keys in others:
        before = other.version, other.to_do
        of = dict.fromkeys(keys, row)
        say_of_equal(other, dict.fromkeys(keys, said), of, guidelines_version=own.task.guidelines_version)
        done += before[1] - other.to_do
        told.append(_Told(other.pk, keys, before[0], other.version, other.to_do))
    note_work(own.task, done)
    return {"equal": [one._asdict() for one in told]} if told else {}


def _store(
    own: OwnSheet,
    verb: str,
    said: Mapping[str, Mapping[str, Any]],
    seen: int,
    *,
    columns: Mapping[str, Any] | None = None,
) -> Result:
    """Revise the sheet, and bring the task's counters up to date."""
    sheet = own.sheet
    require_present(own.sheet, why_closed(own.task), seen)
    for citation in said:
        _require_asked(own, citation)
    before = sheet.to_do
    sheet.revise(
        verb,
        said,
        judge_id=sheet.judge_id,
        task_id=own.task.pk,
        guidelines_version=own.task.guidelines_version,
        columns=columns,
    )
    note_work(own.task, 0 if sheet.out_of_scope else before - sheet.to_do)
    return {}


def _require_asked(own: OwnSheet, citation: str) -> None:
    """Raise Gone and BadWrite."""
    if citation in own.sheet.unresolved:
        raise Gone(gettext("This citation can't be judged: the text of what it cites is not loaded."))
    if citation in own.sheet.waiting:
        raise Gone(gettext("This citation can't be opened yet: the model has not judged it."))
    if citation in own.sheet.settled_elsewhere:
        raise Gone(gettext("This citation is judged with an equal one, in another place."))
    if citation not in own.sheet.asked:
        raise BadWrite("There is no such citation to be judged here.")
