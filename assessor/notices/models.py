"""Webhooks, and what is sent to them and mailed to people."""

from uuid import uuid4

from django.db import models
from django.utils import timezone

from assessor.notices.addresses import host_of
from assessor.runtime.fields import JSONText

MAX_ADDRESS = 500  # characters


class Webhook(models.Model):
    """An address that is told what ends in a campaign.

    Its secret is kept nowhere: it follows from the salt and the server's secret key. A removed one stays without its
    address, as what ends at that moment may be about to note a delivery.
    """

    class Event(models.TextChoices):
        JOB = "job", "a job ends"
        IMPORT = "import", "an import ends"
        TOPIC = "topic", "an assessor finishes a topic"

    class State(models.TextChoices):
        ACTIVE = "active", "active"
        STOPPED = "stopped", "stopped"
        REMOVED = "removed", "removed"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="webhooks")
    address = models.CharField(max_length=MAX_ADDRESS, blank=True)
    salt = models.CharField(max_length=32)
    events = JSONText(default=list, help_text="Which kinds of events it is told of.")
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return host_of(self.address) or f"webhook {self.pk}"

    @property
    def event_labels(self) -> list[str]:
        return [str(self.Event(event).label) for event in self.events]


class Delivery(models.Model):
    """An event on its way to a webhook, or by mail to a person, and what came of it."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "being sent"
        DONE = "done", "delivered"
        FAILED = "failed", "given up"

    OPEN = (State.WAITING, State.RUNNING)

    webhook = models.ForeignKey(Webhook, models.PROTECT, null=True, related_name="deliveries")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    uid = models.UUIDField(default=uuid4, unique=True, help_text="The same however often it is sent.")
    event = models.CharField(max_length=30)
    body = models.TextField(help_text="JSON or the text of a mail, exactly as it is sent.")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now, help_text="When it is sent at the earliest.")
    ended_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer.")
    error = models.CharField(max_length=200, blank=True, help_text="Why there was no answer.")
    # Which process sends it and when that last gave a sign of life: see assessor.runtime.claims.
    owner = models.CharField(max_length=200, blank=True)
    alive_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "deliveries"
        indexes = (models.Index(fields=("state", "due_at")),)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(webhook=None, person__isnull=False) | models.Q(webhook__isnull=False, person=None),
                name="delivery_to_a_webhook_or_a_person",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} {self.uid}"
