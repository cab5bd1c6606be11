"""Labels of nuggets in answers, and what people have to label."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Self

from django.db import models
from django.utils import timezone

from assessor.collection.models import AppendOnly, Import
from assessor.labels.models import Label
from assessor.labels.writing import save_labels
from assessor.llm.questions import ASSIGNMENT
from assessor.work import opinions
from assessor.work.models import MAX_REASON
from assessor.work.sheets import Sheet, SheetRevision

_AT_A_TIME = 2_000


class Opinion(opinions.Opinion):
    """Whose labels a condition holds in which people assign."""

    DONE = "assigned"


class _Standing:
    """What stands of the nuggets of a sheet in one field, by nugget's key as text."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, sheet: "AnswerSheet", owner: type) -> dict[str, Any]:
        labels, resolved = sheet.assignments_by_nugget.items(), self._field == "adopted"
        standing = ((nugget, label.standing(resolved=resolved)) for nugget, label in labels)
        return {nugget: fields[self._field] for nugget, fields in standing if self._field in fields}

    def __set__(self, sheet: "AnswerSheet", value: object) -> None:
        raise AttributeError("What stands of nuggets is changed by put().")


class AnswerSheet(Sheet):
    """What a judge says of a bank's nuggets in one answer: a line of the field's assignment files."""

    SAID: ClassVar[dict[str, str]] = Sheet.SAID | {"stale": "stale", "marks": "marks"}
    UNJUDGEABLE: ClassVar[models.Q] = models.Q(unjudgeable__gt=0)
    QUESTIONED: ClassVar[models.Q] = models.Q(unjudgeable__gt=0) | models.Q(flagged__gt=0)

    condition = models.ForeignKey("collection.Condition", models.PROTECT, related_name="answer_sheets", db_index=False)
    bank = models.ForeignKey("nuggets.NuggetBank", models.PROTECT, related_name="answer_sheets")
    answer = models.ForeignKey("collection.Answer", models.PROTECT, related_name="sheets")
    judge = models.ForeignKey("collection.Judge", models.PROTECT, related_name="answer_sheets")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="answer_sheets")
    edition = models.PositiveIntegerField(help_text="Of the bank, whose nuggets it is about.")
    is_part = models.BooleanField(
        default=False, help_text="Not all of the bank's nuggets are asked: those are that have a row."
    )
    unjudgeable = models.PositiveIntegerField(default=0, help_text="Nuggets that can't be judged.")
    flagged = models.PositiveIntegerField(default=0, help_text="Nuggets with a flag.")
    by_rule = models.BooleanField(default=False, help_text="An empty answer supports nothing: nobody was asked.")

    labels = _Standing("label")
    cannot = _Standing("cannot")
    adopted = _Standing("adopted")
    invalid = _Standing("invalid")
    flags = _Standing("flag")
    stale = _Standing("stale")
    marks = _Standing("marks")

    class Meta:
        ordering = ("condition", "answer__topic__qid", "place", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "bank", "answer"), name="sheet_once"),)
        indexes = (models.Index(fields=("task", "put_off", "place"), name="sheets_of_a_task"),)

    _assignments: "dict[str, Assignment] | None" = None
    _unsaved: "dict[str, Assignment]"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unsaved = {}

    def __str__(self) -> str:
        return f"answer sheet {self.pk}"

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        super().refresh_from_db(*args, **kwargs)
        self.read_assignments(None)

    @property
    def assignments_by_nugget(self) -> "dict[str, Assignment]":
        """Its rows by nugget's key as text, in the order in which they were asked; read where they are not known."""
        if self._assignments is None:
            known = getattr(self, "_prefetched_objects_cache", {}).get("assignments")
            rows = Assignment.everything.filter(sheet=self.pk).order_by("pk") if known is None else known
            self._assignments = {str(row.nugget_id): row for row in rows}
        return self._assignments

    def read_assignments(self, rows: "Sequence[Assignment] | None") -> None:
        """Take these as its rows, in their order; None: read them anew when they are needed."""
        getattr(self, "_prefetched_objects_cache", {}).pop("assignments", None)
        self._assignments = None if rows is None else {str(row.nugget_id): row for row in rows}
        self._unsaved = {}

    @property
    def asked(self) -> list[int] | None:
        """The keys of the nuggets that are asked, where these are not all of the bank's."""
        if not self.is_part:
            return None
        rows = self.assignments_by_nugget.values()
        return [row.nugget_id for row in rows if row.state != Label.State.REMOVED]

    def standing(self, item: str, fields: Collection[str]) -> dict[str, Any]:
        label = self.assignments_by_nugget.get(item)
        stands = label.standing(resolved="adopted" in fields) if label else {}
        return {field: value for field, value in stands.items() if field in fields}

    def put(self, item: str, standing: Mapping[str, Any]) -> None:
        row = self._row(item)
        stands = {**row.standing(), **standing}
        row.stand({field: value for field, value in stands.items() if field not in standing or value is not None})

    def ask(self, items: Sequence[int]) -> dict[str, Any]:
        asked = {str(item) for item in items}
        for item, row in self.assignments_by_nugget.items():
            if item not in asked and row.state != Label.State.REMOVED:
                self._row(item).state = Label.State.REMOVED
            elif item in asked and row.state == Label.State.REMOVED:
                self._row(item).state = Label.State.OPEN
        if self.is_part:
            for item in map(str, items):
                self._row(item)
        return {}

    def _row(self, item: str) -> "Assignment":
        """Return the row of a nugget, to be changed; a new one where there is none."""
        rows = self.assignments_by_nugget
        if item not in rows:
            rows[item] = Assignment(sheet=self, nugget_id=int(item))
        self._unsaved[item] = rows[item]
        return rows[item]

    def columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        columns = {}
        if "cannot" in fields:
            columns["unjudgeable"] = len(self.cannot)
        if "flag" in fields:
            columns["flagged"] = len(self.flags)
        return columns

    def save_items(self, changes: Mapping[str, Mapping[str, Any]], **origin: Any) -> None:
        given, others = [], []
        for item, row in self._unsaved.items():
            if {"label", "cannot"} & changes.get(item, {}).keys():
                is_given = row.state in (Label.State.GIVEN, Label.State.UNJUDGEABLE)
                for name, value in (origin | {"at": timezone.now()}).items():
                    setattr(row, name, value if is_given else None)
                given.append(row)
            else:
                others.append(row)
        for rows, is_given in ((given, True), (others, False)):
            save_labels(rows, ("sheet", "nugget"), given=is_given)
        if any(row.pk is None for row in self._unsaved.values()):
            self._assignments = None  # the new ones have keys now
        self._unsaved = {}

    @classmethod
    def with_items(cls, sheets: models.QuerySet[Any]) -> models.QuerySet[Any]:
        return sheets.prefetch_related(models.Prefetch("assignments", Assignment.everything.order_by("pk")))

    @classmethod
    def said(cls, sheets: models.QuerySet[Any]) -> Iterator[tuple[int, Collection[str], Collection[str]]]:
        rows = Assignment.everything.filter(sheet__in=sheets.order_by().values("pk"))
        said = rows.filter(state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE)).order_by("sheet", "pk")
        found = said.values_list("sheet", "nugget", "state").iterator(_AT_A_TIME)
        for sheet, of_sheet in groupby(found, itemgetter(0)):
            states = {str(nugget): state for _, nugget, state in of_sheet}
            labels = [item for item, state in states.items() if state == Label.State.GIVEN]
            yield sheet, labels, [item for item in states if item not in labels]

    def told_with_revisions(self) -> dict[str, int]:
        return {"edition": self.edition}

    def label_of(self, other: Any, item: str) -> str | None:
        """Return another person's label where it is about the same edition of the same bank."""
        is_same = (other.bank_id, other.edition) == (self.bank_id, self.edition)
        return super().label_of(other, item) if is_same else None


