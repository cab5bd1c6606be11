"""What a person says of pairs. All of it is called inside work.writes.once, its transaction."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import judge_of
from assessor.preference.access import OwnPair
from assessor.preference.models import PreferencePair
from assessor.preference.queries import OPEN, asked_pairs, own_pairs
from assessor.preference.verdicts import of_answers, verdicts
from assessor.work.models import Task
from assessor.work.write_protocol import (
    SIGNED_OFF,
    BadWrite,
    Result,
    counted,
    end,
    note_work,
    on_one_line,
    place_in_queue,
    require_all_said,
    require_present,
)


def why_closed(task: Task) -> str:
    """Say why nothing can be said of a task's pairs now, or ""."""
    return "" if task.state == Task.State.OPEN else gettext(SIGNED_OFF)


def compare(own: OwnPair, *, verdict: str, seconds: int | None, seen: int) -> Result:
    """Say which answer is better, in terms of what is shown, or "" to take back what was said.

    Raises Stale, Closed and BadWrite.
    """
    possible = verdicts(ties=own.task.condition.protocol.preference_ties)
    if verdict not in ("", *possible):
        raise BadWrite(f"A label is one of {', '.join(possible)}.")
    value = verdict and of_answers(verdict, second_stood_first=own.sheet.second_stood_first)
    # Another person's label was for where this one could not judge.
    said = {"label": value, "cannot": None, "adopted": None}
    return _store(own, "label" if verdict else "take back", said, seen, seconds=seconds)


def mark_unjudgeable(own: OwnPair, *, reason: str, seconds: int | None, seen: int) -> Result:
    """Say why two answers can't be compared. Raises as compare()."""
    reason = on_one_line(reason)
    if not reason:
        raise BadWrite(gettext("Say why it can't be judged."))
    return _store(own, "can't judge", {"cannot": reason, "label": None}, seen, seconds=seconds)


def flag(own: OwnPair, *, note: str, seen: int) -> Result:
    """Leave a note on a pair for the organizer, or with "" none any more. Raises as compare()."""
    return _store(own, "flag", {"flag": on_one_line(note)}, seen)


def put_off(own: OwnPair, *, to: int | None, seen: int) -> Result:
    """Put a pair off to the end of the person's queue, or (to) back to where it stood. Raises as compare()."""
    place = place_in_queue(PreferencePair.objects.filter(task=own.task.pk), to)
    return _store(own, "put off", {}, seen, columns={"put_off": place})


def sign_off(task: Task, *, acting_user: Person, seen: int) -> Result:
    """End a topic, all of whose pairs are compared: its labels can be read, no longer changed.

    seen: the sum of the versions of the person's pairs. Raises Stale, Closed and BadWrite.
    """
    end(task)
    require_all_said(task, own_pairs(task), seen, OPEN)
    if asked_pairs(task.condition, task.topic).filter(OPEN).exists():
        raise BadWrite(gettext("Pairs of this topic that are not among yours lack labels: tell your organizer."))
    history.record(
        "preference signed off", task, campaign=task.campaign, person=acting_user, condition=task.condition.name
    )
    return {}


def _store(
    own: OwnPair,
    verb: str,
    said: Mapping[str, Any],
    seen: int,
    *,
    seconds: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Result:
    """Revise the pair, and bring the task's counters up to date."""
    pair, task = own.sheet, own.task
    require_present(pair, why_closed(task), seen)
    before = pair.to_do
    pair.revise(
        verb,
        {pair.item: said},
        judge_id=judge_of(task.person).pk,
        task_id=task.pk,
        seconds=counted(seconds),
        guidelines_version=task.guidelines_version,
        columns=columns,
    )
    note_work(task, before - pair.to_do if own.is_asked else 0)
    return {}
