"""Tasks of people, and what an assessor's work leaves besides its labels."""

from django.db import models

from assessor.collection.fields import JSONText
from assessor.collection.models import AppendOnly, Condition

MAX_REASON = 500  # characters of a reason or a note


class Task(models.Model):
    """What a person has to do on a topic under a condition."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        FINISHED = "finished", "finished"
        WITHDRAWN = "withdrawn", "withdrawn"

    campaign = models.ForeignKey("collection.Campaign", models.PROTECT, related_name="tasks")
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="tasks")
    condition = models.ForeignKey(Condition, models.PROTECT, related_name="tasks")
    kind = models.CharField(max_length=12, choices=Condition.Kind)
    person = models.ForeignKey("collection.Person", models.PROTECT, related_name="tasks")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    done = models.PositiveIntegerField(default=0, help_text="Items done.")
    total = models.PositiveIntegerField(default=0, help_text="Items to do; 0 where there is no fixed number.")
    seconds = models.PositiveIntegerField(default=0, help_text="Active time.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("collection.Person", models.PROTECT, null=True, related_name="+")
    reason = models.CharField(
        max_length=MAX_REASON,
        blank=True,
        help_text="Why it was given to this person, where it would be somebody else's.",
    )
    worked_at = models.DateTimeField(null=True, help_text="When the person last saved something.")
    leased_until = models.DateTimeField(
        null=True, help_text="Of a drawn topic: until when nobody else can draw it. None: it is the person's for good."
    )
    not_blind: str | None  # why its person can't do it blind; told by work.access, and by nothing else

    class Meta:
        ordering = ("topic__qid", "pk")
        constraints = (
            models.UniqueConstraint(fields=("topic", "condition", "kind", "person"), name="task_once_for_a_person"),
        )
        indexes = (models.Index(fields=("person", "state")),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.topic.qid} by {self.person}"


class Waiting(models.Model):
    """A topic that waits under a condition for whoever draws it: who has it then, and had it, is told by the tasks."""

    condition = models.ForeignKey(Condition, models.PROTECT, related_name="waiting")
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="waiting")
    reason = models.CharField(
        max_length=MAX_REASON, blank=True, help_text="Why whoever draws it gets it, where it would be somebody else's."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("collection.Person", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("condition", "topic"), name="topic_waits_once"),)

    def __str__(self) -> str:
        return f"{self.topic.qid} under {self.condition}"


class Write(models.Model):
    """A write of an assessor, by the key that their browser made: the same key is never carried out twice."""

    key = models.UUIDField(unique=True)
    person = models.ForeignKey("collection.Person", models.PROTECT, related_name="+")
    request = models.CharField(max_length=64, help_text="sha256 of what was asked.")
    result = JSONText(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.key)


class TimeSpent(AppendOnly):
    """Active seconds on a task, as the browser measured them: visible tab, input within 60 s."""

    task = models.ForeignKey(Task, models.PROTECT, related_name="times")
    key = models.UUIDField(unique=True)
    seconds = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.seconds} s on {self.task_id}"


class Exposure(AppendOnly):
    """A person saw what a model gave on a topic for a kind of work, or what others said between whom they decide."""

    person = models.ForeignKey("collection.Person", models.PROTECT, related_name="exposures")
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="exposures")
    kind = models.CharField(max_length=12, choices=Condition.Kind)
    where = models.CharField(max_length=200)
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        indexes = (models.Index(fields=("person", "topic", "kind")),)

    def __str__(self) -> str:
        return f"{self.person} saw {self.kind} on {self.topic}"
