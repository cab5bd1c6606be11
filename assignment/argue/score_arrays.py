"""The scores of reports under a condition as arrays, from what stands on their sheets."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from django.db.models import OuterRef, Subquery

from assessor.campaigns.models import Condition
from assessor.labels.models import Label
from assessor.labels.queries import COUNTED, JsonRows
from assessor.scores.loading import Cell, Labels, RunName, answers_to, run_names, take, what_counts
from assessor.work.judging_pool import judged_under
from assignment.argue.measures import (
    ARGUE_SCORES,
    UNKNOWN,
    Answer,
    Citation,
    Counts,
    Judgment,
    Question,
    Sentence,
    all_answers,
    counted,
    counts_of,
    joined,
)
from assignment.argue.models import ArgueJudgment, ArgueSheet
from assignment.argue.questions import questions_of
from assignment.argue.vocabulary import ANSWERS, ATTESTS, FIRST, LABELS, NEEDS, NEGATIVE, YES
from assignment.queries import scored_editions
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Codes, Figures
from metaeval.stats.measures import Measures
from nuggets.models import BankEdition

_AT_A_TIME = 500
_OF_SHEET = ("bank", "bank__topic", "edition", "cut", "is_part", "answer", "answer__run", "answer__apart")
_OF_JUDGMENT = ("key", "sentence", "docid", "step", "nugget", "gold", "counted")


class ScoredTopic(NamedTuple):
    """A judged topic, with what makes its scores other than usual.

    nuggets: how many questions count; weightless: those of them that weigh nothing, as others have an importance; cut:
    sentences of its reports behind the limit.
    """

    pk: int
    qid: str
    title: str
    nuggets: int
    weightless: int
    cut: int


class Report(NamedTuple):
    """What scores are computed from. answer: by key; cut: sentences that are not judged."""

    answer: int
    counts: Counts
    cut: int


class Scores(NamedTuple):
    """All scores of a condition by the measures of ARGUE_SCORES, as assessor.scores.loading has them.

    uncounted: topics without a question that counts, so that there can be no score; they are not among the topics.
    reports: those with a sheet that counts, by run's and topic's key; empty: the counts of an empty one, by topic's.
    """

    runs: list[RunName]
    topics: list[ScoredTopic]
    scores: Figures
    states: Codes
    uncounted: list[ScoredTopic]
    reports: dict[tuple[int, int], Report]
    empty: dict[int, Counts]

    @property
    def measures(self) -> Measures:
        """What tables call the scores."""
        return ARGUE_SCORES

    @property
    def unusual(self) -> dict[str, int | str]:
        """What makes the scores other than usual."""
        return self.measures.count_unusual(len(self.uncounted), self.weightless, self.cut)

    @property
    def weightless(self) -> int:
        """How many questions weigh nothing, as others of their bank have an importance and they have none."""
        return sum(topic.weightless for topic in self.topics)

    @property
    def cut(self) -> int:
        """How many sentences are not judged, as their reports are longer than the limit."""
        return sum(topic.cut for topic in self.topics)


class _Said(NamedTuple):
    """What counts of a report. labels: by item's key."""

    report: Report
    is_complete: bool
    labels: dict[str, str]


class _Bank:
    """A bank as it was last finished, and what is said of reports.

    elsewhere: the runs, by key, of whose reports something is said under another bank or edition.
    """

    def __init__(self, edition: BankEdition, gate: str) -> None:
        self.pk, self.edition, self.topic = edition.bank_id, edition.edition, edition.bank.topic
        self.uids: dict[int, str] = {nugget["id"]: nugget["uid"] for nugget in edition.nuggets}
        self.questions: list[Question] = counted(questions_of(edition.nuggets), gate)
        self.cells: dict[int, Cell[_Said]] = {}
        self.elsewhere: set[int] = set()

    def scored(self, cut: int = 0) -> ScoredTopic:
        """Return its topic. cut: of the reports that count."""
        lacking = sum(not one.importance for one in self.questions)
        weightless = lacking if lacking < len(self.questions) else 0
        return ScoredTopic(self.topic.pk, self.topic.qid, self.topic.title, len(self.questions), weightless, cut)


