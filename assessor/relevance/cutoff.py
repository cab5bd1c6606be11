"""Which passages were planned and graded at a moment."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from assessor.exportables import Chosen, of_chosen
from assessor.labels.cutoff import Cell
from assessor.relevance.models import LabelEvent, RelevanceJudgment

_AT_A_TIME = 500


def cells_of_passages(chosen: Chosen, at: datetime) -> Iterator[Cell]:
    """A passage is in if what was last said of it by then was not taken back."""
    planned: dict[str, set[str]] = defaultdict(set)
    asked = of_chosen(chosen, RelevanceJudgment.objects.filter(condition=chosen.record))
    for qid, docid in asked.values_list("topic__qid", "docid"):
        planned[qid].add(docid)
    then: dict[str, set[str]] = defaultdict(set)
    now: dict[str, set[str]] = defaultdict(set)
    events = of_chosen(chosen, LabelEvent.objects.filter(judgment__condition=chosen.record), "judgment__topic")
    told = events.order_by("version").values_list("judgment__topic__qid", "judgment__docid", "state", "at")
    for qid, docid, state, said_at in told.iterator(_AT_A_TIME):
        for stands in (now, *((then,) if said_at <= at else ())):
            (stands[qid].discard if state == RelevanceJudgment.State.OPEN else stands[qid].add)(docid)
    for qid, docids in planned.items():
        yield Cell(qid, "", len(docids), len(then[qid]), len(now[qid] - then[qid]))
