"""What was shown and given, as a table."""

from collections.abc import Collection, Iterator
from typing import Any

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order, without_practice
from assessor.formats.tables import write_table
from assessor.labels.models import Label
from assessor.relevance.models import LabelEvent

_COLUMNS = ("topic", "docid", "judge", "grade", "shown", "differs", "reason", "taken_back", "at", "guidelines_version")
_AT_A_TIME = 2_000


def judgment_lines(condition: Condition, topics: Collection[Topic] | None = None) -> Iterator[str]:
    """Yield all judgments of a condition, by topic and docid in byte order; of a passage the latest is the last.

    Where topics are named, it is of these alone.

    differs is empty where no grade was shown or none given. Where taken_back says yes, what was said before no longer
    counts.
    """
    judgments = without_practice(LabelEvent.objects.filter(judgment__condition=condition), "judgment__topic")
    if topics is not None:
        judgments = judgments.filter(judgment__topic__in=[topic.pk for topic in topics])
    judgments = judgments.order_by(byte_order("judgment__topic__qid"), byte_order("judgment__docid"), "version")
    which = ("judgment__topic__qid", "judgment__docid", "judge__name")
    names = (*which, "value", "shown_value", "reason", "state", "at", "guidelines_version")
    return write_table(_COLUMNS, map(_row, judgments.values_list(*names).iterator(_AT_A_TIME)))


def _row(judgment: tuple[Any, ...]) -> tuple[object, ...]:
    topic, docid, judge, grade, shown, reason, state, at, version = judgment
    differs = None if grade is None or shown is None else _yes(grade != shown)
    is_back = _yes(state == Label.State.OPEN)
    return topic, docid, judge, grade, shown, differs, reason, is_back, at.isoformat(), version


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
