"""Assignments in NIST's form."""

import json
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Case, QuerySet, When

from assessor.campaigns.models import Answer, Condition, Run, Topic
from assessor.campaigns.queries import byte_order
from assessor.formats.tables import write_table
from assessor.labels.models import Label
from assessor.labels.queries import labels_at_once
from assignment.formats import labelled, write_sheet
from assignment.models import AnswerSheet, Assignment
from assignment.queries import scored_editions
from nuggets.editions import Snapshot
from nuggets.models import BankEdition
from nuggets.queries import with_keys

_AT_A_TIME, _ROWS_AT_A_TIME = 100, 2_000
_COLUMNS = (
    *("pk", "edition", "is_part", "extras"),
    *("answer__content", "answer__words", "answer__form", "answer__references", "answer__run", "answer__run__tag"),
)
_OF_LABEL = ("nugget", "state", "value", "resolved_value", "raw")


class LabelledText(NamedTuple):
    """An answer or a passage with its nuggets, as labelled() spells them. docid: "" for an answer."""

    query: str
    qid: str
    nuggets: list[dict[str, Any]]
    run_id: str
    docid: str
    text: str
    words: int
    extras: dict[str, Any]


def assignment_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield a condition's labels, a line for each answer, in the order of labelled_texts()."""
    for one in labelled_texts(condition, topics, runs):
        yield write_sheet(one.query, one.qid, one.nuggets, one.run_id, one.text, one.words, one.extras)


def labelled_texts(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[LabelledText]:
    """Yield what a condition's labels are given to, by topic id and run's tag; of these topics and runs alone.

    Of several banks of a topic it is the one that scores go by; of several texts of a run, its own answer, and of
    passages all, in the order in which they came. A nugget is as in the edition of the bank that the labels are about.
    Where no label counts, there is no key "assignment", or what an imported file had there.
    """
    sheets = AnswerSheet.objects.filter(condition=condition)
    if runs is not None:
        sheets = sheets.filter(answer__run__in=runs)
    wanted = None if topics is None else {topic.pk for topic in topics}
    # One topic after another, so that not all the texts of a track have to be sorted.
    for edition in scored_editions(condition):
        if wanted is None or edition.bank.topic_id in wanted:
            of_bank = sheets.filter(bank=edition.bank_id)
            yield from _of_topic(edition, of_bank)


class _Row(NamedTuple):
    """What a line has of a nugget. said: its key "assignment", if it has one; further: further keys."""

    said: dict[str, Any]
    further: dict[str, Any]


def _of_topic(newest: BankEdition, sheets: QuerySet[AnswerSheet]) -> Iterator[LabelledText]:
    topic = newest.bank.topic
    nuggets_of: dict[int, Snapshot] = {newest.edition: newest.nuggets}
    in_order = sheets.order_by(byte_order("answer__run__tag"), "answer__run", "answer__apart", "pk")
    rows = in_order.annotate(rows=labels_at_once(AnswerSheet, *_OF_LABEL)).values(*_COLUMNS, "rows")
    for _, of_text in groupby(rows.iterator(_AT_A_TIME), _what_of):
        sheet = next(of_text)
        if sheet["edition"] not in nuggets_of:
            [older] = with_keys(BankEdition.objects.filter(bank=newest.bank_id, edition=sheet["edition"]))
            nuggets_of[older.edition] = older.nuggets
        text = " ".join(sentence["text"] for sentence in sheet["answer__content"])
        nuggets = _nuggets(nuggets_of[sheet["edition"]], _labels(sheet["rows"]), is_part=sheet["is_part"])
        tag, words, extras = (sheet[name] for name in ("answer__run__tag", "answer__words", "extras"))
        docid = sheet["answer__references"][0] if sheet["answer__form"] == Answer.Form.PASSAGE else ""
        yield LabelledText(topic.title, topic.qid, nuggets, tag, docid, text, words, extras)


def _what_of(sheet: dict[str, Any]) -> tuple[int, int]:
    """Return what tells apart what labels are of: the run, and the passage."""
    return sheet["answer__run"], sheet["pk"] if sheet["answer__form"] == Answer.Form.PASSAGE else 0


def _labels(rows: str | None) -> dict[int, _Row]:
    """Return what a line has of the nuggets that are asked, by their keys."""
    found = {}
    for nugget, state, value, resolved, raw in json.loads(rows or "[]"):
        further = json.loads(raw) if raw else {}
        said = {"assignment": further.pop("assignment")} if "assignment" in further else {}
        counted = value if state == Label.State.GIVEN else resolved
        found[nugget] = _Row({"assignment": counted} if counted else said, further)
    return found


def _nuggets(nuggets: Snapshot, rows: dict[int, _Row], *, is_part: bool) -> list[dict[str, Any]]:
    """Return the nuggets that a sheet asks about, each with the label that counts. is_part: only those with a row."""
    nothing = _Row({}, {})
    asked = [nugget for nugget in nuggets if not is_part or nugget["id"] in rows]
    return [labelled(one["text"], one["importance"], *rows.get(one["id"], nothing)) for one in asked]


def label_lines(labels: QuerySet[Assignment]) -> Iterator[str]:
    """Yield labels as a table, the first one first."""
    columns: dict[str, Any] = {
        "campaign": "sheet__condition__campaign__slug",
        "condition": "sheet__condition__name",
        "qid": "sheet__answer__topic__qid",
        "run_id": "sheet__answer__run__tag",
        "nugget": "nugget__text",
        "label": Case(When(state=Label.State.GIVEN, then="value")),
        "state": "state",
        "resolved": "resolved_value",
        "reason": "reason",
        "flag": "flag",
        "judge": "sheet__judge__name",
        "seconds": "seconds",
        "at": "at",
    }
    rows = labels.order_by("pk").values_list(*columns.values()).iterator(_ROWS_AT_A_TIME)
    return write_table(tuple(columns), (tuple("" if cell is None else cell for cell in row) for row in rows))
