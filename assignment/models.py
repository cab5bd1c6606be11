"""Labels of nuggets in answers, and what people have to label."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models

from assessor.campaigns.models import AppendOnly
from assessor.labels import models as labels
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.labels.models import AnswerLabel, JudgedAnswer, Label
from assessor.runtime.fields import JSONText
from assessor.work.models import MAX_REASON


def kinds() -> list[str]:
    """Return the names of the kinds of label that are kept here."""
    return [kind.name for kind in label_kinds() if kind.sheets is AnswerSheet]


def label_choices() -> list[tuple[str, str]]:
    """Return the labels of all these kinds."""
    return [(label, label) for kind in kinds() for label in label_kind(kind).labels]


class AnswerSheet(JudgedAnswer):
    """What a judge says of a bank's nuggets in one answer: a line of the field's assignment files."""

    LABELS = "assignments"
    ABOUT = ("bank_id", "edition")
    IN_HISTORY = ("edition",)
    NAMED_BY = ("bank__nuggets",)

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="answer_sheets", db_index=False)
    bank = models.ForeignKey("nuggets.NuggetBank", models.PROTECT, related_name="answer_sheets")
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="sheets")
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="answer_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="answer_sheets")
    edition = models.PositiveIntegerField(help_text="Of the bank, whose nuggets it is about.")
    is_part = models.BooleanField(
        default=False, help_text="Not all of the bank's nuggets are asked: those are that have a row."
    )
    by_rule = models.BooleanField(default=False, help_text="An empty answer supports nothing: nobody was asked.")

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "bank", "answer"), name="sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="sheets_of_a_task"),)

    def __str__(self) -> str:
        return f"answer sheet {self.pk}"

    @property
    def asked(self) -> list[int] | None:
        """The keys of the nuggets that are asked, where these are not all of the bank's."""
        if not self.is_part:
            return None
        return [row.nugget_id for row in self.labels_by_item.values() if row.state != Label.State.REMOVED]

    def _ask(self, items: Sequence[int]) -> None:
        super()._ask(items)
        if self.is_part:
            for item in map(str, items):
                self._row(item)

    def item_name(self, item: str) -> str:
        return next(nugget.name for nugget in self.bank.nuggets.all() if str(nugget.pk) == item)

    def item_named(self, name: str) -> str | None:
        return next((str(nugget.pk) for nugget in self.bank.nuggets.all() if nugget.name == name), None)


class Assignment(AnswerLabel):
    """The label of a nugget in an answer."""

    KEYS = ("sheet", "nugget")
    ITEM = ("nugget_id",)
    IN_HISTORY = ("nugget", "nugget_id")
    FILE_KEY = "assignment"
    FURTHER: ClassVar[dict[str, str]] = {"marks": "marks", "shown": "shown_value"}

    sheet = models.ForeignKey(AnswerSheet, models.PROTECT, related_name="assignments", db_index=False)
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="assignments")
    value = models.CharField(max_length=20, null=True, choices=label_choices)  # noqa: DJ001  # as Label has it
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        choices=label_choices,
        help_text=Label._meta.get_field("resolved_value").help_text,
    )
    shown_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=label_choices, help_text="The model's label that stood beside the choices."
    )
    marks = JSONText(null=True, help_text="Words that carry the label: [[sentence, start, end], ...], in characters.")

    class Meta(AnswerLabel.Meta):
        constraints = (  # type: ignore[assignment]  # one more
            *AnswerLabel.Meta.constraints,
            models.UniqueConstraint(fields=("sheet", "nugget"), name="assignment_once"),
        )

    def __str__(self) -> str:
        return f"label of nugget {self.nugget_id} on answer sheet {self.sheet_id}"


class LabelEvent(labels.LabelEvent):
    """What a change of an answer sheet did to the label of one nugget; of the whole sheet where no nugget is named."""

    ITEM = ("nugget_id",)

    sheet = models.ForeignKey(AnswerSheet, models.PROTECT, related_name="revisions", db_index=False)
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, null=True, related_name="+", db_index=False)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="revisions")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    edition = models.PositiveIntegerField(help_text="Of the bank.")
    value_before = models.CharField(max_length=20, null=True, choices=label_choices)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=label_choices)  # noqa: DJ001

    class Meta(labels.LabelEvent.Meta):
        constraints = (
            models.UniqueConstraint(fields=("sheet", "version", "nugget"), name="label_event_once"),
            models.UniqueConstraint(
                fields=("sheet", "version"), condition=models.Q(nugget=None), name="sheet_event_once"
            ),
        )
        # Without it, whatever removes a nugget that an import left behind looks through all events.
        indexes = (models.Index(fields=("nugget",), condition=models.Q(nugget__isnull=False), name="events_of_nugget"),)

    def __str__(self) -> str:
        return f"{self.verb} on answer sheet {self.sheet_id}, version {self.version}"


class LeftOut(AppendOnly):
    """A nugget is left out of a condition's scores, for all runs, or comes back to them; the newest record counts."""

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="left_out")
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="left_out")
    is_out = models.BooleanField()
    reason = models.CharField(max_length=MAX_REASON)
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        verbose_name = "nugget left out"
        verbose_name_plural = "nuggets left out"
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.nugget} {'left out of' if self.is_out else 'back in'} {self.condition}"
