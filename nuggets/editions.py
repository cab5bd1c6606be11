"""What happens to labels when a bank is finished again: pure functions on the nuggets of two editions."""

from collections.abc import Iterable
from typing import Any

Snapshot = list[dict[str, Any]]  # the nuggets in order, each with id, text, importance and evidence


def snapshot(nuggets: Iterable[Any]) -> Snapshot:
    """Return nuggets (anything with pk, text, importance, evidence) as an edition keeps them."""
    return [
        {"id": nugget.pk, "text": nugget.text, "importance": nugget.importance, "evidence": nugget.evidence}
        for nugget in nuggets
    ]


def consequences(before: Snapshot, after: Snapshot) -> dict[str, list[int]]:
    """Return the ids of nuggets by what becomes of labels given on the edition before.

    stale: the text is another, so the labels come back to whoever gave them; missing: the nugget is new, so it has
    none; gone: it has left the bank, and its labels with it; rescored: only importance is another, so the labels
    stand and the scores follow. Nuggets that differ in order or evidence alone are in none of these.
    """
    old, new = ({nugget["id"]: nugget for nugget in edition} for edition in (before, after))
    kept = [pk for pk in new if pk in old]
    stale = [pk for pk in kept if old[pk]["text"] != new[pk]["text"]]
    return {
        "stale": stale,
        "missing": [pk for pk in new if pk not in old],
        "gone": [pk for pk in old if pk not in new],
        "rescored": [pk for pk in kept if old[pk]["importance"] != new[pk]["importance"] and pk not in stale],
    }
