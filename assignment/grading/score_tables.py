"""Grades of questions as score tables."""

from collections.abc import Callable
from typing import Any

from assessor.campaigns.models import Condition
from assessor.scores.loading import Labels, run_set, systems
from assessor.scores.reusability import TeamRow, team_rows
from assignment.grading.measures import GRADE_SCORES, contributions, grade_scores
from assignment.item_history import counted_nugget
from assignment.models import AnswerSheet
from assignment.score_arrays import IMPORTANCE, Revised, Scores, TopicLabels
from assignment.score_tables import NuggetScoring
from metaeval.stats.means import Figures, Policy


class GradeScores(Scores):
    """All scores of a condition by the measures of GRADE_SCORES."""

    @property
    def systems(self) -> list[str]:
        """The tags of the runs whose answers say which questions can be reached, in byte order."""
        return systems(self.runs)

    @property
    def run_set(self) -> str:
        return run_set(self.runs)

    @property
    def unusual(self) -> dict[str, int | str]:
        return self.measures.count_unusual(self.without_importance, self.left_out, len(self.systems), self.run_set)


class GradeScoring(NuggetScoring):
    """Conditions under which questions are graded in answers."""

    measures = GRADE_SCORES
    canaries = ()  # what their grades should be is not known
    nothing_yet = "No condition yet under which questions are graded."
    basis_label = "Questions"
    remedy = "Missing grades can be given, or a question be left out for all runs."
    notes = "grading/_score_notes.html"
    topic_notes = "grading/_topic_notes.html"
    topic_page = "grading/_topic_scores.html"

    def _load(
        self, condition: Condition, topic: int | None = None, revised: Revised | None = None
    ) -> tuple[Scores, Callable[[], Labels]]:
        found, labels = super()._load(condition, topic, revised)
        return GradeScores(*found), labels

    def beside(self, condition: Condition, found: Any) -> list[TeamRow]:
        """Return what a bank that was made from answers of runs owes to each team's; nothing of others."""
        scores = self.without_teams(condition, Policy.ZERO) if condition.is_from_runs and found.topics else None
        if scores is None:
            return []
        rows = [one for one in team_rows(scores, 0) if one.left_out]
        return sorted(rows, key=lambda one: (one.found.tau.value is None, one.found.tau.value or 0.0))

    def score_topic(self, given: TopicLabels) -> Figures:
        return grade_scores(given.codes, given.words, ~given.is_control, given.importance)

    def contribution(self, sheet: AnswerSheet, item: str, code: int) -> dict[str, tuple[float, float]]:
        question = counted_nugget(sheet, item)
        if question is None or sheet.answer.is_passage:  # of a run's passages the best one counts
            return {}
        return self.contributions(code, question["importance"])

    def contributions(self, code: int, importance: str) -> dict[str, tuple[float, float]]:
        return contributions(code, IMPORTANCE[importance])
