"""The measures of support in answers: functions on arrays, without a database, for notebooks too.

A new measure is an entry of SUPPORT_SCORES. docs/researcher/scores.md says what was decided where the source is silent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.means import Codes, Figures, within
from metaeval.stats.measures import AnswerMeasure, Measures

FULL, PARTIAL, NONE, NOT_JUDGED, MISSING = 2, 1, 0, -1, -2  # NOT_JUDGED: the sentence was not worth verifying
SUPPORT_2025 = "TREC 2024 RAG track, arXiv 2504.15205, section 3.4, which judged the first citation of each sentence"
OVER_ALL = "the measures of arXiv 2504.15205 over all citations of a sentence, docs/researcher/scores.md"

Places = npt.NDArray[np.intp]


class Sentences:
    """The sentences of answers, by those of their citations that count.

    labels: (citations,) of these; sentence: (citations,), the sentence of each, by number; answer: (sentences,), the
    answer of each; size: how many answers; is_out: (sentences,), whether one leaves its answer if it has no judged
    citation.

    A sentence's weight is the mean of what its labels count, NOT_JUDGED ones left out.
    """

    def __init__(
        self, labels: Codes, sentence: Places, answer: Places, size: int, is_out: npt.NDArray[np.bool_]
    ) -> None:
        self._labels, self._sentence, self._answer, self._size = labels, sentence, answer, size
        self._judged = np.bincount(sentence[labels != NOT_JUDGED], minlength=len(answer))
        self._leaves = (is_out | (np.bincount(sentence, minlength=len(answer)) > 0)) & (self._judged == 0)
        self._weights: dict[Callable[[Codes], Figures], Figures] = {}

    def weights(self, counts: Callable[[Codes], Figures]) -> Figures:
        """Return the sums of the sentences' weights: (answers,)."""
        if counts not in self._weights:
            total = np.bincount(self._sentence, counts(self._labels), len(self._answer))
            self._weights[counts] = self._sums(total / np.maximum(self._judged, 1))
        return self._weights[counts]

    @cached_property
    def citing(self) -> Figures:
        """How many sentences have a judged citation: (answers,)."""
        return self._sums(self._judged > 0)

    @cached_property
    def remaining(self) -> Figures:
        """How many sentences do not leave their answer: (answers,)."""
        return self._sums(~self._leaves)

    def _sums(self, values: npt.NDArray[np.generic]) -> Figures:
        return np.bincount(self._answer, values, self._size).astype(np.float64)  # where there is nothing, numpy counts


class Answers(NamedTuple):
    """Answers, as formulas get them: their sentences by the first citation of each, and by all citations."""

    by_first: Sentences
    by_all: Sentences


def first_citation(answers: Answers) -> Sentences:
    """Return the sentences by the first citation of each."""
    return answers.by_first


def all_citations(answers: Answers) -> Sentences:
    """Return the sentences by all of their citations."""
    return answers.by_all


def weighted(labels: Codes) -> Figures:
    """Return what labels count where PARTIAL is a half."""
    return np.asarray(labels.clip(NONE) / FULL)


def hard(labels: Codes) -> Figures:
    """Return what labels count where only FULL does."""
    return np.asarray(labels == FULL, dtype=np.float64)


def citing(sentences: Sentences) -> Figures:
    """Return the denominator of precision."""
    return sentences.citing


def remaining(sentences: Sentences) -> Figures:
    """Return the denominator of recall."""
    return sentences.remaining


@dataclass(frozen=True)
class Share:
    """The formula of precision and recall: the sum of the sentences' weights / a number of sentences.

    0 where there is nothing to divide by: an empty answer, one that cites nothing, one of which nothing remains.
    """

    citations: Callable[[Answers], Sentences]
    counts: Callable[[Codes], Figures]
    number: Callable[[Sentences], Figures]

    def __call__(self, answers: Answers) -> Figures:
        sentences = self.citations(answers)
        scores: Figures = sentences.weights(self.counts) / np.maximum(self.number(sentences), 1)
        return scores


