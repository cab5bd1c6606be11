"""The keys of a file that a loader has seen."""

from assessor.formats.lines import Line
from assessor.imports.loaders.base import FirstSeen, Seen

KEYS = 20_000  # of 250 characters: more than are kept in memory


def key(number: int) -> str:
    return f"{number:0250}"


def test_where_each_key_stood_first() -> None:
    seen = Seen()
    assert [seen.before(key(number), Line(number, ""), f"v{number}") for number in range(KEYS)] == [None] * KEYS
    again = Line(KEYS, "")
    assert [seen.before(key(number), again, "other") for number in range(KEYS)] == [
        FirstSeen(number, f"v{number}") for number in range(KEYS)
    ]
    assert seen.has(key(0))
    assert seen.has(key(KEYS - 1))
    assert not seen.has(key(KEYS))


def test_only_the_first_keys_are_in_memory() -> None:
    seen = Seen()
    for number in range(KEYS):
        seen.before(key(number), Line(number, ""))
    assert len(seen._first) == 5_715  # each counts for 350 of 2,000,000
    [[on_disk]] = seen._disk.execute("select count(*) from seen")
    assert on_disk == KEYS - 5_715
