"""Score tables as files. Every row says run, condition and policy; the same scores give the same bytes."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from assessor.campaigns.models import Condition
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.scores.cache import condition_scores
from assessor.scores.condition_marks import marks_by_condition
from assessor.scores.loading import Scores
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import Row, Table, cell_figures, score_table, topics_counting
from metaeval.stats.means import COMPLETE, DIGITS, INCOMPLETE, OUTSIDE, UNANSWERED, Figures, Policy
from metaeval.stats.measures import ERROR, Measures

POLICY_NAMES = {Policy.ZERO: "unanswered=0", Policy.ANSWERED: "answered", Policy.COMMON: "common"}
POLICY_WORDS = {
    Policy.ZERO: "Not submitted counts 0",
    Policy.ANSWERED: "Not submitted does not count",
    Policy.COMMON: "Only topics that all runs submitted count",
}
_LATEX_POLICIES = {  # as tables in papers so far have it: files stay the same bytes
    Policy.ZERO: "a topic that a run did not answer counts 0",
    Policy.ANSWERED: "a topic that a run did not answer does not count",
    Policy.COMMON: "a topic that not all runs answered does not count, for any run",
}
STATES = {UNANSWERED: "unanswered", COMPLETE: "complete", INCOMPLETE: "incomplete", OUTSIDE: "not judged by plan"}
FROM_RUNS = "made from the runs they score"
_ALL = "all"  # in the place of a topic
_OUTSIDE = "not_judged_by_plan"
_MARK = "mark"
_RUN = ("run_id", "team", "task", "condition", "policy")
_COUNTS = ("topics", "complete", "incomplete")
_CELL = ("topic", "state")
# Columns and keys that are no scores, besides Measures.unusual and standard errors.
NO_SCORES = frozenset({*_RUN, _MARK, *_COUNTS, *_CELL, "qid", _OUTSIDE})


class Incomplete(Exception):
    """Some answers lack labels, so this can be no final table; the text says how many, remedy what can be done."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.remedy = remedy


class Board(NamedTuple):
    """What there is to write: the scores of a condition under a policy. figures: of found, as the policy has them."""

    condition: str
    policy: Policy
    found: Scores
    table: Table
    figures: Figures

    @property
    def measures(self) -> Measures:
        """What the scores are called."""
        return self.found.measures

    @property
    def topics(self) -> str:
        """How many topics count, and of how many where some don't."""
        judged = len(self.found.topics)
        return str(judged) if self.table.topics == judged else f"{self.table.topics} of {judged}"

    @property
    def has_marks(self) -> bool:
        """Whether something must be said beside the name of a run."""
        return any(run.mark for run in self.found.runs)

    @property
    def of_all(self) -> tuple[str, str]:
        """What is the same in every row."""
        return self.condition, POLICY_NAMES[self.policy]


def name_of(condition: Condition) -> str:
    """Return what tables call a condition: its name, and what whoever reads them must know.

    That is whether what a model gave in it was a rehearsal, whether its nuggets come from the runs that they score, and
    what condition_marks() adds.
    """
    return names_by_condition([condition])[condition.pk]


def names_by_condition(conditions: Sequence[Condition]) -> dict[int, str]:
    """Return what name_of() does of a campaign's conditions, by key, in a few queries for all."""
    further, names = marks_by_condition(conditions), {}
    for one in conditions:
        marks = ["rehearsal" if one.is_rehearsed else "", FROM_RUNS if one.is_from_runs else "", *further[one.pk]]
        told = "; ".join(filter(None, marks))
        names[one.pk] = f"{one.name} ({told})" if told else one.name
    return names


def score_lines(condition: Condition, form: str, policy: Policy, *, allow_incomplete: bool = False) -> Iterator[str]:
    """Return the lines of a condition's scores in one of FORMS.

    Raises Incomplete where answers lack labels, unless that is allowed; their runs then have the mean of the others.
    """
    found = condition_scores(condition)
    table = complete_table(condition, found, policy, allow_incomplete=allow_incomplete)
    return FORMS[form].write(Board(name_of(condition), policy, found, table, cell_figures(found, policy)))


