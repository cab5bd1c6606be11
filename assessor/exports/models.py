"""Exports: files that were written, at once or in the background, each with its manifest."""

from django.db import models

from assessor.campaigns.models import AppendOnly
from assessor.runtime.fields import JSONText

# The kind of an export that makes no file but a frozen version.
FREEZE = "freeze"
# That of a release, a zip of many files.
RELEASE = "release"


class Export(models.Model):
    """One file written out. What was made in the background is kept for a while to be downloaded; the record stays."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for the worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        STOPPED = "stopped", "stopped"
        FAILED = "failed", "failed"

    ACTIVE = (State.WAITING, State.RUNNING)

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="exports")
    kind = models.CharField(max_length=30, help_text="What is exported, as assessor.exports.registry names it.")
    options = JSONText(default=dict, help_text="Of which record, in which form, of which topics and runs.")
    file_name = models.CharField(max_length=400)
    at_once = models.BooleanField(help_text="Sent while it was written, and not kept.")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    why = models.TextField(blank=True, help_text="Why there is no file.")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True, help_text="When the file was removed, being old.")
    records = models.PositiveBigIntegerField(default=0, help_text="Written so far.")
    expected = models.PositiveBigIntegerField(default=0, help_text="About how many there will be.")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes of the file.")
    sha256 = models.CharField(max_length=64, blank=True)
    manifest = models.TextField(blank=True, help_text="JSON, as it is downloaded beside the file.")
    shown = JSONText(
        default=list, help_text="Whose output is in the file, on which topics: it is recorded of whoever takes it."
    )
    # Which process writes it and when that last gave a sign of life: how the next start knows that it died.
    owner = models.CharField(max_length=200, blank=True)
    alive_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_over(self) -> bool:
        """Say whether nothing more will come of it."""
        return self.state not in self.ACTIVE

    @property
    def has_file(self) -> bool:
        """Say whether it can be downloaded."""
        is_kept = not self.at_once and self.kind != FREEZE and self.removed_at is None
        return self.state == self.State.DONE and is_kept

    @property
    def percent(self) -> int:
        """Share of the records that are written, 0 to 100; their number is an estimate."""
        if self.state == self.State.DONE:
            return 100
        return min(99, 100 * self.records // self.expected) if self.expected else 0


class Blob(AppendOnly):
    """The bytes of a campaign's frozen files, by their sum: the same bytes are kept once."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="blobs", db_index=False)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("campaign", "sha256"), name="blob_once"),)

    def __str__(self) -> str:
        return self.sha256


class Chunk(AppendOnly):
    """A part of a blob, compressed on its own; as text, so that archives have it as it is."""

    blob = models.ForeignKey(Blob, models.PROTECT, related_name="chunks", db_index=False)
    place = models.PositiveIntegerField()
    data = models.TextField(help_text="zlib, base64.")

    class Meta(AppendOnly.Meta):
        ordering = ("blob", "place")
        constraints = (models.UniqueConstraint(fields=("blob", "place"), name="chunk_once"),)

    def __str__(self) -> str:
        return f"{self.blob_id}, {self.place}"


class Frozen(AppendOnly):
    """A version of a finished condition: its files as they were, their manifest, and who answers for it."""

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="frozen", db_index=False)
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    manifest = models.TextField(help_text="JSON, with the sum of every file.")
    public_key = models.CharField(max_length=44, blank=True, help_text="Ed25519, base64; empty where it is unsigned.")
    signature = models.CharField(max_length=88, blank=True, help_text="Of the manifest, base64.")
    state = models.TextField(
        blank=True, help_text="Names the state of what it was made from, in this database; empty in another."
    )

    class Meta(AppendOnly.Meta):
        ordering = ("condition", "-version")
        verbose_name_plural = "frozen conditions"
        constraints = (models.UniqueConstraint(fields=("condition", "version"), name="frozen_version_once"),)

    def __str__(self) -> str:
        return f"version {self.version} of {self.condition}"


class FrozenFile(AppendOnly):
    """A file of a frozen version."""

    frozen = models.ForeignKey(Frozen, models.PROTECT, related_name="files")
    kind = models.CharField(max_length=30, help_text="What was exported, as assessor.exports.registry names it.")
    form = models.CharField(max_length=30)
    name = models.CharField(max_length=400)
    blob = models.ForeignKey(Blob, models.PROTECT, related_name="+")

    class Meta(AppendOnly.Meta):
        ordering = ("frozen", "name")
        constraints = (models.UniqueConstraint(fields=("frozen", "name"), name="frozen_file_once"),)

    def __str__(self) -> str:
        return self.name


class Pseudonym(AppendOnly):
    """What a person is called in a campaign's releases."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="pseudonyms", db_index=False)
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="pseudonyms")
    number = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField(help_text="Decided the order of those who were numbered with this one.")

    class Meta(AppendOnly.Meta):
        ordering = ("campaign", "number")
        constraints = (
            models.UniqueConstraint(fields=("campaign", "person"), name="pseudonym_once"),
            models.UniqueConstraint(fields=("campaign", "number"), name="pseudonym_of_one"),
        )

    def __str__(self) -> str:
        return f"assessor-{self.number}"
