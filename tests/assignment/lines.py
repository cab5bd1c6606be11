"""Lines of assignment files, about the campaign that all tests share."""

from typing import Any

TITLES = {"t1": "why do cats purr", "t2": "how is glass recycled"}
NUGGETS = [("purring heals", "vital"), ("cats purr when content", "vital"), ("kittens purr", "okay")]
SUPPORT, PARTIAL, NOT = "support", "partial_support", "not_support"
FILE = {"condition": "Edits/Manual", "by": "people"}


def nugget(text: str, importance: str = "vital", assignment: Any = SUPPORT, **more: Any) -> dict[str, Any]:
    return {"text": text, "importance": importance, "assignment": assignment} | more


def nuggets(*labels: Any) -> list[dict[str, Any]]:
    """Return the three nuggets with their labels."""
    return [nugget(*pair, label) for pair, label in zip(NUGGETS, labels, strict=True)]


def line(
    qid: Any = "t1",
    run_id: str = "r1",
    said: list[dict[str, Any]] | None = None,
    text: str = "Cats purr to heal.",
    **more: Any,
) -> dict[str, Any]:
    return {
        "query": TITLES.get(str(qid), ""),
        "qid": qid,
        "nuggets": nuggets(SUPPORT, PARTIAL, NOT) if said is None else said,
        "run_id": run_id,
        "answer_text": text,
        "response_length": len(text.split()),
    } | more


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}
