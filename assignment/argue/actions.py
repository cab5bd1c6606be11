"""The only writers of ARGUE sheets: making them, what models say, and what banks and answers change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Answer, Condition, Sentence, Topic
from assessor.formats.values import to_json
from assessor.labels.models import Label
from assessor.labels.new_sheets import SheetRow, insert_sheets
from assessor.llm.job_kind import UnitFailure
from assessor.llm.models import Job, Unit
from assignment.argue.items import Bank, Item, bank_of, item_of_key, judged_sentences
from assignment.argue.models import ArgueSheet
from assignment.argue.queries import reports_of, reports_without_sheet
from assignment.argue.vocabulary import ANSWERS
from nuggets.drafting import in_batches
from nuggets.editions import Snapshot
from nuggets.models import NuggetBank
from nuggets.queries import lock_finished_banks, present_editions, with_keys

_AT_A_TIME = 500
_FIELDS = (
    *("condition", "bank", "answer", "judge", "edition", "cut", "to_do", "task", "place"),
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
    extras: dict[str, Any] | None = None,
    import_record: int | None = None,
) -> SheetRow:
    """Return a sheet as add_sheets() takes it; records are named by their keys.

    items: what is asked; nuggets: keys by uid; labels: by item's key.
    """
    said = labels or {}
    rows = [
        (
            *(item.key, item.sentence, item.docid, item.step, nuggets[item.nugget] if item.nugget else None, item.gold),
            said.get(item.key),
            Label.State.GIVEN.value if item.key in said else Label.State.OPEN.value,
        )
        for item in items
    ]
    to_do = sum(item.key not in said for item in items)
    columns = (
        *(condition, bank, answer, judge, edition, cut, to_do, None, 0),
        *(to_json(extras) if extras else "{}", import_record, 0, 0, 0, 0, False),
    )
    return SheetRow(columns, rows)


def add_sheets(sheets: Iterable[SheetRow]) -> None:
    """Write new sheets, in this order."""
    insert_sheets(ArgueSheet, _FIELDS, _OF_JUDGMENT, sheets)


def add_lacking_sheets(condition: Condition, topics: Sequence[Topic]) -> int:
    """Write a sheet for each report on topics with finished questions that has none; return how many were written."""
    judge = condition.judge_id
    assert condition.nuggets is not None, "reports are judged against questions"
    assert judge is not None, "a model's condition has a judge"
    banks = lock_finished_banks(condition.nuggets, topics)
    editions = present_editions(banks.values())
    new = reports_without_sheet(condition, banks.values())
    asked = {topic: bank_of(editions[bank.pk].nuggets, condition.protocol) for topic, bank in banks.items()}
    keys = {topic: keys_of(editions[bank.pk].nuggets) for topic, bank in banks.items()}
    for some in in_batches(new, _AT_A_TIME):
        rows = []
        for answer in reports_of(some).order_by("topic", "pk"):
            bank = banks[answer.topic_id]
            sentences = list(answer.sentences())
            judged = judged_sentences(sentences, condition.protocol, answer.topic)
            rows.append(
                sheet_row(
                    condition=condition.pk,
                    bank=bank.pk,
                    answer=answer.pk,
                    judge=judge,
                    edition=bank.edition,
                    cut=len(sentences) - len(judged),
                    items=asked[answer.topic_id].items(judged, {}),
                    nuggets=keys[answer.topic_id],
                )
            )
        add_sheets(rows)
    return len(new)


def keys_of(nuggets: Snapshot) -> dict[str, int]:
    """Return the keys of an edition's nuggets, by uid."""
    return {nugget["uid"]: nugget["id"] for nugget in nuggets}


class Judged(NamedTuple):
    """What a model said on a sheet. edition: of the bank that it was asked about; labels: by item's key."""

    sheet: int
    edition: int
    labels: dict[str, str]


