"""What people's practice is held against."""

from django.db import models
from django.db.models import Q

from assessor.campaigns.models import AppendOnly, Condition, QrelsSource


class Reference(AppendOnly):
    """What practice under a condition is held against from now on; the newest record counts, and may say nothing.

    Grades are held against a source of grades, all else against another condition's labels or nuggets.
    """

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="practice_references")
    reference = models.ForeignKey("campaigns.Condition", models.PROTECT, null=True, related_name="+")
    grades = models.ForeignKey("campaigns.QrelsSource", models.PROTECT, null=True, related_name="+")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(condition=Q(reference=None) | Q(grades=None), name="reference_of_one_kind"),
        )

    def __str__(self) -> str:
        return f"{self.condition} against {self.named or 'nothing'}"

    @property
    def named(self) -> Condition | QrelsSource | None:
        """What is the reference."""
        return self.reference or self.grades
