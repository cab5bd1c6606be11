"""What documents say to questions, and the reports that were put together of it."""

from django.db import models

from assessor.campaigns.models import AppendOnly
from assessor.runtime.fields import JSONText


class Reading(AppendOnly):
    """What a model found in a document for a question: maybe nothing."""

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="readings", db_index=False)
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="readings")
    question = models.CharField(max_length=32, help_text="The md5 of its text, as question banks name it.")
    docid = models.CharField(max_length=256)
    found = JSONText(
        default=list, help_text='[{"part", "extracted", "condensed", "confidence"}]: of each chunk that says something.'
    )
    job = models.ForeignKey("llm.Job", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("condition", "topic", "question", "docid"), name="reading_once"),
        )

    def __str__(self) -> str:
        return f"{self.question} in {self.docid}"


class Report(AppendOnly):
    """A run that was written here from a bank. It is kept before the run comes in: no such run is without one."""

    class Text(models.TextChoices):
        EXTRACTIVE = "extractive", "extractive: sentences as documents have them"
        ABSTRACTIVE = "abstractive", "abstractive: sentences in the model's words"

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="reports")
    tag = models.CharField(max_length=256, help_text="The run's.")
    text = models.CharField(max_length=20, choices=Text)
    per_question = models.PositiveSmallIntegerField(help_text="Sentences of a question at most.")
    editions = JSONText(default=dict, help_text="By topic id the edition of the bank.")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("condition", "tag"), name="report_once"),)

    def __str__(self) -> str:
        return self.tag
