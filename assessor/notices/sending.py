"""Sending what is due, until it is accepted or a day has passed."""

import asyncio
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from assessor.campaigns import history
from assessor.notices.models import Delivery, Webhook
from assessor.runtime.claims import claim, held, left_behind, mine

if TYPE_CHECKING:
    from assessor.notices.transport import Outcome

_AT_ONCE = 64  # deliveries, of all webhooks and the mail server together
_TO_EACH = 4  # of them: one that answers slowly leaves room for the others
_LOOKED_AT = 1_000  # deliveries that are due
_PATIENCE = timedelta(days=1)
_FIRST_PAUSE = timedelta(seconds=15)
_LONGEST_PAUSE = timedelta(hours=4)
_KEPT = 100  # deliveries that are over, of each webhook and person
_GONE = 410


def send_due() -> bool:
    """Send some of what is due, all at once, so that it takes no longer than the slowest may; return whether more is.

    It is sent at least once: again under the same id if this process dies before it has noted the answer.
    """
    from assessor.notices.transport import send_all  # loads httpx2, which is not needed to see that nothing is due

    with ExitStack() as at_work:
        pks = []
        for delivery in _next_due():
            if claim(delivery):
                at_work.enter_context(held(delivery))
                pks.append(delivery.pk)
        claimed = list(Delivery.objects.filter(pk__in=pks).select_related("webhook__campaign", "person"))
        for delivery, outcome in zip(claimed, asyncio.run(send_all(claimed)), strict=True):
            _note(delivery, outcome)
    return _due().exists()


def sweep() -> bool:
    """Have deliveries wait again whose process died; return whether anything is due."""
    for _, same in left_behind(Delivery):
        same.update(state=Delivery.State.WAITING)
    removed = Delivery.objects.filter(webhook__state=Webhook.State.REMOVED)
    if removed.exists():  # else each look would take SQLite's write lock
        removed.delete()
    return _due().exists()


def _due() -> QuerySet[Delivery]:
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=timezone.now())
    return waiting.filter(Q(webhook=None, person__is_active=True) | Q(webhook__state=Webhook.State.ACTIVE))


def _next_due() -> QuerySet[Delivery]:
    """Return what is sent first: the oldest of each webhook, and of mails."""
    taken: Counter[int | None] = Counter()
    pks: list[int] = []
    for pk, webhook in _due().order_by("due_at", "pk").values_list("pk", "webhook")[:_LOOKED_AT]:
        if taken[webhook] < _TO_EACH and len(pks) < _AT_ONCE:
            taken[webhook] += 1
            pks.append(pk)
    return Delivery.objects.filter(pk__in=pks).order_by("pk")


@transaction.atomic
def _note(delivery: Delivery, outcome: "Outcome") -> None:
    """Note what came of an attempt; of what is not this process's any more, nothing."""
    now = timezone.now()
    told: dict[str, Any] = {"status": outcome.status, "error": outcome.error}
    if outcome.is_accepted:
        told |= {"state": Delivery.State.DONE, "ended_at": now}
    elif outcome.status == _GONE or now - delivery.created_at >= _PATIENCE:
        told |= {"state": Delivery.State.FAILED, "ended_at": now}
    else:
        told |= {"state": Delivery.State.WAITING, "due_at": now + _pause(delivery.attempts)}
    if not mine(delivery).update(**told):
        return
    over = Delivery.objects.filter(webhook=delivery.webhook_id, person=delivery.person_id)
    over = over.exclude(state__in=Delivery.OPEN)
    if (webhook := delivery.webhook) and told["state"] == Delivery.State.FAILED:
        accepted = over.filter(state=Delivery.State.DONE, ended_at__gt=delivery.created_at)
        if outcome.status == _GONE or not accepted.exists():
            _stop(webhook)
    if oldest := over.order_by("-pk").values_list("pk", flat=True)[_KEPT : _KEPT + 1].first():
        over.filter(pk__lte=oldest).delete()


def _pause(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: four times as long each time."""
    times: int = 4 ** (min(attempts, 10) - 1)
    return min(_FIRST_PAUSE * times, _LONGEST_PAUSE)


def _stop(webhook: Webhook) -> None:
    """Send nothing more to a webhook that refuses everything, until an organizer starts it again."""
    if Webhook.objects.filter(pk=webhook.pk, state=Webhook.State.ACTIVE).update(state=Webhook.State.STOPPED):
        waiting = webhook.deliveries.filter(state=Delivery.State.WAITING)
        waiting.update(state=Delivery.State.FAILED, ended_at=timezone.now())
        history.record("webhook stopped", webhook, campaign=webhook.campaign, person=None)
