"""What jobs, scores and pages read of answer sheets."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import CONTROL, CONTROL_TAG, Answer, Campaign, Condition, Run, Sentence
from assessor.campaigns.queries import own_answers, pooled_passages, without_practice
from assessor.labels.completeness import by_topic
from assessor.labels.flags import Question
from assessor.labels.history import said_under
from assessor.labels.shown_labels import differs
from assessor.scores.canaries import canary_name
from assessor.studies.queries import is_sampled, sampled_under
from assessor.work.judging_pool import judged_under
from assessor.work.models import Task
from assignment.label_kind import Assignment
from assignment.models import AnswerSheet, LabelEvent, LeftOut
from assignment.models import Assignment as AssignmentLabel
from assignment.shown_labels import openable
from nuggets.editions import Snapshot
from nuggets.models import BankEdition, Nugget, NuggetBank
from nuggets.queries import with_keys

EMPTY_RUN = f"{CONTROL_TAG}empty"  # the tag of the control run that answers nothing
ALL_NUGGETS = "nuggets"  # what the control run says that a good judge finds complete


def scored_editions(condition: Condition, topic: int | None = None) -> list[BankEdition]:
    """Return what scores go by on each topic that a condition's sheets are about, by topic's id in byte order.

    Not on topics for practice, whose labels so enter no score, no comparison and no file of assignments.
    Of all banks of the condition's nuggets there it is the one that was finished last, whether or not a sheet is about
    it yet, as it stood then. topic: this one alone, by key.
    """
    # By bank, of which one sheet is looked at: all of a track's sheets would be read else.
    sheets = kind_of(condition).sheets.objects.filter(condition__in=condition.label_sources, bank=OuterRef("pk"))
    judged = NuggetBank.everything.filter(Exists(sheets), **({} if topic is None else {"topic": topic}))
    banks = NuggetBank.objects.filter(condition=condition.nuggets_id, topic__in=judged.order_by().values("topic"))
    banks = without_practice(banks)
    editions = BankEdition.objects.filter(bank__in=banks, edition=F("bank__edition")).select_related("bank__topic")
    editions = editions.only("bank", "edition", "nuggets", "bank__topic__qid", "bank__topic__title")
    newest = {edition.bank.topic_id: edition for edition in with_keys(editions.order_by("pk"))}
    return sorted(newest.values(), key=lambda edition: edition.bank.topic.qid)


def reopened_banks(condition: Condition) -> Iterator[str]:
    """Say which of the banks that a condition's labels are given for are open again."""
    banks = NuggetBank.objects.filter(condition=condition.nuggets_id, state=NuggetBank.State.OPEN)
    labelled = kind_of(condition).sheets.objects.filter(condition=condition, bank=OuterRef("pk"))
    again = (f"bank of {condition.nuggets} is open again", f"banks of {condition.nuggets} are open again")
    yield from by_topic(banks.filter(Exists(labelled)), *again)


def control_runs(nuggets: Condition) -> dict[str, Run]:
    """Return the newest control runs that are made of a condition's nuggets, whose name stands as their team.

    They are named by what they say: ALL_NUGGETS, or as the canary.
    """
    runs: QuerySet[Run] = nuggets.campaign.runs.filter(task=CONTROL, team=nuggets.name)
    return {canary_name(run.tag) or ALL_NUGGETS: run for run in runs.order_by("pk")}


def sheets_on(banks: Collection[NuggetBank], condition: Condition) -> QuerySet[AnswerSheet]:
    """Return the sheets of banks under a condition, out of scope too; none where it is not saved yet."""
    sheets: QuerySet[AnswerSheet] = AnswerSheet.in_or_out.filter(condition=condition.pk, bank__in=banks)
    return sheets


