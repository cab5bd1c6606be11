"""What the garbage collector leaves alone, and how often it looks."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 20_000  # before it looks among them; Python's own are 700
_is_frozen = False  # gc.get_freeze_count() counts a million objects one by one


def look_less_often() -> None:
    """Have the garbage collector look once there are more new objects.

    Else it takes a sixth of a process's start, and pages of a track's size up to twice as long at the 95th percentile
    (docs/evidence/benchmarks.md).
    """
    gc.set_threshold(_NEW_OBJECTS, 10, 10)


def freeze_what_is_loaded() -> None:
    """Have the garbage collector leave alone what is loaded by now; children that are forked next go on sharing it."""
    global _is_frozen
    gc.freeze()
    _is_frozen = True


@contextmanager
def spare_for_a_while() -> Iterator[None]:
    """Have the garbage collector leave alone what is there by now, but not for good.

    Where what was loaded is frozen already, that is enough: to end it would have children share no more.
    """
    if _is_frozen:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
