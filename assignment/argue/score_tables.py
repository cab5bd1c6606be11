"""Scores of reports as tables: whose judgments they are, what they depend on."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Sum

from assessor.campaigns.models import Condition
from assessor.scores.loading import Labels
from assessor.scores.score_source import Scoring
from assessor.work.judging_pool import newest_words
from assignment.argue.measures import ARGUE_SCORES
from assignment.argue.models import ArgueSheet
from assignment.argue.score_arrays import Scores, load_with_labels
from assignment.score_tables import newest_editions


class ArgueScoring(Scoring):
    """Conditions under which reports are judged sentence by sentence."""

    measures = ARGUE_SCORES
    nothing_yet = "No condition yet under which reports are judged."
    facts = {"Sentences behind the limit": Sum("cut")}
    basis_label = "Questions"
    remedy = "Missing judgments can be given: launch the model's job again, or load the cited texts that it lacked."
    notes = "argue/_score_notes.html"
    topic_notes = "argue/_topic_notes.html"
    topic_page = "argue/_topic_scores.html"

    def basis(self, condition: Condition) -> str:
        return str(condition.nuggets)

    def load(self, condition: Condition) -> Scores:
        return self.load_with_labels(condition)[0]

    def load_with_labels(self, condition: Condition, topic: int | None = None) -> tuple[Scores, Labels]:
        """topic: this one alone, by key."""
        return load_with_labels(condition, topic)

    def contribution(self, sheet: ArgueSheet, item: str, code: int) -> dict[str, tuple[float, float]]:
        """A judgment has no share of its own: what it counts depends on the others of its report."""
        return {}

    def states(self, conditions: Sequence[Condition]) -> dict[int, tuple[Any, ...]]:
        """What is judged, and the editions of banks: of one that is finished again the new one counts."""
        newest, judged = newest_editions(conditions), newest_words(conditions)
        return {one.pk: (newest.get(one.nuggets_id), judged.get(one.pk, 0)) for one in conditions}
