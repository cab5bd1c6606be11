"""The measures of nuggets in answers: functions on arrays, without a database, for notebooks too.

A new measure is an entry of NUGGET_SCORES. docs/researcher/scores.md says what was decided where sources are silent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Codes, Figures, within
from metaeval.stats.measures import AnswerMeasure, Measures

SUPPORT, PARTIAL, NOT_SUPPORT, MISSING = 2, 1, 0, -1  # labels
VITAL, OKAY, ABSENT = 1, 0, -1  # importance
TREC_2024 = "TREC 2024 RAG track, arXiv 2411.09607"


class Answers(NamedTuple):
    """The answers to a topic, as formulas get them.

    labels: (answers, nuggets), SUPPORT, PARTIAL or NOT_SUPPORT; importance: (nuggets,), VITAL, OKAY or ABSENT, and
    lacks_importance: whether any is ABSENT; words: (answers,). counted: what labels count, by the functions that were
    asked: several measures ask the same ones.
    """

    labels: Codes
    importance: Codes
    lacks_importance: bool
    words: Figures
    counted: dict[Callable[[Codes], Figures], Figures]


def strict(labels: Codes) -> Figures:
    """Return what labels count where only SUPPORT does."""
    return np.asarray(labels == SUPPORT, dtype=np.float64)


def graded(labels: Codes) -> Figures:
    """Return what labels count where PARTIAL is a half."""
    return np.asarray(labels / SUPPORT)


def vital(importance: Codes) -> Figures:
    """Return the weights of nuggets where only vital ones count."""
    return np.asarray(importance == VITAL, dtype=np.float64)


def weighted(importance: Codes) -> Figures:
    """Return the weights of nuggets where an okay one weighs half as much as a vital one."""
    return np.asarray((importance == VITAL) + (importance == OKAY) / 2)


def alike(importance: Codes) -> Figures:
    """Return the weights of nuggets where all weigh the same, also those without importance."""
    return np.ones(len(importance))


@dataclass(frozen=True)
class WeightedMean:
    """The formula of a mean over nuggets: of what labels count, by weights that importance gives.

    It is 0 where no nugget has weight, as the track's tools have it. Where a nugget's importance is ABSENT, a mean
    that needs it is NaN for every answer.
    """

    counts: Callable[[Codes], Figures]
    weights: Callable[[Codes], Figures]
    needs_importance: bool = True

    def __call__(self, answers: Answers) -> Figures:
        weights = self.weights(answers.importance)
        if self.counts not in answers.counted:
            answers.counted[self.counts] = self.counts(answers.labels)
        scores: Figures = answers.counted[self.counts] @ weights / (weights.sum() or 1)
        if self.needs_importance and answers.lacks_importance:
            scores[:] = np.nan
        return scores


def length(answers: Answers) -> Figures:
    """Return the words of answers."""
    return answers.words


# The keys in JSONL are those of the nuggetizer's score files.
NUGGET_SCORES = Measures(
    all=(
        AnswerMeasure(
            key="vstrict",
            words="Vital, strict",
            label="V",
            below="strict",
            latex=r"$V_{\mathrm{strict}}$",
            json="strict_vital_score",
            formula=WeightedMean(strict, vital),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="v",
            words="Vital",
            label="V",
            latex="$V$",
            json="vital_score",
            formula=WeightedMean(graded, vital),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="wstrict",
            words="Weighted, strict",
            label="W",
            below="strict",
            latex=r"$W_{\mathrm{strict}}$",
            json="strict_weighted_score",
            formula=WeightedMean(strict, weighted),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="w",
            words="Weighted",
            label="W",
            latex="$W$",
            json="weighted_score",
            formula=WeightedMean(graded, weighted),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="astrict",
            words="All, strict",
            label="A",
            below="strict",
            latex=r"$A_{\mathrm{strict}}$",
            json="strict_all_score",
            formula=WeightedMean(strict, alike, needs_importance=False),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="a",
            words="All",
            label="A",
            latex="$A$",
            json="all_score",
            formula=WeightedMean(graded, alike, needs_importance=False),
            source=TREC_2024,
        ),
        AnswerMeasure(
            key="length",
            words="Length",
            label="L",
            latex="$L$",
            json="length",
            digits=2,
            formula=length,
            source="words, split at white space",
        ),
    ),
    title="Nugget scores",
    legend="V is over the vital nuggets, A over all, W over all with okay ones at half weight; strict counts support "
    "alone, the others partial support as a half. L is the answer's words. — is undefined.",
    lacking="some nugget has no label that counts there",
    unusual=("topics_without_vital", "topics_without_importance", "nuggets_left_out"),
)


def answer_scores(labels: npt.ArrayLike, importance: npt.ArrayLike, words: npt.ArrayLike | None = None) -> Figures:
    """Return the scores of answers to one topic: (answers, measures), in the order of NUGGET_SCORES.

    labels: (answers, nuggets); importance: (nuggets,); words: (answers,), without which length is NaN. An answer with a
    MISSING label has no score: NaN in all measures. Raises ValueError for any other label or importance.
    """
    given = within(labels, MISSING, SUPPORT, "labels")
    of_nuggets = within(importance, ABSENT, VITAL, "importance")
    if given.ndim != 2 or given.shape[1:] != of_nuggets.shape:
        raise ValueError(f"{given.shape} labels don't fit {of_nuggets.shape} nuggets")
    lengths = np.full(len(given), np.nan) if words is None else np.asarray(words, dtype=np.float64)
    lacks_importance = bool((of_nuggets == ABSENT).any())
    scores = NUGGET_SCORES.score(Answers(given.clip(NOT_SUPPORT), of_nuggets, lacks_importance, lengths, {}))
    scores[(given == MISSING).any(axis=1)] = np.nan
    return scores


def best_of_passages(labels: npt.ArrayLike) -> Codes:
    """Return the labels of a text that was labelled in passages: of each nugget the best one, (nuggets,).

    labels: (passages, nuggets). Where a passage has none, none is the best: MISSING.
    """
    given = np.asarray(labels, dtype=np.int8)
    return np.asarray(np.where((given == MISSING).any(axis=0), MISSING, given.max(axis=0)), dtype=np.int8)


def contributions(label: int, importance: int) -> dict[str, tuple[float, float]]:
    """Return what a nugget's label counts, and with which weight, in each measure that is a mean over nuggets."""
    labels, of_nuggets = np.array([label], dtype=np.int8), np.array([importance], dtype=np.int8)
    means = {one.key: one.formula for one in NUGGET_SCORES.all if isinstance(one.formula, WeightedMean)}
    return {key: (mean.counts(labels)[0], mean.weights(of_nuggets)[0]) for key, mean in means.items()}
