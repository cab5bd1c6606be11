"""Conditions under which people grade, and the passages that they are given."""

import random

from django.db import transaction
from django.db.models import Max

from assessor.collection.actions import ConditionError, create_condition
from assessor.collection.loaders.base import insert
from assessor.collection.models import Campaign, Condition, Person, QrelsSource
from assessor.relevance.models import Item, Sheet
from assessor.relevance.queries import items_of, pool
from assessor.work.actions import PlanError
from assessor.work.models import Task

_SEEDS = 2**31
_FIELDS = ("condition", "topic", "docid", "place", "version", "judgment", "holder", "held_until", "shown", "shown_to")
_EMPTY = (None,) * 5


@transaction.atomic
def create_relevance(
    *, campaign: Campaign, name: str, shown: QrelsSource | None, drawn: bool, acting_user: Person | None
) -> Condition:
    """Make a condition in which people grade the pool: from scratch, or shown a model's grades.

    drawn: several people draw a topic's passages from a queue, instead of one being given all. Raises ConditionError.
    """
    if shown and shown.by != QrelsSource.By.MODEL:
        raise ConditionError(f"What is post-edited are a model's grades; those of {shown} are people's.")
    methods = Condition.Method
    condition = Condition(
        campaign=campaign,
        name=name,
        kind=Condition.Kind.RELEVANCE,
        method=methods.RELEVANCE_POST_EDITED if shown else methods.MANUAL_RELEVANCE,
        qrels_source=shown,
    )
    create_condition(condition, acting_user=acting_user)
    Sheet.objects.create(condition=condition, drawn=drawn, seed=random.SystemRandom().randrange(_SEEDS))
    return condition


def prepare_items(task: Task) -> None:
    """Make what there is to grade on a task's topic, as far as nobody was given it yet. Raises PlanError."""
    condition, topic = task.condition, task.topic
    sheet = Sheet.objects.filter(condition=condition).first()
    if sheet is None:
        raise PlanError(f"Nobody can be given {condition}: it is not done by people on a screen.")
    there = items_of(task)
    known = set(there.values_list("docid", flat=True))
    new = [docid for _, docid in pool(condition, [topic]) if docid not in known]
    random.Random(f"{sheet.seed} {topic.qid}").shuffle(new)  # noqa: S311  # an order, no secret
    last = there.aggregate(last=Max("place"))["last"]
    first = 0 if last is None else last + 1
    # A track's topics, given at once, are a hundred thousand of them: without an object each, as imports do it.
    insert(
        Item, _FIELDS, ((condition.pk, topic.pk, docid, place, 0, *_EMPTY) for place, docid in enumerate(new, first))
    )
    to_do = there.filter(judgment=None).count()
    if not to_do:
        lacking = "every pooled passage is graded" if known else "no passage is in the pool"
        raise PlanError(f"There is nothing to grade on {topic.qid} under {condition}: {lacking}.")
    # In a queue nobody's share is known beforehand.
    task.total = 0 if sheet.drawn else to_do
    task.save(update_fields=["total"])
