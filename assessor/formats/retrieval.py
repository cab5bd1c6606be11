"""Retrieval runs: the six columns of TREC, topic, Q0, docid, rank, score, tag, separated by blanks."""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from assessor.formats import values
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report, quantity

MAX_SCORE = 40  # characters
_RANK = re.compile(r"[0-9]{1,9}")
_SCORE = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class Ranked(NamedTuple):
    """A segment in a ranking; its score as it was written."""

    docid: str
    rank: int
    score: str


class RankingRecord(NamedTuple):
    """What a retrieval run found for a topic, by rank. line: the topic's first."""

    line: Line
    tag: str
    qid: str
    ranked: list[Ranked]


class _Row(NamedTuple):
    line: Line
    qid: str
    ranked: Ranked
    tag: str


def begins_rankings(beginning: Beginning) -> bool:
    """Say whether a file begins with six columns, a rank and a score among them."""
    columns = beginning.columns
    return bool(columns) and all(
        len(one) == 6 and _RANK.fullmatch(one[3]) and _SCORE.fullmatch(one[4]) for one in columns
    )


def read_rankings(lines: Iterable[Line], report: Report) -> Iterator[RankingRecord]:
    """Yield the rankings of one retrieval run, a topic's lines being those that stand together."""
    for qid, group in groupby(_rows(lines, report), lambda row: row.qid):
        rows = list(group)
        _check_each_once(rows, report)
        ranked = sorted((row.ranked for row in rows), key=lambda ranked: ranked.rank)
        yield RankingRecord(rows[0].line, rows[0].tag, qid, ranked)


def _rows(lines: Iterable[Line], report: Report) -> Iterator[_Row]:
    tag: str | None = None
    for line in lines:
        columns = line.text.split()
        if values.is_header(columns, line, report):
            continue
        if len(columns) != 6:
            found = f"{quantity(len(columns), 'fields')}: {line.text}"
            report.error(line.number, "", found, "six fields separated by blanks")
            continue
        errors_before = report.error_count
        qid = values.identifier(columns[0], "topic", line, report)
        docid = values.identifier(columns[2], "docid", line, report)
        if not _RANK.fullmatch(columns[3]):
            report.error(line.number, "rank", columns[3], "a whole number")
        if len(columns[4]) > MAX_SCORE or not _SCORE.fullmatch(columns[4]) or not math.isfinite(float(columns[4])):
            report.error(line.number, "score", columns[4], f"a finite number of at most {MAX_SCORE} characters")
        line_tag = values.identifier(columns[5], "tag", line, report)
        tag = tag or line_tag
        if line_tag and line_tag != tag:
            report.error(line.number, "tag", line_tag, f"one tag a file: {tag}, as in the lines before")
        if report.error_count == errors_before and qid and docid and tag:
            yield _Row(line, qid, Ranked(docid, int(columns[3]), columns[4]), tag)


def _check_each_once(rows: list[_Row], report: Report) -> None:
    docids: dict[str, int] = {}
    ranks: dict[int, int] = {}
    for row in rows:
        number, ranked = row.line.number, row.ranked
        if (first := docids.setdefault(ranked.docid, number)) != number:
            report.error(number, "docid", ranked.docid, f"each once in a topic; it stands on line {first} already")
        if (first := ranks.setdefault(ranked.rank, number)) != number:
            report.error(number, "rank", ranked.rank, f"each once in a topic; it stands on line {first} already")


def write_rankings(rows: Iterable[tuple[str, str, int, str]], tag: str) -> Iterator[str]:
    """Yield the lines of (topic id, docid, rank, score)."""
    for qid, docid, rank, score in rows:
        yield f"{qid} Q0 {docid} {rank} {score} {tag}\n"


def write_pool(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of (topic id, docid)."""
    for qid, docid in rows:
        yield f"{qid} {docid}\n"
