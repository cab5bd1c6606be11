"""The workload of a campaign: what is read of its tasks, to be estimated by hours.py."""

from collections import defaultdict
from typing import NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.plan.effort import Spent, by_item, measurements, spent
from assessor.plan.hours import HOUR, LEAST_SECONDS, Load, Measured, Pace, Work, is_too_early, loads, pace, total
from assessor.plan.models import WHOEVER_DRAWS, Planned
from assessor.work.models import Task
from assessor.work.queries import waiting_in

WHOEVER = 0  # in the place of a person's key


class PersonRow(NamedTuple):
    """A person, or whoever draws it, with hours as a table shows them."""

    name: str
    hours: str
    pieces: int
    unknown: int


class PaceRow(NamedTuple):
    """A condition with what its work takes, in words."""

    condition: Condition
    told: str


class Workload(NamedTuple):
    """Hours that are to come, by person and in all, and what they are reckoned from."""

    people: list[PersonRow]
    whole: PersonRow
    paces: list[PaceRow]


def workload(campaign: Campaign) -> Workload:
    """Return the hours that the open and planned work of a campaign will take. Practice is no part of it."""
    works = _works(campaign)
    conditions = Condition.objects.filter(pk__in={work.condition for work in works}).order_by("name")
    measured = _measured(campaign)
    paces = {one.pk: pace(one.method, measured[one.pk], by_item=by_item(one.kind)) for one in conditions}
    found = loads(works, paces)
    names = dict(Person.objects.filter(pk__in=found).values_list("pk", "username")) | {WHOEVER: WHOEVER_DRAWS}
    people = [_row(names[key], load) for key, load in sorted(found.items(), key=lambda one: names[one[0]].encode())]
    told = [PaceRow(one, _told(paces[one.pk], measured[one.pk])) for one in conditions]
    return Workload(people, _row("all", total(found.values())), told)


def _works(campaign: Campaign) -> list[Work]:
    tasks = campaign.tasks.filter(state=Task.State.OPEN, topic__is_practice=False)
    works = [
        Work(person, condition, total - done if total else None, seconds)
        for person, condition, total, done, seconds in tasks.values_list(
            "person", "condition", "total", "done", "seconds"
        )
    ]
    planned = Planned.objects.filter(condition__campaign=campaign, topic__is_practice=False)
    works += [
        Work(person or WHOEVER, condition, None, 0) for person, condition in planned.values_list("person", "condition")
    ]
    free = waiting_in(campaign).filter(topic__is_practice=False)
    return works + [Work(WHOEVER, condition, None, 0) for condition in free.values_list("condition", flat=True)]


def _measured(campaign: Campaign) -> dict[int, list[Measured]]:
    of_conditions: dict[int, list[Spent]] = defaultdict(list)
    for task in spent(campaign):
        of_conditions[task.condition_id].append(task)
    return defaultdict(list, {condition: measurements(tasks) for condition, tasks in of_conditions.items()})


def _row(name: str, load: Load) -> PersonRow:
    return PersonRow(name, f"{load.seconds / HOUR:.1f} h", load.pieces, load.unknown)


def _told(known: Pace | None, finished: list[Measured]) -> str:
    if known is None and finished and is_too_early(finished):
        return f"too early to tell: less than {LEAST_SECONDS // 60} minutes of active time on finished tasks"
    if known is None:
        return "unknown: nothing measured yet, and nothing published"
    topic = f"{known.topic / HOUR:.1f} h for a topic"
    if not known.tasks:
        return f"{topic}, as published"
    item = f", {known.item:.0f} s for each item" if known.item is not None else ""
    return f"{topic}{item}: the median of {known.tasks} finished task{'' if known.tasks == 1 else 's'}"
