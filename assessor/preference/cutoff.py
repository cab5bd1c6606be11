"""Which pairs were planned and compared at a moment."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from assessor.exportables import Chosen, of_chosen
from assessor.labels.cutoff import Cell
from assessor.preference.models import LabelEvent, PreferencePair

_AT_A_TIME = 2_000
_OPEN = PreferencePair.State.OPEN


def cells_of_pairs(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A person's preference is in if what they had said last by then was not taken back.

    A model's, once given, is never taken back; what follows from a rule is as old as its condition.
    """
    pairs = of_chosen(chosen, PreferencePair.objects.filter(condition=chosen.record))
    events = LabelEvent.objects.filter(pair__in=pairs, pair__task__isnull=False, at__lte=at)
    stood = dict(events.order_by("version").values_list("pair", "state"))
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    columns = ("pk", "task", "topic__qid", "state", "at", "import_record__ended_at")
    rows = pairs.values_list(*columns).order_by("topic", "position")
    for pk, task, qid, state, given_at, imported_at in rows.iterator(_AT_A_TIME):
        counts = found[qid]
        counts[0] += 1
        if task:
            was_there = stood.get(pk, _OPEN) != _OPEN
        else:
            was_there = state != _OPEN and (given_at or imported_at or chosen.record.created_at) <= at
        if was_there or state != _OPEN:
            counts[1 if was_there else 2] += 1
    for qid, (planned, then, later) in found.items():
        yield Cell(qid, "", planned, then, later)
