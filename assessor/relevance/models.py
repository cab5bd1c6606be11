"""Judgments of relevance, and what people have to grade."""

from django.db import models
from django.db.models import Q

from assessor.collection.models import AppendOnly


class Judgment(AppendOnly):
    """What somebody said of a segment's relevance to a topic under a condition; the newest version counts.

    The grade that stands is also a Grade of the condition's own qrels source, for everything that reads grades.
    """

    class State(models.TextChoices):
        GRADED = "graded", "graded"
        CANNOT = "cannot", "can't be judged"
        TAKEN_BACK = "back", "taken back"

    condition = models.ForeignKey(
        "collection.Condition", models.PROTECT, related_name="relevance_judgments", db_index=False
    )
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="relevance_judgments", db_index=False)
    docid = models.CharField(max_length=256)
    version = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=6, choices=State, default=State.GRADED)
    grade = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it can't be judged.")
    judge = models.ForeignKey("collection.Judge", models.PROTECT, related_name="relevance_judgments")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="relevance_judgments")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="relevance_judgments")
    shown = models.PositiveSmallIntegerField(null=True, help_text="The model's grade that stood beside the choices.")
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this passage.")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last; none where no assessor did this."
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("condition", "topic", "docid", "version"), name="judgment_version_once"),
            models.CheckConstraint(
                condition=Q(state="graded", grade__isnull=False) | ~Q(state="graded") & Q(grade__isnull=True),
                name="graded_with_a_grade",
            ),
        )

    def __str__(self) -> str:
        return f"{self.docid}: {self.said}"

    @property
    def said(self) -> str:
        """What was said, in words: "2", "can't be judged: …", "taken back"."""
        if self.state == self.State.GRADED:
            return str(self.grade)
        return f"{self.get_state_display()}: {self.reason}" if self.reason else self.get_state_display()


class Sheet(models.Model):
    """How the passages of a condition in which people grade are handed out."""

    condition = models.OneToOneField("collection.Condition", models.PROTECT, related_name="relevance_sheet")
    drawn = models.BooleanField(help_text="Whether several people draw a topic's passages from a queue.")
    seed = models.PositiveIntegerField(help_text="Decides the order of each topic's passages.")

    def __str__(self) -> str:
        return f"{self.condition}, {'drawn from a queue' if self.drawn else 'given to a person'}"


class Item(models.Model):
    """A passage that people have to grade: what stands of it, and in a queue who has it until when."""

    condition = models.ForeignKey(
        "collection.Condition", models.PROTECT, related_name="relevance_items", db_index=False
    )
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="relevance_items", db_index=False)
    docid = models.CharField(max_length=256)
    place = models.PositiveIntegerField(help_text="In the seeded order of the topic's passages, from 0.")
    version = models.PositiveIntegerField(default=0, help_text="Counts its judgments.")
    judgment = models.OneToOneField(
        Judgment, models.PROTECT, null=True, related_name="+", help_text="The one that stands; none: to be graded."
    )
    holder = models.ForeignKey("collection.Person", models.PROTECT, null=True, related_name="+", db_index=False)
    held_until = models.DateTimeField(null=True)
    shown = models.PositiveSmallIntegerField(null=True, help_text="The model's grade that was shown with it.")
    shown_to = models.ForeignKey(
        "collection.Person",
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Whom that grade was shown to last.",
    )

    class Meta:
        ordering = ("condition", "topic", "place")
        constraints = (models.UniqueConstraint(fields=("condition", "topic", "docid"), name="item_once"),)
        # What is left of a topic: else SQLite goes through what is left of all.
        indexes = (models.Index(fields=("condition", "topic", "judgment"), name="item_left"),)

    def __str__(self) -> str:
        return f"{self.docid} on {self.topic.qid}"
