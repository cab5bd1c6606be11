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


def heading(extras: Mapping[str, Any], name: str) -> str:
    """Return what pages show above a passage, from the further keys of its file."""
    return str(extras.get(name) or "")


class Segment(Imported):
    """A passage of the corpus."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="segments")
    docid = models.CharField(max_length=256)
    text = models.TextField()
    extras = JSONText(default=dict, help_text="Further keys of the file (title, url, headings, ...), as they came.")

    class Meta:
        ordering = ("docid",)
        constraints = (models.UniqueConstraint(fields=("campaign", "docid"), name="segment_once"),)

    def __str__(self) -> str:
        return self.docid

    @property
    def title(self) -> str:
        return heading(self.extras, "title")

    @property
    def headings(self) -> str:
        return heading(self.extras, "headings")
