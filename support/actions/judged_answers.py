"""New support sheets with a row for each citation that is asked, as rows: a track's condition has 44,000 sheets."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.campaigns.passages import lacking_passages
from assessor.formats.values import to_json
from assessor.labels.models import Label
from assessor.labels.new_sheets import SheetRow, insert_sheets
from support.citations import places
from support.models import SupportJudgment, SupportSheet
from support.queries import given_labels

_FIELDS = (
    *("condition", "answer", "judge", "task", "place", "total", "to_do", "without_text", "waiting_for_label"),
    *("extras", "import_record", "put_off", "version", "unjudgeable", "flagged", "out_of_scope"),
)
_OF_LABEL = ("sentence", "citation", "docid", "value", "state", "raw")


def sheet_row(
    *,
    condition: int,
    answer: int,
    judge: int,
    asked: Mapping[str, str],
    unresolved: Collection[str] = (),
    waiting: Collection[str] = (),
    labels: Mapping[str, str] | None = None,
    task: int | None = None,
    place: int = 0,
    invalid: Mapping[str, Any] | None = None,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> SheetRow:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    asked: the citations that are to be judged, docids by key; unresolved: those whose segment's text is not loaded, of
    which none has a label; waiting: those that can't be opened for want of a model's label, of which none has one
    either. An answer that cites nothing has none: nobody is asked about it.
    """
    said, found = labels or {}, invalid or {}
    state = {
        **dict.fromkeys(asked, Label.State.OPEN.value),
        **dict.fromkeys(unresolved, Label.State.NO_TEXT.value),
        **dict.fromkeys(waiting, Label.State.WAITING.value),
        **dict.fromkeys(said, Label.State.GIVEN.value),
    }
    rows = [
        (
            *places(key),
            docid,
            said.get(key),
            state[key],
            to_json({SupportJudgment.FILE_KEY: found[key]}) if key in found else None,
        )
        for key, docid in asked.items()
    ]
    total = len(asked) - len(unresolved) - len(waiting)
    columns = (
        *(condition, answer, judge, task, place, total, total - len(said), len(unresolved), len(waiting)),
        *(to_json(extras) if extras else "{}", import_record, 0, 0, 0, 0, False),
    )
    return SheetRow(columns, rows)


def add_sheets(sheets: Iterable[SheetRow]) -> None:
    """Write new sheets, in this order."""
    insert_sheets(SupportSheet, _FIELDS, _OF_LABEL, sheets)


@transaction.atomic
def resolve(condition: Condition, topic: Topic | None = None) -> int:
    """Have those citations judged whose segments were loaded since their sheets were made; return how many.

    topic: on it alone. Where a model's label goes with each, they wait for that. The counters of tasks are not brought
    up to date by this.
    """
    sheets = lock(topic, SupportSheet.objects.filter(condition=condition, without_text__gt=0))
    run_of = dict(Answer.objects.filter(pk__in=[sheet.answer_id for sheet in sheets]).values_list("pk", "run"))
    cited = {
        sheet.pk: {key: (run_of[sheet.answer_id], sheet.labels_by_item[key].docid) for key in sheet.unresolved}
        for sheet in sheets
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
    sheet.set_states(keys, Label.State.WAITING if waits else Label.State.OPEN)
    sheet.revise("text loaded", {}, judge_id=None, task_id=sheet.task_id, job_id=job_id)


@transaction.atomic
def open_waiting(condition: Condition, topic: Topic | None = None) -> int:
    """Open those citations for which the model's label that goes with them is there by now; return how many.

    topic: on it alone. The counters of tasks are not brought up to date by this.
    """
    assert condition.shown is not None, "only what is post-edited waits"
    sheets = SupportSheet.objects.filter(condition=condition, waiting_for_label__gt=0)
    opened = 0
    locked = lock(topic, sheets)
    given = given_labels(condition.shown, topic)  # read once they are locked: both may move together
    for sheet in locked:
        there = given.get(sheet.answer_id, {})
        if found := [key for key in sheet.waiting if key in there]:
            sheet.set_states(found, Label.State.OPEN)
            sheet.revise("label there", {}, judge_id=None, task_id=sheet.task_id)
            opened += len(found)
    return opened


def lock(topic: Topic | int | None, sheets: QuerySet[SupportSheet]) -> list[SupportSheet]:
    """Return sheets, of a topic alone where there is one, locked: a person's or a job's labels could come in between.

    Whoever locks several does it in the order of their keys, so that nobody waits for ever.
    """
    on_it = sheets.filter(answer__topic=topic) if topic else sheets
    return list(SupportSheet.with_items(on_it.order_by("pk").select_for_update(no_key=True, of=("self",))))
