"""The scores of a condition as arrays, from what stands on its answer sheets."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import CharField, Exists, OuterRef, Subquery, Value
from django.db.models.functions import Cast, Concat

from assessor.campaigns.models import Answer, Condition
from assessor.labels.queries import COUNTED, letter_of
from assessor.scores.loading import Cell, Join, Labels, RunName, run_names, take, what_counts, who_answered
from assessor.studies.panels import codes_by_answer
from assessor.work.judging_pool import judging_pool_of
from assignment.label_kind import kind_of_nuggets
from assignment.measures import ABSENT, MISSING, NUGGET_SCORES, OKAY, VITAL, best_of_passages
from assignment.models import AnswerSheet, Assignment, LeftOut
from assignment.queries import scored_editions
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Codes, Figures
from metaeval.stats.measures import Measures
from nuggets.models import BankEdition

_AT_A_TIME = 2_000
IMPORTANCE = {"vital": VITAL, "okay": OKAY, "": ABSENT}
# As bytes, which numpy takes without a loop.
_NO_LABEL = bytes([MISSING % 256])
# Of the labels in ascending order, of no label, of one that is none of them.
_LETTERS, _NONE, _UNKNOWN = ascii_lowercase, "-", "?"
_CODES = bytes.maketrans(f"{_LETTERS}{_NONE}".encode(), bytes(range(len(_LETTERS))) + _NO_LABEL)
# "12,13,14:caa": the nuggets' ids, and the letters of their labels.
_JOINED = Concat(Join(Cast("nugget_id", CharField()), Value(",")), Value(":"), Join("letter", Value("")))


class ScoredTopic(NamedTuple):
    """A judged topic, with what makes its scores other than usual.

    nuggets: how many count; lacks_vital: none of them is vital, so V is 0; lacks_importance: some have none, so V and W
    are undefined; left_out: the texts of those that an organizer left out, each with the reason.
    """

    pk: int
    qid: str
    title: str
    nuggets: int
    lacks_vital: bool
    lacks_importance: bool
    left_out: list[tuple[str, str]]


class Scores(NamedTuple):
    """All scores of a condition, as assessor.scores.loading has them.

    uncounted: the topics on which no nugget counts, so that there can be no score; they are not among the topics.
    has_canaries: whether there are labels of canaries, too.
    """

    runs: list[RunName]
    topics: list[ScoredTopic]
    scores: Figures
    states: Codes
    uncounted: list[ScoredTopic]
    measures: Measures = NUGGET_SCORES
    has_canaries: bool = False

    @property
    def unusual(self) -> dict[str, int | str]:
        """What makes the scores other than usual."""
        return self.measures.count_unusual(self.without_vital, self.without_importance, self.left_out)

    @property
    def without_vital(self) -> int:
        """On how many topics no nugget is vital."""
        return sum(topic.lacks_vital for topic in self.topics)

    @property
    def without_importance(self) -> int:
        """On how many topics some nugget has no importance."""
        return sum(topic.lacks_importance for topic in self.topics)

    @property
    def left_out(self) -> int:
        """How many nuggets are left out for all runs, also where then none is left."""
        return sum(len(topic.left_out) for topic in (*self.topics, *self.uncounted))


class _Said(NamedTuple):
    """What counts of a sheet: a byte for each nugget. answer: by key.

    passages: where passages are graded, what is said of each; the labels are then the best of each nugget.
    """

    words: int
    labels: bytes
    answer: int
    by_rule: bool
    passages: tuple["_Said", ...] = ()


@dataclass
class _Bank:
    """A bank as it was last finished, without the nuggets that are left out, and what is said of answers.

    elsewhere: the runs, by key, of whose answers something is said under another bank of the topic.
    """

    pk: int
    topic: ScoredTopic
    edition: int
    ids: list[str]
    importance: list[int]
    cells: dict[int, Cell[_Said]] = field(default_factory=dict)  # by run's key
    elsewhere: set[int] = field(default_factory=set)


class TopicLabels(NamedTuple):
    """The labels of answers to a topic, as formulas get them: what a run did not answer has those of an empty answer.

    codes: (runs, nuggets), places in the kind's labels, or MISSING; importance: (nuggets,); words, is_control: (runs,).
    """

    codes: Codes
    importance: list[int]
    words: Figures
    is_control: npt.NDArray[np.bool_]


Formula = Callable[[TopicLabels], Figures]  # (runs, measures)
Revised = Mapping[int, Mapping[str, int]]  # the place of a label in its kind's, by answer's key and nugget's


def load_with_labels(
    condition: Condition,
    measures: Measures,
    formula: Formula,
    topic: int | None = None,
    revised: Revised | None = None,
    *,
    of_canaries: bool = False,
) -> tuple[Scores, Labels]:
    """Compute all scores of a condition from its answer sheets, read a few thousand at a time.

    topic: this one alone, by key; the runs stay those of all topics. revised: labels in the place of those that stand.
    of_canaries: of these runs alone, which are else left out.

    Runs and judged topics are those with a sheet; but where no nugget of a topic counts, nothing is judged. Of several
    banks of a topic (handed over) the one that was finished last counts. A cell is incomplete where the run answered
    the topic and has no sheet of that bank, or one on which a nugget has no label (as it was not asked there, say), or
    that is about another edition than the bank's; one that is not judged there, as it is planned, is outside. What a
    label is of is named by an answer and a nugget.
    """
    if condition.is_panel:
        of_panel = codes_by_answer(condition, topic)
        revised = {answer: {str(item): code for item, code in codes.items()} for answer, codes in of_panel.items()}
    found = _banks(condition, topic)
    banks = {bank.topic.pk: bank for bank in found if bank.ids}
    _read_sheets(condition, banks, topic, revised or {})
    read = {run for bank in banks.values() for run in (*bank.cells, *bank.elsewhere)}
    judged_runs = run_names(read if topic is None else _judged_runs(condition), condition)
    runs = [run for run in judged_runs if run.is_canary == of_canaries]
    own = who_answered(runs, banks)
    place = {run.pk: at for at, run in enumerate(runs)}
    scores = np.zeros((len(runs), len(banks), len(measures.all)))
    states = np.full((len(runs), len(banks)), UNANSWERED, dtype=np.int8)
    judged = judging_pool_of(condition)
    # What passages reach was found, and not told to a run.
    is_control = np.array([run.is_control and not condition.of_passages for run in runs], dtype=bool)
    labels = []
    for at, (key, bank) in enumerate(banks.items()):
        cells = {run: cell for run, cell in bank.cells.items() if run in place}
        said, lacking = what_counts(condition, cells, own[key], bank.elsewhere & place.keys())
        codes = _codes(bank, said.values())
        labels.append(_labels(bank, said, codes))
        given = _in_rows([place[run] for run in said], codes, [one.words for one in said.values()], bank, is_control)
        states[[place[run] for run in said], at] = COMPLETE
        states[(given.codes == MISSING).any(axis=1), at] = INCOMPLETE
        scores[:, at] = formula(given)
        unjudged = [place[run] for run in lacking]
        states[unjudged, at] = INCOMPLETE
        scores[unjudged, at] = np.nan
        outside = [place[run.pk] for run in runs if run.pk not in said and not judged.holds(key, run.pk)]
        states[outside, at] = OUTSIDE
        scores[outside, at] = np.nan
    topics, uncounted = [bank.topic for bank in banks.values()], [bank.topic for bank in found if not bank.ids]
    has_canaries = any(run.is_canary for run in judged_runs) and not condition.is_panel
    return Scores(runs, topics, scores, states, uncounted, measures, has_canaries), Labels.joined(labels)


def left_out_nuggets(condition: Condition) -> dict[int, str]:
    """Return why nuggets are left out for all runs, by key."""
    of = LeftOut.objects.filter(condition__in=condition.label_sources).order_by("pk")
    said = of.values_list("condition", "nugget", "is_out", "reason")
    newest = {(member, nugget): (is_out, reason) for member, nugget, is_out, reason in said}
    return {nugget: reason for (_, nugget), (is_out, reason) in newest.items() if is_out}


def _banks(condition: Condition, topic: int | None) -> list[_Bank]:
    """Return the banks that a condition's scores go by, by topic's id; of one topic alone, by key, or of all."""
    reasons = left_out_nuggets(condition)
    return [_bank(edition, reasons) for edition in scored_editions(condition, topic)]


def _judged_runs(condition: Condition) -> set[int]:
    """Return the runs with a sheet on any topic on which a nugget counts, by key."""
    topics = [bank.topic.pk for bank in _banks(condition, None) if bank.ids]
    sheets = AnswerSheet.objects.filter(
        condition__in=condition.label_sources, bank__topic__in=topics, answer=OuterRef("pk")
    )
    # By way of its answers: SQLite would go through all sheets of the condition for a run that has none.
    judged = Exists(Answer.everything.filter(Exists(sheets), run=OuterRef("pk")))
    return set(condition.campaign.runs.filter(judged).values_list("pk", flat=True))


def _bank(edition: BankEdition, reasons: dict[int, str]) -> _Bank:
    """Return a bank. reasons: why nuggets are left out, by id."""
    counted = [nugget for nugget in edition.nuggets if nugget["id"] not in reasons]
    importance = [IMPORTANCE[nugget["importance"]] for nugget in counted]
    topic = edition.bank.topic
    scored = ScoredTopic(
        pk=topic.pk,
        qid=topic.qid,
        title=topic.title,
        nuggets=len(counted),
        lacks_vital=VITAL not in importance and ABSENT not in importance,
        lacks_importance=ABSENT in importance,
        left_out=[(nugget["text"], reasons[nugget["id"]]) for nugget in edition.nuggets if nugget["id"] in reasons],
    )
    return _Bank(edition.bank_id, scored, edition.edition, [str(nugget["id"]) for nugget in counted], importance)


def _read_sheets(condition: Condition, banks: dict[int, _Bank], topic: int | None, revised: Revised) -> None:
    """Give what stands on a condition's sheets, of all topics or one, to the banks, by topic's key."""
    names = ("bank", "bank__topic", "edition", "by_rule", "answer", "answer__run", "answer__apart", "answer__words")
    of_topics = {} if topic is None else {"bank__topic": topic}
    known = kind_of_nuggets(condition).labels
    letter = letter_of(known, _LETTERS[: len(known)], _NONE, _UNKNOWN)
    # One row an answer: to fetch a row for each label takes twice as long.
    rows = Assignment.everything.filter(sheet=OuterRef("pk")).alias(counted=COUNTED).alias(letter=letter).order_by()
    labels = Subquery(rows.values("sheet").values_list(_JOINED))
    passages: dict[tuple[int, int], list[_Said | None]] = {}
    places: dict[tuple[int, str], Callable[[bytes], Iterable[int]]] = {}
    sheets = [
        AnswerSheet.objects.filter(condition=one, **of_topics).order_by().values_list(*names, labels)
        for one in condition.label_sources
    ]
    every = chain.from_iterable(one.iterator(_AT_A_TIME) for one in sheets)
    for row in _first_of_each(every, banks) if condition.is_panel else every:
        bank_id, of_topic, edition, by_rule, answer, run, is_apart, words, joined = row
        bank = banks.get(of_topic)
        if bank is None:  # no nugget counts there, or it was given since the banks were read
            continue
        if bank_id != bank.pk:
            bank.elsewhere.add(run)
            continue
        codes = None
        if edition == bank.edition:
            nuggets, _, given = (joined or ":").partition(":")
            if _UNKNOWN in given:
                raise ValueError(f"A label of answer {answer} is none of {', '.join(known)}.")
            if (bank_id, nuggets) not in places:
                places[bank_id, nuggets] = _in_order(nuggets, bank.ids)
            codes = bytes(places[bank_id, nuggets](given.encode().translate(_CODES) + _NO_LABEL))
            if condition.is_panel:  # which has no labels but its own
                of_answer = revised.get(answer, {})
                codes = bytes(of_answer.get(nugget, MISSING) % 256 for nugget in bank.ids)
            elif answer in revised:
                of_answer = revised[answer]
                codes = bytes(of_answer.get(nugget, code) for nugget, code in zip(bank.ids, codes, strict=True))
        said = None if codes is None else _Said(words, codes, answer, by_rule)
        if condition.of_passages:
            passages.setdefault((of_topic, run), []).append(said)
        else:
            take(bank.cells, run, Cell(is_apart, said))
    for (of_topic, run), of_run in passages.items():
        complete = [one for one in of_run if one is not None]
        best = _best(banks[of_topic], complete) if len(complete) == len(of_run) else None
        banks[of_topic].cells[run] = Cell(is_apart=True, said=best)


def _first_of_each(rows: Iterable[tuple[Any, ...]], banks: dict[int, _Bank]) -> Iterable[tuple[Any, ...]]:
    """Return of each answer the sheet of the first member of a panel that has one, of the bank as it counts if any."""
    found: dict[int, tuple[Any, ...]] = {}
    for row in rows:
        bank_id, of_topic, edition, _, answer, *_ = row
        bank = banks.get(of_topic)
        if answer not in found or (bank and (bank_id, edition) == (bank.pk, bank.edition) != found[answer][0:3:2]):
            found[answer] = row
    return found.values()


def _in_order(nuggets: str, wanted: Sequence[str]) -> Callable[[bytes], Iterable[int]]:
    """Return what takes the codes of a bank's nuggets, in its order, from those of an answer.

    nuggets: the ids whose codes an answer has, by commas; after these comes the code of one without a label.
    """
    place = {nugget: at for at, nugget in enumerate(nuggets.split(","))} if nuggets else {}
    places = [place.get(nugget, len(place)) for nugget in wanted]
    return lambda codes: map(codes.__getitem__, places)


def _codes(bank: _Bank, said: Collection[_Said]) -> Codes:
    """Return what is said of a bank's nuggets: (texts, nuggets)."""
    joined = b"".join(one.labels for one in said)
    return np.frombuffer(joined, dtype=np.int8).reshape(len(said), len(bank.ids))


