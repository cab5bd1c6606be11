"""Nuggets that were tried against answers while a person edited their bank, and what a model said."""

from django.core.validators import MinValueValidator
from django.db import models

from assessor.campaigns.models import AppendOnly
from assignment.formats import LABELS


class TrialSetting(models.Model):
    """Whether people who edit banks may try nuggets: off unless an organizer switched it on.

    The condition names the banks' condition and the judge. Its labels are in no table of labels, score or file of them.
    """

    condition = models.OneToOneField("campaigns.Condition", models.PROTECT, related_name="trial_setting")
    is_on = models.BooleanField(default=False)
    most_calls = models.PositiveIntegerField(
        validators=(MinValueValidator(1),), help_text="Budget of calls, of all trials of all people together."
    )

    def __str__(self) -> str:
        return f"trials under {self.condition}: {'on' if self.is_on else 'off'}"


class NuggetTrial(AppendOnly):
    """A nugget with the text that it had when a person had it tried."""

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="trials")
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="trials")
    text = models.TextField()
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"trial of {self.text}"


class TrialLabel(AppendOnly):
    """What the model said of a nugget in an answer; of an empty one the rule says that it is not there."""

    trial = models.ForeignKey(NuggetTrial, models.PROTECT, related_name="labels", db_index=False)
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    value = models.CharField(max_length=20, choices=[(label, label) for label in LABELS])

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("trial", "answer"), name="trial_label_once"),)

    def __str__(self) -> str:
        return f"{self.value}: {self.trial}"
