"""What happens to labels when a bank is finished again: pure functions on the nuggets of two editions."""

from collections.abc import Iterable
from typing import Any

Snapshot = list[dict[str, Any]]  # the nuggets in order, each with uid, text, importance and evidence


def snapshot(nuggets: Iterable[Any]) -> Snapshot:
    """Return nuggets (anything with name, text, importance, evidence) as an edition keeps them."""
    return [
        {"uid": nugget.name, "text": nugget.text, "importance": nugget.importance, "evidence": nugget.evidence}
        for nugget in nuggets
    ]


def consequences(before: Snapshot, after: Snapshot, by: str = "uid") -> dict[str, list[Any]]:
    """Return nuggets, by uid or what else of them, by what becomes of labels given on the edition before.

    stale: the text is another, so the labels come back to whoever gave them; missing: the nugget is new, so it has
    none; gone: it has left the bank, and its labels with it; rescored: only importance is another, so the labels
    stand and the scores follow. Nuggets that differ in order or evidence alone are in none of these.
    """
    old, new = ({nugget[by]: nugget for nugget in edition} for edition in (before, after))
    kept = [one for one in new if one in old]
    stale = [one for one in kept if old[one]["text"] != new[one]["text"]]
    return {
        "stale": stale,
        "missing": [one for one in new if one not in old],
        "gone": [one for one in old if one not in new],
        "rescored": [one for one in kept if old[one]["importance"] != new[one]["importance"] and one not in stale],
    }
