"""Nuggets of banks as files have them, to write and to compare with what comes in."""

from collections.abc import Sequence
from uuid import UUID

from nuggets.formats import Lineage, NuggetRecord, Question
from nuggets.models import Nugget


def as_record(nugget: Nugget, order: Sequence[str], *, with_lineage: bool) -> NuggetRecord:
    """Return a nugget as files have it. order: of its bank, in which a question says where the one it is under is."""
    parents = [UUID(parent) for parent in nugget.parents]
    lineage = Lineage(nugget.uid, nugget.origin, parents, nugget.evidence, nugget.draft) if with_lineage else None
    question = None
    if nugget.gold is not None:
        under = None if nugget.under is None else order.index(str(nugget.under))
        question = Question(nugget.gold, nugget.aggregator, under)
    return NuggetRecord(nugget.text, nugget.importance, nugget.extras, lineage, question)
