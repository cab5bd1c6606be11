"""Commands whose output nobody reads to its end, as before `| head`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINES = "for at in range(100_000): print('line', at)"


def start(*words: str, **pipes: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "manage.py", *words]
    return subprocess.Popen(command, cwd=ROOT, stderr=pipes.pop("stderr", subprocess.PIPE), text=True, **pipes)


def test_a_command_ends_quietly_when_its_first_lines_were_enough():
    with start("shell", "--verbosity=0", "--no-imports", "-c", LINES, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "line 0\n"
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 141)


@pytest.mark.parametrize("words", [["help"], ["compare_tables", "none", "none"]])
def test_so_does_one_that_nobody_reads_at_all(words: list[str]):
    """Short output, which Python writes only at its end; an error's message too."""
    reading, writing = os.pipe()
    os.close(reading)
    with start(*words, stdout=writing, stderr=writing) as process:
        os.close(writing)
        assert process.wait() == 141


def test_what_breaks_elsewhere_is_told():
    code = "raise BrokenPipeError('the database went away')"
    with start("shell", "--verbosity=0", "--no-imports", "-c", code, stdout=subprocess.PIPE) as process:
        out, error = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert error.endswith("BrokenPipeError: the database went away\n")


def test_an_error_is_told_though_nobody_reads_the_rest():
    reading, writing = os.pipe()
    os.close(reading)
    with start("compare_tables", "none", "none", stdout=writing) as process:
        os.close(writing)
        assert (process.wait(), process.stderr.read()) == (1, "CommandError: There is no file none.\n")


def test_the_demo_and_the_server_are_commands_too():
    with start("help", stdout=subprocess.PIPE) as process:
        out, _ = process.communicate()
    assert out.startswith("assay demo ")
    assert "assay serve " in out
    assert "    migrate\n" in out
    with start("serve", "--port", "9000") as process:
        _, error = process.communicate()
    assert (process.returncode, error.splitlines()[-1]) == (
        1,
        "assay serve takes no arguments; environment variables set it up.",
    )
