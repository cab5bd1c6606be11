"""The command line: `assay demo`, `assay serve`, and Django's commands. manage.py is the same in the source tree."""

import os
import select
import sys
from typing import TextIO

HELP = """assay demo    runs the demo on this machine; PORT=9000 chooses another port
assay serve   runs Assay on this machine or server: migrations, web, workers, beat
"""


def main() -> None:
    try:
        try:
            run(sys.argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        unread = [stream for stream in (sys.stdout, sys.stderr) if has_no_reader(stream)]
        if not unread:
            raise
        # As after `| head`: no error. Python writes what is left at its end, to where it is no error either.
        for stream in unread:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(141)  # as the shell has it for a program that SIGPIPE ended


def run(arguments: list[str]) -> None:
    """Run a command. The demo and the server load no settings themselves: they start processes that do."""
    match arguments[1:]:
        case ["demo"]:
            from assay import demo

            demo.main()
        case ["serve"]:
            from assay import serve

            serve.main()
        case ["demo" | "serve" as name, *_]:
            print(HELP, end="", file=sys.stderr)
            sys.exit(f"assay {name} takes no arguments; environment variables set it up.")
        case others:
            if others in ([], ["help"], ["--help"], ["-h"]):
                print(HELP)
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
            from django.core.management import execute_from_command_line

            execute_from_command_line(arguments)


def has_no_reader(stream: TextIO) -> bool:
    poll = select.poll()
    poll.register(stream, 0)
    return bool(poll.poll(0))
