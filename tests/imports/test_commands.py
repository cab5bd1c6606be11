"""The commands that import and export."""

import io
import json
import os
import sys

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from assessor.campaigns.models import Campaign, Event, Import, Topic
from assessor.formats.report import quantity
from assessor.imports import importer
from assessor.imports.importer import stop
from assessor.imports.loaders.topics import TopicLoader
from assessor.runtime import processes

TOPICS = "t1\twhy do cats purr\nt2\thow is glass recycled\n"


def call(*args, **options):
    """Run a command; return what it printed."""
    out = io.StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def write(tmp_path):
    def do(content, name="topics.tsv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return do


def test_an_import_prints_its_counts(empty_campaign, write):
    assert call("import_topics", "study", write(TOPICS)) == "topics.tsv: done; 2 lines, 2 topics added\n"
    again = call("import_topics", "study", write(TOPICS))
    assert again == "topics.tsv: done; 2 lines, 2 topics already there, 0 topics added\n"
    assert Topic.everything.count() == 2


def test_a_refused_file_makes_the_command_fail_and_print_why(empty_campaign, write):
    out = io.StringIO()
    path = write(TOPICS + "t3\n\ntitle\n t2\tb")
    with pytest.raises(CommandError) as failure:
        call_command("import_topics", "study", path, stdout=out)
    assert str(failure.value) == "topics.tsv was not imported (refused)."
    assert out.getvalue() == (
        "topics.tsv: refused; 6 lines\n"
        "3 errors:\n"
        "  topics.tsv, line 3: found 1 column: t3; expected two columns, id and title, with a tab\n"
        "  topics.tsv, line 5: found 1 column: title; expected two columns, id and title, with a tab\n"
        "  topics.tsv, line 6: id: found t2; expected each once; it stands on line 2 already\n"
        "1 warning, blanks around an id: line 6: id: found  t2; expected stripped to t2\n"
    )
    assert Topic.everything.count() == 0


def test_of_80_problems_50_are_printed(empty_campaign, write):
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_topics", "study", write("t\n" * 80), stdout=out)
    printed = out.getvalue().splitlines()
    assert printed[1] == "80 errors, the first 50:"
    assert len(printed) == 52


def test_warnings_of_a_kind_are_one_line_and_the_rest_is_in_the_report(empty_campaign, write, tmp_path):
    path = write("".join(f" t{n}\ttitle\n" for n in range(60)))
    said = call("import_topics", "study", path, report=str(tmp_path / "report.json"))
    assert said == (
        "topics.tsv: done; 60 lines, 60 topics added\n"
        "60 warnings, blanks around an id: line 1: id: found  t0; expected stripped to t0"
        " | line 2: id: found  t1; expected stripped to t1 | line 3: id: found  t2; expected stripped to t2 | 57 more\n"
        "Warnings that are not listed here are in the report, which --report FILE writes.\n"
    )
    written = json.loads((tmp_path / "report.json").read_text())
    stored = Import.objects.get().report
    assert [len(kind["listed"]) for kind in stored["warnings"]] == [50]
    assert [problem["line"] for problem in written["warnings"][0]["listed"]] == list(range(1, 61))
    assert written["warnings"][0]["listed"][:50] == stored["warnings"][0]["listed"]


def test_the_report_of_a_refused_file_is_written_too(empty_campaign, write):
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_topics", "study", write(" a\tA\nt\n"), report="-", stdout=out)
    assert out.getvalue().startswith("topics.tsv: refused; 2 lines\n1 error:\n")
    assert '"expected": "two columns, id and title, with a tab",\n      "remedy": ""' in out.getvalue()


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, "errors", "0 errors"),
        (1, "errors", "1 error"),
        (1, "support judgments missing", "1 support judgment missing"),
        (1, "importance made absent", "1 importance made absent"),
        (1, "runs added", "1 run added"),
        (2_000, "topics already there", "2,000 topics already there"),
    ],
)
def test_one_thing_is_in_the_singular(number, nouns, text):
    assert quantity(number, nouns) == text


def test_check(empty_campaign, write):
    assert call("import_topics", "study", write(TOPICS), check=True) == "topics.tsv: checked only; 2 lines\n"
    assert Topic.everything.count() == 0
    with pytest.raises(CommandError, match=r"bad.tsv was not imported \(refused\)"):
        call("import_topics", "study", write("t1", "bad.tsv"), check=True)


class Stdin:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)


def test_standard_input(empty_campaign, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(TOPICS.encode()))
    assert call("import_topics", "study", "-") == "standard input: done; 2 lines, 2 topics added\n"
    assert Topic.objects.count() == 2


