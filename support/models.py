"""Support judgments: how far cited passages support the sentences of answers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.db import models

from assessor.collection.fields import JSONText
from assessor.work import opinions
from assessor.work.sheets import Sheet, SheetRevision

_AT_A_TIME = 500


class Opinion(opinions.Opinion):
    """Whose labels a condition holds in which people judge."""

    DONE = "judged"


class SupportSheet(Sheet):
    """What a judge says of the citations of one answer: a line of the field's support files.

    A citation's key is "sentence.citation", both places counted from 0: of the sentence in the answer, of the citation
    in the sentence. Its labels are those of support.citations.
    """

    SAID: ClassVar[dict[str, str]] = Sheet.SAID | {"shown": "shown"}
    UNJUDGEABLE: ClassVar[models.Q] = ~models.Q(cannot={})
    QUESTIONED: ClassVar[models.Q] = ~models.Q(cannot={}, flags={})

    condition = models.ForeignKey("collection.Condition", models.PROTECT, related_name="support_sheets", db_index=False)
    answer = models.ForeignKey("collection.Answer", models.PROTECT, related_name="support_sheets")
    judge = models.ForeignKey("collection.Judge", models.PROTECT, related_name="support_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="support_sheets")
    labels = JSONText(default=dict, help_text="The labels that count.")
    cannot = JSONText(default=dict, help_text="Why there can be no label, where a person said so.")
    adopted = JSONText(
        default=dict,
        help_text="What counts where this one could judge nothing: another person's label, or what the organizer "
        "decided; not for their eyes.",
    )
    invalid = JSONText(default=dict, help_text="What an imported file had in the place of a label.")
    flags = JSONText(default=dict, help_text="A person's notes to the organizer.")
    asked = JSONText(default=list, help_text="The citations that are to be judged; none where the answer cites none.")
    unresolved = JSONText(
        default=list, help_text="Those of them whose segment's text is not loaded, so that nobody can judge them."
    )
    waiting = JSONText(
        default=list, help_text="Those of them that can't be opened yet: the model whose label goes with it gave none."
    )
    shown = JSONText(default=dict, help_text="The model's labels that stood beside the choices.")
    equal = JSONText(
        default=dict,
        help_text="Those of them that are judged together with equal ones: of each all these, [sheet, citation], the "
        "one that is asked first.",
    )

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "answer"), name="support_sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="support_sheets_of_a_task"),)

    def __str__(self) -> str:
        return f"support sheet {self.pk}"

    def standing(self, item: str, fields: Collection[str]) -> dict[str, Any]:
        columns = ((field, getattr(self, self.SAID[field])) for field in fields)
        return {field: column[item] for field, column in columns if item in column}

    def put(self, item: str, standing: Mapping[str, Any]) -> None:
        for field, value in standing.items():
            of_items = getattr(self, self.SAID[field])
            of_items.pop(item, None)  # what is said anew comes last
            if value is not None:
                of_items[item] = value

    def ask(self, items: Sequence[str]) -> dict[str, Any]:
        return {"asked": list(items)}

    def columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        return {column: getattr(self, column) for field, column in self.SAID.items() if field in fields}

    @classmethod
    def said(cls, sheets: models.QuerySet[Any]) -> Iterator[tuple[int, Collection[str], Collection[str]]]:
        return sheets.order_by("pk").values_list("pk", "labels", "cannot").iterator(_AT_A_TIME)

    @property
    def open(self) -> list[str]:
        """The citations that can be judged, in the order in which they are asked."""
        closed = {*self.unresolved, *self.waiting}
        return [key for key in self.asked if key not in closed]

    @property
    def settled_elsewhere(self) -> list[str]:
        """The citations that nobody is asked about, because an equal one is: its label is theirs."""
        return [key for key, alike in self.equal.items() if alike[0] != [self.pk, key]]


class Revision(SheetRevision):
    """One change of a support sheet: who or what said what, when."""

    sheet = models.ForeignKey(SupportSheet, models.PROTECT, related_name="revisions", db_index=False)
    judge = models.ForeignKey("collection.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="support_revisions")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")

    class Meta(SheetRevision.Meta):
        constraints = (models.UniqueConstraint(fields=("sheet", "version"), name="support_version_once"),)

    def __str__(self) -> str:
        return f"{self.verb} on support sheet {self.sheet_id}, version {self.version}"
