"""Support scores of answers: pure functions on arrays, without a database, usable from a notebook.

The measures are those of the TREC 2024 RAG track's study of support (arXiv 2504.15205), which judged the first citation
of each sentence; docs/scores.md says what was decided where the paper is silent. Of citations a label is FULL, PARTIAL,
NONE, NOT_JUDGED (the sentence was not worth verifying) or MISSING.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import COMPLETE as COMPLETE  # for notebooks: with what scores of runs are made, too
from metaeval.stats.means import INCOMPLETE as INCOMPLETE
from metaeval.stats.means import UNANSWERED as UNANSWERED
from metaeval.stats.means import Figures, within
from metaeval.stats.means import Policy as Policy
from metaeval.stats.means import run_scores as run_scores
from metaeval.stats.means import spread as spread

FULL, PARTIAL, NONE, NOT_JUDGED, MISSING = 2, 1, 0, -1, -2
_OF_FIRST = ("weighted_precision", "weighted_recall", "hard_precision", "hard_recall")
MEASURES = (*_OF_FIRST, *(f"{name}_all" for name in _OF_FIRST))


def answer_scores(
    labels: npt.ArrayLike,
    sentence: npt.ArrayLike,
    answer: npt.ArrayLike,
    answers: int | None = None,
    left_out: npt.ArrayLike | None = None,
) -> Figures:
    """Return the scores of answers: (answers, MEASURES).

    labels: (citations,), those that are judged or were to be; sentence: (citations,), the number of each one's
    sentence, of all answers' sentences together and in their order, a sentence's first citation first; answer:
    (sentences,), the number of each one's answer. answers: how many there are, where the last ones have no sentence.
    left_out: (sentences,), whether a sentence leaves its answer where it has no citation; without it, none does.

    With s = 1 for FULL and 0 for NONE, and 0.5 for PARTIAL where the measure is not hard (there 0), the weight w of a
    sentence is the s of its first citation, in the measures with _all the mean of s over its citations. NOT_JUDGED ones
    are in no mean; a sentence with such ones alone (or first, where the first counts) leaves the answer. Then

        precision = sum of w / number of sentences with a citation
        recall    = sum of w / number of sentences

    A sentence without a citation has w = 0, so it is not in precision and lowers recall, unless it is left out. Where
    there is nothing to divide by (an empty answer, one that cites nothing, one of which nothing is left) the score is
    0. An answer with a MISSING label has no score: NaN in all eight. Raises ValueError for any other label, and for
    numbers that are out of order or of nothing.
    """
    given = within(labels, MISSING, FULL, "labels")
    of_sentence, of_answer = np.asarray(sentence, dtype=np.intp), np.asarray(answer, dtype=np.intp)
    sentences = len(of_answer)
    size = int(of_answer.max(initial=-1)) + 1 if answers is None else answers
    if given.ndim != 1 or given.shape != of_sentence.shape:
        raise ValueError(f"{given.shape} labels don't fit {of_sentence.shape} sentences' numbers")
    _in_order(of_sentence, sentences, "sentences of citations")
    _in_order(of_answer, size, "answers of sentences")
    is_out = np.zeros(sentences, dtype=bool) if left_out is None else np.asarray(left_out, dtype=bool)
    if is_out.shape != of_answer.shape:
        raise ValueError(f"left_out of {is_out.shape} doesn't fit {of_answer.shape} sentences")
    is_first = np.diff(of_sentence, prepend=-1) > 0
    found = np.zeros((size, 2, 2, 2))  # of answers: on the first citation and on all; weighted and hard; two measures
    for at, counted in enumerate((is_first, np.ones_like(is_first))):
        cited, said = of_sentence[counted], given[counted]
        judged = np.bincount(cited[said != NOT_JUDGED], minlength=sentences)
        is_judged = judged > 0
        leaves = (is_out | (np.bincount(cited, minlength=sentences) > 0)) & ~is_judged
        of_both = _sums(is_judged, of_answer, size), _sums(~leaves, of_answer, size)
        for kind, s in enumerate(label_values(said)):
            weight = np.bincount(cited, s, sentences) / np.maximum(judged, 1)
            total = _sums(weight, of_answer, size)
            for measure, number in enumerate(of_both):
                found[:, at, kind, measure] = total / np.maximum(number, 1)
    scores: Figures = found.reshape(size, len(MEASURES))
    scores[of_answer[of_sentence[given == MISSING]]] = np.nan
    return scores


def label_values(labels: npt.NDArray[Any]) -> Figures:
    """Return what labels count, in the weighted measures and in the hard ones: (2, ...)."""
    found: Figures = np.stack([labels.clip(NONE) / FULL, labels == FULL])
    return found


def scores_of(answers: Sequence[Sequence[Sequence[int]]]) -> Figures:
    """Return the scores of answers that are given as lists: of each its sentences, of each of these its labels."""
    sentences = [labels for answer in answers for labels in answer]
    return answer_scores(
        np.array([label for labels in sentences for label in labels], dtype=np.int8),
        np.repeat(np.arange(len(sentences)), [len(labels) for labels in sentences]),
        np.repeat(np.arange(len(answers)), [len(answer) for answer in answers]),
        len(answers),
    )


def _in_order(numbers: npt.NDArray[np.intp], size: int, what: str) -> None:
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= size or (np.diff(numbers) < 0).any()):
        raise ValueError(f"{what} are numbers from 0 to {size - 1}, in order")


def _sums(values: npt.NDArray[np.generic], of_answer: npt.NDArray[np.intp], size: int) -> Figures:
    """Return the sums over the sentences of each answer."""
    return np.bincount(of_answer, values, size).astype(np.float64)  # where there is nothing to sum, numpy counts
