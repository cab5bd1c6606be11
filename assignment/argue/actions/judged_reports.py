"""New ARGUE sheets with a row for each judgment that is asked, and what is asked on one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from assessor.campaigns.models import Campaign, Sentence
from assessor.campaigns.passages import lacking_passages
from assessor.formats.values import to_json
from assessor.labels.models import Label
from assessor.labels.new_sheets import SheetRow, insert_sheets
from assignment.argue.items import Bank, Item, judged_sentences
from assignment.argue.models import ArgueSheet
from assignment.argue.vocabulary import ATTESTS
from nuggets.editions import Snapshot

_FIELDS = (
    *("condition", "bank", "answer", "judge", "edition", "cut", "is_part", "to_do", "task", "place"),
    *("extras", "import_record", "put_off", "version", "unjudgeable", "flagged", "out_of_scope"),
)
_OF_JUDGMENT = ("key", "sentence", "docid", "step", "nugget", "gold", "value", "state")


def sheet_row(
    *,
    condition: int,
    bank: int,
    answer: int,
    judge: int,
    edition: int,
    cut: int,
    items: Sequence[Item],
    nuggets: Mapping[str, int],
    labels: Mapping[str, str] | None = None,
    task: int | None = None,
    place: int = 0,
    unresolved: Collection[str] = (),
    is_part: bool = False,
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> SheetRow:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    items: what is asked; nuggets: keys by uid; labels: by item's key; unresolved: the keys of items whose document's
    text is not loaded, so that they can't be judged; is_part: whether nothing else is ever asked.
    """
    said = labels or {}
    state = {
        **dict.fromkeys(unresolved, Label.State.NO_TEXT.value),
        **dict.fromkeys(said, Label.State.GIVEN.value),
    }
    rows = [
        (
            *(item.key, item.sentence, item.docid, item.step, nuggets[item.nugget] if item.nugget else None, item.gold),
            said.get(item.key),
            state.get(item.key, Label.State.OPEN.value),
        )
        for item in items
    ]
    to_do = sum(item.key not in state for item in items)
    columns = (
        *(condition, bank, answer, judge, edition, cut, is_part, to_do, task, place),
        *(to_json(extras) if extras else "{}", import_record, 0, 0, 0, 0, False),
    )
    return SheetRow(columns, rows)


def add_sheets(sheets: Iterable[SheetRow]) -> None:
    """Write new sheets, in this order."""
    insert_sheets(ArgueSheet, _FIELDS, _OF_JUDGMENT, sheets)


def keys_of(nuggets: Snapshot) -> dict[str, int]:
    """Return the keys of an edition's nuggets, by uid."""
    return {nugget["uid"]: nugget["id"] for nugget in nuggets}


def asked_of(sheet: ArgueSheet, bank: Bank, labels: Mapping[str, str]) -> tuple[list[str], int]:
    """Return the keys of what is asked on a sheet where these are its labels, and how many sentences are cut."""
    sentences = list(sheet.answer.sentences())
    judged = judged_sentences(sentences, sheet.condition.protocol, sheet.answer.topic)
    return asked_on(sheet, bank, judged, labels), len(sentences) - len(judged)


def asked_on(sheet: ArgueSheet, bank: Bank, judged: Sequence[Sentence], labels: Mapping[str, str]) -> list[str]:
    """Return the same keys. judged: the sentences that are judged."""
    if sheet.is_part:
        possible = {item.key for item in bank.possible(judged)}
        return [key for key in sheet.asked if key in possible]
    return [item.key for item in bank.items(judged, labels)]


def note_texts(sheets: Iterable[ArgueSheet], campaign: Campaign) -> None:
    """Note on people's sheets, which are locked, of which documents the text is loaded by now.

    Nobody can say whether one without a text attests a sentence. The counters of tasks are not brought up to date.
    """
    cited = {
        sheet: {
            key: (sheet.answer.run_id, row.docid)
            for key, row in sheet.labels_by_item.items()
            if row.step == ATTESTS and row.state in (Label.State.OPEN, Label.State.NO_TEXT)
        }
        for sheet in sheets
        if sheet.task_id
    }
    lacking = lacking_passages(campaign, (one for of_sheet in cited.values() for one in of_sheet.values()))
    for sheet, of_sheet in cited.items():
        states = {key: Label.State.NO_TEXT if one in lacking else Label.State.OPEN for key, one in of_sheet.items()}
        changed = {key: state for key, state in states.items() if state != sheet.labels_by_item[key].state}
        if changed:
            sheet.set_states(changed)
            sheet.revise("texts loaded", {}, judge_id=None, task_id=sheet.task_id)


def lock_sheets(sheets: Any) -> list[ArgueSheet]:
    """Return sheets with their answers, locked: a person's or a job's judgments could come in between.

    Whoever locks several does it in the order of their keys, so that nobody waits for ever.
    """
    locked = sheets.order_by("pk").select_for_update(no_key=True, of=("self",))
    return list(ArgueSheet.with_items(locked.select_related("bank", "condition__protocol", "answer__topic")))
