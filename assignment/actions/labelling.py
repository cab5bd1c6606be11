"""What a person says of nuggets in their answers. All of it is called inside work.writes.once, its transaction."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of
from assessor.labels.shown_labels import NOT_SHOWN_HERE, record_seen, require_shown
from assessor.work.models import Task
from assessor.work.write_protocol import (
    SIGNED_OFF,
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
from assignment.access import OwnSheet, shown_label
from assignment.label_kind import kind_of_nuggets
from assignment.models import AnswerSheet
from assignment.queries import bank_of, progress
from assignment.screen import own_rows
from nuggets.models import Nugget, NuggetBank

MAX_MARKS = 100  # of a nugget in an answer

_REOPENED = gettext_noop(
    "The {things} of this topic are being changed. What you said is kept; once they are finished, you go on."
)


def why_closed(task: Task, bank: NuggetBank) -> str:
    """Say why nothing can be said of a task's answers now, or ""."""
    if task.state != Task.State.OPEN:
        return gettext(SIGNED_OFF)
    if bank.state == NuggetBank.State.FINISHED:
        return ""
    return gettext(_REOPENED).format(things=gettext(kind_of(task).nuggets_called))


def give_label(own: OwnSheet, *, nugget: int, label: str, seconds: int | None, seen: int) -> Result:
    """Give a nugget a label of the task's kind, or take back what was said: "".

    Raises Stale, Closed, Gone and BadWrite.
    """
    known = [choice.label for choice in kind_of_nuggets(own.task).choices]
    if label not in ("", *known):
        raise BadWrite(f"A label is one of {', '.join(known)}.")
    said: dict[str, Any] = {"label": label, "cannot": None}
    if label:
        said |= {"stale": None, "invalid": None}
    if str(nugget) in own.sheet.cannot:
        said["adopted"] = None  # another person's label was for where this one could not judge
    return _judge(own, "label" if label else "take back", nugget, said, seen, seconds)


def mark_unjudgeable(own: OwnSheet, *, nugget: int, reason: str, seconds: int | None, seen: int) -> Result:
    """Say why there can be no label of a nugget. Raises as give_label()."""
    reason = on_one_line(reason)
    if not reason:
        raise BadWrite(gettext("Say why it can't be judged."))
    said = {"cannot": reason, "label": None, "stale": None, "invalid": None}
    return _judge(own, "can't judge", nugget, said, seen, seconds)


def flag(own: OwnSheet, *, nugget: int, note: str, seen: int) -> Result:
    """Leave a note on a nugget in an answer for the organizer, or with "" none any more. Raises as give_label()."""
    return _say(own, "flag", nugget, {"flag": on_one_line(note)}, seen)


def mark_words(own: OwnSheet, *, nugget: int, marks: Any, seen: int) -> Result:
    """Keep which words of the answer carry a nugget: [[sentence, start, end], ...], in characters, or none.

    Raises as give_label().
    """
    if not isinstance(marks, list) or len(marks) > MAX_MARKS or not all(_is_mark(own, mark) for mark in marks):
        raise BadWrite("Marks are places inside sentences of the answer: [[sentence, start, end], ...].")
    return _say(own, "mark", nugget, {"marks": marks}, seen)


def show(own: OwnSheet, *, nugget: int, seen: int) -> Result:
    """Return the model's label of a nugget that is on screen now, and record that the person has seen it.

    Raises as give_label().
    """
    if own.shown_condition is None:
        raise BadWrite(NOT_SHOWN_HERE)
    _require_open(own, [nugget], seen)
    label = shown_label(own, nugget)
    if label is None:
        raise BadWrite(f"The model has not labelled this {kind_of_nuggets(own.task).item}.")
    _say(own, "show", nugget, {"shown": label}, seen)
    record_seen(own)
    return {"shown": label}


def put_off(own: OwnSheet, *, to: int | None, seen: int) -> Result:
    """Put an answer off to the end of the person's queue, or (to) back to where it stood. Raises as give_label()."""
    place = place_in_queue(AnswerSheet.everything.filter(task=own.task.pk), to)
    return _store(own, "put off", {}, seen, columns={"put_off": place})


def sign_off(task: Task, *, acting_user: Person, seen: int) -> Result:
    """End a topic, all of whose answers are done: its labels can be read from then on, no longer changed.

    seen: the sum of the versions of the person's sheets. Raises Stale, Closed and BadWrite.
    """
    end(task)
    bank = bank_of(task)
    if closed := why_closed(task, bank):
        raise Closed(closed)
    require_all_said(task, own_rows(task, bank), seen)
    done, total = progress(task)
    if done < total:
        raise BadWrite(gettext("Answers of this topic that are not among yours lack labels: tell your organizer."))
    history.record(
        f"{task.kind} signed off", task, campaign=task.campaign, person=acting_user, condition=task.condition.name
    )
    return {}


def _judge(own: OwnSheet, verb: str, nugget: int, said: Mapping[str, Any], seen: int, seconds: int | None) -> Result:
    _require_open(own, [nugget], seen)
    require_shown(own, str(nugget), kind_of_nuggets(own.task).item)
    return _say(own, verb, nugget, said, seen, seconds)


def _say(
    own: OwnSheet, verb: str, nugget: int, said: Mapping[str, Any], seen: int, seconds: int | None = None
) -> Result:
    return _store(own, verb, {nugget: said}, seen, seconds=counted(seconds))


def _store(
    own: OwnSheet,
    verb: str,
    said: Mapping[int, Mapping[str, Any]],
    seen: int,
    *,
    seconds: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Result:
    """Revise the sheet, and bring the task's counters up to date where an answer became done or is no longer."""
    sheet = own.sheet
    _require_open(own, said, seen)
    was_done = not sheet.to_do
    sheet.revise(
        verb,
        said,
        judge_id=sheet.judge_id,
        task_id=own.task.pk,
        seconds=seconds,
        guidelines_version=own.task.guidelines_version,
        columns=columns,
    )
    note_work(own.task, 0 if sheet.out_of_scope else (not sheet.to_do) - was_done)
    return {}


def _require_open(own: OwnSheet, nuggets: Iterable[int], seen: int) -> None:
    """Raise Stale, Closed, Gone and BadWrite."""
    require_present(own.sheet, why_closed(own.task, own.bank), seen)
    if own.is_waiting:
        raise Gone(gettext("This answer can't be opened yet: the model has not labelled all of it."))
    for nugget in nuggets:
        _require_asked(own, nugget)


def _require_asked(own: OwnSheet, nugget: int) -> None:
    """Raise Gone and BadWrite."""
    if nugget in own.asked:
        return
    item = kind_of_nuggets(own.task).item
    if Nugget.objects.filter(pk=nugget, bank=own.bank.pk).exists():
        told = gettext("This {item} is not in the bank any more, or not asked of this answer.")
        raise Gone(told.format(item=gettext(item)))
    raise BadWrite(f"There is no such {item} to be labelled here.")


def _is_mark(own: OwnSheet, mark: Any) -> bool:
    if not isinstance(mark, list) or len(mark) != 3 or not all(type(number) is int for number in mark):
        return False
    sentence, start, end = mark
    is_there: bool = 0 <= sentence < len(own.sentences)
    return is_there and 0 <= start < end <= len(own.sentences[sentence].text)
