"""What jobs, scores and pages read of answer sheets."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet

from assessor.collection.models import CONTROL, Campaign, Condition, Run, Sentence, Topic
from assessor.collection.queries import own_answers
from assessor.work.models import Task
from assignment.models import AnswerSheet, LeftOut, Opinion, Revision
from nuggets.editions import Snapshot
from nuggets.models import BankEdition, Nugget, NuggetBank

EMPTY_RUN = "control.empty"  # the tag of the control run that answers nothing


def finished_banks(nuggets: Condition, topics: Iterable[Topic]) -> dict[int, NuggetBank]:
    """Return the finished bank of each topic under a nugget condition, by topic's key; the newest of several."""
    banks = NuggetBank.objects.filter(condition=nuggets, topic__in=list(topics), state=NuggetBank.State.FINISHED)
    return {bank.topic_id: bank for bank in banks.select_related("task__person", "topic").order_by("finished_at", "pk")}


def nuggets_of(bank: NuggetBank) -> Snapshot:
    """Return the nuggets of a bank as it was last finished: what labels and scores are about."""
    edition = BankEdition.objects.get(bank=bank, edition=bank.edition)
    return list(edition.nuggets)


def present_editions(banks: Iterable[NuggetBank]) -> dict[int, BankEdition]:
    """Return the edition of each bank as it was last finished, by bank's key."""
    editions = BankEdition.objects.filter(bank__in=[bank.pk for bank in banks], edition=F("bank__edition"))
    return {edition.bank_id: edition for edition in editions}


def scored_editions(condition: Condition) -> list[BankEdition]:
    """Return what scores go by on each topic that a condition's sheets are about, by topic's id in byte order.

    Of all banks of the condition's nuggets there it is the one that was finished last, whether or not a sheet is about
    it yet, as it stood then.
    """
    judged = AnswerSheet.objects.filter(condition=condition).order_by().values("bank__topic")
    banks = NuggetBank.objects.filter(condition=condition.nuggets_id, topic__in=judged)
    editions = BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")).select_related("bank__topic")
    newest = {edition.bank.topic_id: edition for edition in editions.order_by("pk")}
    return sorted(newest.values(), key=lambda edition: edition.bank.topic.qid)


def control_runs(nuggets: Condition) -> QuerySet[Run]:
    """Return the control runs that say all nuggets of a condition, whose name stands as their team; oldest first."""
    runs: QuerySet[Run] = nuggets.campaign.runs.filter(task=CONTROL, team=nuggets.name)
    return runs.order_by("pk")


def sheets_on(banks: Collection[NuggetBank], condition: Condition) -> QuerySet[AnswerSheet]:
    """Return the sheets of banks under a condition; none where it is not saved yet."""
    sheets: QuerySet[AnswerSheet] = AnswerSheet.objects.filter(condition=condition.pk, bank__in=banks)
    return sheets


def answers_without_sheet(condition: Condition, banks: Collection[NuggetBank]) -> list[tuple[int, int, int]]:
    """Return (key, topic's key, words) of all answers that a model has to label on banks and that have no sheet yet.

    These are the systems' own, and those of the control runs: the newest that says all the nuggets, and the empty one.
    """
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    newest = control_runs(condition.nuggets).reverse()[:1]
    is_meant = ~Q(run__task=CONTROL) | Q(run__tag=EMPTY_RUN) | Q(run__in=newest)
    answers = own_answers([bank.topic_id for bank in banks]).filter(is_meant).order_by("topic", "pk")
    # A database would look for each of a track's answers under each of its banks.
    known = set(sheets_on(banks, condition).values_list("answer", flat=True))
    return [row for row in answers.values_list("pk", "topic", "words") if row[0] not in known]


def progress(task: Task) -> tuple[int, int]:
    """Count the answers of a task's bank under its condition that are done, by whoever, and all of them."""
    sheets = AnswerSheet.objects.filter(condition=task.condition_id, bank=bank_of(task))
    counts = sheets.aggregate(total=Count("pk"), done=Count("pk", filter=Q(to_do=0)))
    return counts["done"], counts["total"]


