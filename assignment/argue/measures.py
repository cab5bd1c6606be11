"""The measures of reports judged sentence by sentence: functions without a database, for notebooks too.

They are those of ARGUE (Mayfield et al., SIGIR 2024) as AUTO-ARGUE scores them (arXiv 2509.26184). A new measure is an
entry of ARGUE_SCORES.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.formulas import f1
from metaeval.stats.means import Figures
from metaeval.stats.measures import AnswerMeasure, Measures

# Which gold answers a sentence is asked about: those that refer to what it cites, all, or these and those without
# references.
REFERENCES, OPEN, WHERE_KNOWN = "references", "open", "where_known"
# Where a gold answer that is stated counts: where that citation attests the sentence, where all of its citations do, or
# always.
CITATION, ALL, ANY = "citation", "all", "no"
AND = "AND"
WEIGHTS = {"vital": 2.0, "okay": 1.0}
ARGUE = "AUTO-ARGUE, arXiv 2509.26184"

Judgment = bool | None  # None: it is asked for, and there is none
Answer = tuple[str, str]  # a question's key and a gold answer's id


class Gold(NamedTuple):
    """A gold answer of a question. references: the docids that state it."""

    id: str
    references: frozenset[str]


class Question(NamedTuple):
    """A question of a bank. aggregator: "OR", "AND" or "", which is as "OR"; importance: "vital", "okay" or ""."""

    key: str
    gold: tuple[Gold, ...]
    aggregator: str = ""
    importance: str = ""


class Citation(NamedTuple):
    """A citation of a sentence. answers: whether the sentence states each answer that it is asked about for it."""

    docid: str
    attests: Judgment
    answers: Mapping[Answer, Judgment] = {}


class Sentence(NamedTuple):
    """A sentence of a report, and what is said of it; what is not asked is False.

    needs: a citation; first: whether no sentence before says it; negative: a claim of absence, whose answers are
    those that it states. All three are asked only where it cites nothing.
    """

    citations: tuple[Citation, ...] = ()
    needs: Judgment = False
    first: Judgment = False
    negative: Judgment = False
    answers: Mapping[Answer, Judgment] = {}


def counted(questions: Iterable[Question], gate: str) -> list[Question]:
    """Return the questions that count, with those of their gold answers that do.

    Where the gate is REFERENCES, a gold answer without references can't be asked about; a question without gold answers
    never can.
    """
    kept = [
        one._replace(gold=tuple(gold for gold in one.gold if gold.references or gate != REFERENCES))
        for one in questions
    ]
    return [one for one in kept if one.gold]


def asked(questions: Iterable[Question], docid: str, gate: str) -> list[Answer]:
    """Return the answers that a sentence which cites a document is asked about. questions: those that count."""
    return [
        (one.key, gold.id)
        for one in questions
        for gold in one.gold
        if gate == OPEN or docid in gold.references or (gate == WHERE_KNOWN and not gold.references)
    ]


def all_answers(questions: Iterable[Question]) -> list[Answer]:
    """Return all answers, which a claim of absence is asked about. questions: those that count."""
    return [(one.key, gold.id) for one in questions for gold in one.gold]


def relevant(questions: Iterable[Question]) -> frozenset[str]:
    """Return the docids that any gold answer refers to."""
    return frozenset(docid for one in questions for gold in one.gold for docid in gold.references)


def weights(questions: Sequence[Question]) -> list[float]:
    """Return what questions weigh: 1 where none has an importance; else one without it weighs nothing."""
    if not any(one.importance for one in questions):
        return [1.0] * len(questions)
    return [WEIGHTS.get(one.importance, 0.0) for one in questions]


@dataclass(frozen=True)
class Counts:
    """What scores of reports are computed from: numbers of one report, or arrays of them, (reports,).

    sentences: that cite, or need a citation and are first. A number that hangs on a missing judgment is NaN.
    """

    sentences: Figures | float
    supported: Figures | float
    citations: Figures | float
    relevant: Figures | float
    supporting: Figures | float
    nuggets: Figures | float
    weight: Figures | float
    correct: Figures | float
    correct_weight: Figures | float

    @property
    def lacks_any(self) -> bool:
        """Whether some number hangs on a missing judgment."""
        return any(np.isnan(getattr(self, name)).any() for name in NAMES)


NAMES = tuple(field.name for field in fields(Counts))
UNKNOWN = Counts(*[math.nan] * len(NAMES))


def is_supported(sentence: Sentence) -> Judgment:
    """Say whether all documents that a sentence cites attest it."""
    return _every(one.attests for one in sentence.citations)


def is_confirmed(sentence: Sentence) -> Judgment:
    """Say whether a claim of absence is an answer to any question."""
    return None if None in sentence.answers.values() else True in sentence.answers.values()


def stated(sentences: Iterable[Sentence], match: str) -> set[Answer] | None:
    """Return the answers that a report states, as far as the match counts; None where a judgment is missing."""
    found: set[Answer] = set()
    for sentence in sentences:
        for answers, counts in _matches(sentence, match):
            if counts is None or None in answers.values():
                return None
            found |= {answer for answer, is_stated in answers.items() if is_stated and counts}
    return found


def _matches(sentence: Sentence, match: str) -> Iterator[tuple[Mapping[Answer, Judgment], Judgment]]:
    """Yield what a sentence says of answers, each with whether that counts."""
    for citation in sentence.citations:
        if citation.answers:
            supported = {CITATION: citation.attests, ALL: is_supported(sentence), ANY: True}
            yield citation.answers, supported[match]
    if sentence.answers:
        yield sentence.answers, sentence.negative


def is_answered(question: Question, answers: set[Answer]) -> bool:
    """Say whether a report that states these answers answers a question: all of it where it asks for all, or any."""
    given = [(question.key, gold.id) in answers for gold in question.gold]
    return all(given) if question.aggregator == AND else any(given)


def counts_of(sentences: Sequence[Sentence], questions: Sequence[Question], match: str) -> Counts:
    """Return the counts of a report. questions: those that count.

    A sentence without citations enters them where it needs one and is first: then it is unsupported. So is a claim of
    absence that answers nothing; one that does is in no count of sentences.
    """
    of_citations = [one for sentence in sentences for one in sentence.citations]
    citing = [sentence for sentence in sentences if sentence.citations]
    lacking = [_is_unsupported(sentence) for sentence in sentences if not sentence.citations]
    known, answers, weighing = relevant(questions), stated(sentences, match), weights(questions)
    is_right = None if answers is None else [is_answered(one, answers) for one in questions]
    return Counts(
        sentences=len(citing) + _number(lacking),
        supported=_number([is_supported(sentence) for sentence in citing]),
        citations=float(len(of_citations)),
        relevant=float(sum(one.docid in known for one in of_citations)),
        supporting=_number([one.attests for one in of_citations]),
        nuggets=float(len(questions)),
        weight=sum(weighing),
        correct=math.nan if is_right is None else float(sum(is_right)),
        correct_weight=math.nan if is_right is None else float(np.dot(is_right, weighing)),
    )


def _is_unsupported(sentence: Sentence) -> Judgment:
    """Say whether a sentence that cites nothing should."""
    if sentence.negative is None:
        return None
    if sentence.negative:
        confirmed = is_confirmed(sentence)
        return None if confirmed is None else not confirmed
    return _every((sentence.needs, sentence.first)) if sentence.needs is not False else False


def _every(judgments: Iterable[Judgment]) -> Judgment:
    given = list(judgments)
    return None if None in given else all(given)


def _number(judgments: Sequence[Judgment]) -> float:
    return math.nan if None in judgments else float(sum(map(bool, judgments)))


def pooled(counts: Counts) -> Counts:
    """Return the sums of the counts of reports, for scores that are micro."""
    return Counts(*(float(np.sum(getattr(counts, name))) for name in NAMES))


def joined(counts: Iterable[Counts]) -> Counts:
    """Return the counts of reports as arrays."""
    rows = [[getattr(one, name) for name in NAMES] for one in counts]
    return Counts(*np.array(rows, dtype=np.float64).reshape(len(rows), len(NAMES)).T)


def _share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Figures:
    """Return shares, 0 where there is nothing to divide by."""
    x, y = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found: Figures = np.divide(x, y, out=np.zeros(y.shape), where=y != 0)
    return found


def citation_relevance(counts: Counts) -> Figures:
    """Return the share of citations that a gold answer refers to."""
    return _share(counts.relevant, counts.citations)


def citation_support(counts: Counts) -> Figures:
    """Return the share of citations that attest their sentence."""
    return _share(counts.supporting, counts.citations)


def sentence_support(counts: Counts) -> Figures:
    """Return the share of supported sentences among those that cite or should."""
    return _share(counts.supported, counts.sentences)


def nugget_coverage(counts: Counts) -> Figures:
    """Return the share of questions that are answered."""
    return _share(counts.correct, counts.nuggets)


def nugget_coverage_weighted(counts: Counts) -> Figures:
    """Return the same by weight."""
    return _share(counts.correct_weight, counts.weight)


def f1_unweighted(counts: Counts) -> Figures:
    """Return the harmonic mean of sentence support and nugget coverage."""
    return f1(sentence_support(counts), nugget_coverage(counts))


def f1_weighted(counts: Counts) -> Figures:
    """Return the same with weighted nugget coverage."""
    return f1(sentence_support(counts), nugget_coverage_weighted(counts))


def _measure(
    name: str, label: str, formula: Callable[[Counts], Figures], below: str = "", key: str = ""
) -> AnswerMeasure[Counts]:
    """Return a measure. name: in published files; key: ours, where that is another measure's."""
    sub = rf"_{{\mathrm{{{below}}}}}" if below else ""
    return AnswerMeasure(
        key=key or name,
        label=label,
        below=below,
        words=f"{label}, {below}" if below else label,
        latex=rf"$\mathrm{{{label.replace(' ', '~')}}}{sub}$",
        json=key or name,
        formula=formula,
        source=ARGUE,
    )


