"""What judges say of the items of answers, one label an item, and how it came to be said."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Self, TypeVar

from django.db import connection, models
from django.db.models import F, Q
from django.utils import timezone

from assessor.campaigns.models import AppendOnly, Import, MadeOrVisibleManager, MaybeImported
from assessor.runtime.fields import JSONText
from assessor.runtime.sql import filter_once, insert, row_as_kept, update
from assessor.work.access import record
from assessor.work.judging_pool import BACK, LEFT
from assessor.work.models import MAX_REASON
from assessor.work.write_protocol import Stale

_AT_A_TIME = 2_000
_SAID_BY = ("label", "cannot")  # the fields with either of which something is said of an item

_Judged = TypeVar("_Judged", bound=models.Model, covariant=True)


class ManualSetup(models.Model):
    """Whose labels a condition holds under which people label, and how its items are handed out."""

    class Purpose(models.TextChoices):
        FIRST = "first", "the first labels"
        SECOND = "second", "a second person's"
        REPEAT = "repeat", "the same person's again"

    condition = models.OneToOneField("campaigns.Condition", models.PROTECT, related_name="manual_setup")
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.FIRST)
    from_queue = models.BooleanField(
        default=False, help_text="Whether several people draw a topic's items from a queue."
    )
    of = models.ForeignKey(
        "campaigns.Condition",
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="The condition whose answers are labelled again, blind to its labels.",
    )
    share = models.PositiveSmallIntegerField(default=100, help_text="Percent of a topic's answers, drawn by the seed.")
    only_unjudgeable = models.BooleanField(
        default=False, help_text="Whether only that is asked which the first person couldn't judge."
    )
    seed = models.PositiveIntegerField(help_text="Decides which items are drawn, and their order.")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.condition}: {self.get_purpose_display()}"


class InScopeManager(MadeOrVisibleManager[_Judged]):
    """What is judged. Whoever reads judged answers sees no others without asking for them."""

    @filter_once
    def get_queryset(self) -> models.QuerySet[_Judged]:
        return super().get_queryset().filter(out_of_scope=False)


class _Standing:
    """What stands of the items of a judged answer in one field, by item."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, judged: "JudgedAnswer", owner: type) -> dict[str, Any]:
        labels, resolved = judged.labels_by_item.items(), self._field == "adopted"
        standing = ((item, label.standing(resolved=resolved)) for item, label in labels)
        return {item: fields[self._field] for item, fields in standing if self._field in fields}

    def __set__(self, judged: "JudgedAnswer", value: object) -> None:
        raise AttributeError("What stands of items is changed by revise().")


