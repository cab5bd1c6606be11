"""Support scores as tables: whose labels they are, what they depend on."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q

from assessor.campaigns.models import Condition
from assessor.scores.canaries import LOW, WRONG_CITATIONS
from assessor.scores.loading import Labels
from assessor.scores.score_source import Scoring
from assessor.studies.panels import routed_states
from assessor.work.judging_pool import newest_words
from metaeval.stats.measures import PRECISION
from support.item_history import contribution
from support.measures import SUPPORT_SCORES
from support.models import SupportSheet
from support.score_arrays import Scores, load_scores, load_with_labels, revised_codes


class SupportScoring(Scoring):
    """Conditions under which citations are judged. Their scores depend on sheets, answers, and what is judged."""

    measures = SUPPORT_SCORES
    nothing_yet = "No condition yet under which support is judged."
    done = Q(to_do=0, without_text=0, waiting_for_label=0)
    facts = {
        "Without a cited text": Count("pk", filter=Q(without_text__gt=0)),
        "Waits for a model's label": Count("pk", filter=Q(waiting_for_label__gt=0)),
    }
    canaries = (WRONG_CITATIONS._replace(most=LOW),)
    canary_measure = PRECISION
    basis_label = "Citations judged"
    remedy = "Missing labels can be given, open questions settled, and segments be loaded whose text is not there."
    notes = "support/_score_notes.html"
    topic_notes = "support/_topic_notes.html"
    topic_page = "support/_topic_scores.html"

    def basis(self, condition: Condition) -> str:
        if condition.is_imported:
            return "as in the file"
        most = condition.protocol.citations_per_sentence
        return "the first" if most == 1 else f"the first {most}"

    def states(self, conditions: Sequence[Condition]) -> dict[int, tuple[Any, ...]]:
        judged = newest_words(conditions)
        return {condition.pk: (judged.get(condition.pk, 0),) for condition in conditions} | routed_states(conditions)

    def load(self, condition: Condition) -> Scores:
        return load_scores(condition)

    def load_with_labels(self, condition: Condition) -> tuple[Scores, Labels]:
        return load_with_labels(condition)

    def load_canaries(self, condition: Condition) -> Scores:
        return load_with_labels(condition, of_canaries=True)[0]

    def load_revised(self, condition: Condition, labels: Mapping[tuple[int, str], str]) -> Scores:
        return load_with_labels(condition, revised_codes(condition, labels))[0]

    def contribution(self, sheet: SupportSheet, item: str, code: int) -> dict[str, tuple[float, float]]:
        return contribution(sheet, item, code)