def load_with_labels(condition: Condition, topic: int | None = None) -> tuple[Scores, Labels]:
    """Compute all scores of a condition from its sheets, some hundred at a time. topic: this one alone, by key.

    Runs and judged topics are those with a sheet, and topics need a question that counts. A cell is incomplete where
    the run answered the topic and has no sheet of its bank's newest edition, or one on which a judgment is missing:
    then the scores that need it are undefined. One that is not judged, as it is planned, is outside.
    """
    found = [_Bank(edition, condition.protocol.argue_gate) for edition in scored_editions(condition, topic)]
    banks = {bank.topic.pk: bank for bank in found if bank.questions}
    _read_sheets(condition, banks, topic)
    runs = run_names({run for bank in banks.values() for run in (*bank.cells, *bank.elsewhere)}, condition)
    own = answers_to(banks).who_answered(runs, banks)
    place = {run.pk: at for at, run in enumerate(runs)}
    scores = np.zeros((len(runs), len(banks), len(ARGUE_SCORES.all)))
    states = np.full((len(runs), len(banks)), UNANSWERED, dtype=np.int8)
    judged = judged_under(condition)
    reports: dict[tuple[int, int], Report] = {}
    topics: list[ScoredTopic] = []
    labels: list[Labels] = []
    for at, (key, bank) in enumerate(banks.items()):
        said, lacking = what_counts(condition, bank.cells, own[key], bank.elsewhere)
        rows = [place[run] for run in said]
        scores[rows, at] = ARGUE_SCORES.score(joined(one.report.counts for one in said.values()))
        states[rows, at] = [COMPLETE if one.is_complete else INCOMPLETE for one in said.values()]
        unjudged = [place[run] for run in lacking]
        states[unjudged, at], scores[unjudged, at] = INCOMPLETE, np.nan
        outside = [place[run.pk] for run in runs if run.pk not in said and not judged.holds(key, run.pk)]
        states[outside, at], scores[outside, at] = OUTSIDE, np.nan
        reports |= {(run, key): one.report for run, one in said.items()}
        topics.append(bank.scored(sum(one.report.cut for one in said.values())))
        labels.append(_labels(key, said))
    uncounted = [bank.scored() for bank in found if not bank.questions]
    match = condition.protocol.argue_match
    empty = {key: counts_of((), bank.questions, match) for key, bank in banks.items()}
    return Scores(runs, topics, scores, states, uncounted, reports, empty), Labels.joined(labels)


def _read_sheets(condition: Condition, banks: Mapping[int, _Bank], topic: int | None) -> None:
    """Give what stands on a condition's sheets, of all topics or one, to the banks, by topic's key."""
    sheets = ArgueSheet.objects.filter(condition=condition, **({} if topic is None else {"bank__topic": topic}))
    asked = ArgueJudgment.everything.filter(sheet=OuterRef("pk")).exclude(state=Label.State.REMOVED)
    rows = asked.order_by().alias(counted=COUNTED).values("sheet").annotate(as_json=JsonRows(*_OF_JUDGMENT))
    match = condition.protocol.argue_match
    for row in sheets.order_by().values_list(*_OF_SHEET, Subquery(rows.values("as_json"))).iterator(_AT_A_TIME):
        bank_id, of_topic, edition, cut, is_part, answer, run, is_apart, told = row
        bank = banks.get(of_topic)
        if bank is None:  # no question counts there, or it was given since the banks were read
            continue
        if bank_id != bank.pk:
            bank.elsewhere.add(run)
            continue
        said = None
        if edition == bank.edition:
            judgments = sorted(json.loads(told or "[]"), key=itemgetter(1, 2))
            labels = {key: label for key, *_, label in judgments if label is not None}
            # What is asked of a part of a report makes no score of it.
            counts = UNKNOWN if is_part else counts_of(list(_sentences(judgments, bank)), bank.questions, match)
            is_complete = len(labels) == len(judgments) and not counts.lacks_any
            said = _Said(Report(answer, counts, cut), is_complete, labels)
        take(bank.cells, run, Cell(is_apart, said))


def _sentences(judgments: list[list[Any]], bank: _Bank) -> Iterator[Sentence]:
    """Yield the sentences that judgments, by _OF_JUDGMENT, are of; they come by sentence and docid."""
    for _, of_sentence in groupby(judgments, itemgetter(1)):
        said: dict[str, Judgment] = {}
        citations: list[Citation] = []
        of_claim: dict[Answer, Judgment] = {}
        for docid, of_docid in groupby(of_sentence, itemgetter(2)):
            steps: dict[str, Judgment] = {}
            answers: dict[Answer, Judgment] = {}
            for _, _, _, step, nugget, gold, label in of_docid:
                judgment = None if label is None else label == YES
                if step == ANSWERS:
                    answers[bank.uids[nugget], gold] = judgment
                else:
                    steps[step] = judgment
            if docid:
                citations.append(Citation(docid, steps[ATTESTS], answers))
            else:
                said, of_claim = steps, answers
        needs, negative = (said.get(step, False) for step in (NEEDS, NEGATIVE))
        # Where another person's label leads on to what was not asked, that is missing.
        first = said.get(FIRST, None if needs and not negative else False)
        if negative and not of_claim:
            of_claim = dict.fromkeys(all_answers(bank.questions))
        yield Sentence(tuple(citations), needs, first, negative, of_claim)


def _labels(topic: int, said: Mapping[int, _Said]) -> Labels:
    rows = [
        (run, one.report.answer, key, LABELS.index(label))
        for run, one in said.items()
        for key, label in one.labels.items()
    ]
    run, answer, item, code = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Labels(
        np.full(len(rows), topic),
        np.array(run, dtype=np.int64),
        np.array(answer, dtype=np.int64),
        np.array(item, dtype=object),
        np.array(code, dtype=np.int8),
        np.zeros(len(rows), dtype=bool),
    )
