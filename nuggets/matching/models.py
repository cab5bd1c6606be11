"""Which nuggets of two banks of a topic say the same, as a person or a model matched them."""

from django.db import models

from assessor.campaigns.models import AppendOnly


class BankMatching(AppendOnly):
    """The banks of a topic, as both were finished, matched from end to end. Of several the newest counts.

    The condition names both banks' conditions. A nugget that no match names was found in one bank alone.
    """

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="matchings", db_index=False)
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="matchings")
    number = models.PositiveIntegerField(help_text="From 1: how often the topic was matched under the condition.")
    first = models.ForeignKey("nuggets.BankEdition", models.PROTECT, related_name="+")
    second = models.ForeignKey("nuggets.BankEdition", models.PROTECT, related_name="+")
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+", help_text="Who matched.")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+", help_text="None: a person.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("topic__qid", "number")
        constraints = (models.UniqueConstraint(fields=("condition", "topic", "number"), name="matching_number_once"),)

    def __str__(self) -> str:
        return f"matching {self.number} of {self.topic.qid}, {self.condition}"


class NuggetMatch(AppendOnly):
    """A nugget of the first bank and one of the second that say the same."""

    matching = models.ForeignKey(BankMatching, models.PROTECT, related_name="matches", db_index=False)
    first = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="+")
    second = models.ForeignKey("nuggets.Nugget", models.PROTECT, related_name="+")

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        verbose_name_plural = "nugget matches"
        constraints = (models.UniqueConstraint(fields=("matching", "first", "second"), name="nugget_match_once"),)

    def __str__(self) -> str:
        return f"{self.first} = {self.second}"
