"""What an edition of a bank keeps."""

from collections.abc import Iterable
from typing import Any

Snapshot = list[dict[str, Any]]  # the nuggets in order, each with id, text, importance and evidence


def snapshot(nuggets: Iterable[Any]) -> Snapshot:
    """Return nuggets (anything with pk, text, importance, evidence) as an edition keeps them."""
    return [
        {"id": nugget.pk, "text": nugget.text, "importance": nugget.importance, "evidence": nugget.evidence}
        for nugget in nuggets
    ]
