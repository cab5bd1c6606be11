"""The measures of graded questions in answers: functions on arrays, without a database, for notebooks too.

They are those of RUBRIC and EXAM: Farzi and Dietz, "Pencils Down! Automatic Rubric-based Evaluation of
Retrieve/Generate Systems" (ICTIR 2024). A new measure is an entry of GRADE_SCORES.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assignment.measures import ABSENT, VITAL, weighted
from metaeval.stats.means import Codes, Figures, within
from metaeval.stats.measures import AnswerMeasure, Measures

LARGEST, MISSING = 5, -1
USUAL = 4  # the least grade that covers a question, unless a measure says otherwise
LEAST = range(1, LARGEST + 1)  # those for which there are measures
RUBRIC = "RUBRIC, Farzi and Dietz, ICTIR 2024"


class Answers(NamedTuple):
    """The answers to a topic, as formulas get them.

    grades: (answers, questions), 0 to LARGEST, at least one question; importance: (questions,), VITAL, OKAY or ABSENT;
    words: (answers,); reaches: (answers,), whether what an answer reaches is counted among what can be reached.
    """

    grades: Codes
    importance: Codes
    words: Figures
    reaches: npt.NDArray[np.bool_]


def largest(answers: Answers) -> Figures:
    """Return the largest grades."""
    return np.asarray(answers.grades.max(axis=1), dtype=np.float64)


def average(answers: Answers) -> Figures:
    """Return the mean grades."""
    return np.asarray(answers.grades.mean(axis=1))


def covered(answers: Answers) -> Figures:
    """Return how many questions are covered."""
    return np.asarray((answers.grades >= USUAL).sum(axis=1), dtype=np.float64)


def weighted_cover(answers: Answers) -> Figures:
    """Return the cover with okay questions at half the weight of vital ones; NaN where one's importance is ABSENT."""
    if (answers.importance == ABSENT).any():
        return np.full(len(answers.grades), np.nan)
    weights = weighted(answers.importance)
    return np.asarray((answers.grades >= USUAL) @ weights / weights.sum())


def length(answers: Answers) -> Figures:
    """Return the words of answers."""
    return answers.words


@dataclass(frozen=True)
class Cover:
    """The formula of the share of questions with at least such a grade."""

    least: int

    def __call__(self, answers: Answers) -> Figures:
        return np.asarray((answers.grades >= self.least).mean(axis=1))


@dataclass(frozen=True)
class CoverOfReached:
    """The formula of the share of those questions for which any answer of the topic has at least such a grade.

    It is 0 where none has. It depends on whose answers are graded.
    """

    least: int

    def __call__(self, answers: Answers) -> Figures:
        has = answers.grades >= self.least
        is_reached = has[answers.reaches].any(axis=0)
        return np.asarray(has[:, is_reached].sum(axis=1) / max(1, is_reached.sum()))


def _cover(least: int) -> AnswerMeasure[Answers]:
    key = "NUGGET_COVERAGE" + (f"_{least}" if least != USUAL else "")
    return AnswerMeasure(
        key=key,
        words=f"Cover, from grade {least}",
        label="cover",
        below=str(least),
        latex=rf"$\mathrm{{cover}}_{least}$",
        json=key,
        formula=Cover(least),
        source=RUBRIC,
        is_variant=least != USUAL,
    )


def _cover_of_reached(least: int) -> AnswerMeasure[Answers]:
    key = f"N_COVER_{least}"
    return AnswerMeasure(
        key=key,
        words=f"n-cover, from grade {least}",
        label="n-cover",
        below=str(least),
        latex=rf"$\mathrm{{n\mbox{{-}}cover}}_{least}$",
        json=key,
        formula=CoverOfReached(least),
        source=RUBRIC,
        is_relative=True,
        is_variant=least != USUAL,
    )


