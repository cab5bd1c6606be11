"""Labels as rows: what a judge says of one item of an answer."""

from typing import Any

from django.db import models
from django.db.models import Q

from assessor.collection.fields import JSONText
from assessor.work.models import MAX_REASON


class Label(models.Model):
    """A judge's label of an item of an answer. A subclass names the judged answer as "sheet", the item and the values.

    A row is never deleted. Where an item has none, nobody said anything of it. Who judges stands with the answer: a
    label of somebody else never stands beside theirs, except as the resolved value.
    """

    class State(models.TextChoices):
        OPEN = "open", "asked"
        GIVEN = "given", "given"
        UNJUDGEABLE = "unjudgeable", "can't be judged"
        OUTDATED = "outdated", "outdated, the item was changed"
        REMOVED = "removed", "not asked any more"

    value = models.CharField(max_length=20, null=True)  # noqa: DJ001  # no label is no text
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        help_text="What counts where the judge could give no label: another person's, or what the organizer decided; "
        "not for the judge's eyes.",
    )
    state = models.CharField(max_length=11, choices=State, default=State.OPEN)
    # Defaults of the database too, so that a track's labels can be written without naming them.
    reason = models.CharField(
        max_length=MAX_REASON, blank=True, default="", db_default="", help_text="Why there can be no label."
    )
    flag = models.CharField(
        max_length=MAX_REASON, blank=True, default="", db_default="", help_text="A person's note to the organizer."
    )
    raw = JSONText(
        null=True, help_text="Keys of an imported line that are no label: what stood instead of one, and further ones."
    )
    marks = JSONText(null=True, help_text="Words that carry the label: [[sentence, start, end], ...], in characters.")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+", db_index=False)
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this label.")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last."
    )
    at = models.DateTimeField(null=True, help_text="When it was given; of one from a file the import has the time.")

    # What a file had in the place of a label stands in raw under its key there.
    FILE_KEY = "assignment"

    class Meta:
        abstract = True
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=(
                    Q(state__in=("given", "outdated"), value__isnull=False)
                    | Q(state__in=("open", "unjudgeable", "removed"), value__isnull=True)
                )
                & (Q(resolved_value__isnull=True) | Q(state="unjudgeable")),
                name="%(class)s_value_fits_state",
            ),
        )

    def standing(self, *, resolved: bool = True) -> dict[str, Any]:
        """Return what stands of the item, by the fields of work.sheets.Sheet.

        resolved: with the resolved value, which is not even read for the judge's own screen.
        """
        found: dict[str, Any] = {}
        if self.state == self.State.GIVEN:
            found["label"] = self.value
        elif self.state == self.State.OUTDATED:
            found["stale"] = self.value
        elif self.state == self.State.UNJUDGEABLE:
            found["cannot"] = self.reason
            if resolved and self.resolved_value:
                found["adopted"] = self.resolved_value
        if self.raw and self.FILE_KEY in self.raw:
            found["invalid"] = self.raw[self.FILE_KEY]
        if self.flag:
            found["flag"] = self.flag
        if self.marks:
            found["marks"] = self.marks
        return found

    def stand(self, standing: dict[str, Any]) -> None:
        """Let this stand, and nothing else."""
        self.reason, self.resolved_value = standing.get("cannot", ""), standing.get("adopted")
        self.value = standing.get("label") or standing.get("stale")
        if "label" in standing:
            self.state = self.State.GIVEN
        elif "cannot" in standing:
            self.state = self.State.UNJUDGEABLE
        elif "stale" in standing:
            self.state = self.State.OUTDATED
        else:
            self.state = self.State.OPEN
        further = {key: value for key, value in (self.raw or {}).items() if key != self.FILE_KEY}
        self.raw = (further | {self.FILE_KEY: standing["invalid"]} if "invalid" in standing else further) or None
        self.flag, self.marks = standing.get("flag", ""), standing.get("marks")
