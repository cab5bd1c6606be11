"""Support judgments: how far cited passages support the sentences of answers."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from django.db import models

from assessor.labels import models as labels
from assessor.labels.models import AnswerLabel, JudgedAnswer, Label
from support.citations import EQUAL, LABELS, NOT_JUDGED, key_of, name_of, places

_CHOICES = [(label, label) for label in (*LABELS, NOT_JUDGED)]


class SupportSheet(JudgedAnswer):
    """What a judge says of the citations of one answer: a line of the field's support files.

    A citation's key is "sentence.citation", both places counted from 0: of the sentence in the answer, of the citation
    in the sentence. It changes as further citations come; its sentence and docid never do.
    """

    LABELS = "judgments"

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="support_sheets", db_index=False)
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="support_sheets")
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="support_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="support_sheets")
    total = models.PositiveIntegerField(default=0, help_text="Citations that can be judged.")
    without_text = models.PositiveIntegerField(
        default=0, help_text="Those whose segment's text is not loaded, so that nobody can judge them."
    )
    waiting_for_label = models.PositiveIntegerField(
        default=0, help_text="Those that can't be opened yet: the model whose label goes with them gave none."
    )

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "answer"), name="support_sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="support_sheets_of_a_task"),)

    def __str__(self) -> str:
        return f"support sheet {self.pk}"

    @property
    def asked(self) -> list[str]:
        """The citations that are to be judged; none where the answer cites none."""
        return [item for item, row in self.labels_by_item.items() if row.state != Label.State.REMOVED]

    @property
    def unresolved(self) -> list[str]:
        """Those of them whose segment's text is not loaded, so that nobody can judge them."""
        return self._in_state(Label.State.NO_TEXT)

    @property
    def waiting(self) -> list[str]:
        """Those of them that can't be opened yet: the model whose label goes with each gave none."""
        return self._in_state(Label.State.WAITING)

    @property
    def open(self) -> list[str]:
        """The citations that can be judged, in the order in which they are asked."""
        closed = (Label.State.REMOVED, Label.State.NO_TEXT, Label.State.WAITING)
        return [item for item, row in self.labels_by_item.items() if row.state not in closed]

    @property
    def settled_elsewhere(self) -> list[str]:
        """The citations that nobody is asked about, because an equal one is: its label is theirs."""
        return [item for item, row in self.labels_by_item.items() if row.equal_to_id not in (None, row.pk)]

    def _in_state(self, state: str) -> list[str]:
        return [item for item, row in self.labels_by_item.items() if row.state == state]

    def _in_order(self, rows: Iterable[Label]) -> Iterable[Label]:
        """As the answer has them; of one from a file as the file had them."""
        return rows if self.import_record_id else sorted(rows, key=lambda row: (row.sentence, row.citation))  # type: ignore[attr-defined]

    def item_name(self, item: str) -> str:
        return name_of(item, self.labels_by_item[item].docid)

    def item_named(self, name: str) -> str | None:
        named = (item for item, row in self.labels_by_item.items() if name_of(item, row.docid) == name)
        return next(named, None)

    def set_states(self, items: Iterable[str], state: str) -> None:
        """Let citations of which nothing is said be in a state, with the next revision."""
        for item in items:
            self._row(item).state = state

    def ask_also(self, items: Mapping[str, str], state: str = Label.State.OPEN) -> None:
        """Ask further citations, by key with their docids, with the next revision."""
        for item, docid in items.items():
            if item not in self.labels_by_item:
                self.labels_by_item[item] = self._new_row(item, docid)
            self._row(item).state = state

    def _new_row(self, item: str, docid: str = "") -> "SupportJudgment":
        sentence, citation = places(item)
        docid = docid or list(self.answer.sentences())[sentence].citations[citation].docid
        return SupportJudgment(sheet=self, sentence=sentence, citation=citation, docid=docid)

    def _ask(self, items: Collection[str]) -> None:
        super()._ask(list(items))
        for item in items:
            self._row(item)

    def _columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        columns = super()._columns_of(fields)
        if not self._unsaved:
            return columns
        rows = [row.state for row in self.labels_by_item.values()]
        counts = {state: rows.count(state) for state in Label.State}
        to_do = counts[Label.State.OPEN]
        told = counts[Label.State.GIVEN] + counts[Label.State.UNJUDGEABLE]
        without_text, waiting = counts[Label.State.NO_TEXT], counts[Label.State.WAITING]
        now = {"to_do": to_do, "total": to_do + told, "without_text": without_text, "waiting_for_label": waiting}
        return columns | {name: value for name, value in now.items() if value != getattr(self, name)}

    def _told(self, changes: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        own = {item: {name: pair for name, pair in fields.items() if name != EQUAL} for item, fields in changes.items()}
        equal = [fields.get(EQUAL) for fields in changes.values()] or [None]
        return [event | {"equal_to": first} for event, first in zip(super()._told(own), equal, strict=True)]


class SupportJudgment(AnswerLabel):
    """The label of a citation: how far a docid's text supports a sentence."""

    KEYS = ("sheet", "sentence", "docid", "citation")
    ITEM = ("sentence", "citation")
    IN_HISTORY = ("judgment", "pk")
    FILE_KEY = "support"
    FURTHER: ClassVar[dict[str, str]] = {"shown": "shown_value"}

    sheet = models.ForeignKey(SupportSheet, models.PROTECT, related_name="judgments", db_index=False)
    sentence = models.PositiveIntegerField(help_text="Its place in the answer, from 0.")
    docid = models.CharField(max_length=256)
    citation = models.PositiveIntegerField(help_text="Its place in the sentence now, from 0.")
    equal_to = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        related_name="equals",
        db_index=False,
        help_text="Where equal pairs are judged once, the one of them that is asked, which has itself here.",
    )
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as Label has it
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text=Label._meta.get_field("resolved_value").help_text
    )
    shown_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text="The model's label that stood beside the choices."
    )

    class Meta(AnswerLabel.Meta):
        constraints = (  # type: ignore[assignment]  # one more
            *AnswerLabel.Meta.constraints,
            models.UniqueConstraint(fields=("sheet", "sentence", "docid"), name="judgment_once"),
        )
        indexes = (
            models.Index(fields=("equal_to",), condition=models.Q(equal_to__isnull=False), name="equal_judgments"),
        )

    def __str__(self) -> str:
        return f"label of citation {key_of(self.sentence, self.citation)} on support sheet {self.sheet_id}"


