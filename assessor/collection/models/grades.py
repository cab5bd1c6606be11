"""Relevance grades, by source."""

from django.db import models

from assessor.collection.models.imports import MaybeImported


class QrelsSource(MaybeImported):
    """Where relevance grades come from: NIST's assessors, UMBRELA with its model, another.

    Those made here are a condition's (UMBRELA, manual relevance); `condition` is then set.
    """

    class By(models.TextChoices):
        PEOPLE = "people", "people"
        MODEL = "model", "a model"

    campaign = models.ForeignKey("collection.Campaign", models.PROTECT, related_name="qrels_sources")
    name = models.CharField(max_length=120)
    by = models.CharField("graded by", max_length=10, choices=By)
    condition = models.OneToOneField(
        "collection.Condition", models.PROTECT, null=True, editable=False, related_name="grades_made"
    )
    changed_at = models.DateTimeField(null=True, editable=False, help_text="When a grade made here last came to it.")

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="qrels_source_once"),)

    def __str__(self) -> str:
        return self.name


class Grade(MaybeImported):
    """How relevant a segment is to a topic, says a source. The segment's text may not be loaded."""

    source = models.ForeignKey(QrelsSource, models.PROTECT, related_name="grades")
    topic = models.ForeignKey("collection.Topic", models.PROTECT, related_name="grades")
    docid = models.CharField(max_length=256)
    grade = models.PositiveSmallIntegerField()
    iteration = models.CharField(max_length=256, help_text="Column 2 of the file, kept as it came.")

    class Meta:
        ordering = ("topic__qid", "docid")
        constraints = (models.UniqueConstraint(fields=("source", "topic", "docid"), name="grade_once"),)

    def __str__(self) -> str:
        return f"{self.docid}: {self.grade}"