class VisibleManager(models.Manager["Assignment"]):
    """Labels of answers that finished imports brought or that were made here."""

    def get_queryset(self) -> models.QuerySet["Assignment"]:
        visible = models.Q(sheet__import_record=None) | models.Q(sheet__import_record__state=Import.State.DONE)
        return super().get_queryset().filter(visible)


class InScopeManager(VisibleManager):
    """Those of answers that are judged."""

    def get_queryset(self) -> models.QuerySet["Assignment"]:
        return super().get_queryset().filter(sheet__out_of_scope=False)


class Assignment(Label):
    """The label of a nugget in an answer."""

    sheet = models.ForeignKey(AnswerSheet, models.PROTECT, related_name="assignments", db_index=False)
    nugget = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="assignments", db_index=False)
    value = models.CharField(  # noqa: DJ001  # as Label has it
        max_length=20, null=True, choices=[(label, label) for label in ASSIGNMENT]
    )
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20,
        null=True,
        choices=[(label, label) for label in ASSIGNMENT],
        help_text=Label._meta.get_field("resolved_value").help_text,
    )

    objects: ClassVar[models.Manager[Self]] = InScopeManager()  # type: ignore[assignment]  # of this model alone
    in_or_out: ClassVar[models.Manager[Self]] = VisibleManager()  # type: ignore[assignment]
    everything: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta(Label.Meta):
        constraints = (  # type: ignore[assignment]  # one more
            *Label.Meta.constraints,
            models.UniqueConstraint(fields=("sheet", "nugget"), name="assignment_once"),
        )

    def __str__(self) -> str:
        return f"label of nugget {self.nugget_id} on answer sheet {self.sheet_id}"


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
