"""The scores of a condition as arrays, from what stands on its answer sheets."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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
from assessor.scores.cache import answers_read
from assessor.scores.loading import (
    Answers,
    Cell,
    Join,
    Keys,
    Labels,
    RunName,
    as_stored,
    columns_of,
    places_by,
    run_names,
    take,
    what_counts,
)
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
# Of the labels in ascending order, of no label, of one that is none of them.
_LETTERS, _NONE, _UNKNOWN = ascii_lowercase, "-", "?"
_CODES = bytes.maketrans(f"{_LETTERS}{_NONE}".encode(), bytes([*range(len(_LETTERS)), MISSING % 256]))
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


class _Sheets(NamedTuple):
    """Sheets about a bank, in arrays of equal length.

    answer, run: by key. is_apart: as Cell has it. is_newest: whether it is about the bank's newest edition. codes: of
    what that asks, (sheets, nuggets).
    """

    answer: Keys
    run: Keys
    words: Keys
    is_apart: npt.NDArray[np.bool_]
    by_rule: npt.NDArray[np.bool_]
    is_newest: npt.NDArray[np.bool_]
    codes: Codes

    def at(self, places: Any) -> "_Sheets":
        """Return some of them, as an array's index has it."""
        return _Sheets(*(column[places] for column in self))


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
    sheets: _Sheets = field(init=False)
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


def load_scores(
    condition: Condition,
    measures: Measures,
    formula: Formula,
    topic: int | None = None,
    revised: Revised | None = None,
    *,
    of_canaries: bool = False,
    only: Set[int] | None = None,
) -> tuple[Scores, Callable[[], Labels]]:
    """Compute all scores of a condition from its answer sheets, read a few thousand at a time.

    Return them with what puts the labels together, which takes a tenth of the time and most of the memory.

    topic: this one alone, by key; the runs stay those of all topics. revised: labels in the place of those that stand.
    of_canaries: of these runs alone, which are else left out. only: the nuggets that count, by key; None: all.

    Runs and judged topics are those with a sheet; but where no nugget of a topic counts, nothing is judged. Of several
    banks of a topic (handed over) the one that was finished last counts. A cell is incomplete where the run answered
    the topic and has no sheet of that bank, or one on which a nugget has no label (as it was not asked there, say), or
    that is about another edition than the bank's; one that is not judged there, as it is planned, is outside. What a
    label is of is named by an answer and a nugget.
    """
    if condition.is_panel:
        of_panel = codes_by_answer(condition, topic)
        revised = {answer: {str(item): code for item, code in codes.items()} for answer, codes in of_panel.items()}
    found = _banks(condition, topic, only)
    banks = {bank.topic.pk: bank for bank in found if bank.ids}
    answers = answers_read(banks)
    _read_sheets(condition, banks, answers, topic, revised or {})
    read = {run for bank in banks.values() for run in (*bank.sheets.run.tolist(), *bank.elsewhere)}
    judged_runs = run_names(read if topic is None else _judged_runs(condition), condition)
    runs = [run for run in judged_runs if run.is_canary == of_canaries]
    own = answers.who_answered(runs, banks)
    place = {run.pk: at for at, run in enumerate(runs)}
    scores = np.zeros((len(runs), len(banks), len(measures.all)))
    states = np.full((len(runs), len(banks)), UNANSWERED, dtype=np.int8)
    judged, is_panel = judging_pool_of(condition), condition.is_panel
    # What passages reach was found, and not told to a run.
    is_control = np.array([run.is_control and not condition.of_passages for run in runs], dtype=bool)
    said_of: list[tuple[_Bank, _Sheets]] = []
    for at, (key, bank) in enumerate(banks.items()):
        sheets = _best_of_passages(bank.sheets) if condition.of_passages else bank.sheets
        cells: dict[int, Cell[int]] = {}  # of each the place of its sheet
        told = zip(sheets.run.tolist(), sheets.is_apart.tolist(), sheets.is_newest.tolist(), strict=True)
        for sheet, (run, is_apart, is_newest) in enumerate(told):
            # Of a panel, some members may judge what its quorum does not.
            if run in place and (not is_panel or judged.holds(key, run)):
                take(cells, run, Cell(is_apart, sheet if is_newest else None))
        said, lacking = what_counts(condition, cells, own[key], bank.elsewhere & place.keys())
        places = list(said.values())
        counted = sheets if places == list(range(len(sheets.run))) else sheets.at(places)
        said_of.append((bank, _of_runs(bank.sheets, said) if condition.of_passages else counted))
        given = _in_rows([place[run] for run in said], counted, bank, is_control)
        states[[place[run] for run in said], at] = COMPLETE
        states[(given.codes == MISSING).any(axis=1), at] = INCOMPLETE
        scores[:, at] = formula(given)
        unjudged = [place[run] for run in lacking]
        states[unjudged, at] = INCOMPLETE
        scores[unjudged, at] = np.nan
        outside = [place[run] for run in place.keys() - said.keys() if not judged.holds(key, run)]
        states[outside, at] = OUTSIDE
        scores[outside, at] = np.nan
    topics, uncounted = [bank.topic for bank in banks.values()], [bank.topic for bank in found if not bank.ids]
    has_canaries = any(run.is_canary for run in judged_runs) and not condition.is_panel
    return (
        Scores(runs, topics, scores, states, uncounted, measures, has_canaries),
        lambda: _labels(said_of),
    )


