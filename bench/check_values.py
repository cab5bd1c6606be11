"""Recomputes published numbers and the check values of the statistics from the data of TREC 2024 RAG.

`python -m bench.check_values FOLDER` takes the folder with NIST's files and the papers' tables, named as below, prints
each value beside what it should be, and exits with the number of those that differ.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metaeval.stats.means import Figures

NUGGETS = "nugget_assignment.20241108.jl"
PEOPLE, MODEL = "published_table6_edits_manual.csv", "published_table7_auto_auto.csv"


class Check(NamedTuple):
    """A value and what it should be, equal within a tolerance."""

    name: str
    value: float
    expected: float
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the value is what it should be."""
        return abs(self.value - self.expected) <= self.tolerance


@cache
def vstrict(folder: Path) -> tuple[list[str], list[str], Figures]:
    """Return NIST's runs, topics and V_strict of each answer, (runs, topics), NaN where a run gave none."""
    found: dict[tuple[str, str], float] = {}
    for line in (folder / NUGGETS).read_text().splitlines():
        answer = json.loads(line)
        vital = [one["assignment"] == "support" for one in answer["nuggets"] if one["importance"] == "vital"]
        found[answer["run_id"], answer["qid"]] = sum(vital) / len(vital) if vital else 0.0
    runs, topics = (sorted({key[at] for key in found}) for at in (0, 1))
    return runs, topics, np.array([[found.get((run, topic), np.nan) for topic in topics] for run in runs])


@cache
def published(folder: Path, name: str) -> tuple[list[str], dict[str, Figures]]:
    """Return the runs of a paper's table, and its columns."""
    with (folder / name).open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["run_id"])
    measures = [column for column in rows[0] if column not in ("run_id", "task")]
    return [row["run_id"] for row in rows], {one: np.array([float(row[one]) for row in rows]) for one in measures}


# Each takes the folder.
CHECKS: list[Callable[[Path], Iterator[Check]]] = []


def main(folder: Path) -> int:
    """Print each value beside what it should be; return how many differ."""
    differ = 0
    for check in (one for checks in CHECKS for one in checks(folder)):
        differ += not check.holds
        sign = "equal" if check.holds else "DIFFERS"
        print(f"{sign:8}{check.value:>14.6g}{check.expected:>14.6g}  {check.name}")
    return differ


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