def assigning(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which nuggets are assigned to answers, by people, a model or a file."""
    return campaign.conditions.filter(kind=Condition.Kind.ASSIGNMENT).select_related(
        "judge", "nuggets__judge", "qrels_source__condition__judge", "opinion"
    )


def bank_of(task: Task) -> NuggetBank:
    """Return the bank that a task of assignment is about: that of the answers which it was given last."""
    banks = NuggetBank.objects.filter(answer_sheets__task=task).order_by("-answer_sheets__pk")
    bank: NuggetBank = banks.select_related("topic", "condition__judge", "task")[0]
    return bank


def with_questions(condition: Condition) -> QuerySet[AnswerSheet]:
    """Return a condition's sheets on which a person could not judge something or flagged it."""
    sheets = AnswerSheet.objects.filter(condition=condition).exclude(cannot={}, flags={})
    return sheets.select_related("answer__run", "answer__topic", "judge").order_by("answer__topic__qid", "pk")


class OtherLabel(NamedTuple):
    """What another person says of the same nugget in the same answer."""

    sheet: AnswerSheet
    label: str


class Question(NamedTuple):
    """What is open on a nugget in an answer: why it can't be judged, or a flag's note, or both."""

    sheet: AnswerSheet
    nugget: int
    text: str
    cannot: str
    adopted: str
    flag: str
    others: list[OtherLabel]


def questions(condition: Condition, sheets: Sequence[AnswerSheet]) -> list[Question]:
    """Return what is open on sheets, nugget by nugget, with what other people said there."""
    opinions = AnswerSheet.objects.filter(
        condition__opinion__of=condition,
        condition__opinion__purpose=Opinion.Purpose.SECOND,
        answer__in=[sheet.answer_id for sheet in sheets],
    )
    others: dict[tuple[int, int, int], list[AnswerSheet]] = {}
    for other in opinions.select_related("condition", "judge").order_by("pk"):
        others.setdefault((other.bank_id, other.answer_id, other.edition), []).append(other)
    open_ones = [(sheet, nugget) for sheet in sheets for nugget in {**sheet.cannot, **sheet.flags}]
    texts = dict(Nugget.objects.filter(pk__in={int(nugget) for _, nugget in open_ones}).values_list("pk", "text"))
    return [
        Question(
            sheet,
            int(nugget),
            texts.get(int(nugget), ""),
            sheet.cannot.get(nugget, ""),
            sheet.adopted.get(nugget, ""),
            sheet.flags.get(nugget, ""),
            [
                OtherLabel(other, other.labels[nugget])
                for other in others.get((sheet.bank_id, sheet.answer_id, sheet.edition), [])
                if nugget in other.labels
            ],
        )
        for sheet, nugget in open_ones
    ]


def left_out(condition: Condition) -> list[LeftOut]:
    """Return what leaves nuggets out of a condition's scores now: the newest word on each."""
    newest = {record.nugget_id: record for record in LeftOut.objects.filter(condition=condition).order_by("pk")}
    out = [record.pk for record in newest.values() if record.is_out]
    return list(LeftOut.objects.filter(pk__in=out).select_related("nugget__bank__topic", "person"))


class Said(NamedTuple):
    """What stands of a nugget in an answer, and the active seconds that were spent on it; what there isn't is empty."""

    text: str
    importance: str
    label: str
    cannot: str
    stale: str
    flag: str
    marked: list[str]
    seconds: int | None


class Labelled(NamedTuple):
    """An answer as an organizer sees it."""

    sheet: AnswerSheet
    sentences: list[Sentence]
    said: list[Said]
    seconds: int
    last: datetime | None


def all_sheets(task: Task) -> QuerySet[AnswerSheet]:
    """Return all answer sheets of a task, in the order in which they were shuffled."""
    sheets = AnswerSheet.everything.filter(task=task).select_related("answer__run")
    return sheets.order_by("place", "pk")


def labelled(sheets: Iterable[AnswerSheet]) -> list[Labelled]:
    """Return sheets with their answers and all that was said on them, for organizers: runs are named."""
    found = list(sheets)
    editions = BankEdition.objects.filter(bank__in={sheet.bank_id for sheet in found})
    nuggets = {(edition.bank_id, edition.edition): edition.nuggets for edition in editions}
    seconds: dict[tuple[int, str], int] = defaultdict(int)
    last: dict[int, datetime] = {}
    told = Revision.objects.filter(sheet__in=found).order_by("at").values_list("sheet", "changes", "seconds", "at")
    for sheet, changes, spent, at in told:
        last[sheet] = at
        if spent is not None:
            for nugget in changes:
                seconds[sheet, nugget] += spent
    return [_labelled(sheet, nuggets[sheet.bank_id, sheet.edition], seconds, last.get(sheet.pk)) for sheet in found]


def _labelled(
    sheet: AnswerSheet, nuggets: Snapshot, seconds: dict[tuple[int, str], int], last: datetime | None
) -> Labelled:
    sentences = list(sheet.answer.sentences())
    rows = []
    for nugget in nuggets:
        key = str(nugget["id"])
        if sheet.asked is not None and nugget["id"] not in sheet.asked:
            continue
        label, cannot, stale, note = (
            column.get(key, "") for column in (sheet.labels, sheet.cannot, sheet.stale, sheet.flags)
        )
        marked = [sentences[sentence].text[start:end] for sentence, start, end in sheet.marks.get(key, [])]
        spent = seconds.get((sheet.pk, key))
        rows.append(Said(nugget["text"], nugget["importance"], label, cannot, stale, note, marked, spent))
    return Labelled(sheet, sentences, rows, sum(row.seconds or 0 for row in rows), last)
