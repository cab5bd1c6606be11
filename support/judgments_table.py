"""What people were shown and what they gave, as a table."""

from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from assessor.campaigns.models import Condition, Run, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats.tables import write_table
from support.models import LabelEvent

_COLUMNS = (
    *("topic", "run", "sentence", "citation", "docid", "judge", "label", "shown", "differs", "reason", "taken_back"),
    *("with_equal", "seconds", "at", "guidelines_version"),
)
_READ = (
    *("judgment", "judgment__sentence", "judgment__citation", "judgment__docid"),
    *("sheet__answer__topic__qid", "sheet__answer__run__tag", "judge__name", "equal_to", "seconds", "at"),
    "guidelines_version",
)


def judgment_lines(
    condition: Condition, topics: Collection[Topic] | None = None, runs: Collection[Run] | None = None
) -> Iterator[str]:
    """Yield all that was said of citations under a condition, by topic and run in byte order; the latest counts.

    Where topics or runs are named, it is of these alone.

    sentence and citation are counted from 0. differs is empty where no label was shown or none given. Where taken_back
    says yes, what was said before no longer counts; where with_equal does, it was said of an equal sentence that cites
    the same, and the seconds are told there.
    """
    events = LabelEvent.objects.filter(sheet__condition=condition, sheet__out_of_scope=False, judgment__isnull=False)
    events = without_practice(events, "sheet__answer")
    if topics is not None:
        events = events.filter(sheet__answer__topic__in=[topic.pk for topic in topics])
    if runs is not None:
        events = events.filter(sheet__answer__run__in=runs)
    events = events.order_by(
        *(byte_order("sheet__answer__topic__qid"), byte_order("sheet__answer__run__tag"), "sheet", "version", "pk")
    )
    rows = LabelEvent.changes_of(events, "sheet", *_READ)
    return write_table(_COLUMNS, (row for _, of_sheet in groupby(rows, itemgetter(0)) for row in _of_sheet(of_sheet)))


def _of_sheet(events: Iterator[tuple[Any, ...]]) -> Iterator[tuple[object, ...]]:
    shown: dict[int, str] = {}
    for _, row, sentence, citation, docid, topic, run, judge, equal_to, seconds, at, read, changes in events:
        [change] = changes.values()
        if "label" in change or "cannot" in change:
            label, reason = (change.get(name, (None, None))[1] for name in ("label", "cannot"))
            beside = shown.get(row)
            differs = None if label is None or beside is None else "no" if label == beside else "yes"
            is_back = "no" if label or reason else "yes"
            with_equal, spent = ("yes", None) if equal_to else ("no", seconds)
            said = (judge, label, beside, differs, reason or "", is_back, with_equal, spent, at.isoformat(), read)
            yield (topic, run, sentence, citation, docid, *said)
        if "shown" in change:
            shown[row] = change["shown"][1]
