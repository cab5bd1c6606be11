"""What becomes of labels when a bank is finished again."""

from typing import Any

from django.db.models import QuerySet

from assessor.work.models import Task
from assignment.actions.preparation import count, take_over
from assignment.label_kind import kind_of_nuggets
from assignment.models import AnswerSheet
from nuggets.editions import Snapshot, consequences
from nuggets.models import NuggetBank
from nuggets.queries import with_keys


def follow_edition(bank: NuggetBank) -> None:
    """Bring all sheets of a bank to its newest edition, in the transaction that finishes it.

    A label on a nugget whose text was changed is stale: it is asked for again. A label on one that has left the bank
    goes with it, and a new nugget has none. Whatever else was changed, labels stand.
    """
    bring_up_to_date(bank, AnswerSheet.in_or_out.filter(bank=bank))
    tasks = Task.objects.filter(answer_sheets__bank=bank).exclude(state=Task.State.WITHDRAWN)
    for task in tasks.select_related("person", "topic").distinct().order_by("pk"):
        # What is to be done again of somebody who does not have the topic any more is done by who has it.
        take_over(task, bank)
        count(task)


def bring_up_to_date(bank: NuggetBank, sheets: QuerySet[AnswerSheet]) -> None:
    """Bring sheets of a bank to its newest edition."""
    editions: dict[int, Snapshot] = {edition.edition: edition.nuggets for edition in with_keys(bank.editions.all())}
    behind = sheets.exclude(edition=bank.edition).order_by("pk")
    # Locked in the order in which jobs lock those that they write labels on.
    locked = behind.select_related("condition").select_for_update(no_key=True, of=("self",))
    for sheet in AnswerSheet.with_items(locked):
        _bring_up_to_date(sheet, editions[sheet.edition], editions[bank.edition], bank.edition)


def _bring_up_to_date(sheet: AnswerSheet, before: Snapshot, after: Snapshot, edition: int) -> None:
    changed = consequences(before, after, "id")
    if sheet.condition.sample:
        # Reworded, it is not what was drawn: what others said of it was said of another text.
        changed["gone"] += changed["stale"]
        changed["stale"] = []
    nothing: dict[str, Any] = dict.fromkeys(AnswerSheet.SAID)
    said: dict[int, dict[str, Any]] = dict.fromkeys(changed["gone"], nothing)
    for nugget in changed["stale"]:
        key = str(nugget)
        said[nugget] = {**nothing, "stale": sheet.labels.get(key) or sheet.stale.get(key), "flag": sheet.flags.get(key)}
    there = [nugget["id"] for nugget in after]
    left = [nugget for nugget in there if nugget not in changed["gone"]]
    asked = None if sheet.asked is None else [nugget for nugget in sheet.asked if nugget in left]
    if sheet.by_rule:
        label = kind_of_nuggets(sheet.condition).empty_label
        said |= {nugget: {"label": label} for nugget in there if asked is None or nugget in asked}
    # revise() counts what was said and is not any more; of nuggets that came or went it knows nothing.
    to_do = (
        0
        if sheet.by_rule
        else sum(
            nugget in changed["stale"] or not sheet.is_said(str(nugget))
            for nugget in (there if asked is None else asked)
        )
    )
    columns = {"edition": edition, "to_do": to_do}
    sheet.revise("nuggets changed", said, judge_id=None, asked=there if asked is None else asked, columns=columns)
