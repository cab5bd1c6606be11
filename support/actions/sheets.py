"""New support sheets, as rows: a track's condition has 44,000 of them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import transaction

from assessor.collection.formats.values import to_json
from assessor.collection.loaders.base import insert
from assessor.collection.models import Answer, Condition
from assessor.work.sheets import revise
from support.citations import places
from support.models import SupportSheet
from support.queries import loaded_docids

_FIELDS = (
    *("condition", "answer", "judge", "task", "place", "asked", "unresolved", "to_do", "labels", "invalid", "extras"),
    *("import_record", "put_off", "version", "cannot", "adopted", "flags", "shown"),
)
_NOTHING = "{}"


def sheet_row(
    *,
    condition: int,
    answer: int,
    judge: int,
    asked: Sequence[str],
    unresolved: Sequence[str] = (),
    labels: dict[str, str] | None = None,
    task: int | None = None,
    place: int = 0,
    invalid: dict[str, Any] | None = None,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> tuple[Any, ...]:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    asked: the keys of the citations that are to be judged; unresolved: those whose segment's text is not loaded, of
    which none has a label. An answer that cites nothing has none: nobody is asked about it.
    """
    said = labels or {}
    to_do = len(asked) - len(unresolved) - len(said)
    return (
        *(condition, answer, judge, task, place, to_json(list(asked)), to_json(list(unresolved)), to_do),
        *(to_json(said) if said else _NOTHING, to_json(invalid) if invalid else _NOTHING),
        *(to_json(extras) if extras else _NOTHING, import_record),
        *(0, 0, _NOTHING, _NOTHING, _NOTHING, _NOTHING),
    )


def add_sheets(rows: Iterable[tuple[Any, ...]]) -> None:
    """Write new sheets, in this order."""
    insert(SupportSheet, _FIELDS, rows)


@transaction.atomic
def resolve(condition: Condition) -> int:
    """Have those citations judged whose segments were loaded since their sheets were made; return how many."""
    waiting = SupportSheet.objects.filter(condition=condition).exclude(unresolved=[]).select_related("answer")
    # Locked, or a job's labels could come in between.
    sheets = list(waiting.order_by("pk").select_for_update(no_key=True, of=("self",)))
    docids = {sheet.pk: {key: docid_of(sheet.answer, key) for key in sheet.unresolved} for sheet in sheets}
    there = loaded_docids(condition.campaign, {docid for of_sheet in docids.values() for docid in of_sheet.values()})
    resolved = 0
    for sheet in sheets:
        if found := [key for key, docid in docids[sheet.pk].items() if docid in there]:
            mark_loaded(sheet, found)
            resolved += len(found)
    return resolved


def mark_loaded(sheet: SupportSheet, keys: Collection[str], *, job_id: int | None = None) -> None:
    """Note on a sheet, which is locked, that unresolved citations can be judged after all."""
    left = [key for key in sheet.unresolved if key not in keys]
    columns = {"unresolved": left, "to_do": sheet.to_do + len(keys)}
    revise(sheet, "text loaded", {}, judge_id=None, task_id=sheet.task_id, job_id=job_id, columns=columns)


def docid_of(answer: Answer, key: str) -> str:
    """Return what a citation of an answer points to, by its key."""
    sentence, citation = places(key)
    docid: str = list(answer.sentences())[sentence].citations[citation].docid
    return docid