def store_judgments(job: Job, results: Sequence[tuple[Unit, Judged]]) -> None:
    """Write the judgments that a job's model gave, where there is none yet.

    Raises UnitFailure where the bank was finished again since.
    """
    keys = [judged.sheet for _, judged in results]
    # In the order in which a bank that is finished again locks them too.
    locked = ArgueSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(pk__in=keys).order_by("pk")
    related = locked.select_related("bank", "answer__topic", "condition__protocol")
    sheets = {sheet.pk: sheet for sheet in ArgueSheet.with_items(related)}
    editions = present_editions({sheet.bank_id: sheet.bank for sheet in sheets.values()}.values())
    for unit, judged in results:
        sheet = sheets[judged.sheet]
        if sheet.edition != judged.edition or sheet.bank.edition != judged.edition:
            raise UnitFailure(f"The questions of {unit.topic.qid} were changed while the model was asked about them.")
        bank = bank_of(editions[sheet.bank_id].nuggets, sheet.condition.protocol)
        labels = {key: label for key, label in judged.labels.items() if not sheet.is_said(key)}
        asked, _ = asked_of(sheet, bank, {**sheet.labels, **labels})
        labels = {key: label for key, label in labels.items() if key in asked}  # sentences may have changed meanwhile
        # What is asked because of another judgment has its row, to which events refer, only once that one is written.
        while there := {key: label for key, label in labels.items() if key in sheet.labels_by_item}:
            said = {key: {"label": label, "stale": None} for key, label in there.items()}
            sheet.revise("judged", said, judge_id=job.condition.judge_id, job_id=job.pk, asked=asked)
            labels = {key: label for key, label in labels.items() if key not in there}


def asked_of(sheet: ArgueSheet, bank: Bank, labels: Mapping[str, str]) -> tuple[list[str], int]:
    """Return the keys of what is asked on a sheet where these are its labels, and how many sentences are cut."""
    sentences = list(sheet.answer.sentences())
    judged = judged_sentences(sentences, sheet.condition.protocol, sheet.answer.topic)
    return [item.key for item in bank.items(judged, labels)], len(sentences) - len(judged)


def follow_edition(bank: NuggetBank) -> None:
    """Bring all sheets of a bank to its newest edition, in the transaction that finishes it.

    A judgment on a question or gold answer whose text was changed is outdated: it is asked for again. Other references
    of a gold answer change of which sentences it is asked: a judgment that is asked for no more goes, the rest stands.
    """
    bring_up_to_date(bank, ArgueSheet.in_or_out.filter(bank=bank))


def bring_up_to_date(bank: NuggetBank, of_bank: QuerySet[ArgueSheet]) -> None:
    """Bring sheets of a bank to its newest edition."""
    behind = of_bank.exclude(edition=bank.edition).order_by("pk")
    locked = behind.select_for_update(no_key=True, of=("self",))
    sheets = list(ArgueSheet.with_items(locked.select_related("condition__protocol", "answer__topic")))
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


def gold_texts(nuggets: Snapshot) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the texts of gold answers, each with its question's, by uid and id."""
    return {
        (nugget["uid"], gold["id"]): (nugget["text"], gold["text"])
        for nugget in nuggets
        for gold in nugget.get("gold") or ()
    }


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
        if key not in said and (item.nugget, item.gold) in changed and key in sheet.labels:
            said[key] = {**nothing, "stale": sheet.labels[key], "flag": sheet.flags.get(key)}
    columns = {"edition": edition, "cut": cut}
    sheet.revise("questions changed", said, judge_id=None, asked=asked, columns=columns)


def follow_sentences(changed: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Ask about what answers cite besides, or say in sentences, in the transaction that a file changes them in.

    changed: the answers as they now are, each with its sentences before. What was said of the text as one sentence is
    of none of its sentences, and goes. What a file says of a report stands as it came.
    """
    locked = ArgueSheet.in_or_out.select_for_update(no_key=True, of=("self",)).filter(answer__in=changed)
    made_here = locked.filter(import_record=None).select_related("bank", "condition__protocol", "answer__topic")
    sheets = list(ArgueSheet.with_items(made_here.order_by("pk")))
    editions = present_editions({sheet.bank_id: sheet.bank for sheet in sheets}.values())
    before = {answer.pk: len(sentences) for answer, sentences in changed.items()}
    after = {answer.pk: len(answer.content) for answer in changed}
    for sheet in sheets:
        edition = editions[sheet.bank_id]
        if before[sheet.answer_id] != after[sheet.answer_id]:
            nothing: dict[str, Any] = dict.fromkeys(ArgueSheet.SAID)
            sheet.revise("sentences known", dict.fromkeys(sheet.asked, nothing), judge_id=None, asked=[])
        _bring_up_to_date(sheet, edition.nuggets, edition.edition)