class JudgedAnswer(MaybeImported):
    """An answer that is judged under a condition: all that a judge says of its items.

    A subclass names its condition, answer, judge and task, and LABELS, the related name of its rows. Its events have
    the related name "revisions".
    """

    objects: ClassVar[InScopeManager[Self]] = InScopeManager()
    in_or_out: ClassVar[MadeOrVisibleManager[Self]] = MadeOrVisibleManager()

    LABELS: ClassVar[str]
    # Its columns with the answers that are judged.
    ANSWERS: ClassVar[tuple[str, ...]] = ("answer",)
    # Which of them have an item with a question to the organizer, or one that can't be judged.
    QUESTIONED: ClassVar[Q] = Q(unjudgeable__gt=0) | Q(flagged__gt=0)
    # Its columns that another person's must equal too, for their label to count here.
    ABOUT: ClassVar[tuple[str, ...]] = ()
    # Its columns that its events have, too.
    IN_HISTORY: ClassVar[tuple[str, ...]] = ()
    # What names of items are read from, for many judged answers at once.
    NAMED_BY: ClassVar[tuple[str, ...]] = ()
    # What may stand of an item, and the attribute that has it by item.
    SAID: ClassVar[dict[str, str]] = {
        "label": "labels",
        "cannot": "cannot",
        "adopted": "adopted",
        "invalid": "invalid",
        "flag": "flags",
        "stale": "stale",
        "marks": "marks",
        "shown": "shown",
    }

    place = models.PositiveIntegerField(default=0, help_text="In the seeded order of a person's answers, from 0.")
    put_off = models.PositiveIntegerField(default=0, help_text="The last one put off has the highest number.")
    version = models.PositiveIntegerField(default=0, help_text="Counts its changes.")
    out_of_scope = models.BooleanField(
        default=False,
        help_text="Judged no longer, as work.scope says: it is asked of nobody and counts nowhere, and all is kept.",
    )
    to_do = models.PositiveIntegerField(help_text="Items of which the judge has still to say something.")
    unjudgeable = models.PositiveIntegerField(default=0, help_text="Items that can't be judged.")
    flagged = models.PositiveIntegerField(default=0, help_text="Items with a flag.")
    extras = JSONText(default=dict, help_text="Further keys of an imported line, as they came.")

    labels = _Standing("label")
    cannot = _Standing("cannot")
    adopted = _Standing("adopted")
    invalid = _Standing("invalid")
    flags = _Standing("flag")
    stale = _Standing("stale")
    marks = _Standing("marks")
    shown = _Standing("shown")

    class Meta:
        abstract = True

    _labels: "dict[str, Any] | None" = None
    _unsaved: "dict[str, Any]"
    _before: dict[str, tuple[str | None, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unsaved, self._before = {}, {}

    def refresh_from_db(self, using: Any = None, fields: Any = None, from_queryset: Any = None) -> None:
        super().refresh_from_db(using, fields, from_queryset)
        if fields is None:  # else a column that was not read yet
            self.take_labels(None)

    @classmethod
    def label_model(cls) -> Any:
        """Return the model of its rows."""
        return cls._meta.get_field(cls.LABELS).related_model

    @classmethod
    def event_model(cls) -> Any:
        """Return the model of its history."""
        return cls._meta.get_field("revisions").related_model

    @classmethod
    def with_items(cls, judged: models.QuerySet[Any], only: Q | None = None) -> models.QuerySet[Any]:
        """Return the same judged answers, read together with their labels; only: with these alone, to look at."""
        labels = cls.label_model().everything.filter(*(() if only is None else (only,))).order_by("pk")
        return judged.prefetch_related(models.Prefetch(cls.LABELS, labels))

    @classmethod
    def said(cls, judged: models.QuerySet[Any]) -> Iterator[tuple[int, Collection[str], Collection[str]]]:
        """Yield judged answers by key, each with the items that have a label and those that can't be judged.

        One of which nothing is said may be left out.
        """
        model = cls.label_model()
        rows = model.everything.filter(sheet__in=judged.order_by().values("pk"))
        said = rows.filter(state__in=(Label.State.GIVEN, Label.State.UNJUDGEABLE)).order_by("sheet_id", "pk")
        found = said.values_list("sheet", "state", *model.ITEM).iterator(_AT_A_TIME)
        for sheet, of_sheet in groupby(found, itemgetter(0)):
            states = {item_of(item): state for _, state, *item in of_sheet}
            labels = [item for item, state in states.items() if state == Label.State.GIVEN]
            yield sheet, labels, [item for item in states if item not in labels]

    @property
    def labels_by_item(self) -> dict[str, Any]:
        """Its rows by item, in the order in which they are asked; read where they are not known."""
        if self._labels is None:
            known = getattr(self, "_prefetched_objects_cache", {}).get(self.LABELS)
            rows = self.label_model().everything.filter(sheet=self.pk).order_by("pk") if known is None else known
            self._labels = {row.item: row for row in self._in_order(rows)}
        return self._labels

    def take_labels(self, rows: "Sequence[Label] | None") -> None:
        """Take these as its rows; None: read them anew when they are needed."""
        getattr(self, "_prefetched_objects_cache", {}).pop(self.LABELS, None)
        self._labels = None if rows is None else {row.item: row for row in self._in_order(rows)}
        self._unsaved, self._before = {}, {}

    def take_json(self, columns: Sequence[str], text: str | None) -> None:
        """Take as its rows what a query with labels_in_sql() told of these columns."""
        model, rows = self.label_model(), []
        fields = model._meta.concrete_fields
        of_json = [field.name for field in fields if isinstance(field, JSONText) and field.name in columns]
        for values in sorted(json.loads(text or "[]")):
            told = dict(zip(columns, values, strict=True)) | {"sheet_id": self.pk}
            told |= {name: json.loads(told[name]) for name in of_json if told[name] is not None}
            rows.append(record(model, told))
        self.take_labels(rows)

    def _in_order(self, rows: "Iterable[Label]") -> "Iterable[Label]":
        """Return rows in the order in which they are asked; they come by their keys."""
        return rows

    @property
    def answers(self) -> list[Any]:
        """The answers that are judged: one."""
        return [getattr(self, name) for name in self.ANSWERS]

    def same_item(self, item: str) -> str:
        """Return the key here of an item that has this one where the same is judged under another condition."""
        return item

    def named_in_replies(self, item: str) -> dict[str, Any]:
        """Return by which columns replies about an item are found, among those of its task's condition."""
        return {"answer": getattr(self, "answer_id"), "item": self.item_name(item)}  # noqa: B009  # a subclass's

    def named_in_units(self, item: str) -> dict[str, Any]:
        """Return by which columns units of jobs in which an item was labelled are found."""
        return {"answer": getattr(self, "answer_id"), "item__in": ("", item)}  # noqa: B009

    def label_of(self, other: Any, item: str) -> str | None:
        """Return another person's label of an item of the same answer, where it counts for this one."""
        is_same = all(getattr(self, name) == getattr(other, name) for name in self.ABOUT)
        label: str | None = other.labels.get(item) if is_same else None
        return label

    def standing(self, item: str, fields: Collection[str]) -> dict[str, Any]:
        """Return what stands of an item in some of the fields of SAID; others are not even read."""
        label = self.labels_by_item.get(item)
        stands = label.standing(resolved="adopted" in fields) if label else {}
        return {field: value for field, value in stands.items() if field in fields}

    def item_name(self, item: str) -> str:
        """Return what names an item for ever, whatever its key becomes."""
        return item

    def item_named(self, name: str) -> str | None:
        """Return the key that an item of this name has now, if there is one."""
        return name

    def is_said(self, item: str) -> bool:
        """Say whether an item, by its key as text, has a label or the reason why there can be none."""
        return bool(self.standing(item, _SAID_BY))

    def version_meant(self, seen: int) -> int:
        """Return the version that a write is about, where its person saw an older one.

        What left the scope, or came back, says what it said: a write that was on its way is none on an old version.
        """
        if seen >= self.version:
            return seen
        since = list(self._events().filter(version__gt=seen).order_by("version").values_list("version", "verb"))
        is_same = all(verb in (LEFT, BACK) for _, verb in since) and len(since) == self.version - seen
        return self.version if is_same else seen

    def revise(
        self,
        verb: str,
        said: Mapping[Any, Mapping[str, Any]],
        *,
        judge_id: int | None,
        task_id: int | None = None,
        job_id: int | None = None,
        reason: str = "",
        seconds: int | None = None,
        guidelines_version: int | None = None,
        asked: Sequence[Any] | None = None,
        columns: Mapping[str, Any] | None = None,
        notes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Change what stands, and add the events that say so.

        said: for items, by key, what is to stand in each of SAID that is named; None or nothing takes it away. asked:
        the items that are asked from now on. columns: other columns to be set. notes: what else the events tell of
        items, by key. seconds: on all items together, told of the first. It is as it was read: raises Stale if it was
        changed since.
        """
        changes: dict[str, dict[str, list[Any]]] = {}
        for item, fields in said.items():
            key = str(item)
            before = self.standing(key, {*fields, *_SAID_BY})
            differing = {
                field: [before.get(field), after or None]
                for field, after in fields.items()
                if (before.get(field) or None) != (after or None)
            }
            if differing:
                self._put(key, {field: after for field, (_, after) in differing.items()})
                self.to_do += any(field in before for field in _SAID_BY) - self.is_said(key)
                changes[key] = differing
        if asked is not None:
            self._ask(asked)
        saved = self._columns_of({field for fields in changes.values() for field in fields}) | dict(columns or {})
        for name, value in saved.items():
            setattr(self, name, value)
        seen, self.version = self.version, self.version + 1
        names = tuple(dict.fromkeys((*saved, "to_do", "version")))  # saved may name them too
        values = [one.pk if isinstance(one := getattr(self, name), models.Model) else one for name in names]
        row = row_as_kept(type(self), names, values)
        if not update(type(self), names, ("id", "version"), [(*row, self.pk, seen)]):
            raise Stale
        for key, told_of in (notes or {}).items():
            changes.setdefault(key, {}).update(told_of)
        by_whom = {
            "judge": judge_id,
            "task": task_id,
            "job": job_id,
            "reason": reason,
            "guidelines_version": guidelines_version,
        }
        first, *others = [self._event(verb, **by_whom, **told) for told in self._told(changes)]
        self._add_events([first | {"seconds": seconds}, *others])
        self._save_labels(changes, job_id=job_id, seconds=seconds, guidelines_version=guidelines_version)

    @classmethod
    def revise_alike(cls, judged: Sequence[Any], verb: str, columns: Mapping[str, Any]) -> None:
        """Set the same columns, where nothing else is said now, and add the events, in two statements.

        judged: at least one, and locked.
        """
        cls.everything.filter(pk__in=[one.pk for one in judged]).update(version=F("version") + 1, **columns)
        events = []
        for one in judged:
            one.version += 1
            events += [one._event(verb, task=one.task_id, **told) for told in one._told({})]
        judged[0]._add_events(events)

    def _put(self, item: str, standing: Mapping[str, Any]) -> None:
        """Let this stand of an item, by field, None for nothing; the other fields stay. It is not saved yet."""
        row = self._row(item)
        stands = {**row.standing(), **standing}
        row.stand({field: value for field, value in stands.items() if field not in standing or value is not None})

    def _ask(self, items: Sequence[Any]) -> None:
        """Ask these items from now on."""
        asked = {str(item) for item in items}
        for item, row in self.labels_by_item.items():
            if item not in asked and row.state != Label.State.REMOVED:
                self._row(item).state = Label.State.REMOVED
            elif item in asked and row.state == Label.State.REMOVED:
                self._row(item).state = Label.State.OPEN

    def _row(self, item: str) -> Any:
        """Return the row of an item, to be changed; a new one where there is none."""
        rows = self.labels_by_item
        if item not in rows:
            rows[item] = self._new_row(item)
        row = self._unsaved[item] = rows[item]
        self._before.setdefault(item, (row.value, row.state))
        return row

    def _new_row(self, item: str) -> Any:
        model = self.label_model()
        return model(sheet=self, **dict(zip(model.ITEM, map(int, item.split(".")), strict=True)))

    def _columns_of(self, fields: Collection[str]) -> dict[str, Any]:
        """Return the columns to be saved where some fields of items were changed."""
        columns = {}
        if "cannot" in fields:
            columns["unjudgeable"] = len(self.cannot)
        if "flag" in fields:
            columns["flagged"] = len(self.flags)
        return columns

    def _told(self, changes: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return what the events of one change tell, by column: one event of each item, or one of none."""
        events = []
        for item, fields in changes.items():
            row = self.labels_by_item[item]
            value, state = self._before.get(item, (row.value, row.state))
            column, key = row.IN_HISTORY
            further = {name: pair for name, pair in fields.items() if name not in LabelEvent.COLUMNS}
            stood = {"value_before": value, "state_before": state, "value": row.value, "state": row.state}
            events.append({column: getattr(row, key), **stood, "changes": further or None})
        return events or [{"state_before": "", "state": ""}]

    def _save_labels(self, changes: Mapping[str, Mapping[str, Any]], **origin: Any) -> None:
        """Save its rows. changes: by item, the fields that differ; origin: of new labels."""
        given, others = [], []
        first = next(iter(changes), None)
        for item, row in self._unsaved.items():
            if set(_SAID_BY) & changes.get(item, {}).keys():
                is_given = row.state in (Label.State.GIVEN, Label.State.UNJUDGEABLE)
                of_item = origin if item == first else origin | {"seconds": None}
                for name, value in (of_item | {"at": timezone.now()}).items():
                    setattr(row, name, value if is_given else None)
                given.append(row)
            else:
                others.append(row)
        for rows, is_given in ((given, True), (others, False)):
            Label.save_all(rows, given=is_given)
        if any(row.pk is None for row in self._unsaved.values()):
            self.take_labels(None)  # the new ones have keys now
        self._unsaved, self._before = {}, {}

    def _event(self, verb: str, **told: Any) -> dict[str, Any]:
        usual = {"judge": None, "job": None, "reason": "", "seconds": None, "guidelines_version": None}
        of_this = {name: getattr(self, name) for name in self.IN_HISTORY}
        event = {"sheet": self.pk, "version": self.version, "verb": verb, "at": timezone.now(), **of_this}
        return usual | event | told

    def _add_events(self, events: Sequence[Mapping[str, Any]]) -> None:
        model, names = self._events().model, tuple(events[0])
        insert(model, names, [row_as_kept(model, names, event.values()) for event in events])

    def _events(self) -> models.Manager[Any]:
        events: models.Manager[Any] = getattr(self, "revisions")  # noqa: B009  # each subclass has its own
        return events


class VisibleLabels(models.Manager[_Judged]):
    """Labels of answers that finished imports brought or that were made here."""

    @filter_once
    def get_queryset(self) -> models.QuerySet[_Judged]:
        visible = Q(sheet__import_record=None) | Q(sheet__import_record__state=Import.State.DONE)
        return super().get_queryset().filter(visible)


class LabelsInScope(VisibleLabels[_Judged]):
    """Those of answers that are judged."""

    @filter_once
    def get_queryset(self) -> models.QuerySet[_Judged]:
        return super().get_queryset().filter(sheet__out_of_scope=False)


class Label(models.Model):
    """A judge's label of an item. A subclass names what the item is of, the item itself and the values.

    A row is never deleted. Where an item has none, nobody said anything of it.
    """

    class State(models.TextChoices):
        OPEN = "open", "asked"
        GIVEN = "given", "given"
        UNJUDGEABLE = "unjudgeable", "can't be judged"
        OUTDATED = "outdated", "outdated, the item was changed"
        REMOVED = "removed", "not asked any more"
        NO_TEXT = "no_text", "what it is about is not loaded"
        WAITING = "waiting", "waits for a model's label"

    # What else may stand of an item, with the column that has it.
    FURTHER: ClassVar[dict[str, str]] = {}
    # What reads the columns that are texts with a form; it raises ValueError, which says what is expected.
    READ_BY: ClassVar[dict[str, Callable[[str], object]]] = {}
    # By which columns a row is named, by which its item is, and by which column of events and attribute its events are.
    KEYS: ClassVar[tuple[str, ...]]
    ITEM: ClassVar[tuple[str, ...]]
    IN_HISTORY: ClassVar[tuple[str, str]]

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
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+", db_index=False)
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this label.")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last."
    )
    at = models.DateTimeField(null=True, help_text="When it was given; of one from a file the import has the time.")

    # What stands of an item, and where its label comes from, which changes with the label alone.
    STANDING = ("value", "resolved_value", "state", "reason", "flag", "raw")
    ORIGIN = ("job", "seconds", "guidelines_version", "at")

    # What a file had in the place of a label stands in raw under its key there.
    FILE_KEY: ClassVar[str]

    class Meta:
        abstract = True
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=(
                    Q(state__in=("given", "outdated"), value__isnull=False)
                    | Q(state__in=("open", "unjudgeable", "removed", "no_text", "waiting"), value__isnull=True)
                )
                & (Q(resolved_value__isnull=True) | Q(state="unjudgeable")),
                name="%(class)s_value_fits_state",
            ),
        )

    @property
    def item(self) -> str:
        """The key of its item, as text."""
        return item_of(getattr(self, name) for name in self.ITEM)

    def standing(self, *, resolved: bool = True) -> dict[str, Any]:
        """Return what stands of the item, by the fields of JudgedAnswer.SAID.

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
        further = ((field, getattr(self, column)) for field, column in self.FURTHER.items())
        return found | {field: value for field, value in further if value}

    def stand(self, standing: dict[str, Any]) -> None:
        """Let this stand, and nothing else."""
        self.reason = standing.get("cannot", "")
        # It is for where the judge could give no label.
        self.resolved_value = standing.get("adopted") if "cannot" in standing else None
        self.value = standing.get("label") or standing.get("stale")
        if "label" in standing:
            self.state = self.State.GIVEN
        elif "cannot" in standing:
            self.state = self.State.UNJUDGEABLE
        elif "stale" in standing:
            self.state = self.State.OUTDATED
        elif self.state not in (self.State.REMOVED, self.State.NO_TEXT, self.State.WAITING):
            self.state = self.State.OPEN
        further = {key: value for key, value in (self.raw or {}).items() if key != self.FILE_KEY}
        self.raw = (further | {self.FILE_KEY: standing["invalid"]} if "invalid" in standing else further) or None
        self.flag = standing.get("flag", "")
        for field, column in self.FURTHER.items():
            setattr(self, column, standing.get(field))

    @staticmethod
    def save_all(labels: Sequence[Any], *, given: bool) -> None:
        """Save labels of one model, new ones and others.

        given: whether the labels themselves were given or taken back. The statements are written out: putting them
        together takes Django longer than asking them.
        """
        if not labels:
            return
        model = type(labels[0])
        standing = (*Label.STANDING, *model.FURTHER.values())
        fields = (*standing, *Label.ORIGIN) if given else standing
        new = [label for label in labels if label.pk is None]
        known = [label for label in labels if label.pk is not None]
        if new:
            every = (*model.KEYS, *standing, *Label.ORIGIN)
            insert(model, every, [label._columns(every) for label in new])
        if known:
            table = connection.ops.quote_name(model._meta.db_table)
            columns = [model._meta.get_field(name).column for name in fields]
            sql = f"UPDATE {table} SET {', '.join(f'{column} = %s' for column in columns)} WHERE id = %s"  # noqa: S608  # ours
            with connection.cursor() as cursor:
                cursor.executemany(sql, [(*label._columns(fields), label.pk) for label in known])

    def _columns(self, names: Sequence[str]) -> tuple[Any, ...]:
        model: Any = type(self)
        return row_as_kept(model, names, [getattr(self, model._meta.get_field(name).attname) for name in names])


class AnswerLabel(Label):
    """A label of an item of an answer. A subclass names the judged answer as "sheet".

    Who judges stands with the answer: a label of somebody else never stands beside theirs, except as the resolved
    value.
    """

    objects: ClassVar[LabelsInScope[Self]] = LabelsInScope()
    in_or_out: ClassVar[VisibleLabels[Self]] = VisibleLabels()
    everything: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta(Label.Meta):
        abstract = True


class LabelEvent(AppendOnly):
    """What a change did to the label of one item; of the whole judged answer where no item is named.

    All items that one change was about have events of the same version. A subclass names its sheet, judge, task and
    job, and ITEM, the lookups of what names the item; RELATED: what is read with events to know it.
    """

    ITEM: ClassVar[tuple[str, ...]]
    RELATED: ClassVar[tuple[str, ...]] = ()
    # What stands in the columns value and state alone, by the state that it stands with.
    COLUMNS: ClassVar[dict[str, str]] = {"label": Label.State.GIVEN, "stale": Label.State.OUTDATED}

    version = models.PositiveIntegerField(help_text="The judged answer's version after it.")
    verb = models.CharField(max_length=20)
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this label.")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last; none where no assessor did this."
    )
    at = models.DateTimeField(auto_now_add=True)
    value_before = models.CharField(max_length=20, null=True)  # noqa: DJ001  # no label is no text
    state_before = models.CharField(max_length=11, choices=Label.State, blank=True)
    value = models.CharField(max_length=20, null=True)  # noqa: DJ001
    state = models.CharField(max_length=11, choices=Label.State, blank=True)
    changes = JSONText(null=True, help_text='What else differs: {"flag": [before, after], ...}.')

    class Meta(AppendOnly.Meta):
        abstract = True
        ordering = ("sheet", "version", "pk")

    @property
    def changes_by_item(self) -> dict[str, Any]:
        """What differs, by item: {"label": [before, after], ...}."""
        item = [reduce(lambda of, name: of and getattr(of, name), path.split("__"), self) for path in self.ITEM]
        return _by_item(item, *(getattr(self, name) for name in _OF_ITEM))

    @classmethod
    def changes_of(cls, events: models.QuerySet[Any], *columns: str) -> Iterator[tuple[Any, ...]]:
        """Yield these columns of events, in their order, each with changes_by_item behind them."""
        last = len(columns) + len(cls.ITEM)
        for row in events.values_list(*columns, *cls.ITEM, *_OF_ITEM).iterator(_AT_A_TIME):
            yield *row[: len(columns)], _by_item(row[len(columns) : last], *row[last:])


_OF_ITEM = ("value_before", "state_before", "value", "state", "changes")


def labels_in_sql(table: str, columns: Sequence[str]) -> str:
    """Return the column of a query on judged answers, in which they are sheet, that has these columns of their labels.

    The key is the first of them. It is for queries that are written out; others have labels.queries.labels_at_once().
    """
    return rows_in_sql(table, columns, "one.sheet_id = sheet.id")


def rows_in_sql(table: str, columns: Sequence[str], condition: str) -> str:
    """Return the column of a query that has these columns of a table's rows, each called one, as JSON."""
    of_each = {
        "sqlite": "json_group_array(json_array({}))",
        "postgresql": "CAST(json_agg(json_build_array({})) AS text)",
    }[connection.vendor].format(", ".join(f"one.{name}" for name in columns))
    return f"(SELECT {of_each} FROM {table} one WHERE {condition})"  # noqa: S608  # names of our own tables


def item_of(values: Iterable[Any]) -> str:
    """Return an item's key: that of its nugget, or the places of its sentence and citation."""
    return ".".join(map(str, values))


def _by_item(
    item: Sequence[Any],
    value_before: str | None,
    state_before: str,
    value: str | None,
    state: str,
    changes: Mapping[str, list[Any]] | None,
) -> dict[str, dict[str, list[Any]]]:
    if item[0] is None:
        return {}
    differing = {}
    for field, of_state in LabelEvent.COLUMNS.items():
        before, after = value_before if state_before == of_state else None, value if state == of_state else None
        if before != after:
            differing[field] = [before, after]
    return {item_of(item): differing | dict(changes or {})}
