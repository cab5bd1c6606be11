"""Assignments in NIST's form."""

from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from assessor.collection.models import Condition, Run, Topic
from assessor.collection.queries import byte_order
from assignment.formats import labelled, write_sheet
from assignment.models import AnswerSheet
from assignment.queries import scored_editions
from nuggets.editions import Snapshot
from nuggets.models import BankEdition

_AT_A_TIME = 100
_COLUMNS = (
    *("edition", "asked", "labels", "adopted", "invalid", "extras"),
    *("answer__content", "answer__words", "answer__run", "answer__run__tag"),
)


def assignment_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's labels, a line for each answer, by topic id and run's tag; of these topics and runs alone.

    Of several banks of a topic it is the one that scores go by; of several texts of a run, its own answer. A nugget is
    as in the edition of the bank that the labels are about. Where no label counts, there is no key "assignment", or
    what an imported file had there.
    """
    sheets = AnswerSheet.objects.filter(condition=condition)
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    wanted = None if topics is None else {topic.pk for topic in topics}
    # One topic after another, so that not all the texts of a track have to be sorted.
    for edition in scored_editions(condition):
        if wanted is None or edition.bank.topic_id in wanted:
            of_bank = sheets.filter(bank=edition.bank_id)
            rows = of_bank.order_by(byte_order("answer__run__tag"), "answer__run", "answer__apart", "pk")
            yield from _topic_lines(edition, rows.values(*_COLUMNS).iterator(_AT_A_TIME))


def _topic_lines(newest: BankEdition, sheets: Iterator[dict[str, Any]]) -> Iterator[str]:
    topic = newest.bank.topic
    nuggets_of: dict[int, Snapshot] = {newest.edition: newest.nuggets}
    for _, of_run in groupby(sheets, itemgetter("answer__run")):
        sheet = next(of_run)
        if sheet["edition"] not in nuggets_of:
            older = BankEdition.objects.get(bank=newest.bank_id, edition=sheet["edition"])
            nuggets_of[older.edition] = older.nuggets
        extras = dict(sheet["extras"])
        text = " ".join(sentence["text"] for sentence in sheet["answer__content"])
        nuggets = _nuggets(sheet, nuggets_of[sheet["edition"]], extras.pop("nuggets", {}))
        yield write_sheet(
            topic.title, topic.qid, nuggets, sheet["answer__run__tag"], text, sheet["answer__words"], extras
        )


def _nuggets(sheet: dict[str, Any], nuggets: Snapshot, further: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the nuggets that a sheet asks about, each with the label that counts."""
    asked = sheet["asked"]
    said = sheet["invalid"] | sheet["adopted"] | sheet["labels"]
    listed = []
    for nugget in nuggets:
        if asked is None or nugget["id"] in asked:
            key = str(nugget["id"])
            assignment = {"assignment": said[key]} if key in said else {}
            listed.append(labelled(nugget["text"], nugget["importance"], assignment, further.get(key, {})))
    return listed
