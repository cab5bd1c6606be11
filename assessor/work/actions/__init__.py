"""The only writers of tasks, of the queues that they are drawn from, and of active time."""

from assessor.work.actions.active_time import record_time
from assessor.work.actions.given_tasks import (
    NotYet,
    PlanError,
    Taken,
    folded,
    give,
    give_tasks,
    lock,
    refuse_taken,
    require_person,
    withdraw_task,
)
from assessor.work.actions.queue import draw_next, note_opened, put_in_queue, take_out_of_queue

__all__ = [
    "NotYet",
    "PlanError",
    "Taken",
    "draw_next",
    "folded",
    "give",
    "give_tasks",
    "lock",
    "note_opened",
    "put_in_queue",
    "record_time",
    "refuse_taken",
    "require_person",
    "take_out_of_queue",
    "withdraw_task",
]