# By the names that published files have, in their order.
FORMULAS: dict[str, Callable[[Counts], Figures]] = {
    "citation_relevance": citation_relevance,
    "citation_support": citation_support,
    "sentence_support": sentence_support,
    "nugget_coverage": nugget_coverage,
    "nugget_coverage_weighted": nugget_coverage_weighted,
    "f1": f1_unweighted,
    "f1_weighted": f1_weighted,
}

# The first one ranks: F1 within reports, so that a run's is the mean over topics, which is macro.
ARGUE_SCORES = Measures(
    all=(
        _measure("f1", "F1", f1_unweighted, key="argue_f1"),
        _measure("sentence_support", "Sentence support", sentence_support),
        _measure("nugget_coverage", "Nugget coverage", nugget_coverage),
        _measure("f1_weighted", "F1", f1_weighted, "weighted", key="argue_f1_weighted"),
        _measure("nugget_coverage_weighted", "Nugget coverage", nugget_coverage_weighted, "weighted"),
        _measure("citation_support", "Citation support", citation_support),
        _measure("citation_relevance", "Citation relevance", citation_relevance),
    ),
    title="Reports, sentence by sentence",
    legend="Sentence support is the share of sentences all of whose citations attest them, among those that cite or "
    "need a citation; nugget coverage the share of questions answered; F1 their harmonic mean within a report. "
    "Weighted: vital questions count 2, okay ones 1. Citation support and relevance are shares of citations. — is "
    "undefined.",
    lacking="some sentence has no judgment that its scores need",
    unusual=("topics_without_questions", "questions_without_weight", "sentences_cut"),
)
