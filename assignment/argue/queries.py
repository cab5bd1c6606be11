"""What jobs, files and pages read of reports that are judged sentence by sentence."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition
from assessor.campaigns.passages import cited_texts
from assessor.campaigns.queries import own_answers
from assessor.labels.flags import Place, Reading, read_answers, reading
from assessor.labels.history import said_under
from assessor.labels.models import Label
from assessor.work.judging_pool import judged_under
from assessor.work.models import Task
from assignment.argue.items import item_of_key
from assignment.argue.models import ArgueJudgment, ArgueSheet, LabelEvent
from assignment.argue.vocabulary import ANSWERS, ATTESTS, FIRST, NEEDS, NEGATIVE
from nuggets.models import Nugget, NuggetBank

# Of a query on sheets: whether a person can judge anything there.
ASKS = Exists(
    ArgueJudgment.everything.filter(sheet=OuterRef("pk")).exclude(state__in=(Label.State.REMOVED, Label.State.NO_TEXT))
)
_STEPS = {
    ATTESTS: "does {docid} attest sentence {number}?",
    NEEDS: "does sentence {number} need a citation?",
    FIRST: "is sentence {number} the first that says it?",
    NEGATIVE: "does sentence {number} claim that nothing is known?",
}


def sheets_on(banks: Collection[NuggetBank], condition: Condition) -> QuerySet[ArgueSheet]:
    """Return the sheets of banks under a condition, out of scope too; none where it is not saved yet."""
    found: QuerySet[ArgueSheet] = ArgueSheet.in_or_out.filter(condition=condition.pk, bank__in=banks)
    return found


def sheets_with(condition: Condition, things: Collection[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """Return the keys of a condition's sheets on which items are judged, by answer's key and item."""
    answers = {answer for answer, _ in things}
    sheets = ArgueSheet.objects.filter(condition=condition, answer__in=answers).order_by("pk")
    keys = dict(sheets.values_list("answer", "pk"))
    return {(answer, item): keys[answer] for answer, item in things}


def aided_labels(condition: Condition) -> set[tuple[int, str]]:
    """Return what counts with another's label, by answer's key and item."""
    rows = ArgueJudgment.everything.filter(resolved_value__isnull=False, sheet__condition=condition).order_by()
    return set(rows.values_list("sheet__answer", "key"))


def reports_without_sheet(condition: Condition, banks: Collection[NuggetBank]) -> list[int]:
    """Return the keys of the systems' reports that have no sheet of these banks yet, by topic."""
    answers = own_answers([bank.topic_id for bank in banks]).exclude(run__task=CONTROL).order_by("topic", "pk")
    known = set(sheets_on(banks, condition).values_list("answer", flat=True))
    judged = judged_under(condition)
    rows = answers.values_list("pk", "topic", "run")
    return [pk for pk, topic, run in rows if pk not in known and judged.holds(topic, run)]


def judged_reports(condition: Condition) -> dict[int, int]:
    """Count the reports that are judged completely, by topic's key; none where the condition is not saved yet."""
    done = ArgueSheet.objects.filter(condition=condition.pk, to_do=0, answer__apart=False)
    rows = done.exclude(answer__run__task=CONTROL).order_by().values_list("answer__topic").annotate(Count("pk"))
    return dict(rows) if condition.pk else {}


def reports_of(answers: Iterable[int]) -> QuerySet[Answer]:
    """Return answers with what is asked of them."""
    return Answer.objects.filter(pk__in=answers).select_related("topic", "run")


def item_texts(items: Collection[str]) -> dict[str, str]:
    """Return what items ask, in words, by their keys."""
    found = {item: item_of_key(item) for item in items}
    uids = {one.nugget for one in found.values() if one.nugget}
    rows = Nugget.objects.filter(uid__in=uids).order_by("pk").values_list("uid", "text", "gold")
    questions: Mapping[str, tuple[str, dict[str, str]]] = {
        str(uid): (text, {one["id"]: one["text"] for one in gold or ()}) for uid, text, gold in rows
    }
    texts = {}
    for key, item in found.items():
        number = item.sentence + 1
        if item.step == ANSWERS:
            text, gold = questions.get(item.nugget, ("", {}))
            where = f", which cites {item.docid}," if item.docid else ""
            texts[key] = f"does sentence {number}{where} answer “{text}” with “{gold.get(item.gold, '')}”?"
        else:
            texts[key] = _STEPS[item.step].format(docid=item.docid, number=number)
    return texts