# The keys are the names that leaderboards of the field have.
GRADE_SCORES = Measures(
    all=(
        _cover(USUAL),
        _cover_of_reached(USUAL),
        AnswerMeasure(
            key="AVG_GRADE",
            words="Mean grade",
            label="mean grade",
            latex=r"$\overline{g}$",
            json="AVG_GRADE",
            formula=average,
            source=RUBRIC,
        ),
        AnswerMeasure(
            key="MAX_GRADE",
            words="Largest grade",
            label="largest grade",
            latex=r"$\max g$",
            json="MAX_GRADE",
            digits=2,
            formula=largest,
            source=RUBRIC,
        ),
        AnswerMeasure(
            key="COVERED_COUNT",
            words="Questions covered",
            label="covered",
            latex=r"$n_{\mathrm{covered}}$",
            json="COVERED_COUNT",
            digits=2,
            formula=covered,
            source=RUBRIC,
        ),
        AnswerMeasure(
            key="NUGGET_COVERAGE_WEIGHTED",
            words=f"Weighted cover, from grade {USUAL}",
            label="cover",
            below="weighted",
            latex=r"$\mathrm{cover}_{\mathrm{weighted}}$",
            json="NUGGET_COVERAGE_WEIGHTED",
            formula=weighted_cover,
            source="Assay, with the weights of AUTO-ARGUE",
        ),
        *(_cover(least) for least in LEAST if least != USUAL),
        *(_cover_of_reached(least) for least in LEAST if least != USUAL),
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
    title="Grades of questions",
    legend="Cover is the share of the questions with at least that grade, n-cover the share of those that any of the "
    "topic's answers reached at that grade, 0 where none did: compare it within one set of runs alone. Covered "
    "questions are those from grade 4 on; weighted cover counts okay ones at half weight. L is the answer's words. "
    "— is undefined.",
    lacking="some question has no grade that counts there",
    unusual=("topics_without_importance", "questions_left_out", "n_cover_runs", "n_cover_run_set"),
)


def grade_scores(
    grades: npt.ArrayLike,
    words: npt.ArrayLike | None = None,
    reaches: npt.ArrayLike | None = None,
    importance: npt.ArrayLike | None = None,
) -> Figures:
    """Return the scores of answers to one topic: (answers, measures), in the order of GRADE_SCORES.

    grades: (answers, questions); words: (answers,), without which length is NaN; reaches: (answers,), as Answers has
    it, by default all; importance: (questions,), without which it is ABSENT. An answer with a MISSING grade has no
    score: NaN in all measures; what it reaches counts. Without questions all is NaN. Raises ValueError for any other
    grade or importance.
    """
    given = within(grades, MISSING, LARGEST, "grades")
    if given.ndim != 2:
        raise ValueError("grades are of answers and questions")
    questions = given.shape[1]
    of_questions = within(np.full(questions, ABSENT) if importance is None else importance, ABSENT, VITAL, "importance")
    if of_questions.shape != (questions,):
        raise ValueError(f"importance of shape {of_questions.shape} doesn't fit {questions} questions")
    if not questions:
        return np.full((len(given), len(GRADE_SCORES.all)), np.nan)
    lengths = np.full(len(given), np.nan) if words is None else np.asarray(words, dtype=np.float64)
    reach = np.ones(len(given), dtype=bool) if reaches is None else np.asarray(reaches, dtype=bool)
    scores = GRADE_SCORES.score(Answers(given.clip(0), of_questions, lengths, reach))
    scores[(given == MISSING).any(axis=1)] = np.nan
    return scores


def contributions(grade: int, importance: int) -> dict[str, tuple[float, float]]:
    """Return what a question's grade counts, and with which weight, in each measure that is a mean over questions."""
    # As the only question of its bank, with an importance: a mean over that alone is what the grade counts.
    is_vital = np.array([VITAL], dtype=np.int8)
    one = Answers(np.array([[grade]], dtype=np.int8), is_vital, np.zeros(1), np.ones(1, dtype=bool))
    by_importance = float(weighted(np.array([importance], dtype=np.int8))[0])
    return {
        measure.key: (float(measure.formula(one)[0]), by_importance if measure.formula is weighted_cover else 1.0)
        for measure in GRADE_SCORES.all
        if measure.formula in (average, weighted_cover) or isinstance(measure.formula, Cover)
    }
