"""Score tables that other tools, papers or Assay's own exports hold.

CSV with a header (run_id and measures, and where there are rows by topic, topic), JSONL of the nuggetizer's kind (qid
and measures; without run_id the file is of one run), and leaderboards, "run measure topic value" or "run topic measure
value". In all of them "all" in the place of a topic is the mean over topics.

What is empty or null is undefined and counts nowhere. A run without a line for a topic did not answer it: that counts
by the policy, except in a table that tells its own (Assay's exports), which has a line for all that count.
"""

import csv
import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from sys import intern

import numpy as np

from assessor.formats import values
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity
from assessor.scores.leaderboards import NO_SCORES
from assessor.scores.score_source import scored_kinds
from metaeval.measures import scored_measures
from metaeval.stats.means import OVER, Policy, mean
from metaeval.stats.measures import ERROR
from metaeval.stats.score_matrix import ScoreMatrix

ALL = "all"
MOST_CELLS = 10_000_000  # runs by topics by measures, 80 MB: a track's have 350,000
_LARGEST = 1e15  # of scores: sums and squares of larger ones are no numbers any more
_LONGEST_NAME = 256  # characters of a measure or a task
_GUARDED = ("'=", "'+", "'-", "'@", "'\t", "'\r")


def is_score(name: str) -> bool:
    """Return whether a column or key holds scores: no standard errors, nothing that Assay's exports have besides."""
    return name not in _no_scores() and not name.endswith(ERROR)


@cache
def _no_scores() -> frozenset[str]:
    """Return the columns and keys of Assay's exports that are no scores, of all kinds of label."""
    return NO_SCORES.union(*(scoring.measures.unusual for scoring in scored_kinds().values()))


class _Rows:
    """What was read, each score once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.tasks: dict[str, str] = {}
        self.entries: dict[tuple[str, str, str], float] = {}
        self.measures: dict[str, None] = {}
        self.topics: dict[str, set[str]] = {}  # of each run, those that have a line
        self.tells_policy = False

    def add(self, line: Line, run: str, topic: str, measure: str, value: float | None) -> None:
        key = (intern(run), intern(topic), intern(measure))
        if key in self.entries:
            self.report.error(line.number, measure, f"{run} on {topic} again", "each run, topic and measure once")
        if measure not in self.measures:
            _check_name(measure, measure, line, self.report)
        self.entries[key] = math.nan if value is None else value
        self.measures.setdefault(measure)
        self.topics.setdefault(run, set()).add(key[1])


def run_of_file(name: str) -> str:
    """Return the name of the run that a file of scores is called after: tags have dots too."""
    return Path(name.removesuffix(".gz")).stem


def read_score_table(lines: Iterable[Line], report: Report, *, name: str, run: str, policy: Policy) -> ScoreMatrix:
    """Read a score table; the first line says which form it has.

    name: of the matrix; run: of a file that names none. What is wrong is in the report; then what is returned is not
    whole. Raises Unreadable where reading can't go on.
    """
    rows = _Rows(report)
    at = _without_nul(lines, report)
    first = next(at, None)
    if first is None:
        raise report.fatal(0, "", "nothing", "a score table")
    everything = _chain(first, at)
    if first.text.lstrip().startswith("{"):
        _read_jsonl(everything, rows, run)
    elif "," in first.text:
        _read_csv(everything, rows)
    else:
        _read_leaderboard(everything, rows)
    if not rows.entries and not report.error_count:
        report.error(first.number, "", "no scores", "at least one score")
    topics = set().union(*rows.topics.values())
    if len(rows.tasks) * len(topics) * len(rows.measures) > MOST_CELLS:
        found = f"{len(rows.tasks):,} runs on {len(topics):,} topics by {len(rows.measures):,} measures"
        raise report.fatal(0, "", found, f"a table of at most {MOST_CELLS:,} scores")
    return _scored(rows, name, policy)


def _without_nul(lines: Iterable[Line], report: Report) -> Iterator[Line]:
    """Yield the lines that a database can keep."""
    for line in lines:
        if "\x00" in line.text:
            report.error(line.number, "", line.text, "text without NUL characters")
        else:
            yield line


def _check_name(name: str, field: str, line: Line, report: Report) -> None:
    """Report the name of a measure or a task that no page could show."""
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        report.error(line.number, field, name, f"a name of at most {_LONGEST_NAME} visible characters")


def _chain(first: Line, rest: Iterable[Line]) -> Iterable[Line]:
    yield first
    yield from rest


def _read_csv(lines: Iterable[Line], rows: _Rows) -> None:
    report = rows.report
    columns: list[str] | None = None
    for line in lines:
        try:
            cells = next(csv.reader([line.text], strict=True))
        except csv.Error as error:
            report.error(line.number, "", f"{error}: {line.text}", "one row of CSV")
            continue
        if columns is None:
            columns = _header([cell.strip() for cell in cells], line, report)
        elif len(cells) != len(columns):
            found = f"{quantity(len(cells), 'columns')}: {line.text}"
            report.error(line.number, "", found, quantity(len(columns), "columns"))
        else:
            _csv_row(dict(zip(columns, cells, strict=True)), line, rows)


def _header(columns: list[str], line: Line, report: Report) -> list[str]:
    if "run_id" not in columns:
        raise report.fatal(line.number, "header", line.text, "a column run_id")
    if len(set(columns)) < len(columns) or not all(columns):
        raise report.fatal(line.number, "header", line.text, "each column named, and once")
    if not any(map(is_score, columns)):
        raise report.fatal(line.number, "header", line.text, "a column of scores besides run_id")
    return columns


def _csv_row(cells: dict[str, str], line: Line, rows: _Rows) -> None:
    is_own = "policy" in cells
    if is_own and cells["run_id"] in OVER and not cells.get("team") and not cells.get("task"):
        return
    run = values.identifier(_unguarded(cells["run_id"]), "run_id", line, rows.report)
    topic = values.topic_id(_unguarded(cells["topic"]), "topic", line, rows.report) if "topic" in cells else ALL
    if not run or not topic:
        return
    rows.tells_policy |= is_own
    task = _unguarded(cells.get("task", "")).strip()
    _check_name(task, "task", line, rows.report)
    if rows.tasks.setdefault(run, task) != task:
        rows.report.error(line.number, "task", task, f"the task {rows.tasks[run] or '(none)'} of a line before")
    for column, text in cells.items():
        if is_score(column):
            rows.add(line, run, topic, column, _number(text.strip(), column, line, rows.report))


def _unguarded(cell: str) -> str:
    """Return a cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return cell[1:] if cell.startswith(_GUARDED) else cell


