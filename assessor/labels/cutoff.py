"""What of answers was planned and judged at a moment: which labels are in, and which came later, by their events."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import Min

from assessor.campaigns.condition_kind import kind_of
from assessor.exportables import Chosen, judged_answers

_AT_A_TIME = 500


class Cell(NamedTuple):
    """A topic, or a run's answer to it: how many labels were planned and given by then, and given since."""

    topic: str
    run: str
    planned: int
    judged: int
    later: int

    @property
    def open(self) -> int:
        """How many labels nobody gave yet."""
        return max(0, self.planned - self.judged - self.later)

    @property
    def state(self) -> str:
        """Say whether it is in, in part, came later, or is open."""
        if self.judged and self.judged >= self.planned:
            return "in"
        return "partly in" if self.judged else "later" if self.later else "open"


def cells_of_answers(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A label is in if it stood by then: what came since is taken back, the newest first.

    What stands by a rule has no revision: it is as old as its file, or the first task that was given there.
    """
    condition = chosen.record
    model = kind_of(condition).sheets
    sheets = judged_answers(chosen, model)
    given = dict(condition.tasks.order_by().values_list("topic").annotate(Min("created_at")))
    columns = ("pk", "to_do", "import_record__ended_at", "answer__topic", "answer__topic__qid", "answer__run__tag")
    rows = sheets.order_by("pk").values_list(*columns).iterator(_AT_A_TIME)
    said_of, changes_of = _by_sheet(model.said(sheets)), _by_sheet(_revisions(sheets, at))
    for pk, to_do, imported_at, topic, qid, tag in rows:
        labels, cannot = next(iter(said_of(pk)), ((), ()))
        since = [changes for (changes,) in changes_of(pk)]
        now = {*labels, *cannot}
        was_there = (imported_at or given.get(topic) or condition.created_at) <= at
        then = _before(labels, cannot, since) if was_there else set()
        yield Cell(qid, tag, to_do + len(now), len(then), len(now - then))


def _revisions(sheets: Any, at: datetime) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the sheets' keys with what was changed since, by sheet, the newest first."""
    model = sheets.model._meta.get_field("revisions").related_model
    since = model.objects.filter(sheet__in=sheets, at__gt=at).order_by("sheet_id", "-version")
    rows: Iterator[tuple[int, dict[str, Any]]] = model.changes_of(since, "sheet")
    return rows


def _by_sheet(rows: Iterable[tuple[Any, ...]]) -> Callable[[int], list[tuple[Any, ...]]]:
    """Return what gives the rows of a sheet, without its key; sheets and rows come by key, not all in memory."""
    groups = groupby(rows, itemgetter(0))
    newest = next(groups, None)

    def of(sheet: int) -> list[tuple[Any, ...]]:
        nonlocal newest
        while newest is not None and newest[0] < sheet:  # left the scope since
            newest = next(groups, None)
        if newest is None or newest[0] != sheet:
            return []
        found = [tuple(row[1:]) for row in newest[1]]
        newest = next(groups, None)
        return found

    return of


def _before(labels: Iterable[str], cannot: Iterable[str], since: list[dict[str, Any]]) -> set[str]:
    """Return the items that something was said of before these changes, the newest of which comes first."""
    said: dict[str, set[str]] = defaultdict(set)
    for field, items in (("label", labels), ("cannot", cannot)):
        for item in items:
            said[item].add(field)
    for changes in since:
        for item, change in changes.items():
            for field in ("label", "cannot"):
                if field in change:
                    said[item].discard(field)
                    if change[field][0]:
                        said[item].add(field)
    return {item for item, stands in said.items() if stands}
