"""What becomes of judgments when a bank is finished again, or an answer gets citations from another file."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Sentence
from assessor.work.models import Task
from assignment.argue.actions.judged_reports import asked_of, lock_sheets, note_texts
from assignment.argue.actions.preparation import count, take_over
from assignment.argue.items import bank_of, item_of_key
from assignment.argue.models import ArgueSheet
from assignment.argue.questions import gold_texts
from assignment.argue.vocabulary import ANSWERS
from nuggets.editions import Snapshot
from nuggets.models import NuggetBank
from nuggets.queries import present_editions, with_keys


def follow_edition(bank: NuggetBank) -> None:
    """Bring all sheets of a bank to its newest edition, in the transaction that finishes it.

    A judgment on a question or gold answer whose text was changed is outdated: it is asked for again. Other references
    of a gold answer change of which sentences it is asked: a judgment that is asked for no more goes, the rest stands.
    """
    bring_up_to_date(bank, ArgueSheet.in_or_out.filter(bank=bank))
    tasks = Task.objects.filter(argue_sheets__bank=bank).exclude(state=Task.State.WITHDRAWN)
    for task in tasks.select_related("person", "topic").distinct().order_by("pk"):
        # What is to be done again of somebody who does not have the topic any more is done by who has it.
        take_over(task, bank)
        count(task)


def bring_up_to_date(bank: NuggetBank, of_bank: QuerySet[ArgueSheet]) -> None:
    """Bring sheets of a bank to its newest edition."""
    sheets = lock_sheets(of_bank.exclude(edition=bank.edition))
    if not sheets:
        return
    editions = {edition.edition: edition.nuggets for edition in with_keys(bank.editions.all())}
    after = gold_texts(editions[bank.edition])
    changed = {
        edition: {answer for answer, text in gold_texts(editions[edition]).items() if after.get(answer, text) != text}
        for edition in {sheet.edition for sheet in sheets}
    }
    for sheet in sheets:
        _bring_up_to_date(sheet, editions[bank.edition], bank.edition, changed[sheet.edition])


def _bring_up_to_date(
    sheet: ArgueSheet, nuggets: Snapshot, edition: int, changed: Collection[tuple[str, str]] = frozenset()
) -> None:
    bank = bank_of(nuggets, sheet.condition.protocol)
    if sheet.import_record_id:  # its file said what was judged
        there = {(one.key, gold.id) for one in bank.questions for gold in one.gold}
        items = [(key, item_of_key(key)) for key in sheet.asked]
        asked = [key for key, item in items if item.step != ANSWERS or (item.nugget, item.gold) in there]
        cut = sheet.cut
    else:
        asked, cut = asked_of(sheet, bank, sheet.labels)
    nothing: dict[str, Any] = dict.fromkeys(ArgueSheet.SAID)
    still_asked = set(asked)
    said = {key: nothing for key in sheet.asked if key not in still_asked}
    for key in sheet.asked:
        item = item_of_key(key)
        if key not in said and (item.nugget, item.gold) in changed:
            said[key] = {
                **nothing,
                "stale": sheet.labels.get(key) or sheet.stale.get(key),
                "flag": sheet.flags.get(key),
            }
    columns = {"edition": edition, "cut": cut}
    sheet.revise("questions changed", said, judge_id=None, asked=asked, columns=columns)


def follow_sentences(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Ask about what answers cite besides, or say in sentences, in the transaction that a file changes them in.

    changed: the answers as they now are, each with its sentences before. What was said of the text as one sentence is
    of none of its sentences, and goes. What a file says of a report stands as it came.
    """
    sheets = lock_sheets(ArgueSheet.in_or_out.filter(answer__in=changed, import_record=None))
    editions = present_editions({sheet.bank_id: sheet.bank for sheet in sheets}.values())
    before = {answer.pk: len(sentences) for answer, sentences in changed.items()}
    after = {answer.pk: len(answer.content) for answer in changed}
    for sheet in sheets:
        edition = editions[sheet.bank_id]
        if before[sheet.answer_id] != after[sheet.answer_id]:
            nothing: dict[str, Any] = dict.fromkeys(ArgueSheet.SAID)
            sheet.revise("sentences known", dict.fromkeys(sheet.asked, nothing), judge_id=None, asked=[])
        _bring_up_to_date(sheet, edition.nuggets, edition.edition)
    if sheets:
        note_texts(sheets, sheets[0].condition.campaign)
    tasks = Task.objects.filter(pk__in={sheet.task_id for sheet in sheets if sheet.task_id})
    for task in tasks.select_related("topic").order_by("pk"):
        count(task)
