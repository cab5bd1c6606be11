"""A webhook with what it was sent, for the tests of all pages."""

from datetime import timedelta

from django.utils import timezone

from assessor.campaigns.models import Campaign
from assessor.notices.models import Delivery, Webhook

HOST = "hooks.example.org"


def make_webhook(campaign: Campaign, state: str = "active") -> Webhook:
    """Make a webhook with a delivery that was accepted, one that was given up, and one that waits for tomorrow."""
    webhook = Webhook.objects.create(
        campaign=campaign, address=f"https://{HOST}/assay", salt="0" * 32, events=Webhook.Event.values, state=state
    )
    tomorrow = timezone.now() + timedelta(days=1)
    of_all = {"webhook": webhook, "event": "job.done", "body": "{}", "due_at": tomorrow}
    Delivery.objects.create(**of_all, state="done", status=204, attempts=1)
    Delivery.objects.create(**of_all, state="failed", status=500, attempts=12)
    Delivery.objects.create(**of_all, state="waiting", error="ConnectError: no route", attempts=2)
    return webhook