def bank_of_task(task: Task) -> NuggetBank:
    """Return the bank that a task is about: that of the reports which it was given last."""
    banks = NuggetBank.objects.filter(argue_sheets__task=task).order_by("-argue_sheets__pk")
    bank: NuggetBank = banks.select_related("topic", "condition__judge", "task")[0]
    return bank


def progress(task: Task) -> tuple[int, int]:
    """Count the reports of a task's bank under its condition that are done, by whoever, and all of them."""
    sheets = ArgueSheet.objects.filter(condition=task.condition_id, bank=bank_of_task(task))
    counts = sheets.aggregate(total=Count("pk"), done=Count("pk", filter=Q(to_do=0)))
    return counts["done"], counts["total"]


def read_documents(campaign: Campaign, places: Collection[Place]) -> dict[Place, Reading]:
    """Return what judgments are about: the document that the sentence cites, or where it cites none the report."""
    found = ArgueSheet.objects.filter(pk__in={sheet for sheet, _ in places}).select_related("answer").in_bulk()
    there = [place for place in places if place[0] in found]
    cited = {place: (found[place[0]].answer.run_id, docid) for place in there if (docid := item_of_key(place[1]).docid)}
    texts = cited_texts(campaign, cited.values())
    documents = {place: reading(f"Document {one[1]}", texts[one]) for place, one in cited.items() if one in texts}
    return read_answers(ArgueSheet, [place for place in there if place not in cited]) | documents


class Said(NamedTuple):
    """What stands of a judgment, with the active seconds that were spent on it; what there isn't is empty."""

    item: str
    sentence: int  # from 1
    text: str  # of the sentence
    asked: str  # in words
    label: str
    cannot: str
    stale: str
    flag: str
    is_unresolved: bool
    seconds: int | None
    under: int | None  # the version of the guidelines


class Judged(NamedTuple):
    """A report as an organizer sees it."""

    sheet: ArgueSheet
    said: list[Said]
    seconds: int
    last: datetime | None


def all_sheets(task: Task) -> QuerySet[ArgueSheet]:
    """Return all sheets of a task, in the order in which they were shuffled."""
    sheets = ArgueSheet.in_or_out.filter(task=task).select_related("answer__run")
    return ArgueSheet.with_items(sheets.order_by("place", "pk"))


def judged(sheets: Iterable[ArgueSheet]) -> list[Judged]:
    """Return sheets with all that was said on them, for organizers: runs are named."""
    found = list(sheets)
    texts = item_texts({item for sheet in found for item in sheet.asked})
    seconds: dict[tuple[int, str], int] = defaultdict(int)
    last: dict[int, datetime] = {}
    events = LabelEvent.objects.filter(sheet__in=found)
    for sheet, spent, at, changes in LabelEvent.changes_of(events.order_by("at"), "sheet", "seconds", "at"):
        last[sheet] = at
        if spent is not None:
            for item in changes:
                seconds[sheet, item] += spent
    under = said_under(events)
    judged = []
    for one in found:
        rows = [_said(one, item, texts[item], seconds, under) for item in _in_order(one.asked)]
        judged.append(Judged(one, rows, sum(row.seconds or 0 for row in rows), last.get(one.pk)))
    return judged


def _in_order(items: Iterable[str]) -> list[str]:
    """Return items by their sentences, each in the order in which it is asked."""
    return sorted(items, key=lambda item: item_of_key(item).sentence)


def _said(
    sheet: ArgueSheet,
    item: str,
    words: str,
    seconds: Mapping[tuple[int, str], int],
    under: Mapping[tuple[int, str], int],
) -> Said:
    sentence = item_of_key(item).sentence
    columns = (sheet.labels, sheet.cannot, sheet.stale, sheet.flags)
    label, cannot, stale, flag = (column.get(item, "") for column in columns)
    is_unresolved = sheet.labels_by_item[item].state == Label.State.NO_TEXT
    told = (label, cannot, stale, flag, is_unresolved, seconds.get((sheet.pk, item)), under.get((sheet.pk, item)))
    return Said(item, sentence + 1, sheet.answer.content[sentence]["text"], words, *told)
