"""What pages read of tasks."""

from django.db.models import QuerySet

from assessor.collection.models import Campaign, Person
from assessor.work.kinds import related_records
from assessor.work.models import Task


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


def minutes(seconds: int) -> str:
    """Return a time as people say it: "—", "under a minute", "12 min", "2 h 05 min"."""
    if not seconds:
        return "—"
    if seconds < 60:
        return "under a minute"
    hours, rest = divmod(seconds // 60, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"