WRONG = [
    pytest.param(["import_topics", "nosuch", "FILE"], "There is no campaign nosuch. There are: study.", id="campaign"),
    pytest.param(["import_topics", "study", "/nowhere"], "There is no file /nowhere.", id="file"),
    pytest.param(
        ["import_qrels", "study", "FILE"],
        "Grades need a named source: --source NAME --by people|model.",
        id="qrels-without-source",
    ),
    pytest.param(
        ["import_qrels", "study", "FILE", "--source", "NIST"],
        "Grades need a named source: --source NAME --by people|model.",
        id="qrels-by-nobody",
    ),
    pytest.param(
        ["import_segments", "study", "FILE", "--source", "NIST"],
        "Grades need a named source: --source NAME --by people|model.",
        id="segments-by-nobody",
    ),
    pytest.param(["export_topics", "nosuch"], "There is no campaign nosuch. There are: study.", id="export"),
    pytest.param(
        ["export_qrels", "study", "--source", "X"], "There is no source of grades X. There are: none.", id="source"
    ),
    pytest.param(["export_run", "study", "--run", "X"], "There is no run X. There are: none.", id="run"),
    pytest.param(["create_campaign", "study"], "There is a campaign study already.", id="campaign-again"),
    pytest.param(
        ["create_campaign", "new", "--organizer", "olga", "--organizer", "nobody"],
        "There is nobody called nobody.",
        id="organizer",
    ),
]


@pytest.mark.parametrize(("command", "message"), WRONG)
def test_a_wrong_call_says_what_is_wrong(empty_campaign, write, command, message):
    path = write(TOPICS)
    with pytest.raises(CommandError) as failure:
        call(*[path if word == "FILE" else word for word in command])
    assert str(failure.value) == message
    assert (Import.objects.count(), Campaign.objects.count()) == (0, 1)


def test_an_import_while_another_runs_says_so_and_leaves_no_record(empty_campaign, write):
    running = importer.new_import(
        campaign=empty_campaign, kind="topics", file_name="f", options={}, person=None, check_only=False
    )
    alive = {"owner": processes.identity(os.getppid()), "alive_at": timezone.now()}
    Import.objects.update(state=Import.State.RUNNING, **alive)
    with pytest.raises(CommandError) as failure:
        call("import_topics", "study", write(TOPICS))
    assert str(failure.value) == "Another import of Study is running. Try again when it is over."
    assert [record.pk for record in Import.objects.all()] == [running.pk]


def test_an_import_by_command_that_somebody_stops(empty_campaign, olga, write, monkeypatch):
    plain = TopicLoader.write

    def stopped(self, records, import_record):
        plain(self, records, import_record)
        stop(import_record, person=olga)

    monkeypatch.setattr(TopicLoader, "write", stopped)
    with pytest.raises(CommandError) as failure:
        call("import_topics", "study", write("".join(f"t{n}\tt\n" for n in range(600))))
    assert str(failure.value) == "topics.tsv was not imported (stopped)."
    assert Topic.everything.count() == 0


def test_create_campaign(olga):
    assert call("create_campaign", "rag24", name="TREC 2024 RAG", organizer=["olga"]) == "Created TREC 2024 RAG.\n"
    campaign = Campaign.objects.get(slug="rag24")
    assert list(campaign.memberships.values_list("person__username", "role")) == [("olga", "organizer")]
    assert campaign.protocol.version == 1
    assert list(Event.objects.values_list("verb", flat=True)) == ["organizer added", "campaign created"]


def test_a_study_in_and_out(empty_campaign, write, tmp_path):
    segment = '{"docid": "d1", "segment": "Cats purr."}\n'
    request = {"query": {"qid": "t1"}, "candidates": [{"docid": "d1", "judgment": 2, "doc": json.loads(segment)}]}
    answer = (
        '{"run_id": "r1", "topic_id": "t1", "references": ["d1"], "answer": [{"text": "Yes.", "citations": [0]}]}\n'
    )
    run_list = "tag,team,task,type,priority,aliases,generator\nr1,T,RAG,manual,1,r.1,openai\n"
    call("import_topics", "study", write(TOPICS))
    call("import_segments", "study", write(json.dumps(request), "s"), source="NIST", by="people")
    call("import_qrels", "study", write("t2 0 d1 0\n", "q"), source="NIST", by="people")
    call("import_run", "study", write(answer, "r"))
    call("import_run_list", "study", write(run_list, "l"))
    assert call("export_topics", "study") == TOPICS
    assert call("export_topics", "study", form="jsonl").splitlines()[0] == '{"id": "t1", "title": "why do cats purr"}'
    assert call("export_segments", "study") == segment
    assert call("export_qrels", "study", source="NIST") == "t1 0 d1 2\nt2 0 d1 0\n"
    assert call("export_run", "study", run="r1") == answer
    assert call("export_run_list", "study") == run_list
    out = tmp_path / "topics.out"
    assert call("export_topics", "study", output=str(out)) == ""
    assert out.read_bytes() == TOPICS.encode()


def test_an_export_that_breaks_off_leaves_the_file_that_was_there(campaign, tmp_path, monkeypatch):
    out = tmp_path / "topics.tsv"
    out.write_text("before")

    def broken(campaign, form, topics):
        yield "t1\t"
        raise OSError("disk full")

    monkeypatch.setattr("assessor.campaigns.exports.topics_lines", broken)
    with pytest.raises(OSError, match="disk full"):
        call("export_topics", "study", output=str(out))
    assert [path.name for path in tmp_path.iterdir() if "topics" in path.name] == ["topics.tsv"]
    assert out.read_text() == "before"
