"""Conditions under which people grade, and the passages that they are given."""

import random

from django.db import transaction
from django.db.models import Max

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import SCALES, SCALES_HERE, Campaign, Condition, QrelsSource
from assessor.labels.manual_setups import create_first
from assessor.labels.models import ManualSetup
from assessor.relevance.label_kind import FROM_SCRATCH, POST_EDITED, RELEVANCE
from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.queries import TO_DO, items_of, judged, pool
from assessor.runtime.sql import insert
from assessor.work.actions import PlanError
from assessor.work.models import Task

_FIELDS = ("condition", "topic", "docid", "position", "version", "state")


@transaction.atomic
def create_relevance(
    *,
    campaign: Campaign,
    name: str,
    shown: QrelsSource | None,
    from_queue: bool,
    max_grade: int = min(SCALES),
    acting_user: Person | None,
) -> Condition:
    """Make a condition in which people grade the pool: from scratch, or shown a model's grades on the same scale.

    from_queue: several people draw a topic's passages from a queue, instead of one being given all. Raises
    ConditionError.
    """
    if shown and shown.by != QrelsSource.By.MODEL:
        raise ConditionError(f"What is post-edited are a model's grades; those of {shown} are people's.")
    # Locked, so that no import puts it on another scale meanwhile.
    if shown and (on := QrelsSource.everything.select_for_update().get(pk=shown.pk).max_grade) != max_grade:
        raise ConditionError(
            f"{shown} is graded {SCALES[on]}, and people would grade {SCALES[max_grade]} beside it: "
            + (f"choose the scale {SCALES[on]}." if on in SCALES_HERE else "choose another source.")
        )
    condition = Condition(
        campaign=campaign,
        name=name,
        kind=RELEVANCE.name,
        method=POST_EDITED if shown else FROM_SCRATCH,
        qrels_source=shown,
        max_grade=max_grade,
    )
    return create_first(condition, from_queue=from_queue, acting_user=acting_user)


def prepare_items(task: Task) -> None:
    """Make what there is to grade on a new task's topic, as far as nobody was given it yet. Raises PlanError."""
    _add_items(task)
    _require_work(task)
    _count(task)


def renew_items(task: Task) -> None:
    """Add what came into the pool since to a task that is given again, and count anew. Raises PlanError.

    One that its person finished, and to which nothing was added, stays as it is.
    """
    _add_items(task)
    task.refresh_from_db(fields=["state"])
    if task.state != Task.State.FINISHED:
        _require_work(task)
    _count(task)


def _add_items(task: Task) -> None:
    """Make what is lacking of a topic's pool, and open again all tasks of the topic that were finished before."""
    condition, topic = task.condition, task.topic
    setup = ManualSetup.objects.filter(condition=condition).first()
    if setup is None:
        raise PlanError(f"Nobody can be given {condition}: it is not done by people on a screen.")
    # In one order with judging, or the last passage could end the topic between.
    same = Task.objects.filter(topic=topic, condition=condition)
    list(same.order_by("pk").select_for_update(no_key=True, of=("self",)))
    there = items_of(task)
    known = set(there.values_list("docid", flat=True))
    new = [docid for _, docid in pool(condition, [topic]) if docid not in known]
    random.Random(f"{setup.seed} {topic.qid}").shuffle(new)  # noqa: S311  # an order, no secret
    last = there.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    # A track's topics, given at once, are a hundred thousand of them: without an object each, as imports do it.
    to_do = RelevanceJudgment.State.OPEN.value
    insert(
        RelevanceJudgment,
        _FIELDS,
        ((condition.pk, topic.pk, docid, position, 0, to_do) for position, docid in enumerate(new, first)),
    )
    if new:
        same.filter(state=Task.State.FINISHED).update(state=Task.State.OPEN)


def _require_work(task: Task) -> None:
    """Raise PlanError where nothing is left to grade on a task's topic."""
    items = items_of(task)
    if not items.filter(TO_DO).exists():
        lacking = "every pooled passage is graded" if items.exists() else "no passage is in the pool"
        raise PlanError(f"There is nothing to grade on {task.topic.qid} under {task.condition}: {lacking}.")


def _count(task: Task) -> None:
    """Bring a task's counters up to date. In a queue nobody's share is known beforehand."""
    task.done = judged(task).count()
    to_do = items_of(task).filter(TO_DO).count()
    task.total = 0 if task.condition.manual_setup.from_queue else task.done + to_do
    task.save(update_fields=["done", "total"])