def _read_jsonl(lines: Iterable[Line], rows: _Rows, run: str) -> None:
    report = rows.report
    keys = {measure.json: measure.key for measure in scored_measures()}
    for line in lines:
        record = values.json_object(line, report)
        if record is None or not values.required(record, "qid", line, report):
            continue
        topic = values.topic_id(record["qid"], "qid", line, report)
        if not run and "run_id" not in record:
            remedy = "Say whose scores they are: --run TAG, or “Run” on the page."
            report.error(line.number, "run_id", "keys " + ", ".join(record), "the key run_id", remedy=remedy)
            continue
        tag = values.identifier(record.get("run_id", run), "run_id", line, report)
        if not topic or not tag:
            continue
        rows.tells_policy |= "policy" in record
        rows.tasks.setdefault(tag, "")
        for key, value in record.items():
            if not is_score(key):
                continue
            if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
                score = None if value is None else _number(repr(value), key, line, report)
                rows.add(line, tag, topic, keys.get(key, key), score)
            else:
                report.error(line.number, key, value, "a number or null")


def _read_leaderboard(lines: Iterable[Line], rows: _Rows) -> None:
    """Read four columns; the place of "all" shows which of the two in the middle is the topic."""
    report = rows.report
    found: list[tuple[Line, list[str], float | None]] = []
    at_topic: int | None = None
    for line in lines:
        cells = line.text.split()
        if values.is_header(cells, line, report):
            continue
        if len(cells) != 4:
            columns = f"{quantity(len(cells), 'columns')}: {line.text}"
            report.error(line.number, "", columns, "four columns, or CSV or JSONL")
            continue
        for place in (1, 2):
            if cells[place] == ALL and at_topic != place:
                if at_topic is not None:
                    report.error(line.number, "topic", line.text, f"the topic {ALL} in one column alone")
                at_topic = place
        value = _number(cells[3], "value", line, report)
        found.append((line._replace(text=""), [intern(cell) for cell in cells[:3]], value))
    if found and at_topic is None:
        report.error(0, "topic", f"no line of the topic {ALL}", "one, which tells in which column topics stand")
        return
    for line, cells, value in found:
        topic, measure = (cells[2], cells[1]) if at_topic == 2 else (cells[1], cells[2])
        run = values.identifier(cells[0], "run", line, report)
        if run and values.identifier(topic, "topic", line, report):
            name, bracket, rest = measure.partition("[")
            rows.tells_policy |= bool(bracket) and rest.endswith("]")
            rows.tasks.setdefault(run, "")
            rows.add(line, run, topic, name if rest.endswith("]") else measure, value)


def _number(text: str, field: str, line: Line, report: Report) -> float | None:
    """Read a score; nothing is undefined."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= _LARGEST:  # neither is NaN
        report.error(line.number, field, text, f"a finite number up to {_LARGEST:g}, or nothing where it is undefined")
        return None
    return value


def _scored(rows: _Rows, name: str, policy: Policy) -> ScoreMatrix:
    runs, measures = sorted(rows.tasks), list(rows.measures)
    topics = sorted({topic for of_run in rows.topics.values() for topic in of_run} - {ALL})
    places = [{name: at for at, name in enumerate(names)} for names in (runs, topics, measures)]
    is_zero = policy == Policy.ZERO and not rows.tells_policy
    cells = np.full((len(runs), len(topics), len(measures)), np.nan)
    if is_zero:
        for run, answered in rows.topics.items():
            for topic in set(topics) - answered:
                cells[places[0][run], places[1][topic]] = 0
    means = np.full((len(runs), len(measures)), np.nan)
    has_mean = np.zeros(means.shape, dtype=bool)
    for (run, topic, measure), value in rows.entries.items():
        at = places[0][run], places[2][measure]
        if topic == ALL:
            means[at], has_mean[at] = value, True
        else:
            cells[at[0], places[1][topic], at[1]] = value
    means = np.where(has_mean, means, mean(cells, axis=1))
    return ScoreMatrix(name, runs, [rows.tasks[run] for run in runs], topics, measures, cells, means)
