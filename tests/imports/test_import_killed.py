"""An import whose process is killed while it writes: nothing of it is visible, and the next start clears it away."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connection

from tests.llm.house import copy_database

# On PostgreSQL, `make faults` kills imports.
pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="its house has a SQLite database")

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


class Server:
    """A house of its own: a data folder with a SQLite database, and commands run as processes of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        self.env |= {"ASSAY_DATA_DIR": str(folder), "ASSAY_SECRET_KEY": "only for tests", "ASSAY_HTTPS": "0"}

    def start(self, *args):
        command = [sys.executable, "manage.py", *args]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=settings.BASE_DIR, env=self.env, **pipes)

    def manage(self, *args):
        """Run a command to its end; return what it printed."""
        with self.start(*args) as process:
            out, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        return out

    def shell(self, code):
        return self.manage("shell", "--verbosity=0", "-c", code)

    def rows(self, query):
        """Read from the database, past Django."""
        with closing(
            sqlite3.connect(f"file:{self.folder / 'assay.sqlite3'}?mode=ro", uri=True, timeout=20)
        ) as database:
            return database.execute(query).fetchall()

    def topics_there(self):
        return self.count("campaigns_topic")

    def count(self, table):
        return self.rows(f"select count(*) from {table}")[0][0]

    def last_import(self):
        return self.rows("select state, stage, has_leftovers from campaigns_import order by id desc limit 1")


@pytest.fixture
def server(db, tmp_path):
    copy_database(tmp_path / "data")
    server = Server(tmp_path / "data")
    server.manage("create_campaign", "study")
    return server


def kill_while_writing(server, process, table="campaigns_topic"):
    """Kill the import once it has written some rows, but not all."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        if server.last_import() == [("running", "writing", 1)] and server.count(table):
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.03)
    process.communicate(timeout=10)


def test_an_import_killed_while_it_writes(server, tmp_path):
    file = tmp_path / "topics.tsv"
    file.write_text("".join(f"t{n}\ttitle of topic {n}\n" for n in range(TOPICS)))
    process = server.start("import_topics", "study", str(file))
    kill_while_writing(server, process)
    assert process.returncode == -signal.SIGKILL

    there = server.topics_there()
    assert 0 < there < TOPICS
    assert server.last_import() == [("running", "writing", 1)]
    assert server.shell(VISIBLE + START + VISIBLE).split() == ["0", "0", str(there), "0", "0", "0"]
    assert server.topics_there() == 0
    assert server.last_import() == [("interrupted", "writing", 0)]

    printed = server.manage("import_topics", "study", str(file))
    assert printed == "topics.tsv: done; 60,000 lines, 60,000 topics added\n"
    assert server.last_import() == [("done", "writing", 0)]
    assert server.topics_there() == TOPICS


def test_an_import_of_nuggets_killed_while_it_writes(server, tmp_path):
    topics, nuggets = tmp_path / "topics.tsv", tmp_path / "nuggets.jsonl"
    topics.write_text("".join(f"t{n}\ttitle\n" for n in range(BANKS)))
    line = '{{"query": "title", "qid": "t{}", "nuggets": [{{"text": "a"}}, {{"text": "b", "importance": "vital"}}]}}\n'
    nuggets.write_text("".join(line.format(n) for n in range(BANKS)))
    server.manage("import_topics", "study", str(topics))
    command = ("import_nuggets", "study", str(nuggets), "--condition=Imported", "--by=model")
    process = server.start(*command)
    kill_while_writing(server, process, "nuggets_nuggetbank")
    assert process.returncode == -signal.SIGKILL

    tables = ("campaigns_condition", "campaigns_judge", "nuggets_nuggetbank", "nuggets_nugget", "nuggets_bankedition")
    conditions, judges, banks, there, editions = (server.count(table) for table in tables)
    assert (conditions, judges, there, editions) == (1, 1, 2 * banks, 0)
    assert 0 < banks < BANKS
    server.shell(START)
    assert [server.count(table) for table in tables] == [0, 0, 0, 0, 0]
    assert server.last_import() == [("interrupted", "writing", 0)]

    server.manage(*command)
    assert [server.count(table) for table in tables] == [1, 1, BANKS, 2 * BANKS, BANKS]


def test_an_import_of_assignments_killed_while_it_writes(server, tmp_path):
    topics, assignments = tmp_path / "topics.tsv", tmp_path / "assignments.jsonl"
    topics.write_text("".join(f"t{n}\ttitle\n" for n in range(BANKS)))
    nuggets = [{"text": text, "importance": "vital", "assignment": "support"} for text in "ab"]
    with assignments.open("w") as out:
        for n in range(BANKS):
            line = {"query": "title", "qid": f"t{n}", "nuggets": nuggets, "run_id": f"r{n % 50}"}
            out.write(json.dumps(line | {"answer_text": "Cats purr.", "response_length": 2}) + "\n")
    server.manage("import_topics", "study", str(topics))
    command = ("import_assignments", "study", str(assignments), "--condition=Imported", "--by=model")
    process = server.start(*command)
    kill_while_writing(server, process, "assignment_answersheet")
    assert process.returncode == -signal.SIGKILL

    kept = ("campaigns_condition", "campaigns_judge", "campaigns_run")
    tables = (*kept, "nuggets_nuggetbank", "nuggets_nugget", "campaigns_answer", "assignment_answersheet")
    conditions, judges, runs, banks, there, answers, sheets = (server.count(table) for table in tables)
    assert (conditions, judges, runs) == (2, 2, 50)
    assert (there, answers, sheets) == (2 * banks, banks, banks)
    assert 0 < banks < BANKS
    server.shell(START)
    assert [server.count(table) for table in tables] == [0] * 7
    assert server.last_import() == [("interrupted", "writing", 0)]

    server.manage(*command)
    assert [server.count(table) for table in tables] == [2, 2, 50, BANKS, 2 * BANKS, BANKS, BANKS]
