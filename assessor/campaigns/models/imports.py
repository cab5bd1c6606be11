"""An import, and what came in by one."""

from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q

from assessor.runtime.fields import JSONText
from assessor.runtime.sql import filter_once

_Record = TypeVar("_Record", bound=models.Model, covariant=True)


class Import(models.Model):
    """One file taken in. What it brought is visible only once the import is done."""

    class State(models.TextChoices):
        HELD = "held", "waiting for you"
        WAITING = "waiting", "waiting for the worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        CHECKED = "checked", "checked only"
        REFUSED = "refused", "refused"
        STOPPED = "stopped", "stopped"
        INTERRUPTED = "interrupted", "interrupted"

    # Those whose file is still needed. What is held has no kind yet, or lacks what its kind needs to know.
    OPEN = (State.HELD, State.WAITING, State.RUNNING)

    class Stage(models.TextChoices):
        CHECKING = "checking", "checking"
        WRITING = "writing", "writing"

    class InvalidLabels(models.TextChoices):
        """What becomes of what is no label, where it is no error."""

        MISSING = "missing", "are missing"
        NOT_SUPPORT = "not_support", "count as not_support (assignments alone)"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=20)
    options = JSONText(default=dict)
    file_name = models.CharField(max_length=255)
    upload = models.CharField(max_length=40, blank=True, help_text="Name of its file while that is kept.")
    sha256 = models.CharField(max_length=64, blank=True)
    check_only = models.BooleanField(default=False)
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True)
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    stage = models.CharField(max_length=10, choices=Stage, default=Stage.CHECKING)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    bytes_read = models.BigIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    report = JSONText(default=dict)
    # What the report counts without listing it, for the report's file alone: Report.further_warnings.
    further_warnings = JSONText(default=dict)
    # Which process runs it and when that last gave a sign of life: how the next start knows that it died.
    owner = models.CharField(max_length=200, blank=True)
    alive_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    has_leftovers = models.BooleanField(default=False)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            # Two imports at once could each bring the same record.
            models.UniqueConstraint(fields=("campaign",), condition=Q(state="running"), name="one_import_at_a_time"),
        )

    def __str__(self) -> str:
        return f"{self.kind} from {self.file_name}"

    @property
    def is_over(self) -> bool:
        return self.state not in self.OPEN

    @property
    def is_under_way(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def percent(self) -> int:
        """Progress over both passes, checking and writing, 0 to 100."""
        if self.state == self.State.DONE:
            return 100
        share = min(1.0, self.bytes_read / self.bytes_total) if self.bytes_total else 0.0
        return int(50 * share + (50 if self.stage == self.Stage.WRITING else 0))


class VisibleManager(models.Manager[Any]):
    """Only what finished imports brought."""

    @filter_once
    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(import_record__state=Import.State.DONE)


class Imported(models.Model):
    """A record brought by an import: hidden until the import is done, swept away if it never will be."""

    import_record = models.ForeignKey(Import, models.PROTECT, related_name="+", editable=False)

    objects = VisibleManager()
    everything = models.Manager[Any]()

    class Meta:
        abstract = True


class MadeOrVisibleManager(models.Manager[_Record]):
    """What was made here, and what finished imports brought."""

    @filter_once
    def get_queryset(self) -> models.QuerySet[_Record]:
        return super().get_queryset().filter(Q(import_record=None) | Q(import_record__state=Import.State.DONE))


class MaybeImported(models.Model):
    """A record made here or brought by an import, and then hidden until the import is done."""

    import_record = models.ForeignKey(Import, models.PROTECT, null=True, related_name="+", editable=False)

    objects: ClassVar[MadeOrVisibleManager[Self]] = MadeOrVisibleManager()
    everything: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True
