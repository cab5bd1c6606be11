"""What labels are missing, in words, each with the first few topics."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from django.db.models import QuerySet, Sum

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition
from assessor.scores.cache import condition_scores
from metaeval.stats.means import INCOMPLETE

_NAMED = 5


def _counted(count: int, what: tuple[str, str], topics: "QuerySet[Any, str]") -> Iterator[str]:
    if count:
        named = list(topics[: _NAMED + 1])
        more = ", …" if len(named) > _NAMED else ""
        yield f"{count:,} {what[count != 1]}: {', '.join(named[:_NAMED])}{more}."


def by_topic(rows: QuerySet[Any], one: str, several: str, path: str = "topic") -> Iterator[str]:
    """Say how many rows there are that are of no practice topic, and on which topics. one, several: what they are."""
    rows = rows.filter(**{f"{path}__is_practice": False})
    qids = rows.order_by(f"{path}__qid").values_list(f"{path}__qid", flat=True).distinct()
    yield from _counted(rows.count(), (one, several), qids)


def missing_in_answers(condition: Condition, reopened: Iterable[str]) -> Iterator[str]:
    """Say which answers lack labels; reopened: what of that which they are labelled for is being changed."""
    if condition.is_panel:
        yield from _incomplete(condition)
        return
    model = kind_of(condition).sheets
    sheets = model.objects.filter(condition=condition, answer__topic__is_practice=False)
    if not sheets.exists():
        yield "Nothing is labelled yet."
        return
    yield from reopened
    if condition.method == Condition.IMPORTED:
        return  # what its file lacks stays missing, and the files say so
    to_do = sheets.filter(to_do__gt=0)
    labels = to_do.aggregate(sum=Sum("to_do"))["sum"]
    lacking = f"{labels:,} label{'' if labels == 1 else 's'}" if labels else ""
    yield from by_topic(to_do, f"answer lacks {lacking}", f"answers lack {lacking}", "answer__topic")
    if not condition.sample and not labels:
        yield from _incomplete(condition)


def _incomplete(condition: Condition) -> Iterator[str]:
    found = condition_scores(condition)
    incomplete = np.argwhere(found.states.T == INCOMPLETE)  # topic by topic
    if len(incomplete):
        topic, run = incomplete[0]
        first = f"the first is that of {found.runs[run].tag} to {found.topics[topic].qid}"
        are = "answer is" if len(incomplete) == 1 else "answers are"
        yield f"{len(incomplete):,} {are} incomplete, {first}: {found.measures.lacking}."
