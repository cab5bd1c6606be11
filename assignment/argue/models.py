"""Judgments of reports, sentence by sentence."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.db import models

from assessor.labels import models as labels
from assessor.labels.models import AnswerLabel, JudgedAnswer, Label
from assignment.argue.items import item_of_key
from assignment.argue.vocabulary import LABELS, STEPS

_CHOICES = [(label, label) for label in LABELS]
LONGEST_KEY = 340  # a docid has up to 256 characters


class ArgueSheet(JudgedAnswer):
    """What a judge says of the sentences of one report: a line of AUTO-ARGUE's judgments.

    An empty report has no items: it is 0 on all, and nobody is asked.
    """

    LABELS = "argue_judgments"
    ABOUT = ("bank_id", "edition")
    IN_HISTORY = ("edition",)

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="argue_sheets", db_index=False)
    bank = models.ForeignKey("nuggets.NuggetBank", models.PROTECT, related_name="argue_sheets")
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="argue_sheets")
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="argue_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="argue_sheets")
    edition = models.PositiveIntegerField(help_text="Of the bank, whose questions it is about.")
    cut = models.PositiveIntegerField(
        default=0, help_text="Sentences at the report's end that are not judged: it is longer than the limit."
    )
    is_part = models.BooleanField(
        default=False,
        help_text="Whether only that is asked of the report which has a row, and nothing follows from it.",
    )

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "bank", "answer"), name="argue_sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="argue_sheets_of_a_task"),)

    def __str__(self) -> str:
        return f"ARGUE sheet {self.pk}"

    @property
    def asked(self) -> list[str]:
        """The items that are asked."""
        return [item for item, row in self.labels_by_item.items() if row.state != Label.State.REMOVED]

    @property
    def unresolved(self) -> list[str]:
        """Those of them whose document's text is not loaded, so that no person can judge them."""
        return [item for item, row in self.labels_by_item.items() if row.state == Label.State.NO_TEXT]

    @property
    def open(self) -> list[str]:
        """Those of them that can be judged and of which nothing is said."""
        unresolved = set(self.unresolved)
        return [item for item in self.asked if item not in unresolved and not self.is_said(item)]

    def set_states(self, states: Mapping[str, str]) -> None:
        """Let items of which nothing is said be in these states, with the next revision."""
        for item, state in states.items():
            self._row(item).state = state

    @cached_property
    def _nuggets(self) -> dict[str, int]:
        return {str(uid): pk for uid, pk in self.bank.nuggets.values_list("uid", "pk")}

    def _new_row(self, item: str) -> "ArgueJudgment":
        about = item_of_key(item)
        return ArgueJudgment(
            sheet=self,
            key=item,
            sentence=about.sentence,
            docid=about.docid,
            step=about.step,
            nugget_id=self._nuggets[about.nugget] if about.nugget else None,
            gold=about.gold,
        )

    def _ask(self, items: Sequence[str]) -> None:
        super()._ask(items)
        for item in items:
            if item not in self.labels_by_item:
                self._row(item)

    def _columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        return super()._columns_of(fields) | ({"to_do": len(self.open)} if self._unsaved else {})


class ArgueJudgment(AnswerLabel):
    """A judgment of a sentence: yes or no."""

    KEYS = ("sheet", "key", "sentence", "docid", "step", "nugget", "gold")
    ITEM = ("key",)
    IN_HISTORY = ("judgment", "pk")
    FILE_KEY = "judgment"
    FURTHER: ClassVar[dict[str, str]] = {}
    READ_BY = {"key": item_of_key}

    sheet = models.ForeignKey(ArgueSheet, models.PROTECT, related_name="argue_judgments", db_index=False)
    key = models.CharField(max_length=LONGEST_KEY, help_text="What all the other columns that name its item say.")
    sentence = models.PositiveIntegerField(help_text="Its place in the report, from 0.")
    docid = models.CharField(max_length=256, blank=True, help_text="Empty where the sentence cites nothing.")
    step = models.CharField(max_length=10, choices=[(step, step) for step in STEPS])
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, null=True, related_name="argue_judgments")
    gold = models.CharField(max_length=20, blank=True, help_text="The id of the nugget's gold answer.")
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as Label has it
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text=Label._meta.get_field("resolved_value").help_text
    )

    class Meta(AnswerLabel.Meta):
        constraints = (  # type: ignore[assignment]  # one more
            *AnswerLabel.Meta.constraints,
            models.UniqueConstraint(fields=("sheet", "key"), name="argue_judgment_once"),
        )

    def __str__(self) -> str:
        return f"{self.key} on ARGUE sheet {self.sheet_id}"


class LabelEvent(labels.LabelEvent):
    """What a change of a sheet did to one judgment; of the whole sheet where none is named."""

    ITEM = ("judgment__key",)
    RELATED = ("judgment",)

    sheet = models.ForeignKey(ArgueSheet, models.PROTECT, related_name="revisions", db_index=False)
    judgment = models.ForeignKey(ArgueJudgment, models.PROTECT, null=True, related_name="events", db_index=False)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="argue_revisions")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    edition = models.PositiveIntegerField(help_text="Of the bank.")
    value_before = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001

    class Meta(labels.LabelEvent.Meta):
        constraints = (
            models.UniqueConstraint(fields=("sheet", "version", "judgment"), name="argue_event_once"),
            models.UniqueConstraint(
                fields=("sheet", "version"), condition=models.Q(judgment=None), name="argue_sheet_event_once"
            ),
        )
        indexes = (
            models.Index(fields=("judgment",), condition=models.Q(judgment__isnull=False), name="events_of_argue"),
        )

    def __str__(self) -> str:
        return f"{self.verb} on ARGUE sheet {self.sheet_id}, version {self.version}"
