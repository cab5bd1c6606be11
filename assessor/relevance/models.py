"""Judgments of relevance: what is to be graded, what stands of it, and how it came to be said."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

from assessor.campaigns.models import SCALES_HERE
from assessor.labels import models as labels
from assessor.labels.models import Label

if TYPE_CHECKING:
    from assessor.campaigns.models import Judge
    from assessor.work.models import Task

_CHOICES = [(str(grade), str(grade)) for grade in range(max(SCALES_HERE) + 1)]


def in_words(state: str, value: str | None, reason: str) -> str:
    """Say what was said of a passage: "2", "can't be judged: …", "taken back"."""
    if state == Label.State.UNJUDGEABLE:
        return f"{Label.State(state).label}: {reason}" if reason else str(Label.State(state).label)
    return value or "taken back"


class RelevanceJudgment(Label):
    """The grade of a segment for a topic under a condition; of one that people grade, before it has a grade, too.

    A grade that stands is also a Grade of the condition's own qrels source, for everything that reads grades.
    """

    condition = models.ForeignKey(
        "campaigns.Condition", models.PROTECT, related_name="relevance_judgments", db_index=False
    )
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="relevance_judgments")
    docid = models.CharField(max_length=256)
    position = models.PositiveIntegerField(default=0, help_text="In the seeded order of the topic's passages, from 0.")
    version = models.PositiveIntegerField(default=0, help_text="Counts its changes.")
    holder = models.ForeignKey(
        "accounts.Person",
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="In a queue, on whose screen it is.",
    )
    held_until = models.DateTimeField(null=True)
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as Label has it
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text=Label._meta.get_field("resolved_value").help_text
    )
    shown_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text="The model's grade that was shown with it."
    )
    shown_to = models.ForeignKey(
        "accounts.Person",
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Whom that grade was shown to last.",
    )
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="relevance_judgments")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="relevance_judgments")

    put_off = 0  # no passage is

    class Meta(Label.Meta):
        ordering = ("condition", "topic", "position")  # type: ignore[assignment]  # further columns
        constraints = (  # type: ignore[assignment]  # one more
            *Label.Meta.constraints,
            models.UniqueConstraint(fields=("condition", "topic", "docid"), name="relevance_judgment_once"),
        )
        # What is left of a topic: else SQLite goes through what is left of all.
        indexes = (models.Index(fields=("condition", "topic", "state"), name="relevance_left"),)

    def __str__(self) -> str:
        return f"{self.docid} on {self.topic.qid}"

    @property
    def said(self) -> str:
        """What stands, in words."""
        return in_words(self.state, self.value, self.reason)

    @property
    def to_do(self) -> int:
        """How much of it is to be said still: 1 or nothing."""
        return int(not self.is_said)

    @property
    def is_said(self) -> bool:
        """Whether it has a grade, or the reason why there can be none."""
        return self.state in (self.State.GIVEN, self.State.UNJUDGEABLE)

    def version_meant(self, seen: int) -> int:
        """Return the version that a write is about: the one that its person saw."""
        return seen

    def revise(
        self,
        verb: str,
        *,
        value: str | None = None,
        reason: str = "",
        judge: "Judge",
        task: "Task",
        shown_value: str | None,
        seconds: int | None = None,
    ) -> None:
        """Let a grade stand, the reason why there can be none, or nothing, and add the event that says so.

        It is locked, and as it was read. shown_value: the model's grade that the person saw.
        """
        state_before, value_before = self.state, self.value
        self.stand({"label": value} if value else {"cannot": reason} if reason else {})
        origin: dict[str, Any] = {"seconds": seconds, "guidelines_version": task.guidelines_version}
        of_label = {"judge": judge, "task": task, "at": timezone.now(), **origin}
        for name, told in of_label.items():
            setattr(self, name, told if self.is_said else None)
        self.version += 1
        self.save()
        LabelEvent.objects.create(
            judgment=self,
            version=self.version,
            verb=verb,
            reason=self.reason,
            judge=judge,
            task=task,
            value_before=value_before,
            state_before=state_before,
            value=self.value,
            state=self.state,
            shown_value=shown_value,
            **origin,
        )


class LabelEvent(labels.LabelEvent):
    """What was said of a passage; reason: why it can't be judged."""

    ITEM = ("judgment__docid",)

    judgment = models.ForeignKey(RelevanceJudgment, models.PROTECT, related_name="events", db_index=False)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="relevance_events")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    value_before = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    shown_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text="The model's grade that stood beside the choices."
    )

    class Meta(labels.LabelEvent.Meta):
        ordering = ("judgment", "version")  # type: ignore[assignment]  # one column less
        constraints = (models.UniqueConstraint(fields=("judgment", "version"), name="relevance_event_once"),)

    def __str__(self) -> str:
        return f"{self.verb}: {self.said}"

    @property
    def said(self) -> str:
        """What was said, in words."""
        return in_words(self.state, self.value, self.reason)
