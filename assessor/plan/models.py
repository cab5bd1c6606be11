"""What is planned and is not so yet."""

from django.db import models
from django.db.models import Q

from assessor.work.models import MAX_REASON

WHOEVER_DRAWS = "whoever draws it"  # where no person is named
NOT_TRIED = "It was planned a moment ago."  # what a worker still has to give waits for that


class Planned(models.Model):
    """A topic that is to be somebody's under a condition and can't be yet.

    It is there only as long as that: what has become a task, or waits for whoever draws it, is told by the tasks and
    the queue alone, so that no two records can contradict each other.
    """

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="planned")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="planned")
    person = models.ForeignKey(
        "accounts.Person", models.PROTECT, null=True, related_name="planned", help_text="None: whoever draws it."
    )
    reason = models.CharField(
        max_length=MAX_REASON, blank=True, help_text="Why it is this person's, where it would be somebody else's."
    )
    waits_for = models.CharField(max_length=MAX_REASON, help_text="Why it is no task yet, as it was when last tried.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ("pk",)
        verbose_name_plural = "planned work"
        constraints = (
            models.UniqueConstraint(fields=("condition", "topic", "person"), name="planned_once_for_a_person"),
            models.UniqueConstraint(
                fields=("condition", "topic"), condition=Q(person=None), name="planned_once_for_whoever_draws_it"
            ),
        )

    def __str__(self) -> str:
        return f"{self.topic.qid} under {self.condition} for {self.person or WHOEVER_DRAWS}"