def left_out_nuggets(condition: Condition) -> dict[int, str]:
    """Return why nuggets are left out for all runs, by key."""
    of = LeftOut.objects.filter(condition__in=condition.label_sources).order_by("pk")
    said = of.values_list("condition", "nugget", "is_out", "reason")
    newest = {(member, nugget): (is_out, reason) for member, nugget, is_out, reason in said}
    return {nugget: reason for (_, nugget), (is_out, reason) in newest.items() if is_out}


def _banks(condition: Condition, topic: int | None, only: Set[int] | None = None) -> list[_Bank]:
    """Return the banks that a condition's scores go by, by topic's id; of one topic alone, by key, or of all."""
    reasons = left_out_nuggets(condition)
    return [_bank(edition, reasons, only) for edition in scored_editions(condition, topic)]


def _judged_runs(condition: Condition) -> set[int]:
    """Return the runs with a sheet on any topic on which a nugget counts, by key."""
    topics = [bank.topic.pk for bank in _banks(condition, None) if bank.ids]
    sheets = AnswerSheet.objects.filter(
        condition__in=condition.label_sources, bank__topic__in=topics, answer=OuterRef("pk")
    )
    # By way of its answers: SQLite would go through all sheets of the condition for a run that has none.
    judged = Exists(Answer.everything.filter(Exists(sheets), run=OuterRef("pk")))
    return set(condition.campaign.runs.filter(judged).values_list("pk", flat=True))


def _bank(edition: BankEdition, reasons: dict[int, str], only: Set[int] | None) -> _Bank:
    """Return a bank. reasons: why nuggets are left out, by id; only: those that count."""
    of_interest = [nugget for nugget in edition.nuggets if only is None or nugget["id"] in only]
    counted = [nugget for nugget in of_interest if nugget["id"] not in reasons]
    importance = [IMPORTANCE[nugget["importance"]] for nugget in counted]
    topic = edition.bank.topic
    scored = ScoredTopic(
        pk=topic.pk,
        qid=topic.qid,
        title=topic.title,
        nuggets=len(counted),
        lacks_vital=VITAL not in importance and ABSENT not in importance,
        lacks_importance=ABSENT in importance,
        left_out=[(nugget["text"], reasons[nugget["id"]]) for nugget in of_interest if nugget["id"] in reasons],
    )
    return _Bank(edition.bank_id, scored, edition.edition, [str(nugget["id"]) for nugget in counted], importance)


def _read_sheets(
    condition: Condition, banks: dict[int, _Bank], answers: Answers, topic: int | None, revised: Revised
) -> None:
    """Give what stands on a condition's sheets, of all topics or one, to the banks, by topic's key.

    answers: to all these topics.
    """
    known = kind_of_nuggets(condition).labels
    letter = letter_of(known, _LETTERS[: len(known)], _NONE, _UNKNOWN)
    # One row an answer: to fetch a row for each label takes twice as long.
    labels = Assignment.everything.filter(sheet=OuterRef("pk")).alias(counted=COUNTED).alias(letter=letter).order_by()
    of_topics = {} if topic is None else {"bank__topic": topic}
    names = ("answer", "bank", "edition", *as_stored("by_rule"))
    sheets = [
        AnswerSheet.objects.filter(condition=one, **of_topics)
        .order_by()
        .values_list(*names, Subquery(labels.values_list(_JOINED)))
        for one in condition.label_sources
    ]
    rows = chain.from_iterable(one.iterator(_AT_A_TIME) for one in sheets)
    told, joined = columns_of(rows, len(names))
    # Of the others no nugget counts, or the topic's bank was made since the banks were read.
    read = np.flatnonzero(np.isin(told[0], answers.pk))
    if condition.is_panel:
        read = read[_first_of_each(told[:, read], banks.values())]
    answer, bank_of, edition, by_rule = told[:, read]
    joined = [joined[sheet] for sheet in read.tolist()]
    judged = answers.at(np.searchsorted(answers.pk, answer))
    for key, here in places_by(judged.topic, banks).items():
        bank = banks[key]
        is_own = bank_of[here] == bank.pk
        bank.elsewhere.update(judged.run[here[~is_own]].tolist())
        here = here[is_own]
        is_newest = edition[here] == bank.edition
        codes = np.full((len(here), len(bank.ids)), MISSING, dtype=np.int8)
        codes[is_newest] = _codes(bank.ids, [joined[sheet] or ":" for sheet in here[is_newest].tolist()])
        is_unknown = codes == ord(_UNKNOWN)
        if is_unknown.any():
            [unknown, *_] = answer[here][is_unknown.any(axis=1)]
            raise ValueError(f"A label of answer {unknown} is none of {', '.join(known)}.")
        if condition.is_panel:  # which has no labels but its own
            codes[:] = MISSING
        for sheet in np.flatnonzero(is_newest).tolist() if revised else ():
            of_answer = revised.get(int(answer[here[sheet]]), {})
            codes[sheet] = [of_answer.get(nugget, code) for nugget, code in zip(bank.ids, codes[sheet], strict=True)]
        texts = judged.at(here)
        by_a_rule = by_rule[here].astype(bool)
        bank.sheets = _Sheets(texts.pk, texts.run, texts.words, texts.is_apart, by_a_rule, is_newest, codes)


