"""What a person says of sentences of their reports. All of it is called inside work.writes.once, its transaction."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.work.models import Task
from assessor.work.write_protocol import (
    BadWrite,
    Closed,
    Gone,
    Result,
    counted,
    end,
    note_work,
    on_one_line,
    place_in_queue,
    require_all_said,
    require_present,
)
from assignment.actions import why_closed
from assignment.argue.access import OwnSheet
from assignment.argue.actions.judged_reports import asked_on
from assignment.argue.models import ArgueSheet
from assignment.argue.queries import bank_of_task, progress
from assignment.argue.screen import own_rows
from assignment.argue.vocabulary import LABELS


def give_label(
    own: OwnSheet, *, item: str, label: str, others: Mapping[str, Mapping[str, str]], seconds: int | None, seen: int
) -> Result:
    """Judge an item with one of LABELS, or take back what was said: "".

    others: what stood of items that are asked because of this one, as label, cannot and flag: it comes back with it
    when a change is undone. Raises Stale, Closed, Gone and BadWrite.
    """
    said = _labelled(own, {item: label, **{key: stood.get("label", "") for key, stood in others.items()}})
    for key, stood in others.items():
        cannot, flag = (on_one_line(stood.get(field, "")) for field in ("cannot", "flag"))
        if cannot and stood.get("label"):
            raise BadWrite("What has a label has no reason why it can't be judged.")
        said[key] |= {"cannot": cannot, "flag": flag}
    return _judge(own, "label" if label else "take back", said, seconds, seen)


def give_labels(own: OwnSheet, *, labels: Mapping[str, str], seconds: int | None, seen: int) -> Result:
    """Judge several items at once, by key, as give_label() does one: the gold answers of a sentence and a document."""
    if not labels:
        raise BadWrite("There are no labels.")
    verb = "answers" if any(labels.values()) else "take back"
    return _judge(own, verb, _labelled(own, labels), seconds, seen)


def mark_unjudgeable(own: OwnSheet, *, item: str, reason: str, seconds: int | None, seen: int) -> Result:
    """Say why an item can't be judged. Raises as give_label()."""
    reason = on_one_line(reason)
    if not reason:
        raise BadWrite(gettext("Say why it can't be judged."))
    return _judge(own, "can't judge", {item: {"cannot": reason, "label": None}}, seconds, seen)


def flag(own: OwnSheet, *, item: str, note: str, seen: int) -> Result:
    """Leave a note on an item for the organizer, or with "" none any more. Raises as give_label()."""
    require_present(own.sheet, why_closed(own.task, own.bank), seen)
    _require_asked(own, [item], own.sheet.asked)
    return _store(own, "flag", {item: {"flag": on_one_line(note)}})


def put_off(own: OwnSheet, *, to: int | None, seen: int) -> Result:
    """Put a report off to the end of the person's queue, or (to) back to where it stood. Raises as give_label()."""
    require_present(own.sheet, why_closed(own.task, own.bank), seen)
    place = place_in_queue(ArgueSheet.in_or_out.filter(task=own.task.pk), to)
    return _store(own, "put off", {}, columns={"put_off": place})


def sign_off(task: Task, *, acting_user: Person, seen: int) -> Result:
    """End a topic, all of whose reports are done: its labels can be read from then on, no longer changed.

    seen: the sum of the versions of the person's sheets. Raises Stale, Closed and BadWrite.
    """
    end(task)
    if closed := why_closed(task, bank_of_task(task)):
        raise Closed(closed)
    require_all_said(task, own_rows(task), seen)
    done, total = progress(task)
    if done < total:
        raise BadWrite(gettext("Reports of this topic that are not among yours lack judgments: tell your organizer."))
    history.record(
        f"{task.kind} signed off", task, campaign=task.campaign, person=acting_user, condition=task.condition.name
    )
    return {}


def _labelled(own: OwnSheet, labels: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return what is to stand of items with these labels, "" for none. Raises BadWrite."""
    said: dict[str, dict[str, Any]] = {}
    for item, label in labels.items():
        if label not in ("", *LABELS):
            raise BadWrite(f"A label is one of {', '.join(LABELS)}.")
        said[item] = {"label": label, "cannot": None}
        if label:
            said[item] |= {"stale": None}
        if item in own.sheet.cannot:
            said[item] |= {"adopted": None}  # another person's label was for where this one could not judge
    return said


def _judge(own: OwnSheet, verb: str, said: Mapping[str, Mapping[str, Any]], seconds: int | None, seen: int) -> Result:
    """Judge items, and ask what follows from that: what is asked no longer has no label any more."""
    sheet = own.sheet
    require_present(sheet, why_closed(own.task, own.bank), seen)
    labels = {**sheet.labels, **{item: of_item["label"] for item, of_item in said.items()}}
    asked = asked_on(sheet, own.asked, own.sentences, labels)
    still_asked = set(asked)
    _require_asked(own, said, still_asked)
    nothing: dict[str, Any] = dict.fromkeys(ArgueSheet.SAID)
    vanished = {item: nothing for item in sheet.asked if item not in still_asked}
    return _store(own, verb, {**said, **vanished}, seconds=counted(seconds), asked=asked)


def _store(own: OwnSheet, verb: str, said: Mapping[str, Mapping[str, Any]], **more: Any) -> Result:
    """Revise the sheet, and bring the task's counters up to date where it became done or is no longer."""
    sheet = own.sheet
    was_done = not sheet.to_do
    sheet.revise(
        verb,
        said,
        judge_id=sheet.judge_id,
        task_id=own.task.pk,
        guidelines_version=own.task.guidelines_version,
        **more,
    )
    note_work(own.task, 0 if sheet.out_of_scope else (not sheet.to_do) - was_done)
    return {}


def _require_asked(own: OwnSheet, items: Iterable[str], asked: Collection[str]) -> None:
    """Raise Gone and BadWrite. asked: what is asked once it is said."""
    unresolved = set(own.sheet.unresolved)
    for item in items:
        if item in unresolved:
            raise Gone(gettext("This can't be judged: the text of the document is not loaded."))
        # What is asked because of a label has its row, to which events refer, only once that one is written.
        if item not in own.sheet.labels_by_item:
            raise BadWrite("There is no such judgment to be given here.")
        if item not in asked:
            raise Gone(gettext("This is not asked any more."))
