"""What all that people say on their sheets has in common: how long it may be, and what ends it."""

from assessor.work.writes import BadWrite

MAX_REASON = 500  # characters of a reason or a note
MAX_SECONDS = 3_600  # on one label
SIGNED_OFF = "This topic is signed off: its labels can be read, no longer changed."


class Gone(Exception):
    """Nobody is asked about an item of a sheet any more, or not yet; the text says so."""


def on_one_line(text: str) -> str:
    """Return a reason or a note with its blanks folded. Raises BadWrite."""
    folded = " ".join(text.split())
    if len(folded) > MAX_REASON or "\x00" in folded:
        raise BadWrite(f"A reason or a note has at most {MAX_REASON} characters and no NUL.")
    return folded


def counted(seconds: int | None) -> int | None:
    """Return the active time that is kept of what a browser told."""
    return None if seconds is None else min(seconds, MAX_SECONDS)
