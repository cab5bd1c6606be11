"""Runs code on the data of a demo, one piece after another, as `manage.py shell -c` would: Django is loaded once."""

import json
import os
import sys

import django


def main() -> None:
    """Read a piece of code a line, as JSON; after what it printed, print a line of its exit code."""
    django.setup()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            exec(json.loads(line), {})
            sys.stdout.flush()
            os._exit(0)
        sys.stdout.write(f"\0{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
