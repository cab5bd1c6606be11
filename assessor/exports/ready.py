"""Whether a condition is finished, and what is missing if it isn't."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet, Sum

from assessor.collection.condition_kinds import kind_of
from assessor.collection.models import Condition
from assessor.llm.models import Job, Unit
from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.queries import TO_DO
from assessor.scores.kept import condition_scores
from assessor.scores.means import INCOMPLETE
from assessor.work.models import Task, Waiting
from nuggets.models import NuggetBank

_NAMED = 5


def missing(condition: Condition) -> list[str]:
    """Return what keeps a condition from being finished, each with the first few topics; nothing where it is."""
    if condition.method == Condition.Method.IMPORTED:
        return list(_labels_missing(condition))
    return [*_work_left(condition), *_labels_missing(condition)]


def _told(count: int, what: tuple[str, str], topics: "QuerySet[Any, str]") -> Iterator[str]:
    if count:
        named = list(topics[: _NAMED + 1])
        more = ", …" if len(named) > _NAMED else ""
        yield f"{count:,} {what[count != 1]}: {', '.join(named[:_NAMED])}{more}."


def _by_topic(rows: QuerySet[Any], one: str, several: str, path: str = "topic") -> Iterator[str]:
    """Say how many rows there are that are of no practice topic, and on which topics. one, several: what they are."""
    rows = rows.filter(**{f"{path}__is_practice": False})
    qids = rows.order_by(f"{path}__qid").values_list(f"{path}__qid", flat=True).distinct()
    yield from _told(rows.count(), (one, several), qids)


def _work_left(condition: Condition) -> Iterator[str]:
    """Say what people and jobs have still to do."""
    open_tasks = Task.objects.filter(condition=condition, state=Task.State.OPEN)
    yield from _by_topic(open_tasks, "task of people is open", "tasks of people are open")
    # What somebody has drawn is their task.
    drawn = Task.objects.filter(condition=condition, topic=OuterRef("topic")).exclude(state=Task.State.WITHDRAWN)
    waiting = Waiting.objects.filter(~Exists(drawn), condition=condition)
    yield from _by_topic(waiting, "topic waits to be drawn", "topics wait to be drawn")
    jobs = Job.objects.filter(condition=condition)
    if under_way := jobs.exclude(state__in=Job.OVER).count():
        yield f"{under_way:,} {'job is' if under_way == 1 else 'jobs are'} not over."
    done_elsewhere = Unit.objects.filter(
        job__condition=condition, topic=OuterRef("topic"), item=OuterRef("item"), state=Unit.State.DONE
    )
    failed = Unit.objects.filter(~Exists(done_elsewhere), job__in=jobs).exclude(state=Unit.State.DONE)
    yield from _by_topic(failed, "unit of a job failed, or was never done", "units of jobs failed, or were never done")


def _labels_missing(condition: Condition) -> Iterator[str]:
    """Say what lacks labels, by the condition's kind."""
    if condition.kind == Condition.Kind.NUGGETS:
        yield from _banks_missing(condition)
    elif condition.kind == Condition.Kind.RELEVANCE:
        passages = RelevanceJudgment.objects.filter(condition=condition)
        ungraded = passages.filter(TO_DO)
        yield from _by_topic(ungraded, "passage is not graded", "passages are not graded")
        if not passages.filter(version__gt=0, topic__is_practice=False).exists():
            yield "Nothing is graded yet."
    else:
        yield from _sheets_missing(condition)


def _banks_missing(condition: Condition) -> Iterator[str]:
    banks = NuggetBank.objects.filter(condition=condition)
    yield from _by_topic(banks.filter(state=NuggetBank.State.OPEN), "bank is open", "banks are open")
    if not banks.filter(state=NuggetBank.State.FINISHED, topic__is_practice=False).exists():
        yield "No bank is finished yet."


def _sheets_missing(condition: Condition) -> Iterator[str]:
    model: Any = kind_of(condition).sheets
    sheets = model.objects.filter(condition=condition, answer__topic__is_practice=False)
    if not sheets.exists():
        yield "Nothing is labelled yet."
        return
    if condition.kind == Condition.Kind.ASSIGNMENT:
        banks = NuggetBank.objects.filter(condition=condition.nuggets_id, state=NuggetBank.State.OPEN)
        labelled = model.objects.filter(condition=condition, bank=OuterRef("pk"))
        again = (f"bank of {condition.nuggets} is open again", f"banks of {condition.nuggets} are open again")
        yield from _by_topic(banks.filter(Exists(labelled)), *again)
    if condition.method == Condition.Method.IMPORTED:
        return  # what its file lacks stays missing, and the files say so
    to_do = sheets.filter(to_do__gt=0)
    labels = to_do.aggregate(sum=Sum("to_do"))["sum"]
    lacking = f"{labels:,} label{'' if labels == 1 else 's'}" if labels else ""
    yield from _by_topic(to_do, f"answer lacks {lacking}", f"answers lack {lacking}", "answer__topic")
    if not condition.sample:
        found = condition_scores(condition)
        incomplete = np.argwhere(found.states.T == INCOMPLETE)  # topic by topic
        if not labels and len(incomplete):
            topic, run = incomplete[0]
            first = f"the first is that of {found.runs[run].tag} to {found.topics[topic].qid}"
            are = "answer is" if len(incomplete) == 1 else "answers are"
            yield f"{len(incomplete):,} {are} incomplete, {first}: {found.measures.lacking}."
