"""How labels are scored: what each kind of label that makes scores has to say."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from django.db.models import Aggregate, Q, QuerySet, Sum

from assessor.campaigns.condition_kind import condition_kinds, kind_named
from assessor.campaigns.models import Campaign, Condition, Run
from assessor.scores.loading import Labels, Scores
from assessor.scores.reusability import WithoutTeams
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measures

if TYPE_CHECKING:
    from assessor.scores.canaries import Canary


class Scoring(Protocol):
    """How answers are scored by labels of a kind."""

    measures: Measures
    nothing_yet: str  # what a page says of a campaign that has no such condition
    # How the records are counted that scores come from, ConditionKind.scored: those with a label on which nothing is
    # waited for, the labels that nobody gave yet, those with something that can't be judged; and what they are called.
    counted: str = "answers"
    done: Q = Q(to_do=0)
    left: Aggregate = Sum("to_do")
    cannot: Q = Q(unjudgeable__gt=0)
    topic: str = "answer__topic"
    runs: Sequence[str] = ("answer__run",)  # whose answers such a record is about
    facts: Mapping[str, Aggregate] = {}  # what a page counts of them besides, by what it says for it
    scores_nuggets: bool = False  # each label is of a nugget, or question, of a bank: scores can be told without some
    canaries: "Sequence[Canary]" = ()  # that its judges may get; canary_measure: what tells how they score these
    canary_measure: str = ""
    basis_label: str
    remedy: str  # what can be done about incomplete answers
    # Templates: of what is unusual in a condition's scores (found), of a topic in a list, of a topic on its own page.
    notes: str
    topic_notes: str
    topic_page: str

    def basis(self, condition: Condition) -> str:
        """Return what is judged under a condition, as basis_label calls it."""

    def labels_by(self, condition: Condition) -> str:
        """Return who or what gives its labels; of people who post-edit, with whose labels they see."""
        if condition.is_panel:
            return condition.maker
        return f"people, shown those of {condition.shown}" if condition.shown else str(condition.judge or "people")

    def load(self, condition: Condition) -> Scores:
        """Compute all scores of a condition from its sheets."""

    def load_with_labels(self, condition: Condition) -> tuple[Scores, Labels]:
        """Compute all scores of a condition; return them with the labels that they come from, from one reading."""

    def load_topic(self, condition: Condition, topic: int) -> tuple[Scores, Labels]:
        """Do the same for what is asked of one topic, by key: others may be left out, but no run."""
        return self.load_with_labels(condition)

    def load_revised(self, condition: Condition, labels: Mapping[tuple[int, str], str]) -> Scores | None:
        """Compute all scores with other labels in the place of some of a condition's; None where its kind has no such.

        labels: by answer's key and the item's, as assessor.studies.sampling has them.
        """
        return None

    def load_canaries(self, condition: Condition) -> Scores:
        """Compute the scores of the canaries, which are in no others. Raises LookupError for a kind without."""
        raise LookupError(condition.kind)

    def of_former_nuggets(self, condition: Condition, canaries: Any) -> Any:
        """Return which of the canaries' answers have nuggets that were changed since: (runs, topics), yes or no."""
        return np.zeros(canaries.states.shape, dtype=bool)

    def contribution(self, sheet: Any, item: str, code: int) -> Mapping[str, tuple[float, float]]:
        """Return value and weight by measure of the label of an item; code: its place among the labels."""

    def contributions(self, code: int, importance: str) -> Mapping[str, tuple[float, float]]:
        """Return value and weight of a nugget's label in each measure that is a mean over nuggets; none of others.

        code: the label's place among its kind's.
        """
        return {}

    def beside(self, condition: Condition, found: Any) -> Any:
        """Return what else `notes` tells of a condition; found: its scores."""
        return None

    def without_teams(self, condition: Condition, policy: Policy) -> WithoutTeams | None:
        """Return the scores without the nuggets that each team brought; None where no nuggets of answers are labelled.

        Kept as long as the scores.
        """
        return None

    def states(self, conditions: Sequence[Condition]) -> Mapping[int, tuple[Any, ...]]:
        """Name the state of what scores of conditions depend on besides sheets and what imports bring, by key.

        It takes as many queries for all of them as for one.
        """


def scoring_of(name: str) -> Scoring:
    """Return how labels of a kind are scored. Raises KeyError for a kind of which they are not."""
    found = kind_named(name).scoring()
    if found is None:
        raise KeyError(name)
    return found


def scored_kinds() -> dict[str, Scoring]:
    """Return how labels are scored by name of their kind, for all kinds of which they are."""
    return {kind.name: found for kind in condition_kinds() if (found := kind.scoring())}


def about_runs(scoring: Scoring, *runs: Run) -> Q:
    """Return what holds of the records that scores come from where they are about one of these runs' answers."""
    return Q(*((f"{path}__in", runs) for path in scoring.runs), _connector=Q.OR)


def scored_conditions(campaign: Campaign) -> QuerySet[Condition]:
    """Return all conditions of a campaign whose labels are scored, with what pages and files tell of them.

    Labels of a study's sample make no scores of runs.
    """
    conditions: QuerySet[Condition] = campaign.conditions.filter(kind__in=scored_kinds(), sample="")
    return conditions.select_related(*Condition.TOLD_WITH, "protocol")
