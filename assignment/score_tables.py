"""Nugget scores as tables: whose labels they are, what they depend on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Max

from assessor.campaigns.models import Condition
from assessor.scores.canaries import canary_name
from assessor.scores.loading import Labels
from assessor.scores.reusability import WithoutTeams
from assessor.scores.score_source import Scoring
from assessor.studies.panels import is_soft, mean_of_members, routed_states
from assessor.work.judging_pool import newest_words
from assignment.canaries import CANARIES, answers_of, answers_with, changed_topics
from assignment.item_history import counted_nugget
from assignment.label_kind import kind_of_nuggets
from assignment.measures import NUGGET_SCORES, answer_scores, contributions
from assignment.models import AnswerSheet, LeftOut
from assignment.queries import scored_editions
from assignment.score_arrays import IMPORTANCE, Revised, Scores, TopicLabels, load_scores
from assignment.team_nuggets import without_teams
from metaeval.stats.means import Figures, Policy
from metaeval.stats.measures import COVERAGE
from nuggets.models import BankEdition


def newest_editions(conditions: Sequence[Condition]) -> dict[int | None, int]:
    """Return the key of the newest edition of nuggets that conditions label, by the key of the condition of these."""
    editions = BankEdition.objects.filter(bank__condition__in=[condition.nuggets_id for condition in conditions])
    return dict(editions.order_by().values_list("bank__condition").annotate(Max("pk")))


class NuggetScoring(Scoring):
    """Conditions under which nuggets are assigned to answers."""

    measures = NUGGET_SCORES
    nothing_yet = "No condition yet under which nuggets are assigned to answers."
    scores_nuggets = True
    canaries = tuple(CANARIES)
    canary_measure = COVERAGE  # of all nuggets: defined whatever their importance
    basis_label = "Nuggets"
    remedy = "Missing labels can be given, or a nugget be left out for all runs."
    notes = "assignment/_score_notes.html"
    topic_notes = "assignment/_topic_notes.html"
    topic_page = "assignment/_topic_scores.html"

    def basis(self, condition: Condition) -> str:
        return str(condition.nuggets)

    def load(self, condition: Condition) -> Scores:
        return self._load(condition)[0]

    def load_with_labels(self, condition: Condition, topic: int | None = None) -> tuple[Scores, Labels]:
        """topic: this one alone, by key."""
        found, labels = self._load(condition, topic)
        return found, labels()

    def _load(
        self, condition: Condition, topic: int | None = None, revised: Revised | None = None
    ) -> tuple[Scores, Callable[[], Labels]]:
        """topic: this one alone, by key; revised: labels in the place of others."""
        if is_soft(condition):
            return mean_of_members(condition, lambda one: self._load(one, topic)[0]), lambda: Labels.joined([])
        return load_scores(condition, self.measures, self.score_topic, topic, revised)

    def load_canaries(self, condition: Condition) -> Scores:
        return load_scores(condition, self.measures, self.score_topic, of_canaries=True)[0]

    def of_former_nuggets(self, condition: Condition, canaries: Scores) -> npt.NDArray[np.bool_]:
        editions = {edition.bank.topic: edition for edition in scored_editions(condition)}
        said = {topic.qid: [nugget["text"] for nugget in one.nuggets] for topic, one in editions.items()}
        titles = {topic.qid: topic.title for topic in editions}
        runs = condition.campaign.runs.in_bulk([run.pk for run in canaries.runs])
        says_of = {canary.name: says for canary, says in CANARIES.items()}
        is_former = np.zeros(canaries.states.shape, dtype=bool)
        for at, run in enumerate(canaries.runs):
            now = answers_with(says_of[canary_name(run.tag)], said, titles)
            changed = changed_topics(answers_of(runs[run.pk]), now)
            is_former[at] = [topic.qid in changed for topic in canaries.topics]
        return is_former

    def load_revised(self, condition: Condition, labels: Mapping[tuple[int, str], str]) -> Scores:
        known = kind_of_nuggets(condition).labels
        revised: dict[int, dict[str, int]] = {}
        for (answer, nugget), label in labels.items():
            revised.setdefault(answer, {})[nugget] = known.index(label)
        return self._load(condition, revised=revised)[0]

    def load_topic(self, condition: Condition, topic: int) -> tuple[Scores, Labels]:
        return self.load_with_labels(condition, topic)

    def score_topic(self, given: TopicLabels) -> Figures:
        """Return the scores of the answers to a topic: (runs, measures)."""
        return answer_scores(given.codes, given.importance, given.words)

    def without_teams(self, condition: Condition, policy: Policy) -> WithoutTeams | None:
        if condition.of_passages or is_soft(condition):
            return None
        return without_teams(condition, policy, lambda: self.load_with_labels(condition), self.score_topic)

    def states(self, conditions: Sequence[Condition]) -> dict[int, tuple[Any, ...]]:
        """What is left out and judged, and the editions of banks: of one that is finished again the new one counts."""
        left_out = LeftOut.objects.filter(condition__in=[condition.pk for condition in conditions])
        newest_out = dict(left_out.order_by().values_list("condition").annotate(Max("pk")))
        newest = newest_editions(conditions)
        judged = newest_words(conditions)
        return {
            one.pk: (newest_out.get(one.pk), newest.get(one.nuggets_id), judged.get(one.pk, 0)) for one in conditions
        } | routed_states(conditions)

    def contribution(self, sheet: AnswerSheet, item: str, code: int) -> dict[str, tuple[float, float]]:
        nugget = counted_nugget(sheet, item)
        return self.contributions(code, nugget["importance"]) if nugget else {}

    def contributions(self, code: int, importance: str) -> dict[str, tuple[float, float]]:
        return contributions(code, IMPORTANCE[importance])
