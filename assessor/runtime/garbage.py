"""How often a web process looks for garbage."""

import gc

_NEW_OBJECTS = 20_000  # before it looks among them; Python's own 700 is reached many times on one large page


def spare_what_is_loaded() -> None:
    """Have the garbage collector leave alone what is loaded by now, and look for garbage less often.

    Otherwise pages of a track's size take up to twice as long at the 95th percentile (docs/evidence/benchmarks.md).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)