def complete_table(condition: Condition, found: Scores, policy: Policy, *, allow_incomplete: bool = False) -> Table:
    """Return the score table of a condition. Raises Incomplete where answers lack labels, unless that is allowed."""
    table = score_table(found, policy)
    if table.incomplete and not allow_incomplete:
        raise Incomplete(
            f"{table.incomplete:,} of {table.answers:,} answers under {condition} are incomplete: "
            f"{found.measures.lacking}.",
            scoring_of(condition.kind).remedy,
        )
    return table


def shown(value: float) -> float | None:
    """Return a figure as files have it: with ten digits after the point; None where it is undefined."""
    return None if math.isnan(value) else round(value, DIGITS)


def _csv(board: Board) -> Iterator[str]:
    """Yield a row for each run, then least, median and largest over the runs, then the control runs."""
    errors = (key + ERROR for key in board.measures.keys)
    names = (*_RUN, *_mark(board, _MARK))
    counts = (*_COUNTS, *board.found.unusual)
    header = (*names, *counts, *board.measures.keys, _OUTSIDE, *errors)
    rows = (*board.table.systems, *board.table.over, *board.table.controls)
    return write_table(header, (_csv_row(board, row) for row in rows))


def _csv_row(board: Board, row: Row) -> Sequence[object]:
    team, task = (row.run.team, row.run.task) if row.run else ("", "")
    counts = (row.topics, row.complete, row.incomplete, *board.found.unusual.values())
    return (
        row.name,
        team,
        task,
        *board.of_all,
        *_mark(board, row.run.mark if row.run else ""),
        *counts,
        *map(shown, row.figures),
        row.outside,
        *map(shown, row.errors),
    )


def _mark(board: Board, cell: str) -> tuple[str, ...]:
    """Return a cell of the column of marks, which is there where a run has one."""
    return (cell,) if board.has_marks else ()


def _topics_csv(board: Board) -> Iterator[str]:
    """Yield a row for each run and topic."""
    header = (*_RUN, *_mark(board, _MARK), *_CELL, *board.measures.keys)
    return write_table(header, (row for at in range(len(board.found.runs)) for row in _topic_rows(board, at)))


def _topic_rows(board: Board, at: int) -> Iterator[Sequence[object]]:
    run = board.found.runs[at]
    names = (run.tag, run.team, run.task, *board.of_all, *_mark(board, run.mark))
    for topic, state, figures in _cells(board, at):
        yield *names, topic, STATES[state], *map(shown, figures)


def _cells(board: Board, at: int) -> Iterator[tuple[str, int, list[float]]]:
    """Yield the id of each topic with a run's state and figures there."""
    qids = (topic.qid for topic in board.found.topics)
    return zip(qids, board.found.states[at].tolist(), board.figures[at].tolist(), strict=True)


def _systems(board: Board) -> Iterator[tuple[int, Row]]:
    """Yield each run that is no control run: its place among all runs, and its row. Leaderboards are of systems."""
    place = {run: at for at, run in enumerate(board.found.runs)}
    return ((place[row.run], row) for row in board.table.systems if row.run)


def _jsonl(board: Board) -> Iterator[str]:
    """Yield a line for each topic that counts for a run, and one for all of them."""
    condition, policy = board.of_all
    counting = topics_counting(board.found, board.policy)
    for at, row in _systems(board):
        of_run = {"run_id": row.name, "condition": condition, "policy": policy}
        if row.run and row.run.mark:
            of_run[_MARK] = row.run.mark
        for topic, state, figures in compress(_cells(board, at), counting):
            if state != OUTSIDE and (state != UNANSWERED or board.policy == Policy.ZERO):
                yield to_json({"qid": topic, **of_run, **_named(board, figures)}) + "\n"
        counts = dict(zip(_COUNTS, (row.topics, row.complete, row.incomplete), strict=True))
        told = {**counts, **board.found.unusual, _OUTSIDE: row.outside, **_named(board, row.errors, ERROR)}
        yield to_json({"qid": _ALL, **of_run, **_named(board, row.figures), **told}) + "\n"


