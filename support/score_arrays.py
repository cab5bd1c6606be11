"""The support scores of a condition as arrays, from what stands on its sheets."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BigIntegerField, CharField, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Cast, Concat

from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import without_practice
from assessor.labels.models import Label
from assessor.labels.queries import COUNTED, letter_of
from assessor.scores.loading import (
    Cell,
    Join,
    Labels,
    RunName,
    answers_to,
    as_stored,
    parsed,
    run_names,
    take,
    what_counts,
)
from assessor.studies.panels import codes_by_answer, is_soft, mean_of_members
from assessor.work.judging_pool import judging_pool_of
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Codes, Figures
from metaeval.stats.measures import Measures
from support import citations
from support.measures import FULL, MISSING, NONE, NOT_JUDGED, PARTIAL, SUPPORT_SCORES, answer_scores
from support.models import SupportJudgment, SupportSheet

_AT_A_TIME = 2_000
# As bytes, which numpy takes without a loop.
_LETTERS, _NONE, _UNKNOWN = "fpnx", "-", "?"  # of the labels, of no label, of one that is none of them
_OF_LETTERS = bytes(code % 256 for code in (FULL, PARTIAL, NONE, NOT_JUDGED, MISSING))
_CODES = bytes.maketrans(f"{_LETTERS}{_NONE}".encode(), _OF_LETTERS)
_NAMES = ("pk", "answer__topic", "answer__run", "answer__apart", "answer", "without_text")
_TEXTS = ("extras", "answer__content")
_WORTHY = "verification_worthy"  # NIST's key of a sentence
_NOT_WORTHY = ("0", 0)  # and so false
_SENTENCE = 24  # bits: no line that is imported is long enough for as many citations in a sentence
_LETTER = letter_of((*citations.LABELS, citations.NOT_JUDGED), _LETTERS, _NONE, _UNKNOWN)
# "0,16777216:fp": the citations' places, of the sentence in the high bits, and the letters of their labels.
_PLACE = Cast(Cast("sentence", BigIntegerField()) * 2**_SENTENCE + F("citation"), CharField())
_JOINED = Concat(Join(_PLACE, Value(",")), Value(":"), Join("letter", Value("")))


class ScoredTopic(NamedTuple):
    """A judged topic, with what makes its scores other than usual, over all runs.

    citations: those that count or are to be judged; not_judged: those of them that leave their answer; without_text:
    those that nobody can judge, as their segments are not loaded; citing_nothing: answers that are 0 for it; unworthy:
    sentences that a file marks as not worth verifying and of which it judges no citation.
    """

    pk: int
    qid: str
    title: str
    citations: int
    not_judged: int
    without_text: int
    citing_nothing: int
    unworthy: int


class Scores(NamedTuple):
    """All scores of a condition by the measures of SUPPORT_SCORES, as assessor.scores.loading has them.

    leaves_out_unworthy: whether sentences that are not worth verifying are left out of recall where they cite nothing.
    has_canaries: whether there are labels of canaries, too.
    """

    runs: list[RunName]
    topics: list[ScoredTopic]
    scores: Figures
    states: Codes
    leaves_out_unworthy: bool
    has_canaries: bool = False

    @property
    def measures(self) -> Measures:
        """What tables call the scores."""
        return SUPPORT_SCORES

    @property
    def unusual(self) -> dict[str, int | str]:
        """What makes the scores other than usual."""
        return self.measures.count_unusual(
            self.not_judged, self.without_text, self.citing_nothing, self.unworthy if self.leaves_out_unworthy else 0
        )

    @property
    def not_judged(self) -> int:
        """How many citations leave their answers, as their sentences were not worth verifying."""
        return sum(topic.not_judged for topic in self.topics)

    @property
    def without_text(self) -> int:
        """How many citations nobody can judge, as their segments are not loaded."""
        return sum(topic.without_text for topic in self.topics)

    @property
    def citing_nothing(self) -> int:
        """How many answers cite nothing."""
        return sum(topic.citing_nothing for topic in self.topics)

    @property
    def unworthy(self) -> int:
        """How many sentences are marked as not worth verifying, with no citation that is judged."""
        return sum(topic.unworthy for topic in self.topics)


class _Said(NamedTuple):
    """What counts of sheets, a row for each, and of all their labels.

    counts: as the last fields of ScoredTopic. sheet: of each label, its row; item, code: as Labels has them.
    """

    figures: Figures
    counts: Any
    sheet: Any
    item: Any
    code: Codes


def load_scores(condition: Condition) -> Scores:
    """Compute all scores of a support condition, as load_with_labels says."""
    return load_with_labels(condition)[0]


Revised = Mapping[tuple[int, int], int]  # codes of labels, by answer's key and item as Labels has it


def load_with_labels(
    condition: Condition, revised: Revised | None = None, *, of_canaries: bool = False
) -> tuple[Scores, Labels]:
    """Compute all scores of a support condition from its sheets, read a few thousand at a time.

    revised: labels in the place of those that stand. of_canaries: of these runs alone, which are else left out.

    Runs and judged topics are those with a sheet. A cell is incomplete where the run answered the topic and has no
    sheet, or one on which a citation that is asked has no label that counts, or a sentence's first citation is not
    asked: of that nobody said anything, which is not the same as no support. A file says itself what was judged: in
    its place any one that is asked is enough, or the mark that the sentence is not worth verifying where the protocol
    leaves such sentences out. One that is not judged, as it is planned, is outside.
    """
    cells: dict[int, dict[int, Cell[int]]] = defaultdict(dict)  # by topic and run; of each the place of its scores
    if is_soft(condition):
        return mean_of_members(condition, load_scores), Labels.joined([])
    if condition.is_panel:
        of_panel = codes_by_answer(condition)
        revised = {(answer, item): code for answer, codes in of_panel.items() for item, code in codes.items()}
    parts: list[_Said] = []
    answers: list[int] = []
    start = 0
    for chunk in _chunks(condition):
        for at, (_, topic, run, is_apart, answer, *_) in enumerate(chunk, start):
            take(cells[topic], run, Cell(is_apart, at))
            answers.append(answer)
        parts.append(
            _scored(
                chunk,
                start,
                is_imported=condition.is_imported,
                leaves_out_unworthy=condition.protocol.leave_out_unworthy,
                revised=revised or {},
                is_panel=condition.is_panel,
            )
        )
        start += len(chunk)
    said = _joined(parts)
    judged_runs = run_names({run for of_topic in cells.values() for run in of_topic}, condition)
    runs = [run for run in judged_runs if run.is_canary == of_canaries]
    left_out = {run.pk for run in judged_runs} - {run.pk for run in runs}
    if left_out:
        cells = {topic: {run: of[run] for run in of.keys() - left_out} for topic, of in cells.items()}
        cells = {topic: of for topic, of in cells.items() if of}
    names = Topic.objects.filter(pk__in=cells).values_list("pk", "qid", "title")
    topics = sorted(names, key=lambda topic: topic[1])
    own = answers_to(cells).who_answered(runs, cells)
    place = {run.pk: at for at, run in enumerate(runs)}
    scores = np.zeros((len(runs), len(topics), len(SUPPORT_SCORES.all)))
    states = np.full((len(runs), len(topics)), UNANSWERED, dtype=np.int8)
    # By sheet; those that don't count have no run.
    run_of, topic_of = np.zeros((2, len(answers)), dtype=np.int64)
    judged = judging_pool_of(condition)
    scored = []
    for at, (pk, qid, title) in enumerate(topics):
        of_topic = cells[pk]
        if condition.is_panel:  # some members may judge what its quorum does not
            of_topic = {run: cell for run, cell in of_topic.items() if judged.holds(pk, run)}
        found, lacking = what_counts(condition, of_topic, own[pk])
        rows, counted = [place[run] for run in found], list(found.values())
        run_of[counted], topic_of[counted] = list(found), pk
        scores[rows, at] = said.figures[counted]
        states[rows, at] = COMPLETE
        scores[[place[run] for run in lacking], at] = np.nan
        states[np.isnan(scores[:, at]).all(axis=1), at] = INCOMPLETE
        outside = [place[run.pk] for run in runs if run.pk not in found and not judged.holds(pk, run.pk)]
        scores[outside, at] = np.nan
        states[outside, at] = OUTSIDE
        scored.append(ScoredTopic(pk, qid, title, *said.counts[counted].sum(axis=0).tolist()))
    counts = run_of[said.sheet] > 0
    sheet = said.sheet[counts]
    owner = np.array(answers, dtype=np.int64)[sheet]
    by_rule = np.zeros(len(owner), dtype=bool)  # what cites nothing has no label here
    labels = Labels(topic_of[sheet], run_of[sheet], owner, said.item[counts], said.code[counts], by_rule)
    has_canaries = any(run.is_canary for run in judged_runs) and not condition.is_panel
    return Scores(runs, scored, scores, states, condition.protocol.leave_out_unworthy, has_canaries), labels


def revised_codes(condition: Condition, labels: Mapping[tuple[int, str], str]) -> Revised:
    """Return other labels of a condition's citations as load_with_labels() takes them: also those of equal pairs.

    A label stands on all pairs that are equal, so one that is judged again does too. labels: by answer's key and
    citation.
    """
    rows = SupportJudgment.everything.filter(sheet__condition=condition).exclude(state=Label.State.REMOVED)
    rows = rows.order_by("pk")
    columns = ("sheet__answer", "sentence", "citation", "equal_to")
    code_of = dict(zip(citations.LABELS, (FULL, PARTIAL, NONE), strict=True))
    found: dict[tuple[int, int], int] = {}
    alike: dict[int, int] = {}
    for answer, sentence, citation, first in rows.filter(
        sheet__answer__in={answer for answer, _ in labels}
    ).values_list(*columns):
        if label := labels.get((answer, citations.key_of(sentence, citation))):
            code = found[answer, (sentence << _SENTENCE) + citation] = code_of[label]
            if first is not None:
                alike.setdefault(first, code)
    for answer, sentence, citation, first in rows.filter(equal_to__in=alike).values_list(*columns):
        found.setdefault((answer, (sentence << _SENTENCE) + citation), alike[first])
    return found


def key_of_item(item: int) -> str:
    """Return how a sheet names a citation, by its item as Labels has it."""
    return citations.key_of(item >> _SENTENCE, item & (2**_SENTENCE - 1))


def docids_of(condition: Condition) -> dict[tuple[int, int], str]:
    """Return what a condition's citations cite, by answer's key and item as Labels has them."""
    rows = SupportJudgment.everything.filter(sheet__condition__in=condition.label_sources)
    rows = rows.exclude(state=Label.State.REMOVED).order_by()
    found = rows.values_list("sheet__answer", "sentence", "citation", "docid").iterator(_AT_A_TIME)
    return {(answer, (sentence << _SENTENCE) + citation): docid for answer, sentence, citation, docid in found}


def aided_labels(condition: Condition) -> set[tuple[int, int]]:
    """Return what counts with another's label, was labelled beside a model's, or is equal to what was labelled.

    By answer's key and item as Labels has it.
    """
    is_equal = Q(equal_to__isnull=False) & ~Q(equal_to=F("pk"))
    aided = Q(resolved_value__isnull=False) | Q(shown_value__isnull=False) | is_equal
    rows = SupportJudgment.everything.filter(aided, sheet__condition=condition).order_by()
    found = rows.values_list("sheet__answer", "sentence", "citation")
    return {(answer, (sentence << _SENTENCE) + citation) for answer, sentence, citation in found}


def _chunks(condition: Condition) -> Iterator[list[tuple[Any, ...]]]:
    """Yield what is needed of a condition's sheets, by _NAMES and _TEXTS, and last _JOINED of what they ask."""
    rows: Iterable[tuple[Any, ...]] = chain.from_iterable(map(_rows, condition.label_sources))
    if condition.is_panel:  # of each answer the sheet of the first member that has one
        rows = _first_of_each(rows)
    while chunk := list(islice(rows, _AT_A_TIME)):
        yield chunk


