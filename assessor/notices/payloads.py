"""What webhooks are told: ids, states, counts and times. No texts, no names, no labels."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from assessor.campaigns.models import Campaign, Import
from assessor.formats.values import to_json
from assessor.llm.models import Job
from assessor.notices.models import Delivery, Webhook
from assessor.notices.tasks import hint
from assessor.work.models import Task

TEST = "webhook.test"
_Told = Iterable[tuple[str, dict[str, Any]]]  # types of events with their data


def note(sender: type[Job | Import | Task], campaign_id: int, pks: Sequence[int], **kwargs: Any) -> None:
    """Note a delivery for each webhook that is to be told what ended, in the transaction in which it did.

    Connected to assessor.campaigns.signals.ended.
    """
    if not settings.WEBHOOK_HOSTS:
        return
    source = _SOURCES[sender]
    active = Webhook.objects.filter(campaign=campaign_id, state=Webhook.State.ACTIVE).select_related("campaign")
    webhooks = [webhook for webhook in active if source.event in webhook.events]
    if webhooks:
        add_deliveries(webhooks, _told(source, sender, webhooks[0].campaign, pks))


def add_deliveries(webhooks: Sequence[Webhook], told: _Told) -> None:
    """Have webhooks sent events, by type and data. Call it in a transaction."""
    now = timezone.now()
    bodies = [(event, to_json({"type": event, "timestamp": now.isoformat(), "data": data})) for event, data in told]
    Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event, body=body) for webhook in webhooks for event, body in bodies
    )
    transaction.on_commit(hint, robust=True)


def test_of(campaign: Campaign) -> tuple[str, dict[str, Any]]:
    """Return the event by which an organizer tries a webhook."""
    return TEST, {"campaign": campaign.slug}


def _told(source: "_Source", sender: Any, campaign: Campaign, pks: Sequence[int]) -> _Told:
    # As the database has them now: who says that they ended may hold what they were before.
    for record in sender.objects.filter(pk__in=pks).select_related(*source.related).order_by("pk"):
        data = {"id": record.pk, "kind": record.kind, "state": record.state, **source.facts(record)}
        yield f"{source.event}.{record.state}", {"campaign": campaign.slug, source.name: data}


def _of_job(job: Job) -> dict[str, Any]:
    units = {"total": job.units_total, "done": job.units_done, "failed": job.units_failed}
    return {"units": units, "calls": job.calls, "cost": str(job.cost)}


def _of_import(import_record: Import) -> dict[str, Any]:
    report = import_record.report
    problems = {"errors": report.get("error_count", 0), "warnings": report.get("warning_count", 0)}
    return {"counts": report.get("counts", {}), **problems}


def _of_task(task: Task) -> dict[str, Any]:
    return {"topic": task.topic.qid, "done": task.done, "total": task.total}


class _Source(NamedTuple):
    """Whose ends are told. name: what a record is called in the data; facts: what is told of it besides its state."""

    event: Webhook.Event
    name: str
    facts: Callable[[Any], dict[str, Any]]
    related: Sequence[str] = ()


_SOURCES: dict[Any, _Source] = {
    Job: _Source(Webhook.Event.JOB, "job", _of_job),
    Import: _Source(Webhook.Event.IMPORT, "import", _of_import),
    Task: _Source(Webhook.Event.TOPIC, "task", _of_task, ["topic"]),
}