def _first_of_each(told: Keys, banks: Iterable[_Bank]) -> list[int]:
    """Return the places of the sheets of a panel that count: of each answer that of the first member that has one.

    It is one of the bank as it counts, if there is any. told: answer, bank and edition of each sheet, by member.
    """
    newest = {(bank.pk, bank.edition) for bank in banks}
    found: dict[int, int] = {}
    is_newest: dict[int, bool] = {}
    for place, (answer, bank, edition, *_) in enumerate(told.T.tolist()):
        if answer not in found or ((bank, edition) in newest and not is_newest[answer]):
            found[answer], is_newest[answer] = place, (bank, edition) in newest
    return list(found.values())


def _codes(wanted: Sequence[str], joined: Sequence[str]) -> Codes:
    """Return the codes of a bank's nuggets, in its order, by what stands on each sheet: (sheets, nuggets)."""
    codes = np.full((len(joined), len(wanted)), MISSING, dtype=np.int8)
    sheets: dict[str, list[int]] = defaultdict(list)  # by the nuggets that they ask
    parts = ":".join(joined).split(":") if joined else []
    for sheet, nuggets in enumerate(parts[::2]):
        sheets[nuggets].append(sheet)
    for nuggets, asking in sheets.items():
        place = {nugget: at for at, nugget in enumerate(nuggets.split(","))} if nuggets else {}
        columns = [at for at, nugget in enumerate(wanted) if nugget in place]
        letters = "".join(parts[2 * sheet + 1] for sheet in asking)
        given = np.frombuffer(letters.encode().translate(_CODES), dtype=np.int8).reshape(len(asking), len(place))
        codes[np.ix_(asking, columns) if len(sheets) > 1 else (slice(None), columns)] = given[
            :, [place[wanted[at]] for at in columns]
        ]
    return codes


def _best_of_passages(sheets: _Sheets) -> _Sheets:
    """Return what is said of runs by their passages: of each nugget the best label, or none where one is missing."""
    runs = list(dict.fromkeys(sheets.run.tolist()))
    passages = [sheets.at(sheets.run == run) for run in runs]
    return _Sheets(
        answer=np.zeros(len(runs), dtype=np.int64),
        run=np.array(runs, dtype=np.int64),
        words=np.array([of_run.words.sum() for of_run in passages], dtype=np.int64),
        is_apart=np.ones(len(runs), dtype=bool),
        by_rule=np.array([of_run.by_rule.all() for of_run in passages], dtype=bool),
        is_newest=np.array([of_run.is_newest.all() for of_run in passages], dtype=bool),
        codes=np.array([best_of_passages(of_run.codes) for of_run in passages], dtype=np.int8).reshape(
            len(runs), sheets.codes.shape[1]
        ),
    )


def _of_runs(sheets: _Sheets, runs: Iterable[int]) -> _Sheets:
    """Return the sheets of some runs, by key, in their order."""
    places = [np.flatnonzero(sheets.run == run) for run in runs]
    return sheets.at(np.concatenate([np.zeros(0, dtype=np.int64), *places]))


def _labels(said_of: Sequence[tuple[_Bank, _Sheets]]) -> Labels:
    """Return what is said of each answer or passage."""
    if not said_of:
        return Labels.joined([])
    banks, sheets = zip(*said_of, strict=True)
    items = np.repeat([len(bank.ids) for bank in banks], [len(one.run) for one in sheets])  # of each sheet

    def repeated(name: str) -> Keys:
        return np.repeat(np.concatenate([getattr(one, name) for one in sheets]), items)

    labels = Labels(
        topic=np.repeat([bank.topic.pk for bank in banks], [one.codes.size for one in sheets]),
        run=repeated("run"),
        owner=repeated("answer"),
        item=np.concatenate([np.tile(np.array(bank.ids, dtype=np.int64), len(one.run)) for bank, one in said_of]),
        code=np.concatenate([one.codes.ravel() for one in sheets]),
        by_rule=repeated("by_rule"),
    )
    is_given = labels.code != MISSING
    return labels if is_given.all() else Labels(*(column[is_given] for column in labels))


def _in_rows(rows: list[int], sheets: _Sheets, bank: _Bank, is_control: npt.NDArray[np.bool_]) -> TopicLabels:
    """Return what is said of some runs, by their places, among all; what a run did not answer is told by its state."""
    labels = np.zeros((len(is_control), len(bank.ids)), dtype=np.int8)
    labels[rows] = sheets.codes
    lengths = np.zeros(len(is_control))
    lengths[rows] = sheets.words
    return TopicLabels(labels, bank.importance, lengths, is_control)
