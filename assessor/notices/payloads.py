"""What is told of an end. Webhooks get ids, states and counts: no texts, no names, no labels. Mails say the same."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from assessor.campaigns.access import members
from assessor.campaigns.models import Campaign, Import, Role
from assessor.formats.values import to_json
from assessor.llm.models import Job
from assessor.notices.models import Delivery, Webhook
from assessor.runtime import hints
from assessor.runtime.commits import after_commit
from assessor.work.models import Task

TEST = "webhook.test"
_Told = Sequence[tuple[str, dict[str, Any]]]  # types of events with their data


def note(sender: type[Job | Import | Task], campaign_id: int, pks: Sequence[int], **kwargs: Any) -> None:
    """Note a delivery to each who is to be told what ended, in the transaction in which it did.

    Connected to assessor.campaigns.signals.ended.
    """
    source = _SOURCES[sender]
    webhooks = _webhooks(campaign_id, source.event) if settings.WEBHOOK_HOSTS else []
    if not webhooks and not settings.MAILS:
        return
    # As the database has them now: who says that they ended may hold what they were before.
    related = sender._default_manager.select_related("campaign", source.owner, *source.related)
    records = list(related.filter(pk__in=pks).order_by("pk"))
    add_deliveries(webhooks, [_told(source, record) for record in records])
    if settings.MAILS:
        _add_mails(source, records)


def _webhooks(campaign_id: int, event: str) -> list[Webhook]:
    active = Webhook.objects.filter(campaign=campaign_id, state=Webhook.State.ACTIVE)
    return [webhook for webhook in active if event in webhook.events]


def add_deliveries(webhooks: Sequence[Webhook], told: _Told) -> None:
    """Have webhooks sent events, by type and data. Call it in a transaction."""
    now = timezone.now()
    bodies = [(event, to_json({"type": event, "timestamp": now.isoformat(), "data": data})) for event, data in told]
    _add(Delivery(webhook=webhook, event=event, body=body) for webhook in webhooks for event, body in bodies)


def _add_mails(source: "_Source", records: Sequence[Any]) -> None:
    """Have those mailed whose records these are, if they asked for it and organize the campaign."""
    owned = [(record, getattr(record, source.owner)) for record in records]
    asked = [(record, person) for record, person in owned if person and source.event in person.mailed_when]
    if not asked:
        return
    organizers = set(members(asked[0][0].campaign, Role.ORGANIZER).values_list("pk", flat=True))
    _add(
        Delivery(
            person=person,
            event=f"{source.event}.{record.state}",
            body=render_to_string(f"notices/{source.event}_mail.txt", {"record": record, "person": person}),
        )
        for record, person in asked
        if person.pk in organizers and person.email
    )


def _add(deliveries: Iterable[Delivery]) -> None:
    if Delivery.objects.bulk_create(deliveries):
        # Should the queue be gone, the next look finds what is due.
        after_commit(hints.send, "assessor.notices.tasks.send_notices")


def test_of(campaign: Campaign) -> tuple[str, dict[str, Any]]:
    """Return the event by which an organizer tries a webhook."""
    return TEST, {"campaign": campaign.slug}


def _told(source: "_Source", record: Any) -> tuple[str, dict[str, Any]]:
    data = {"id": record.pk, "kind": record.kind, "state": record.state, **source.facts(record)}
    return f"{source.event}.{record.state}", {"campaign": record.campaign.slug, source.name: data}


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
    """Whose ends are told. name: what a record is called in the data; owner: who is mailed, if they asked for it;
    facts: what is told of it besides its state."""

    event: Webhook.Event
    name: str
    owner: str
    facts: Callable[[Any], dict[str, Any]]
    related: Sequence[str] = ()


_SOURCES: dict[Any, _Source] = {
    Job: _Source(Webhook.Event.JOB, "job", "created_by", _of_job),
    Import: _Source(Webhook.Event.IMPORT, "import", "person", _of_import),
    Task: _Source(Webhook.Event.TOPIC, "task", "created_by", _of_task, ["topic"]),
}
