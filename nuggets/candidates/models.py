"""Which nuggets of a bank a sentence of an answer states, as a model said."""

from django.db import models

from assessor.campaigns.models import AppendOnly


class SentenceMatch(AppendOnly):
    """A nugget that a sentence states, of a bank as it was finished; a sentence that states none has one row without.

    The condition names the bank's condition, and that whose labels said the sentence was supported when it was asked
    about. Whether it counts is for the labels to say as they are now.
    """

    condition = models.ForeignKey(
        "campaigns.Condition", models.PROTECT, related_name="sentence_matches", db_index=False
    )
    edition = models.ForeignKey("nuggets.BankEdition", models.PROTECT, related_name="+")
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    sentence = models.PositiveIntegerField(help_text="Its place in the answer, from 0.")
    nugget = models.ForeignKey(
        "nuggets.Nugget", models.PROTECT, null=True, related_name="+", help_text="None: it states none of the bank."
    )
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        verbose_name_plural = "sentence matches"
        constraints = (
            models.UniqueConstraint(
                fields=("condition", "edition", "answer", "sentence", "nugget"), name="sentence_match_once"
            ),
            models.UniqueConstraint(
                fields=("condition", "edition", "answer", "sentence"),
                condition=models.Q(nugget=None),
                name="sentence_without_match_once",
            ),
        )

    def __str__(self) -> str:
        return f"sentence {self.sentence + 1} of {self.answer}: {self.nugget or 'no nugget'}"
