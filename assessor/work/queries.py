"""What pages read of tasks."""

from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from assessor.collection.models import Campaign, Condition, Person
from assessor.collection.roles import ASSESSOR, has_role
from assessor.work.blindness import not_barred
from assessor.work.kinds import related_records
from assessor.work.leases import free
from assessor.work.models import Task, Waiting


def tasks_of(person: Person) -> QuerySet[Task]:
    """Return a person's tasks that were not withdrawn, with what the home shows of them."""
    tasks = Task.objects.filter(person=person).exclude(state=Task.State.WITHDRAWN)
    return tasks.select_related("campaign", "topic", "condition", *related_records()).order_by(
        "campaign__name", "topic__qid", "pk"
    )


def planned(campaign: Campaign) -> QuerySet[Task]:
    """Return a campaign's tasks that were not withdrawn."""
    tasks = campaign.tasks.exclude(state=Task.State.WITHDRAWN)
    return tasks.select_related("topic", "condition", "person", *related_records()).order_by("topic__qid", "pk")


def assessors(campaign: Campaign) -> QuerySet[Person]:
    """Return the people who can be given tasks in a campaign."""
    people = Person.objects.filter(groups__name="assessor", is_active=True)
    if campaign.protocol.blind_after_seeing:
        people = people.exclude(organized__campaign=campaign)
    return people.order_by("username").distinct()


def waiting_in(campaign: Campaign) -> QuerySet[Any]:
    """Return a campaign's topics that can be drawn and that nobody has now, nor had and left."""
    return free().filter(condition__campaign=campaign, has_lapsed=False).select_related("condition")


def queues_of(person: Person) -> QuerySet[Any]:
    """Return the conditions under which a person can draw topics, each with how many are `free` in all."""
    of_condition = free().filter(condition=OuterRef("pk")).order_by().values("condition")
    number = Coalesce(Subquery(of_condition.annotate(number=Count("pk")).values("number")), 0)
    queues = not_barred(person, Condition.objects.filter(Exists(Waiting.objects.filter(condition=OuterRef("pk")))))
    queues = queues.annotate(free=number).select_related("campaign").order_by("campaign__name", "name")
    return queues if has_role(person, ASSESSOR) else queues.none()


def lease(task: Task) -> str:
    """Return how it stands with the lease of a drawn task, in words; "" for one that has none."""
    if task.leased_until is None or task.state != Task.State.OPEN:
        return ""
    is_over = task.leased_until <= timezone.now()
    return f"drawn, lease {'ran out on' if is_over else 'until'} {task.leased_until:%Y-%m-%d %H:%M}"


def minutes(seconds: int) -> str:
    """Return a time as people say it: "—", "under a minute", "12 min", "2 h 05 min"."""
    if not seconds:
        return "—"
    if seconds < 60:
        return "under a minute"
    hours, rest = divmod(seconds // 60, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"