def _named(board: Board, figures: Sequence[float], ending: str = "") -> dict[str, float | None]:
    return dict(zip((measure.json + ending for measure in board.measures.all), map(shown, figures), strict=True))


def _tot(board: Board) -> Iterator[str]:
    """Yield "run measure topic value"."""
    return (f"{run} {measure} {topic} {value}\n" for run, topic, measure, value in _values(board))


def _ir_measures(board: Board) -> Iterator[str]:
    """Yield "run topic measure value"."""
    return (f"{run} {topic} {measure} {value}\n" for run, topic, measure, value in _values(board))


def _values(board: Board) -> Iterator[tuple[str, str, str, float]]:
    """Yield run, topic, measure and value, where there is one; the measure's name says condition, policy and mark."""
    told = ";".join(board.of_all) + (f";incomplete={board.table.incomplete}" if board.table.incomplete else "")
    for at, row in _systems(board):
        mark = f";{_in_one_word(row.run.mark)}" if row.run and row.run.mark else ""
        measures = [f"{key}[{_in_one_word(told)}{mark}]" for key in board.measures.keys]
        topics = [(topic, figures) for topic, _, figures in _cells(board, at)]
        for topic, figures in (*topics, (_ALL, row.figures)):
            for measure, value in zip(measures, map(shown, figures), strict=True):
                if value is not None:
                    yield row.name, topic, measure, value


def _in_one_word(text: str) -> str:
    return re.sub(r"\s+", "_", text)


def _latex(board: Board) -> Iterator[str]:
    """Yield a table for a paper (booktabs), figures as they are published; control runs are in no paper's table.

    Beside the first measure, by which it is sorted, is its standard error; the CSV has those of all.
    """
    is_whole = not board.table.incomplete
    judged = f"{board.topics} topic{'' if board.topics == '1' else 's'}; {_LATEX_POLICIES[board.policy]}"
    told = "" if is_whole else "; means over the complete answers alone"
    told += f"; cells not judged by plan, in no mean: {board.table.outside}" if board.table.outside else ""
    told += "".join(f"; {name.replace('_', ' ')}: {count}" for name, count in board.found.unusual.items() if count)
    told += "; SE is the standard error over topics"
    first, *others = (measure.latex for measure in board.measures.all)
    columns = f"ll{'r' * (1 + len(board.measures.all))}{'' if is_whole else 'rr'}"
    counts = () if is_whole else ("Complete", "Incomplete")
    yield from latex.table(
        f"{board.measures.title} under {as_latex(board.condition)}, {judged}{told}",
        columns,
        ("Run", "Task", first, "SE", *others, *counts),
        (_tex_row(board, row) for row in sorted(board.table.systems, key=_best_first)),
        (_tex_row(board, row) for row in board.table.over),
    )


def _best_first(row: Row) -> float:
    """Return the key by which papers sort: the first measure, the highest first; what is undefined comes last."""
    return math.inf if math.isnan(row.figures[0]) else -row.figures[0]


def _tex_row(board: Board, row: Row) -> str:
    name, task = (row.name, row.run.task) if row.run else (row.name.capitalize(), "")
    name += f" ({row.run.mark})" if row.run and row.run.mark else ""
    counts = (str(row.complete), str(row.incomplete)) if board.table.incomplete else ()
    first, *others = board.measures.rounded(row.figures, undefined="--")
    error = board.measures.rounded(row.errors, undefined="--" if row.run else "")[0]
    cells = (as_latex(name), as_latex(task), first, error, *others, *counts)
    return latex.row(cells, "; ".join((row.name, *board.of_all)))


class Form(NamedTuple):
    """A form of score tables. ending: of a file's name."""

    label: str
    ending: str
    write: Callable[[Board], Iterator[str]]


FORMS = {
    "csv": Form("CSV", "csv", _csv),
    "topics": Form("CSV by topic", "topics.csv", _topics_csv),
    "jsonl": Form("JSONL", "jsonl", _jsonl),
    "latex": Form("LaTeX", "tex", _latex),
    "tot": Form("tot", "tot.txt", _tot),
    "ir_measures": Form("ir_measures", "ir_measures.txt", _ir_measures),
}