def _labels(bank: _Bank, said: dict[int, _Said], codes: Codes) -> Labels:
    """Return what is said, of each answer or passage. codes: of the runs."""
    texts = [(run, text) for run, one in said.items() for text in one.passages or (one,)]
    if len(texts) > len(said):
        codes = _codes(bank, [text for _, text in texts])
    at_text, at_nugget = np.nonzero(codes != MISSING)
    run = np.array([run for run, _ in texts], dtype=np.int64)[at_text]
    answer = np.array([text.answer for _, text in texts], dtype=np.int64)[at_text]
    nugget = np.array(bank.ids, dtype=np.int64)[at_nugget]
    by_rule = np.array([text.by_rule for _, text in texts], dtype=bool)[at_text]
    return Labels(np.full(len(run), bank.topic.pk), run, answer, nugget, codes[at_text, at_nugget], by_rule)


def _best(bank: _Bank, passages: Sequence[_Said]) -> _Said:
    """Return what is said of a run by its passages: of each nugget the best label, or none where one is missing."""
    words, by_rule = sum(one.words for one in passages), all(one.by_rule for one in passages)
    return _Said(words, best_of_passages(_codes(bank, passages)).tobytes(), 0, by_rule, tuple(passages))


def _in_rows(
    rows: list[int], codes: Codes, words: list[int], bank: _Bank, is_control: npt.NDArray[np.bool_]
) -> TopicLabels:
    """Return what is said of some runs, by their places, among all; what a run did not answer is told by its state."""
    labels = np.zeros((len(is_control), len(bank.ids)), dtype=np.int8)
    labels[rows] = codes
    lengths = np.zeros(len(is_control))
    lengths[rows] = words
    return TopicLabels(labels, bank.importance, lengths, is_control)
