"""Preferences: which of two answers to a topic is better, and how it came to be said."""

from django.db import models
from django.db.models import F, Q

from assessor.campaigns.models import MaybeImported
from assessor.labels import models as labels
from assessor.labels.models import Label
from assessor.preference.verdicts import FIRST, SECOND, TIE

_CHOICES = [(FIRST, "the first is better"), (SECOND, "the second is better"), (TIE, "neither is better")]


class PreferencePair(MaybeImported, Label):
    """Two answers to a topic that are compared under a condition; first and second by the bytes of their runs' tags.

    A verdict is in terms of what was shown: FIRST is the answer that stood first.
    """

    condition = models.ForeignKey(
        "campaigns.Condition", models.PROTECT, related_name="preference_pairs", db_index=False
    )
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="preference_pairs")
    first = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    second = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    position = models.PositiveIntegerField(help_text="In the order in which a topic's pairs are asked, from 0.")
    second_stood_first = models.BooleanField(
        default=False, help_text="Whether the second answer was shown first, where the verdict was given."
    )
    by_rule = models.BooleanField(
        default=False, help_text="An empty answer loses, and equal ones tie: nobody is asked."
    )
    verdict = models.CharField(  # noqa: DJ001  # as labels have it
        max_length=20, null=True, choices=_CHOICES, help_text="What was said, in terms of what was shown."
    )
    reversed_verdict = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text="What was said when they were shown the other way round."
    )
    version = models.PositiveIntegerField(default=0, help_text="Counts its changes.")
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text=Label._meta.get_field("resolved_value").help_text
    )
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="preference_pairs")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="preference_pairs")

    class Meta(Label.Meta):
        ordering = ("condition", "topic", "position")  # type: ignore[assignment]  # further columns
        constraints = (  # type: ignore[assignment]  # further ones
            *Label.Meta.constraints,
            models.UniqueConstraint(fields=("condition", "first", "second"), name="preference_pair_once"),
            models.UniqueConstraint(fields=("condition", "topic", "position"), name="preference_position_once"),
            models.CheckConstraint(condition=~Q(first=F("second")), name="preference_of_two_answers"),
        )

    def __str__(self) -> str:
        return f"pair {self.position + 1} on {self.topic.qid}"

    @property
    def counted(self) -> str | None:
        """The preference that counts: another person's where the judge could give none."""
        return self.value if self.state == self.State.GIVEN else self.resolved_value


class LabelEvent(labels.LabelEvent):
    """What was said of a pair."""

    ITEM = ("pair__position",)

    pair = models.ForeignKey(PreferencePair, models.PROTECT, related_name="events", db_index=False)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="preference_events")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    value_before = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    verdict = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    reversed_verdict = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001

    class Meta(labels.LabelEvent.Meta):
        ordering = ("pair", "version")  # type: ignore[assignment]  # one column less
        constraints = (models.UniqueConstraint(fields=("pair", "version"), name="preference_event_once"),)

    def __str__(self) -> str:
        return f"{self.verb}: {self.value or 'taken back'}"