class LabelEvent(labels.LabelEvent):
    """What a change of a support sheet did to the label of one citation; of the whole sheet where none is named."""

    ITEM = ("judgment__sentence", "judgment__citation")
    RELATED = ("judgment",)

    sheet = models.ForeignKey(SupportSheet, models.PROTECT, related_name="revisions", db_index=False)
    judgment = models.ForeignKey(SupportJudgment, models.PROTECT, null=True, related_name="events", db_index=False)
    equal_to = models.ForeignKey(
        SupportJudgment,
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Of one that got its label with an equal one: that one.",
    )
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="support_revisions")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    value_before = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001

    class Meta(labels.LabelEvent.Meta):
        constraints = (
            models.UniqueConstraint(fields=("sheet", "version", "judgment"), name="support_event_once"),
            models.UniqueConstraint(
                fields=("sheet", "version"), condition=models.Q(judgment=None), name="support_sheet_event_once"
            ),
        )
        # Without them, whatever removes a label that an import left behind looks through all events.
        indexes = (
            models.Index(fields=("judgment",), condition=models.Q(judgment__isnull=False), name="events_of_judgment"),
            models.Index(fields=("equal_to",), condition=models.Q(equal_to__isnull=False), name="events_of_equal"),
        )

    def __str__(self) -> str:
        return f"{self.verb} on support sheet {self.sheet_id}, version {self.version}"
