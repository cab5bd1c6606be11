"""What documents say to questions, and the reports that were put together of it, by rule or by people."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_noop

from assessor.campaigns.models import AppendOnly
from assessor.runtime.fields import JSONText
from nuggets.editing import ItemList
from nuggets.models import Edited
from nuggets.reports.assembly import fold


class Reading(AppendOnly):
    """What a model found in a document for a question: maybe nothing."""

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="readings", db_index=False)
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="readings")
    question = models.CharField(max_length=32, help_text="The md5 of its text, as question banks name it.")
    docid = models.CharField(max_length=256)
    found = JSONText(
        default=list, help_text='[{"part", "extracted", "condensed", "confidence"}]: of each chunk that says something.'
    )
    job = models.ForeignKey("llm.Job", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("condition", "topic", "question", "docid"), name="reading_once"),
        )

    def __str__(self) -> str:
        return f"{self.question} in {self.docid}"


class Report(AppendOnly):
    """A run that was written here from a bank. It is kept before the run comes in: no such run is without one."""

    class Text(models.TextChoices):
        EXTRACTIVE = "extractive", "extractive: sentences as documents have them"
        ABSTRACTIVE = "abstractive", "abstractive: sentences in the model's words"
        EDITED = "edited", "edited: sentences as people signed them"

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="reports")
    tag = models.CharField(max_length=256, help_text="The run's.")
    text = models.CharField(max_length=20, choices=Text)
    per_question = models.PositiveSmallIntegerField(help_text="Sentences of a question at most.")
    editions = JSONText(default=dict, help_text="By topic id the edition of the bank, or how many reports were signed.")
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("condition", "tag"), name="report_once"),)

    def __str__(self) -> str:
        return self.tag


class SentenceList(ItemList):
    """The sentences of a report: those that a model found, and a person's own."""

    called = "sentences"


class EditedReport(Edited):
    """The report on a topic that a person makes of what a model found, until it is signed, and then as it is."""

    LIST, FIELDS, CALLED = SentenceList, ("text", "decision"), "report"

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="edited_reports")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="edited_reports")
    task = models.OneToOneField("work.Task", models.PROTECT, related_name="report")
    bank_edition = models.ForeignKey(
        "nuggets.BankEdition", models.PROTECT, related_name="+", help_text="The questions that documents were read for."
    )
    state = models.CharField(max_length=10, choices=Edited.State, default=Edited.State.OPEN)
    version = models.PositiveIntegerField(default=0, help_text="Counts every edit.")
    edition = models.PositiveIntegerField(default=0, help_text="Counts how often the report was signed.")
    order = JSONText(default=list, help_text="The uids of the sentences in the report, in order.")
    head = models.ForeignKey("ReportEdit", models.PROTECT, null=True, related_name="+", help_text="What undo undoes.")
    finished_at = models.DateTimeField(null=True, help_text="When it was signed.")

    class Meta:
        ordering = ("topic__qid", "pk")

    def __str__(self) -> str:
        return f"report on {self.topic.qid}, {self.condition}"

    @property
    def items(self) -> Any:
        return self.sentences

    def count_done(self) -> int:
        decided: int = self.sentences.exclude(draft="").exclude(decision=EditedSentence.Decision.NONE).count()
        return decided

    def count_to_do(self) -> int:
        found: int = self.sentences.exclude(draft="").count()
        return found


class EditedSentence(models.Model):
    """A sentence that a model found for a question, or a person wrote, with the one document that it cites."""

    class Decision(models.TextChoices):
        NONE = "", gettext_noop("not decided")
        IN = "in", gettext_noop("taken in")
        OUT = "out", gettext_noop("left out")

    report = models.ForeignKey(EditedReport, models.PROTECT, related_name="sentences")
    uid = models.UUIDField(help_text="Of a person's own made in the browser, so that an edit can name it at once.")
    question = models.CharField(max_length=32, help_text="The md5 of the text of the question that it answers.")
    docid = models.CharField(max_length=256)
    part = models.PositiveIntegerField(null=True, help_text="Of the document, from 0, in which it was found.")
    confidence = models.PositiveSmallIntegerField(null=True, help_text="The model's, from 0 to 10.")
    extracted = models.TextField(blank=True, help_text="What the document says, word for word.")
    draft = models.TextField(blank=True, help_text="The model's sentence; empty of a person's own.")
    text = models.TextField()
    decision = models.CharField(max_length=3, choices=Decision, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("report", "uid"), name="edited_sentence_uid_once"),)

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """What JSON calls it, within its report."""
        return str(self.uid)

    @property
    def lineage(self) -> str:
        """How its text came to be: kept as the model or the document has it, reworded, or written."""
        if not self.draft:
            return gettext_noop("written")
        return gettext_noop("kept") if self.text in (self.draft, fold(self.extracted)) else gettext_noop("reworded")


class ReportEdit(AppendOnly):
    """One edit of a report: what stood before and after. Undo goes through them as through those of a bank."""

    OUTSIDE_UNDO = ("undo", "redo", "sign", "reopen")

    report = models.ForeignKey(EditedReport, models.PROTECT, related_name="edits")
    version = models.PositiveIntegerField(help_text="The report's version after it.")
    verb = models.CharField(max_length=20)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    changes = JSONText(default=dict)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children")
    about = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last; none where no assessor did this."
    )

    class Meta(AppendOnly.Meta):
        ordering = ("report", "version")
        constraints = (models.UniqueConstraint(fields=("report", "version"), name="report_version_once"),)

    def __str__(self) -> str:
        return f"{self.verb} in {self.report}, version {self.version}"
