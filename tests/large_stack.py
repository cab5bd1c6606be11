"""Python keeps its frames in chunks of 16 KiB, and asks the system for each anew.

In a loop whose calls come to the edge of one, it takes a chunk and gives it back at every turn: a tenth of the tests'
time. A frame that claims much gets a large chunk, in which there is room for all calls above it.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_CLAIM = 100_000  # values


def on_large_stack(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function run, and whatever it calls, in one large chunk."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=_CLAIM)  # type: ignore[attr-defined]  # it is a function
    return call
