"""Which pairs were planned and compared at a moment."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from assessor.exportables import Chosen, of_chosen
from assessor.labels.cutoff import Cell
from assessor.preference.models import PreferencePair

_AT_A_TIME = 2_000


def cells_of_pairs(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A model's preference, once given, is never taken back; what follows from a rule is as old as its condition."""
    pairs = of_chosen(chosen, PreferencePair.objects.filter(condition=chosen.record))
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    rows = pairs.values_list("topic__qid", "state", "at", "import_record__ended_at").order_by("topic", "position")
    for qid, state, given_at, imported_at in rows.iterator(_AT_A_TIME):
        counts = found[qid]
        counts[0] += 1
        if state != PreferencePair.State.OPEN:
            was_there = (given_at or imported_at or chosen.record.created_at) <= at
            counts[1 if was_there else 2] += 1
    for qid, (planned, then, later) in found.items():
        yield Cell(qid, "", planned, then, later)
