"""The measures of preferences: functions on arrays, without a database, for notebooks too."""

from typing import NamedTuple

from metaeval.stats.means import Figures
from metaeval.stats.measures import AnswerMeasure, Measures
from metaeval.stats.preferences import borda, net_wins

PREFNUGGET = "PrefNugget"


class Answers(NamedTuple):
    """The answers to a topic, as formulas get them. wins: (answers, answers), those of the row over the column."""

    wins: Figures


def of_decided(answers: Answers) -> Figures:
    """Return wins minus losses over decided pairs."""
    return net_wins(answers.wins)


def points(answers: Answers) -> Figures:
    """Return wins minus losses."""
    return borda(answers.wins)


PREFERENCE_SCORES = Measures(
    all=(
        AnswerMeasure(
            key="win_frac",
            words="Net wins",
            label="net wins",
            latex="net wins",
            json="win_frac",
            formula=of_decided,
            source=PREFNUGGET,
            is_relative=True,
            is_signed=True,
        ),
        AnswerMeasure(
            key="borda_score",
            words="Borda",
            label="Borda",
            latex="Borda",
            json="borda_score",
            digits=2,
            formula=points,
            source=PREFNUGGET,
            is_relative=True,
            is_signed=True,
        ),
    ),
    title="Preferences",
    legend="Borda is wins minus losses in the pairs of a topic; net wins is that over the decided pairs, from -1 to 1, "
    "undefined where all are ties. Both depend on whose answers are compared: compare them within one set of runs "
    "alone. What a run did not submit is in no pair, and counts nowhere. — is undefined.",
    lacking="some pair has no preference that counts there",
    unusual=("ties", "pairs_by_rule", "preference_runs", "preference_run_set"),
)
