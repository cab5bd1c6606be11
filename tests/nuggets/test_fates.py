"""How each draft ended."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.draft_outcomes import End, Fate, Made, ends, sources

DRAFTS = ["a", "b", "c"]
# Nuggets 1 to 3 are the drafts in their order; the rest is told by each test.
GIVEN = {pk: Made(text, "drafted", [], pk) for pk, text in enumerate(DRAFTS, start=1)}


def fates(nuggets: dict[int, Made], listed: list[int]) -> list[str]:
    return [end.fate.value for end in ends(DRAFTS, nuggets, listed)]


def made(origin: str, *parents: int) -> Made:
    return Made("new", origin, parents, None)


def test_untouched_drafts_are_kept_wherever_they_stand():
    assert ends(DRAFTS, GIVEN, [3, 1, 2]) == [End(Fate.KEPT, [pk]) for pk in (1, 2, 3)]


def test_a_draft_on_the_list_is_undecided_until_somebody_decides():
    nuggets = GIVEN | {pk: GIVEN[pk]._replace(is_undecided=True) for pk in (1, 2)}
    assert fates(nuggets, [1, 3]) == ["undecided", "deleted", "kept"]


def test_nothing_drafted_nothing_ended():
    assert ends([], {4: made("written")}, [4]) == []


def test_another_text_than_its_own_is_edited():
    assert fates(GIVEN | {2: GIVEN[2]._replace(text="b, reworded")}, [1, 2, 3]) == ["kept", "edited", "kept"]


def test_off_the_list_is_deleted_whatever_its_text():
    assert fates(GIVEN | {2: GIVEN[2]._replace(text="b, reworded")}, [1]) == ["kept", "deleted", "deleted"]


@pytest.mark.parametrize(
    ("new", "listed", "expected"),
    [
        # merged, and the merged one kept, deleted, merged on or split
        ({4: made("merged", 1, 2)}, [4, 3], ["merged", "merged", "kept"]),
        ({4: made("merged", 1, 2)}, [3], ["deleted", "deleted", "kept"]),
        ({4: made("merged", 1, 2), 5: made("merged", 4, 3)}, [5], ["merged", "merged", "merged"]),
        ({4: made("merged", 1, 2), 5: made("split", 4), 6: made("split", 4)}, [5, 3], ["merged", "merged", "kept"]),
        ({4: made("merged", 1, 2), 5: made("split", 4), 6: made("split", 4)}, [], ["deleted", "deleted", "deleted"]),
        # split, and both halves kept, one of them, none, or one merged with another draft
        ({4: made("split", 1), 5: made("split", 1)}, [4, 5, 2, 3], ["split", "kept", "kept"]),
        ({4: made("split", 1), 5: made("split", 1)}, [5, 2, 3], ["split", "kept", "kept"]),
        ({4: made("split", 1), 5: made("split", 1)}, [2, 3], ["deleted", "kept", "kept"]),
        ({4: made("split", 1), 5: made("split", 1), 6: made("merged", 5, 2)}, [4, 6, 3], ["split", "merged", "kept"]),
        # split, taken back, and merged instead; and the other way round
        ({4: made("split", 1), 5: made("split", 1), 6: made("merged", 1, 2)}, [6, 3], ["merged", "merged", "kept"]),
        ({4: made("merged", 1, 2), 5: made("split", 1), 6: made("split", 1)}, [5, 6, 2, 3], ["split", "kept", "kept"]),
        # halves merged again
        ({4: made("split", 1), 5: made("split", 1), 6: made("merged", 4, 5)}, [6, 2, 3], ["split", "kept", "kept"]),
        # merged with one that a person wrote
        ({4: made("written"), 5: made("merged", 4, 1)}, [5, 2, 3], ["merged", "kept", "kept"]),
    ],
)
def test_chains(new: dict[int, Made], listed: list[int], expected: list[str]):
    assert fates(GIVEN | new, listed) == expected


def test_where_drafts_live_on_and_what_was_added():
    new = {4: made("split", 1), 5: made("split", 1), 6: made("merged", 5, 2), 7: made("written"), 8: made("split", 7)}
    nuggets, listed = GIVEN | new, [8, 6, 4]
    assert ends(DRAFTS, nuggets, listed) == [
        End(Fate.SPLIT, [6, 4]),
        End(Fate.MERGED, [6]),
        End(Fate.DELETED, []),
    ]
    assert sources(nuggets, listed) == {8: [], 6: [1, 2], 4: [1]}


def test_equal_drafts_are_told_apart_by_their_place():
    nuggets = {1: Made("a", "drafted", [], 2), 2: Made("a", "drafted", [], 1)}
    assert ends(["a", "a"], nuggets, [2]) == [End(Fate.KEPT, [2]), End(Fate.DELETED, [])]


# Any edits: what became of each draft, noted down step by step, is what the end alone tells.


@dataclass
class Noted:
    """A list as it stands, and for each draft the nuggets that it lives on in, and what was first done to it."""

    order: list[int]
    texts: dict[int, str]
    holders: dict[int, set[int]]
    first: dict[int, str] = field(default_factory=dict)

    def copy(self) -> "Noted":
        holders = {draft: set(there) for draft, there in self.holders.items()}
        return Noted(list(self.order), dict(self.texts), holders, dict(self.first))

    def replace(self, parents: list[int], children: list[int], what: str) -> None:
        at = min(self.order.index(pk) for pk in parents)
        self.order[at:at] = children
        self.order = [pk for pk in self.order if pk not in parents]
        for draft, there in self.holders.items():
            if there & set(parents):
                there -= set(parents)
                there |= set(children)
                self.first.setdefault(draft, what)


_STEP = st.tuples(
    st.sampled_from(["reword", "restore", "add", "delete", "merge", "split", "split", "merge", "undo", "undo", "redo"]),
    st.integers(0, 30),
    st.integers(1, 30),
)


@given(st.integers(1, 5), st.lists(_STEP, max_size=25))
def test_any_edits_end_as_they_were_noted_down(count: int, steps: list[tuple[str, int, int]]):
    drafts = [f"draft {place}" for place in range(1, count + 1)]
    made_so_far = {pk: Made(drafts[pk - 1], "drafted", [], pk) for pk in range(1, count + 1)}
    present = Noted(list(made_so_far), {pk: drafts[pk - 1] for pk in made_so_far}, {pk: {pk} for pk in made_so_far})
    done: list[Noted] = []
    undone: list[Noted] = []

    def make(origin: str, *parents: int) -> int:
        pk = len(made_so_far) + 1
        made_so_far[pk] = Made(f"nugget {pk}", origin, parents, None)
        present.texts[pk] = f"nugget {pk}"
        return pk

    for verb, at, step in steps:
        if verb in ("undo", "redo"):
            there, back = (done, undone) if verb == "undo" else (undone, done)
            if there:
                back.append(present)
                present = there.pop()
            continue
        if verb != "add" and not present.order:
            continue
        done.append(present)
        undone.clear()
        present = present.copy()
        pk = present.order[at % len(present.order)] if present.order else 0
        other = present.order[(at + step) % len(present.order)] if present.order else 0
        if verb == "add":
            present.order.append(make("written"))
        elif verb == "reword":
            present.texts[pk] = f"reworded {step}"
        elif verb == "restore":
            present.texts[pk] = made_so_far[pk].text
        elif verb == "delete":
            present.order.remove(pk)
            for holders in present.holders.values():
                holders.discard(pk)
        elif verb == "split":
            present.replace([pk], [make("split", pk), make("split", pk)], "split")
        elif pk != other:
            present.replace([pk, other], [make("merged", pk, other)], "merged")

    nuggets = {pk: nugget._replace(text=present.texts.get(pk, nugget.text)) for pk, nugget in made_so_far.items()}
    found = ends(drafts, nuggets, present.order)
    assert len(found) == count
    for draft, end in enumerate(found, start=1):
        holders = present.holders[draft]
        if draft in present.order:
            expected = "kept" if present.texts[draft] == drafts[draft - 1] else "edited"
        else:
            expected = present.first[draft] if holders else "deleted"
        assert (end.fate.value, end.became) == (expected, [pk for pk in present.order if pk in holders])
    lives: dict[int, Any] = {pk: [d for d, there in present.holders.items() if pk in there] for pk in present.order}
    assert sources(nuggets, present.order) == lives
    assert sum(Counter(end.fate for end in found).values()) == count
