"""How many examples of a property are tried: a few in each run of the tests, many in `make fuzz`."""

import os

from hypothesis import settings

IS_LONG = os.environ.get("ASSAY_FUZZ") == "long"


def examples(short: int, long: int) -> int:
    """Return how many cases of something are tried."""
    return long if IS_LONG else short


# No deadline: a busy machine is slow.
settings.register_profile("examples", max_examples=examples(40, 1000), deadline=None)
settings.load_profile("examples")
