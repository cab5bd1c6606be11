"""New support sheets, as rows: a track's condition has 44,000 of them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from assessor.collection.formats.values import to_json
from assessor.collection.loaders.base import insert
from assessor.collection.models import Answer, Condition, Topic
from assessor.collection.passages import lacking_passages
from assessor.work.sheets import revise
from support.citations import places
from support.models import SupportSheet
from support.queries import given_labels

_FIELDS = (
    *("condition", "answer", "judge", "task", "place", "asked", "unresolved", "to_do", "labels", "invalid", "extras"),
    *("waiting", "import_record", "put_off", "version", "cannot", "adopted", "flags", "shown"),
    *("equal", "out_of_scope"),
)
_NOTHING = "{}"


def sheet_row(
    *,
    condition: int,
    answer: int,
    judge: int,
    asked: Sequence[str],
    unresolved: Sequence[str] = (),
    waiting: Sequence[str] = (),
    labels: dict[str, str] | None = None,
    task: int | None = None,
    place: int = 0,
    invalid: dict[str, Any] | None = None,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> tuple[Any, ...]:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    asked: the keys of the citations that are to be judged; unresolved: those whose segment's text is not loaded, of
    which none has a label; waiting: those that can't be opened for want of a model's label, of which none has one
    either. An answer that cites nothing has none: nobody is asked about it.
    """
    said = labels or {}
    to_do = len(asked) - len(unresolved) - len(waiting) - len(said)
    return (
        *(condition, answer, judge, task, place, to_json(list(asked)), to_json(list(unresolved)), to_do),
        *(to_json(said) if said else _NOTHING, to_json(invalid) if invalid else _NOTHING),
        *(to_json(extras) if extras else _NOTHING, to_json(list(waiting)), import_record),
        *(0, 0, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, False),
    )


def add_sheets(rows: Iterable[tuple[Any, ...]]) -> None:
    """Write new sheets, in this order."""
    insert(SupportSheet, _FIELDS, rows)


@transaction.atomic
def resolve(condition: Condition, topic: Topic | None = None) -> int:
    """Have those citations judged whose segments were loaded since their sheets were made; return how many.

    topic: on it alone. Where a model's label goes with each, they wait for that. The counters of tasks are not brought
    up to date by this.
    """
    sheets = lock(topic, SupportSheet.objects.filter(condition=condition).exclude(unresolved=[]))
    # Read once the sheets are locked: an answer and the keys of its citations change together.
    answers = Answer.objects.in_bulk([sheet.answer_id for sheet in sheets])
    cited = {
        sheet.pk: {key: (answer.run_id, docid_of(answer, key)) for key in sheet.unresolved}
        for sheet in sheets
        for answer in [answers[sheet.answer_id]]
    }
    lacking = lacking_passages(condition.campaign, (one for of_sheet in cited.values() for one in of_sheet.values()))
    resolved = 0
    for sheet in sheets:
        if found := [key for key, one in cited[sheet.pk].items() if one not in lacking]:
            mark_loaded(sheet, found, waits=condition.shown_id is not None)
            resolved += len(found)
    return resolved


def mark_loaded(sheet: SupportSheet, keys: Collection[str], *, waits: bool = False, job_id: int | None = None) -> None:
    """Note on a sheet, which is locked, that unresolved citations can be judged after all, or wait for a label now."""
    columns: dict[str, Any] = {"unresolved": [key for key in sheet.unresolved if key not in keys]}
    if waits:
        columns["waiting"] = [*sheet.waiting, *keys]
    else:
        columns["to_do"] = sheet.to_do + len(keys)
    revise(sheet, "text loaded", {}, judge_id=None, task_id=sheet.task_id, job_id=job_id, columns=columns)


@transaction.atomic
def open_waiting(condition: Condition, topic: Topic | None = None) -> int:
    """Open those citations for which the model's label that goes with them is there by now; return how many.

    topic: on it alone. The counters of tasks are not brought up to date by this.
    """
    assert condition.shown is not None, "only what is post-edited waits"
    sheets = SupportSheet.objects.filter(condition=condition).exclude(waiting=[])
    opened = 0
    locked = lock(topic, sheets)
    given = given_labels(condition.shown, topic)  # read once they are locked: both may move together
    for sheet in locked:
        there = given.get(sheet.answer_id, {})
        left = [key for key in sheet.waiting if key not in there]
        found = len(sheet.waiting) - len(left)
        if found:
            columns = {"waiting": left, "to_do": sheet.to_do + found}
            revise(sheet, "label there", {}, judge_id=None, task_id=sheet.task_id, columns=columns)
            opened += found
    return opened


def lock(topic: Topic | int | None, sheets: QuerySet[SupportSheet]) -> list[SupportSheet]:
    """Return sheets, of a topic alone where there is one, locked: a person's or a job's labels could come in between.

    Whoever locks several does it in the order of their keys, so that nobody waits for ever.
    """
    on_it = sheets.filter(answer__topic=topic) if topic else sheets
    return list(on_it.order_by("pk").select_for_update(no_key=True, of=("self",)))


def docid_of(answer: Answer, key: str) -> str:
    """Return what a citation of an answer points to, by its key."""
    sentence, citation = places(key)
    docid: str = list(answer.sentences())[sentence].citations[citation].docid
    return docid
