"""Labels of nuggets in answers, and what people have to label."""

from typing import Any, ClassVar

from django.db import models

from assessor.collection.fields import JSONText
from assessor.collection.models import AppendOnly
from assessor.work import opinions
from assessor.work.models import MAX_REASON
from assessor.work.sheets import Sheet, SheetRevision


class Opinion(opinions.Opinion):
    """Whose labels a condition holds in which people assign."""

    DONE = "assigned"


class AnswerSheet(Sheet):
    """What a judge says of a bank's nuggets in one answer, by nugget's id: a line of the field's assignment files."""

    SAID: ClassVar[dict[str, str]] = Sheet.SAID | {"stale": "stale", "marks": "marks"}

    condition = models.ForeignKey("collection.Condition", models.PROTECT, related_name="answer_sheets", db_index=False)
    bank = models.ForeignKey("nuggets.NuggetBank", models.PROTECT, related_name="answer_sheets")
    answer = models.ForeignKey("collection.Answer", models.PROTECT, related_name="sheets")
    judge = models.ForeignKey("collection.Judge", models.PROTECT, related_name="answer_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="answer_sheets")
    edition = models.PositiveIntegerField(help_text="Of the bank, whose nuggets it is about.")
    asked = JSONText(default=None, null=True, help_text="The nuggets' ids where not all of the bank's are asked.")
    stale = JSONText(default=dict, help_text="Labels that count no longer, because the nugget's text was changed.")
    marks = JSONText(default=dict, help_text="Words that carry a label: [[sentence, start, end], ...], in characters.")
    by_rule = models.BooleanField(default=False, help_text="An empty answer supports nothing: nobody was asked.")

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "bank", "answer"), name="sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="sheets_of_a_task"),)

    def __str__(self) -> str:
        return f"answer sheet {self.pk}"

    def told_with_revisions(self) -> dict[str, int]:
        return {"edition": self.edition}

    def label_of(self, other: Any, item: str) -> str | None:
        """Return another person's label where it is about the same edition of the same bank."""
        is_same = (other.bank_id, other.edition) == (self.bank_id, self.edition)
        return super().label_of(other, item) if is_same else None


class Revision(SheetRevision):
    """One change of an answer sheet: who or what said what, when, of which edition of the bank."""

    sheet = models.ForeignKey(AnswerSheet, models.PROTECT, related_name="revisions", db_index=False)
    judge = models.ForeignKey("collection.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="revisions")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    edition = models.PositiveIntegerField(help_text="Of the bank.")

    class Meta(SheetRevision.Meta):
        constraints = (models.UniqueConstraint(fields=("sheet", "version"), name="sheet_version_once"),)

    def __str__(self) -> str:
        return f"{self.verb} on answer sheet {self.sheet_id}, version {self.version}"


class LeftOut(AppendOnly):
    """A nugget is left out of a condition's scores, for all runs, or comes back to them; the newest record counts."""

    condition = models.ForeignKey("collection.Condition", models.PROTECT, related_name="left_out")
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="left_out")
    is_out = models.BooleanField()
    reason = models.CharField(max_length=MAX_REASON)
    person = models.ForeignKey("collection.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        verbose_name = "nugget left out"
        verbose_name_plural = "nuggets left out"
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.nugget} {'left out of' if self.is_out else 'back in'} {self.condition}"
