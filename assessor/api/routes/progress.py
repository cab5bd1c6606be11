"""How far the work is, and what happened."""

from collections import defaultdict
from operator import itemgetter

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from assessor.api.authentication import asker
from assessor.api.operations import many
from assessor.api.pagination import Asked, Json, Text, answer, of_records, of_rows
from assessor.api.schemas import EventItem, ProgressItem, TaskItem
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.models import Event
from assessor.work.models import Task
from assessor.work.queries import Counted, counted, known_total, planned

router = Router()


@many(router, "/campaigns/{slug}/tasks", "list_tasks", TaskItem, "progress")
def list_tasks(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """Who has to do what, and how far they are; nothing that was withdrawn."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(planned(campaign), _task))


def _task(task: Task) -> Json:
    told = {name: getattr(task, name) for name in ("kind", "state", "done", "total", "seconds")}
    return {
        "id": task.pk,
        "qid": task.topic.qid,
        "is_practice": task.topic.is_practice,
        "condition": task.condition.name,
        "person": task.person.username,
        **told,
        "worked_at": task.worked_at.isoformat() if task.worked_at else None,
    }


@many(router, "/campaigns/{slug}/progress", "list_progress", ProgressItem, "progress")
def list_progress(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """How far each person is under each condition; topics for practice are not counted."""
    campaign = organized_campaign(asker(request), slug)
    conditions = dict(campaign.conditions.values_list("pk", "name"))
    by_key: dict[tuple[int, int], list[Counted]] = defaultdict(list)
    for task in counted(campaign):
        if not task.topic__is_practice:
            by_key[task.condition_id, task.person_id].append(task)
    rows = [(key, _progress(conditions[key[0]], tasks)) for key, tasks in sorted(by_key.items(), key=itemgetter(0))]
    return answer(request, asked, of_rows(rows, (int, int)))


def _progress(condition: str, tasks: list[Counted]) -> Json:
    """Return how far a person is with their tasks under a condition."""
    return {
        "condition": condition,
        "kind": tasks[0].kind,
        "person": tasks[0].person__username,
        "tasks": len(tasks),
        "finished": sum(task.state == Task.State.FINISHED for task in tasks),
        "done": sum(task.done for task in tasks),
        "total": known_total(tasks),
        "seconds": sum(task.seconds for task in tasks),
    }


@many(router, "/campaigns/{slug}/events", "list_events", EventItem, "progress")
def list_events(request: HttpRequest, slug: Text, asked: Query[Asked]) -> HttpResponseBase:
    """The history of the campaign, the oldest first."""
    campaign = organized_campaign(asker(request), slug)
    return answer(request, asked, of_records(campaign.events.select_related("person"), _event))


def _event(event: Event) -> Json:
    person = event.person.username if event.person else None
    told = {"verb": event.verb, "subject": event.subject, "details": event.details}
    return {"id": event.pk, "at": event.at.isoformat(), "person": person, **told}
