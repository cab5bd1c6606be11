"""Assignments in NIST's form."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import ExpressionWrapper, F, QuerySet, TextField

from assessor.collection.models import Condition, Run, Topic
from assessor.collection.queries import byte_order
from assessor.labels.models import Label
from assignment.formats import labelled, write_sheet
from assignment.models import AnswerSheet, Assignment
from assignment.queries import scored_editions
from nuggets.editions import Snapshot
from nuggets.models import BankEdition

_AT_A_TIME, _ROWS_AT_A_TIME = 100, 2_000
_COLUMNS = (
    *("pk", "edition", "is_part", "extras"),
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
            yield from _topic_lines(edition, rows.values(*_COLUMNS).iterator(_AT_A_TIME), _labels(of_bank))


class _Row(NamedTuple):
    """What a line has of a nugget. said: its key "assignment", if it has one; further: further keys."""

    said: dict[str, Any]
    further: dict[str, Any]


def _labels(sheets: QuerySet[AnswerSheet]) -> dict[int, dict[int, _Row]]:
    """Return what lines have of the nuggets that are asked, by sheet's key and nugget's."""
    rows = Assignment.everything.filter(sheet__in=sheets.order_by().values("pk")).exclude(state=Label.State.REMOVED)
    found: dict[int, dict[int, _Row]] = defaultdict(dict)
    # As text: it is null nearly everywhere, and a column of JSON is looked at for every row.
    columns = ("sheet", "nugget", "state", "value", "resolved_value", ExpressionWrapper(F("raw"), TextField()))
    for sheet, nugget, state, value, resolved, raw in rows.order_by().values_list(*columns).iterator(_ROWS_AT_A_TIME):
        further = json.loads(raw) if raw else {}
        said = {"assignment": further.pop("assignment")} if "assignment" in further else {}
        counted = value if state == Label.State.GIVEN else resolved
        found[sheet][nugget] = _Row({"assignment": counted} if counted else said, further)
    return found


def _topic_lines(
    newest: BankEdition, sheets: Iterator[dict[str, Any]], labels: dict[int, dict[int, _Row]]
) -> Iterator[str]:
    topic = newest.bank.topic
    nuggets_of: dict[int, Snapshot] = {newest.edition: newest.nuggets}
    for _, of_run in groupby(sheets, itemgetter("answer__run")):
        sheet = next(of_run)
        if sheet["edition"] not in nuggets_of:
            older = BankEdition.objects.get(bank=newest.bank_id, edition=sheet["edition"])
            nuggets_of[older.edition] = older.nuggets
        text = " ".join(sentence["text"] for sentence in sheet["answer__content"])
        nuggets = _nuggets(nuggets_of[sheet["edition"]], labels[sheet["pk"]], is_part=sheet["is_part"])
        yield write_sheet(
            topic.title, topic.qid, nuggets, sheet["answer__run__tag"], text, sheet["answer__words"], sheet["extras"]
        )


def _nuggets(nuggets: Snapshot, rows: dict[int, _Row], *, is_part: bool) -> list[dict[str, Any]]:
    """Return the nuggets that a sheet asks about, each with the label that counts. is_part: only those with a row."""
    nothing = _Row({}, {})
    asked = [nugget for nugget in nuggets if not is_part or nugget["id"] in rows]
    return [labelled(one["text"], one["importance"], *rows.get(one["id"], nothing)) for one in asked]
