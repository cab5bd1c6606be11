"""An import whose process is killed while it writes: nothing of it is visible, and the next start clears it away."""

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm.house import House, house

TOPICS = 60_000
BANKS = 5_000
SECONDS = 30
VISIBLE = """
from assessor.campaigns.models import Campaign, Topic
print(Topic.objects.count(), Campaign.objects.get().topics.count(), Topic.everything.count())
"""
# What wsgi.py and the worker do when they start.
START = """
from assessor.imports.importer import sweep
sweep()
"""


def count(study: House, table: str) -> int:
    return int(study.rows(f"select count(*) from {table}")[0][0])


def counts(study: House, tables: Iterable[str]) -> list[int]:
    return [count(study, table) for table in tables]


def last_import(study: House) -> list[tuple[Any, ...]]:
    return study.rows("select state, stage, has_leftovers from campaigns_import order by id desc limit 1")


@pytest.fixture
def study(db: None, tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data", "embedded://") as study:
        yield study


def kill_while_writing(study: House, command: Iterable[str], table: str) -> None:
    """Begin an import, and kill it once it has written some rows, but not all."""
    process = study.start(*command)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        if last_import(study) == [("running", "writing", True)] and count(study, table):
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.03)
    assert process.wait(timeout=10) == -signal.SIGKILL


def test_an_import_killed_while_it_writes(study: House, tmp_path: Path):
    file = tmp_path / "topics.tsv"
    file.write_text("".join(f"t{n}\ttitle of topic {n}\n" for n in range(TOPICS)))
    study.manage("create_campaign", "study")
    kill_while_writing(study, ["import_topics", "study", str(file)], "campaigns_topic")

    there = count(study, "campaigns_topic")
    assert 0 < there < TOPICS
    assert last_import(study) == [("running", "writing", True)]
    assert study.run(VISIBLE + START + VISIBLE).split() == ["0", "0", str(there), "0", "0", "0"]
    assert count(study, "campaigns_topic") == 0
    assert last_import(study) == [("interrupted", "writing", False)]

    printed = study.manage("import_topics", "study", str(file))
    assert printed == "topics.tsv: done; 60,000 lines, 60,000 topics added\n"
    assert last_import(study) == [("done", "writing", False)]
    assert count(study, "campaigns_topic") == TOPICS


def test_an_import_of_nuggets_killed_while_it_writes(study: House, tmp_path: Path):
    topics, nuggets = tmp_path / "topics.tsv", tmp_path / "nuggets.jsonl"
    topics.write_text("".join(f"t{n}\ttitle\n" for n in range(BANKS)))
    line = '{{"query": "title", "qid": "t{}", "nuggets": [{{"text": "a"}}, {{"text": "b", "importance": "vital"}}]}}\n'
    nuggets.write_text("".join(line.format(n) for n in range(BANKS)))
    study.manage_all([["create_campaign", "study"], ["import_topics", "study", str(topics)]])
    command = ("import_nuggets", "study", str(nuggets), "--condition=Imported", "--by=model")
    kill_while_writing(study, command, "nuggets_nuggetbank")

    tables = ("campaigns_condition", "campaigns_judge", "nuggets_nuggetbank", "nuggets_nugget", "nuggets_bankedition")
    conditions, judges, banks, there, editions = counts(study, tables)
    assert (conditions, judges, there, editions) == (1, 1, 2 * banks, 0)
    assert 0 < banks < BANKS
    study.run(START)
    assert counts(study, tables) == [0, 0, 0, 0, 0]
    assert last_import(study) == [("interrupted", "writing", False)]

    study.manage(*command)
    assert counts(study, tables) == [1, 1, BANKS, 2 * BANKS, BANKS]


def test_an_import_of_assignments_killed_while_it_writes(study: House, tmp_path: Path):
    topics, assignments = tmp_path / "topics.tsv", tmp_path / "assignments.jsonl"
    topics.write_text("".join(f"t{n}\ttitle\n" for n in range(BANKS)))
    nuggets = [{"text": text, "importance": "vital", "assignment": "support"} for text in "ab"]
    with assignments.open("w") as out:
        for n in range(BANKS):
            line = {"query": "title", "qid": f"t{n}", "nuggets": nuggets, "run_id": f"r{n % 50}"}
            out.write(json.dumps(line | {"answer_text": "Cats purr.", "response_length": 2}) + "\n")
    study.manage_all([["create_campaign", "study"], ["import_topics", "study", str(topics)]])
    command = ("import_assignments", "study", str(assignments), "--condition=Imported", "--by=model")
    kill_while_writing(study, command, "assignment_answersheet")

    kept = ("campaigns_condition", "campaigns_judge", "campaigns_run")
    tables = (*kept, "nuggets_nuggetbank", "nuggets_nugget", "campaigns_answer", "assignment_answersheet")
    conditions, judges, runs, banks, there, answers, sheets = counts(study, tables)
    assert (conditions, judges, runs) == (2, 2, 50)
    assert (there, answers, sheets) == (2 * banks, banks, banks)
    assert 0 < banks < BANKS
    study.run(START)
    assert counts(study, tables) == [0] * 7
    assert last_import(study) == [("interrupted", "writing", False)]

    study.manage(*command)
    assert counts(study, tables) == [2, 2, 50, BANKS, 2 * BANKS, BANKS, BANKS]
