"""What happens to labels when a bank is finished again: pure functions on the nuggets of two editions."""

from collections.abc import Iterable
from typing import Any

# The nuggets in order, each with uid, text, importance and evidence; questions with gold, aggregator and under, too.
Snapshot = list[dict[str, Any]]


def snapshot(nuggets: Iterable[Any]) -> Snapshot:
    """Return nuggets as an edition keeps them."""
    return [
        {"uid": nugget.name, "text": nugget.text, "importance": nugget.importance, "evidence": nugget.evidence}
        | (_of_question(nugget) if nugget.gold is not None else {})
        for nugget in nuggets
    ]


def _of_question(nugget: Any) -> dict[str, Any]:
    return {
        "gold": nugget.gold,
        "aggregator": nugget.aggregator,
        "under": None if nugget.under is None else str(nugget.under),
    }


def consequences(before: Snapshot, after: Snapshot, by: str = "uid") -> dict[str, list[Any]]:
    """Return nuggets, by uid or what else of them, by what becomes of labels given on the edition before.

    stale: the text is another, so the labels come back to whoever gave them; missing: the nugget is new, so it has
    none; gone: it has left the bank, and its labels with it; rescored: only importance is another, or of a question
    its aggregator or place under another, so the labels stand and the scores follow. Nuggets that differ in nothing
    else than order, evidence or gold answers are in none of these.
    """
    old, new = ({nugget[by]: nugget for nugget in edition} for edition in (before, after))
    kept = [one for one in new if one in old]
    stale = [one for one in kept if old[one]["text"] != new[one]["text"]]
    return {
        "stale": stale,
        "missing": [one for one in new if one not in old],
        "gone": [one for one in old if one not in new],
        "rescored": [one for one in kept if one not in stale and _weight(old[one]) != _weight(new[one])],
    }


def _weight(nugget: dict[str, Any]) -> tuple[Any, ...]:
    return nugget["importance"], nugget.get("aggregator"), nugget.get("under")
