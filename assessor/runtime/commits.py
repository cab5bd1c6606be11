"""What follows a transaction."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from django.db import transaction


def after_commit(act: Callable[..., object], *args: Any, **named: Any) -> None:
    """Call something once the transaction is committed; what goes wrong there is logged, and fails nothing else.

    Django logs such a failure by the callable's name, which a partial has none of: it would fail the request instead.
    """
    transaction.on_commit(update_wrapper(partial(act, *args, **named), act), robust=True)
