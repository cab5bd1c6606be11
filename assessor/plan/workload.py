"""The workload of a campaign: what is read of its tasks, to be estimated by hours.py."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import NamedTuple

from assessor.campaigns.models import Campaign, Condition
from assessor.plan.effort import Spent, by_item, measurements, spent
from assessor.plan.hours import (
    HOUR,
    LEAST_SECONDS,
    Load,
    Measured,
    Pace,
    Work,
    is_too_early,
    loads,
    pace,
    seconds_of,
    total,
)
from assessor.plan.models import WHOEVER_DRAWS
from assessor.plan.queries import FINISHED, WorkRow, work_rows

WHOEVER = 0  # in the place of a person's key


class PersonRow(NamedTuple):
    """A person, or whoever draws it, with hours as a table shows them. seconds: to come; done: so far."""

    name: str
    hours: str
    pieces: int
    unknown: int
    seconds: float
    done: int

    @property
    def spent(self) -> str:
        return hours(self.done)


class PaceRow(NamedTuple):
    """A condition with what its work takes, in words."""

    condition: Condition
    told: str


class Workload(NamedTuple):
    """Hours that are to come, by person, of what is nobody's yet and in all; known: paces by condition's key."""

    people: list[PersonRow]
    free: PersonRow
    whole: PersonRow
    paces: list[PaceRow]
    known: Mapping[int, Pace | None]

    @property
    def most(self) -> PersonRow | None:
        """Who has most to do; None where that is nobody."""
        return max((one for one in self.people if one.seconds), key=lambda one: one.seconds, default=None)

    @property
    def usual(self) -> float:
        """The median of people's seconds to come."""
        return median(one.seconds for one in self.people) if self.people else 0.0

    @property
    def longest(self) -> float:
        """The most seconds that anybody has had and has, for bars of one scale."""
        return max((one.seconds + one.done for one in self.people), default=0.0) or 1.0

    def left(self, row: WorkRow) -> float | None:
        """Return how many seconds a piece of work will take from now on; None where nobody can say."""
        return seconds_of(_work(row), self.known.get(row.condition))


def workload(campaign: Campaign, work: Iterable[WorkRow] | None = None, also: Iterable[Condition] = ()) -> Workload:
    """Return the hours that the open and planned work of a campaign will take. Practice is no part of it.

    work: that of the campaign, where read. also: conditions whose pace is asked for though nothing is planned there.
    """
    practice = set(campaign.topics.filter(is_practice=True).values_list("pk", flat=True))
    rows = [row for row in (work_rows(campaign) if work is None else work) if row.topic not in practice]
    still_open = [row for row in rows if row.state != FINISHED]
    keys = {row.condition for row in still_open} | {one.pk for one in also}
    conditions = Condition.objects.filter(pk__in=keys).order_by("name")
    measured = _measured(campaign)
    paces = {one.pk: pace(one.method, measured[one.pk], by_item=by_item(one.kind)) for one in conditions}
    found = loads(map(_work, still_open), paces)
    done: dict[int, int] = defaultdict(int)
    for row in rows:
        done[row.person_id or WHOEVER] += row.seconds
    free = found.pop(WHOEVER, Load(0, 0, 0))
    names = {row.person_id: row.person for row in rows if row.person_id}
    people = [
        _row(name, found.get(key, Load(0, 0, 0)), done[key])
        for key, name in sorted(names.items(), key=lambda one: one[1].encode())
    ]
    told = [PaceRow(one, _told(paces[one.pk], measured[one.pk])) for one in conditions]
    whole = _row("all", total([*found.values(), free]), sum(done.values()))
    return Workload(people, _row(WHOEVER_DRAWS, free, 0), whole, told, paces)


def _work(row: WorkRow) -> Work:
    return Work(row.person_id or WHOEVER, row.condition, row.left, row.seconds)


def _measured(campaign: Campaign) -> dict[int, list[Measured]]:
    of_conditions: dict[int, list[Spent]] = defaultdict(list)
    for task in spent(campaign):
        of_conditions[task.condition_id].append(task)
    return defaultdict(list, {condition: measurements(tasks) for condition, tasks in of_conditions.items()})


def _row(name: str, load: Load, done: int) -> PersonRow:
    return PersonRow(name, hours(load.seconds), load.pieces, load.unknown, load.seconds, done)


def hours(seconds: float) -> str:
    """Return a time in hours: "5.5 h"."""
    return f"{seconds / HOUR:.1f} h"


def _told(known: Pace | None, finished: list[Measured]) -> str:
    if known is None and finished and is_too_early(finished):
        return f"no estimate yet: less than {LEAST_SECONDS // 60} minutes of active time on finished tasks"
    if known is None:
        return "no estimate yet: nothing measured"
    topic = f"{hours(known.topic)} a topic"
    if not known.tasks:
        return f"{topic}, as published"
    item = f", {known.item:.0f} s an item" if known.item is not None else ""
    return f"{topic}{item}: the median of {known.tasks} finished task{'' if known.tasks == 1 else 's'}"
