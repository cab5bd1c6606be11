"""Handing out the sheets of a topic: in which order, from whose hands into whose, and how far they are."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db.models import Max, QuerySet

from assessor.campaigns import history
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Condition, Topic
from assessor.work.models import Task

_SEEDS = 2**31
LARGEST_SEED = 2**53  # what every program reads as it is


def new_seed() -> int:
    """Return a seed that nobody can guess, to be stored with what it decides."""
    return random.SystemRandom().randrange(_SEEDS)


def order(seed: int, task: Task) -> random.Random:
    """Return what shuffles a topic's answers for a person: the same each time, and in whatever database."""
    return random.Random(f"{seed} {task.topic.qid} {task.person.username}")  # noqa: S311  # an order, no secret


def next_place(sheets: QuerySet[Any]) -> int:
    """Return the place behind a task's sheets."""
    last: int | None = sheets.aggregate(last=Max("place"))["last"]
    return 0 if last is None else last + 1


def hand_over(
    task: Task,
    sheets: Iterable[Any],
    first: int,
    said_on: Callable[[Any], Iterable[str]],
    asked: Callable[[Any], Sequence[Any] | None] = lambda sheet: None,
) -> None:
    """Make sheets a task's, in their order from a place on; what is said of items of each is taken back.

    asked: the items of a sheet that are asked where nothing is said; None for those that were.
    """
    judge = judge_of(task.person)
    for place, sheet in enumerate(sheets, first):
        sheet.revise(
            "handed over",
            dict.fromkeys(said_on(sheet), dict.fromkeys(sheet.SAID)),
            judge_id=judge.pk,
            task_id=task.pk,
            asked=asked(sheet),
            columns={"judge": judge, "task": task, "place": place, "put_off": 0},
        )


def count_all(condition: Condition, topic: Topic, count: Callable[[Task], None]) -> None:
    """Bring the counters of all tasks of a topic under a condition up to date."""
    held = Task.objects.filter(condition=condition, topic=topic).exclude(state=Task.State.WITHDRAWN)
    for task in held.select_related("topic").order_by("pk"):
        count(task)


def count(task: Task, progress: Callable[[Task], tuple[int, int]], opened: str) -> None:
    """Bring a task's counters up to date, and open it where something is to be done again, which is recorded.

    progress: counts what is done and all of it.
    """
    # Locked before anything is counted: its person may save a label or sign off at the same moment.
    locked = Task.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=task.pk)
    locked.done, locked.total = progress(locked)
    if locked.state == Task.State.FINISHED and locked.done < locked.total:
        locked.state = Task.State.OPEN
        history.record(opened, locked, campaign=locked.campaign, person=None)
    locked.save(update_fields=["done", "total", "state"])
