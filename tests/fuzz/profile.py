"""How much is tried, by which seed, and what came of it.

Two profiles: the short one is a part of the tests and tries the same each time; the long one (ASSAY_FUZZ=long, which is
`make fuzz`) tries as much as docs/evidence/fuzzing.md says, by the seed ASSAY_FUZZ_SEED, and prints a table of results.
"""

import os
import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import SearchStrategy

SEED = os.environ.get("ASSAY_FUZZ_SEED", "1")
MOST_SECONDS = 20.0  # of the processor, for one case; the first figure loads what draws it
MOST_MEMORY = 1024  # MiB by which the process may grow while one subject's cases are tried

# By table and subject: how many cases came to what.
COUNTS: dict[tuple[str, str], Counter[str]] = {}


def fuzz(table: str, subject: str, cases: SearchStrategy[Any], check: Callable[[Any], str], most: int) -> list[str]:
    """Check cases of a subject, and count them by what check() says came of each.

    Returns what was found, as text, so that the caller can go on with the next subject: the smallest case of each
    place where check() raised something, or of those that took too long; or that all of them took too much memory.
    """
    came_to = COUNTS.setdefault((table, subject), Counter())
    memory = _memory()

    @seed(f"{SEED} {table} {subject}")
    @hypothesis_settings(
        max_examples=most,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        verbosity=Verbosity.quiet,  # what is found is told here
    )
    @given(case=cases)
    def one(case: Any) -> None:
        began = time.process_time()
        try:
            outcome = check(case)
        except Exception as error:
            error.add_note(f"case: {case!r}")
            raise
        seconds = time.process_time() - began
        assert seconds <= MOST_SECONDS, f"{seconds:.1f} s of the processor"
        came_to[outcome] += 1

    found: list[Exception] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)  # of long cases, which are shortened here
        try:
            one()
        except ExceptionGroup as several:
            found = list(several.exceptions)
        except Exception as error:
            found = [error]
    texts = [f"{table}, {subject}: {type(error).__name__}: {error}\n{_told(error)}" for error in found]
    if (grown := _memory() - memory) > MOST_MEMORY:
        texts.append(f"{table}, {subject}: {grown:.0f} MiB")
    return texts


def _told(error: Exception) -> str:
    """Return where an error was raised, and the case that shows it."""
    frames, trace = [], error.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        if "/hypothesis/" not in code.co_filename:
            frames.append(f"  {code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    case = error.__notes__[0] if hasattr(error, "__notes__") else ""
    return "\n".join([*frames[-12:], case if len(case) < 4_000 else f"{case[:2_000]} ... {case[-1_000:]}"])


def _memory() -> float:
    """Return the most memory that the process has had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
