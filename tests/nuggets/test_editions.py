"""What becomes of labels when a bank is finished again, as plain values."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.editions import Snapshot, consequences, snapshot


def one(pk: int, text: str = "a", importance: str = "vital", *places: str) -> dict[str, Any]:
    return {"uid": pk, "text": text, "importance": importance, "evidence": list(places)}


NOTHING: dict[str, list[int]] = {"stale": [], "missing": [], "gone": [], "rescored": []}
CASES: dict[str, tuple[Snapshot, Snapshot, dict[str, list[int]]]] = {
    "nothing": ([one(1), one(2)], [one(1), one(2)], {}),
    "empty": ([], [], {}),
    "text": ([one(1), one(2)], [one(1, "b"), one(2)], {"stale": [1]}),
    "text in case alone": ([one(1)], [one(1, "A")], {"stale": [1]}),
    "importance": ([one(1), one(2)], [one(1), one(2, "a", "okay")], {"rescored": [2]}),
    "text and importance": ([one(1)], [one(1, "b", "okay")], {"stale": [1]}),
    "order": ([one(1), one(2)], [one(2), one(1)], {}),
    "evidence": ([one(1)], [one(1, "a", "vital", "d1")], {}),
    "evidence and importance": ([one(1)], [one(1, "a", "okay", "d1")], {"rescored": [1]}),
    "added": ([one(1)], [one(2), one(1)], {"missing": [2]}),
    "added with a text that was there": ([one(1)], [one(2, "a")], {"missing": [2], "gone": [1]}),
    "deleted": ([one(1), one(2)], [one(2)], {"gone": [1]}),
    "all at once": (
        [one(1), one(2), one(3), one(4), one(5)],
        [one(7), one(5), one(4, "a", "okay"), one(2, "b"), one(6), one(1, "c", "okay")],
        {"stale": [2, 1], "missing": [7, 6], "gone": [3], "rescored": [4]},
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES)
def test_each_change_has_its_own_consequence(before: Snapshot, after: Snapshot, expected: dict[str, list[int]]):
    assert consequences(before, after) == NOTHING | expected


SNAPSHOTS = st.lists(
    st.builds(one, st.integers(1, 6), st.sampled_from("ab"), st.sampled_from(["vital", "okay"]), st.sampled_from("xy")),
    unique_by=lambda nugget: nugget["uid"],
    max_size=6,
)


@given(SNAPSHOTS, SNAPSHOTS)
def test_each_nugget_has_one_consequence_at_most(before: Snapshot, after: Snapshot):
    found = consequences(before, after)
    named = [pk for pks in found.values() for pk in pks]
    assert len(named) == len(set(named))
    old, new = ({nugget["uid"]: nugget for nugget in edition} for edition in (before, after))
    assert set(found["missing"]) == new.keys() - old.keys()
    assert set(found["gone"]) == old.keys() - new.keys()
    for pk in old.keys() & new.keys():
        texts, importances = ({side[pk][name] for side in (old, new)} for name in ("text", "importance"))
        assert (pk in found["stale"]) == (len(texts) == 2)
        assert (pk in found["rescored"]) == (len(texts) == 1 and len(importances) == 2)
    assert consequences(after, before)["gone"] == found["missing"]
    assert consequences(after, after) == NOTHING


def test_a_snapshot_has_what_labels_and_scores_depend_on_and_no_more():
    nugget = SimpleNamespace(
        name="c", text="a", importance="", evidence=[1], gold=None, note="private", extras={"x": 1}
    )
    other = SimpleNamespace(name="a", text="b", importance="okay", evidence=[], gold=None)
    assert snapshot([nugget, other]) == [
        {"uid": "c", "text": "a", "importance": "", "evidence": [1]},
        {"uid": "a", "text": "b", "importance": "okay", "evidence": []},
    ]
    assert snapshot(iter([])) == []
