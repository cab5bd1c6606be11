#!/usr/bin/env python
"""Django's command line for Assay."""

import os
import select
import sys
from typing import TextIO


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assessor.settings")
    from django.core.management import execute_from_command_line

    try:
        try:
            execute_from_command_line(sys.argv)
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


def has_no_reader(stream: TextIO) -> bool:
    poll = select.poll()
    poll.register(stream, 0)
    return bool(poll.poll(0))


if __name__ == "__main__":
    main()
