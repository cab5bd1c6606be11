"""Retrieval runs, from whose first ranks the pool is made."""

from django.db import models

from assessor.campaigns.models.imports import Imported


class RetrievalRun(Imported):
    """What one system found, topic by topic, before any answer is written."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="retrieval_runs")
    tag = models.CharField(max_length=256)

    class Meta:
        ordering = ("tag",)
        constraints = (models.UniqueConstraint(fields=("campaign", "tag"), name="retrieval_run_once"),)

    def __str__(self) -> str:
        return self.tag


class RankedSegment(Imported):
    """A segment in a run's ranking for a topic. The segment's text may not be loaded.

    A row each, unlike an answer's citations: the pool is a question over all runs at once, which the database
    answers without reading a million rankings.
    """

    run = models.ForeignKey(RetrievalRun, models.PROTECT, related_name="ranked", db_index=False)
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="ranked")
    docid = models.CharField(max_length=256)
    rank = models.PositiveIntegerField(help_text="As it came: files count from 0 or 1, and may have gaps.")
    place = models.PositiveIntegerField(help_text="How many of the topic stand before it.")
    score = models.CharField(max_length=40, help_text="As it was written.")

    class Meta:
        ordering = ("run", "topic", "rank")
        constraints = (models.UniqueConstraint(fields=("run", "topic", "rank"), name="rank_once"),)
        indexes = (models.Index(fields=("run", "place")),)

    def __str__(self) -> str:
        return f"{self.rank}: {self.docid}"
