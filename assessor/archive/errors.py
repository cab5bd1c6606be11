"""What can be wrong with an archive."""

_LONGEST = 200  # characters of what was found


class ArchiveError(Exception):
    """A campaign can't be archived, or an archive can't be read or restored; the text says why and where."""


def wrong(file: str, line: int, field: str, found: object, expected: str) -> ArchiveError:
    """Return the error that names file, line and field, what was found and what was expected."""
    where = ", ".join([file, *([f"line {line}"] if line else []), *([field] if field else [])])
    return ArchiveError(f"{where}: found {str(found)[:_LONGEST]}; expected {expected}.")