def _first_of_each(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    seen, at = set(), _NAMES.index("answer")
    for row in rows:
        if row[at] not in seen:
            seen.add(row[at])
            yield row


def _rows(condition: Condition) -> Iterator[tuple[Any, ...]]:
    sheets = without_practice(SupportSheet.objects.filter(condition=condition), "answer").order_by()
    asked = SupportJudgment.everything.filter(sheet=OuterRef("pk")).exclude(state=Label.State.REMOVED).order_by()
    # One row an answer: to fetch a row for each label takes twice as long.
    joined = asked.alias(counted=COUNTED).alias(letter=_LETTER).values_list(_JOINED)
    return sheets.values_list(*_NAMES, *as_stored(*_TEXTS), Subquery(joined)).iterator(_AT_A_TIME)


def _joined(parts: Sequence[_Said]) -> _Said:
    none = np.zeros(0, dtype=np.int64)
    nothing = _Said(
        np.zeros((0, len(SUPPORT_SCORES.all))), np.zeros((0, 5), dtype=np.int64), none, none, none.astype(np.int8)
    )
    return _Said(*map(np.concatenate, zip(nothing, *parts, strict=True)))


def _unworthy(extras: str, sentences: int) -> Iterable[bool]:
    """Return for each sentence whether a line of a file, by the further keys of it, marks it as not worth verifying."""
    if f'"{_WORTHY}"' not in extras:
        return repeat(False, sentences)
    marked = json.loads(extras).get("sentences", {})
    return [marked.get(str(at), {}).get(_WORTHY) in _NOT_WORTHY for at in range(sentences)]


def _scored(
    chunk: list[tuple[Any, ...]],
    start: int,
    *,
    is_imported: bool,
    leaves_out_unworthy: bool,
    revised: Revised,
    is_panel: bool,
) -> _Said:
    """Return the scores of sheets, of which the first is in row `start`; NaN where one is incomplete."""
    *_, without_text, extras_texts, contents, all_joined = zip(*chunk, strict=True)
    all_sentences = parsed(contents)
    all_places, all_letters = zip(*((joined or ":").split(":") for joined in all_joined), strict=True)
    letters = "".join(all_letters)
    if _UNKNOWN in letters:
        raise ValueError(f"A label of support is none of {', '.join((*citations.LABELS, citations.NOT_JUDGED))}.")
    codes = np.frombuffer(letters.encode().translate(_CODES), dtype=np.int8)
    sheet = np.repeat(np.arange(len(chunk)), list(map(len, all_letters)))
    of_all = ",".join(filter(None, all_places))
    item = np.array(of_all.split(",") if of_all else [], dtype=np.int64)
    if revised or is_panel:
        owner = np.array([row[_NAMES.index("answer")] for row in chunk])[sheet]
        others = np.where(codes == NOT_JUDGED, NOT_JUDGED, MISSING) if is_panel else codes  # a panel has its own alone
        given = zip(owner.tolist(), item.tolist(), others.tolist(), strict=True)
        codes = np.array([revised.get((answer, of_it), code) for answer, of_it, code in given], dtype=np.int8)
    place = np.stack([item >> _SENTENCE, item & (2**_SENTENCE - 1)], axis=1)
    sizes = np.array([len(sentences) for sentences in all_sentences])
    if (beyond := place[:, 0] >= sizes[sheet]).any():
        raise ValueError(f"Support sheet {chunk[sheet[beyond][0]][0]} asks about a sentence that its answer has not.")
    answer = np.repeat(np.arange(len(chunk)), sizes)
    cites = np.array([bool(one["citations"]) for sentences in all_sentences for one in sentences], dtype=bool)
    sentence = (np.cumsum(sizes) - sizes)[sheet] + place[:, 0]
    order = np.lexsort((place[:, 1], sentence))
    marks = map(_unworthy, extras_texts, sizes)
    is_unworthy = np.fromiter(chain.from_iterable(marks), dtype=bool, count=len(answer))
    is_unworthy &= np.bincount(sentence, minlength=len(answer)) == 0
    is_out = is_unworthy & leaves_out_unworthy
    figures = answer_scores(codes[order], sentence[order], answer, len(chunk), is_out)
    is_enough = is_imported | (place[:, 1] == 0)
    is_asked = np.bincount(sentence[is_enough], minlength=len(answer)) > 0
    figures[answer[cites & ~is_asked & ~is_out]] = np.nan
    counts = (
        np.bincount(sheet, minlength=len(chunk)),
        np.bincount(sheet[codes == NOT_JUDGED], minlength=len(chunk)),
        without_text,
        np.bincount(answer[cites], minlength=len(chunk)) == 0,
        np.bincount(answer[is_unworthy], minlength=len(chunk)),
    )
    is_label = codes >= NONE
    return _Said(
        figures, np.stack(counts, axis=1).astype(np.int64), sheet[is_label] + start, item[is_label], codes[is_label]
    )