def _share(key: str, label: str, share: Share) -> AnswerMeasure[Answers]:
    """Return precision or recall by the name that it has in files, over the first citations or over all of them."""
    is_first = share.citations is first_citation
    return AnswerMeasure(
        key=key,
        label=label,
        words=key.removesuffix("_all").replace("_", " ").capitalize() + ("" if is_first else ", all citations"),
        below="" if is_first else "all",
        latex=rf"$\mathrm{{{label}}}$" if is_first else rf"$\mathrm{{{label}}}_{{\mathrm{{all}}}}$",
        json=key,
        formula=share,
        source=SUPPORT_2025 if is_first else OVER_ALL,
    )


SUPPORT_SCORES = Measures(
    all=(
        _share("weighted_precision", "WP", Share(first_citation, weighted, citing)),
        _share("weighted_recall", "WR", Share(first_citation, weighted, remaining)),
        _share("hard_precision", "HP", Share(first_citation, hard, citing)),
        _share("hard_recall", "HR", Share(first_citation, hard, remaining)),
        _share("weighted_precision_all", "WP", Share(all_citations, weighted, citing)),
        _share("weighted_recall_all", "WR", Share(all_citations, weighted, remaining)),
        _share("hard_precision_all", "HP", Share(all_citations, hard, citing)),
        _share("hard_recall_all", "HR", Share(all_citations, hard, remaining)),
    ),
    title="Support scores",
    legend="P, precision, is over the sentences with a judged citation, R, recall, over all sentences but those left "
    "out as not worth verifying. W is weighted (partial support counts a half), H hard (it counts nothing). A sentence "
    "counts by its first judged citation, under “all” by the mean over all that were judged. — is undefined.",
    lacking="some citation has no label that counts there",
    unusual=("citations_not_judged", "citations_without_text", "answers_citing_nothing", "unworthy_sentences_left_out"),
)


def answer_scores(
    labels: npt.ArrayLike,
    sentence: npt.ArrayLike,
    answer: npt.ArrayLike,
    answers: int | None = None,
    left_out: npt.ArrayLike | None = None,
) -> Figures:
    """Return the scores of answers: (answers, measures), in the order of SUPPORT_SCORES.

    labels: (citations,), those that are judged or were to be; sentence: (citations,), the number of each one's
    sentence, of all answers' sentences together and in their order, a sentence's first citation first; answer:
    (sentences,), the number of each one's answer. answers: how many there are, where the last ones have no sentence.
    left_out: (sentences,), whether a sentence leaves its answer where it has no citation; without it, none does.

    NOT_JUDGED citations are in no mean; a sentence with such ones alone (or first, where the first counts) leaves the
    answer. A sentence without a citation has the weight 0, so it is not in precision and lowers recall, unless it is
    left out. An answer with a MISSING label has no score: NaN in all measures. Raises ValueError for any other label,
    and for numbers that are out of order or of nothing.
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
    by_first = Sentences(given[is_first], of_sentence[is_first], of_answer, size, is_out)
    scores = SUPPORT_SCORES.score(Answers(by_first, Sentences(given, of_sentence, of_answer, size, is_out)))
    scores[of_answer[of_sentence[given == MISSING]]] = np.nan
    return scores


def scores_of(answers: Sequence[Sequence[Sequence[int]]]) -> Figures:
    """Return the scores of answers that are given as lists: of each its sentences, of each of these its labels."""
    sentences = [labels for answer in answers for labels in answer]
    return answer_scores(
        np.array([label for labels in sentences for label in labels], dtype=np.int8),
        np.repeat(np.arange(len(sentences)), [len(labels) for labels in sentences]),
        np.repeat(np.arange(len(answers)), [len(answer) for answer in answers]),
        len(answers),
    )


def contributions(label: int, is_first: bool, judged: int) -> dict[str, tuple[float, float]]:
    """Return what a citation's label counts, and with which weight in its sentence, in each measure that is a share.

    is_first: whether it is the sentence's first one; judged: how many citations of the sentence are judged.
    """
    labels = np.array([label], dtype=np.int8)
    shares = {one.key: one.formula for one in SUPPORT_SCORES.all if isinstance(one.formula, Share)}
    return {
        key: (share.counts(labels)[0], float(is_first) if share.citations is first_citation else 1 / judged)
        for key, share in shares.items()
    }


def _in_order(numbers: Places, size: int, what: str) -> None:
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= size or (np.diff(numbers) < 0).any()):
        raise ValueError(f"{what} are numbers from 0 to {size - 1}, in order")
