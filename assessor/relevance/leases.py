"""The queue: a passage is leased to one person at a time, and comes back when its lease runs out."""

from datetime import timedelta

from assessor.relevance.models import RelevanceJudgment
from assessor.relevance.queries import TO_DO, free, items_of, openable
from assessor.runtime.clock import shared_now
from assessor.work.models import Task

LEASE = timedelta(minutes=3)  # the page renews it every half minute
DRAWN = 2  # passages that a person has at once: the one on screen, and the next
GIVEN = 5  # sent ahead where nobody else can be kept waiting, for a connection that is lost
_TRIED = 20  # free passages looked at in one go


def at_hand(task: Task) -> list[RelevanceJudgment]:
    """Return the next passages of a task, the present one first; in a queue, draw them and renew their leases.

    None for a task that is not open or is paused: it is looked at without a look at what the person has seen since.
    """
    if task.state != Task.State.OPEN or task.paused:
        return []
    if not task.condition.manual_setup.from_queue:
        return list(openable(task)[:GIVEN])
    now = shared_now()
    held = openable(task).filter(holder=task.person, held_until__gt=now)
    mine = [item.pk for item in held]
    items_of(task).filter(TO_DO, pk__in=mine, holder=task.person).update(held_until=now + LEASE)
    lacking = DRAWN - len(mine)
    while lacking > 0 and (taken := _take(task, lacking)) is not None:
        lacking -= taken
    return list(held.all())


def _take(task: Task, most: int) -> int | None:
    """Lease up to so many free passages, and return how many; None if there is none.

    However many people try, one UPDATE finds a passage free, and those of the others change no row.
    """
    now = shared_now()
    nobodys = TO_DO & free(now, task.person)
    candidates = openable(task).filter(nobodys).exclude(holder=task.person, held_until__gt=now)
    found = list(candidates.values_list("pk", flat=True)[:_TRIED])
    if not found:
        return None
    taken = 0
    for pk in found:
        if taken < most:
            taken += RelevanceJudgment.objects.filter(nobodys, pk=pk).update(holder=task.person, held_until=now + LEASE)
    return taken