def sheets_with(condition: Condition, things: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the keys of a condition's sheets on which nuggets are labelled, by answer's key and nugget's."""
    nuggets = Nugget.objects.filter(pk__in={nugget for _, nugget in things})
    bank_of_nugget: dict[int, int] = dict(nuggets.values_list("pk", "bank"))
    sheets = AnswerSheet.objects.filter(
        condition=condition, answer__in={answer for answer, _ in things}, bank__in=set(bank_of_nugget.values())
    )
    keys = {(answer, bank): pk for answer, bank, pk in sheets.values_list("answer", "bank", "pk")}
    return {(answer, nugget): keys[answer, bank_of_nugget[nugget]] for answer, nugget in things}


def aided_labels(condition: Condition) -> set[tuple[int, int]]:
    """Return what counts with another's label, or was labelled beside a model's: answer's key and nugget's."""
    aided = Q(resolved_value__isnull=False) | Q(shown_value__isnull=False)
    rows = AssignmentLabel.everything.filter(aided, sheet__condition=condition).order_by()
    return set(rows.values_list("sheet__answer", "nugget"))


def answers_without_sheet(condition: Condition, banks: Collection[NuggetBank]) -> list[tuple[int, int, int]]:
    """Return (key, topic's key, words) of all answers that a model has to label on banks and that have no sheet yet.

    These are the systems' own, and those of the control runs: the empty one, and of those that are made of the nuggets
    the newest of each; or passages. Under a study's condition these are such of its sample alone.
    """
    assert condition.nuggets is not None, "an assignment condition has one of nuggets"
    topics = [bank.topic_id for bank in banks]
    if condition.of_passages:
        answers = pooled_passages(topics)
    else:
        newest = control_runs(condition.nuggets).values()
        answers = own_answers(topics).filter(~Q(run__task=CONTROL) | Q(run__tag=EMPTY_RUN) | Q(run__in=newest))
    answers = answers.filter(is_sampled(condition)).order_by("topic", "pk")
    # A database would look for each of a track's answers under each of its banks.
    known = set(sheets_on(banks, condition).values_list("answer", flat=True))
    judged = judged_under(condition)
    return [
        (pk, topic, words)
        for pk, topic, words, run in answers.values_list("pk", "topic", "words", "run")
        if pk not in known and judged.holds(topic, run)
    ]


def labelled_answers(condition: Condition) -> dict[int, int]:
    """Count the texts that are labelled completely, by topic's key; none where it is not saved yet.

    These are the systems' own answers, or passages.
    """
    done = AnswerSheet.objects.filter(condition=condition.pk, to_do=0)
    if condition.of_passages:
        done = done.filter(answer__form=Answer.Form.PASSAGE)
    else:
        done = done.filter(answer__apart=False).exclude(answer__run__task=CONTROL)
    rows = done.order_by().values_list("answer__topic").annotate(Count("pk"))
    return dict(rows) if condition.pk else {}


def asked_of(condition: Condition, nuggets: Mapping[int, Snapshot]) -> dict[int, list[int]]:
    """Return which nuggets are asked of answers under a condition: ids in bank order, by answer's key.

    nuggets: of the banks that the answers are labelled on, by answer's key. All of them are asked; of a study's sample
    those that were drawn and still say what they said then. In a sensitivity study answers are drawn, and no nuggets.
    """
    if not condition.sample or condition.variant:
        return {answer: [nugget["id"] for nugget in of_bank] for answer, of_bank in nuggets.items()}
    drawn = sampled_under(condition, nuggets)
    named = {answer: {one.item for one in drawn.get(answer, ())} for answer in nuggets}
    return {
        answer: [nugget["id"] for nugget in of_bank if named[answer] and name_of(nugget) in named[answer]]
        for answer, of_bank in nuggets.items()
    }


def name_of(nugget: Mapping[str, Any]) -> str:
    """Return what names a nugget of an edition for ever, its uid and a hash of its text: reworded it is another one."""
    return f"{nugget['uid']} {sha256(nugget['text'].encode()).hexdigest()[:16]}"


def progress(task: Task) -> tuple[int, int]:
    """Count the answers of a task's bank under its condition that are done, by whoever, and all of them.

    Those that wait for a model's labels are in neither.
    """
    sheets = openable(AnswerSheet.objects.filter(condition=task.condition_id, bank=bank_of(task)), task.condition)
    counts = sheets.aggregate(total=Count("pk"), done=Count("pk", filter=Q(to_do=0)))
    return counts["done"], counts["total"]


def labelling(kind: Assignment, campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which answers get labels of a kind, by people, a model or a file; no panels."""
    given = campaign.conditions.filter(kind=kind.name).exclude(method=Condition.PANEL)
    return given.select_related(*Condition.TOLD_WITH, "manual_setup")


def bank_of(task: Task) -> NuggetBank:
    """Return the bank that a task of assignment is about: that of the answers which it was given last."""
    banks = NuggetBank.objects.filter(answer_sheets__task=task).order_by("-answer_sheets__pk")
    bank: NuggetBank = banks.select_related("topic", "condition__judge", "task")[0]
    return bank


def with_texts(found: Sequence[Question]) -> list[tuple[Question, str]]:
    """Return what is open on sheets, each with the text of its nugget."""
    nuggets = Nugget.objects.filter(bank__in={question.sheet.bank_id for question in found})
    texts = {str(pk): text for pk, text in nuggets.values_list("pk", "text")}
    return [(question, texts.get(question.item, "")) for question in found]


def left_out_records(kind: Assignment, campaign: Campaign) -> list[LeftOut]:
    """Return what leaves nuggets out of a campaign's scores now: the newest word on each."""
    records = LeftOut.objects.filter(condition__campaign=campaign, condition__kind=kind.name).order_by("pk")
    newest = {(record.condition_id, record.nugget_id): record for record in records}
    out = [record.pk for record in newest.values() if record.is_out]
    return list(LeftOut.objects.filter(pk__in=out).select_related("condition", "nugget__bank__topic", "person"))


def left_out_in(kind: Assignment, campaign: Campaign) -> set[tuple[int, str]]:
    """Return what is left out of scores now in a campaign: the condition's key, and the nugget's as sheets have it."""
    said = LeftOut.objects.filter(condition__campaign=campaign, condition__kind=kind.name).order_by("pk")
    rows = said.values_list("condition", "nugget", "is_out")
    newest = {(condition, str(nugget)): is_out for condition, nugget, is_out in rows}
    return {place for place, is_out in newest.items() if is_out}


class Said(NamedTuple):
    """What stands of a nugget in an answer, and the active seconds that were spent on it; what there isn't is empty."""

    item: str  # the nugget's key
    text: str
    importance: str
    label: str
    cannot: str
    stale: str
    flag: str
    shown: str
    marked: list[str]
    seconds: int | None
    under: int | None  # the version of the guidelines

    @property
    def differs(self) -> str:
        return differs(self.label, self.shown)


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
    return AnswerSheet.with_items(sheets.order_by("place", "pk"))


def labelled(sheets: Iterable[AnswerSheet]) -> list[Labelled]:
    """Return sheets with their answers and all that was said on them, for organizers: runs are named."""
    found = list(sheets)
    editions = with_keys(BankEdition.objects.filter(bank__in={sheet.bank_id for sheet in found}))
    nuggets = {(edition.bank_id, edition.edition): edition.nuggets for edition in editions}
    seconds: dict[tuple[int, str], int] = defaultdict(int)
    last: dict[int, datetime] = {}
    events = LabelEvent.objects.filter(sheet__in=found)
    for sheet, spent, at, changes in LabelEvent.changes_of(events.order_by("at"), "sheet", "seconds", "at"):
        last[sheet] = at
        if spent is not None:
            for nugget in changes:
                seconds[sheet, nugget] += spent
    under = said_under(events)
    return [
        _labelled(sheet, nuggets[sheet.bank_id, sheet.edition], seconds, last.get(sheet.pk), under) for sheet in found
    ]


def _labelled(
    sheet: AnswerSheet,
    nuggets: Snapshot,
    seconds: Mapping[tuple[int, str], int],
    last: datetime | None,
    under: Mapping[tuple[int, str], int],
) -> Labelled:
    sentences = list(sheet.answer.sentences())
    rows = []
    for nugget in nuggets:
        key = str(nugget["id"])
        if sheet.asked is not None and nugget["id"] not in sheet.asked:
            continue
        columns = (sheet.labels, sheet.cannot, sheet.stale, sheet.flags, sheet.shown)
        label, cannot, stale, note, shown = (column.get(key, "") for column in columns)
        marked = [sentences[sentence].text[start:end] for sentence, start, end in sheet.marks.get(key, [])]
        spent, read = seconds.get((sheet.pk, key)), under.get((sheet.pk, key))
        told = (label, cannot, stale, note, shown, marked, spent, read)
        rows.append(Said(key, nugget["text"], nugget["importance"], *told))
    return Labelled(sheet, sentences, rows, sum(row.seconds or 0 for row in rows), last)
