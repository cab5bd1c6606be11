"""Topics and segments."""

from collections.abc import Mapping
from typing import Any

from django.db import models

from assessor.campaigns.models.imports import Imported
from assessor.runtime.fields import JSONText


class Topic(Imported):
    """A question or request that runs answer."""

    class Form(models.TextChoices):
        TSV = "tsv", "TSV"
        TITLE = "jsonl", "JSONL (id, title)"
        REQUEST = "request", "JSONL (request_id, title)"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="topics")
    qid = models.CharField("topic id", max_length=256)
    title = models.TextField()
    form = models.CharField(max_length=10, choices=Form, default=Form.TSV)
    extras = JSONText(default=dict, help_text="Further keys of the file, as they came.")
    is_practice = models.BooleanField(
        default=False, help_text="For training: nothing that is said on it enters scores or exports."
    )

    class Meta:
        ordering = ("qid",)
        constraints = (models.UniqueConstraint(fields=("campaign", "qid"), name="topic_once"),)

    def __str__(self) -> str:
        return f"{self.qid} {self.title}"


def told(extras: Mapping[str, Any], name: str) -> str:
    """Return what the further keys of a passage's file say besides its text."""
    return str(extras.get(name) or "")


class PassageDetails:
    """What pages show of a passage besides its text."""

    extras: Any

    @property
    def in_language(self) -> str:
        """What the text is in, as the file says it: "zho"; "" where it says nothing."""
        return told(self.extras, "lang")

    @property
    def title(self) -> str:
        return told(self.extras, "title")

    @property
    def headings(self) -> str:
        return told(self.extras, "headings")

    @property
    def translation(self) -> str:
        """What a machine made of the text in the language of the campaign, to be read beside it; "" for none."""
        return told(self.extras, "translation")


class Segment(PassageDetails, Imported):
    """A passage of the corpus."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="segments")
    docid = models.CharField(max_length=256)
    text = models.TextField()
    extras = JSONText(default=dict, help_text="Further keys of the file (title, url, headings, ...), as they came.")
    language = models.CharField(max_length=35, blank=True, help_text="As the file has it; empty where it has none.")
    has_translation = models.BooleanField(default=False, help_text="Whether a translation stands beside the text.")

    class Meta:
        ordering = ("docid",)
        constraints = (models.UniqueConstraint(fields=("campaign", "docid"), name="segment_once"),)
        indexes = (
            models.Index(
                fields=("campaign", "language"), condition=~models.Q(language=""), name="segments_by_language"
            ),
        )

    def __str__(self) -> str:
        return self.docid
