"""Relevance grades, by source."""

from typing import ClassVar, Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from assessor.campaigns.models.imports import MadeOrVisibleManager, MaybeImported
from assessor.formats.values import LEAST_GRADE, MAX_GRADE
from assessor.runtime.sql import filter_once

SCALES = {3: "0 to 3", 4: "0 to 4", 5: "0 to 5"}  # by their highest grade
SCALES_HERE = {highest: SCALES[highest] for highest in (3, 4)}  # of relevance that is judged here, and in no file


class QrelsSource(MaybeImported):
    """Where relevance grades come from: NIST's assessors, UMBRELA with its model, another.

    Those made here are a condition's (UMBRELA, manual relevance); `condition` is then set.
    """

    class By(models.TextChoices):
        PEOPLE = "people", "people"
        MODEL = "model", "a model"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="qrels_sources")
    name = models.CharField(max_length=120)
    by = models.CharField("graded by", max_length=10, choices=By)
    max_grade = models.PositiveSmallIntegerField(
        "scale",
        choices=SCALES,
        default=3,
        help_text="From 0 to its highest grade; of a file, to at least 3.",
    )
    condition = models.OneToOneField(
        "campaigns.Condition", models.PROTECT, null=True, editable=False, related_name="grades_made"
    )
    changed_at = models.DateTimeField(null=True, editable=False, help_text="When a grade made here last came to it.")

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="qrels_source_once"),)

    def __str__(self) -> str:
        return self.name


class JudgedManager(MadeOrVisibleManager["Grade"]):
    """Visible grades of what was judged: some files also list passages that nobody judged, with -1 or -2."""

    @filter_once
    def get_queryset(self) -> models.QuerySet["Grade"]:
        return super().get_queryset().filter(grade__gte=0)


class Grade(MaybeImported):
    """How relevant a segment is to a topic, says a source. The segment's text may not be loaded."""

    source = models.ForeignKey(QrelsSource, models.PROTECT, related_name="grades")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="grades")
    docid = models.CharField(max_length=256)
    grade = models.SmallIntegerField(
        validators=(MinValueValidator(LEAST_GRADE), MaxValueValidator(MAX_GRADE)), help_text="-1 and -2: not judged."
    )
    iteration = models.CharField(max_length=256, help_text="Column 2 of the file, kept as it came.")

    objects: ClassVar[JudgedManager] = JudgedManager()
    with_unjudged: ClassVar[MadeOrVisibleManager[Self]] = MadeOrVisibleManager()

    class Meta:
        ordering = ("topic__qid", "docid")
        constraints = (models.UniqueConstraint(fields=("source", "topic", "docid"), name="grade_once"),)

    def __str__(self) -> str:
        return f"{self.docid}: {self.grade}"
