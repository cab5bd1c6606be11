"""The questions of a bank's edition as the measures of reports take them."""

from assignment.argue.measures import Gold, Question
from nuggets.editions import Snapshot


def questions_of(nuggets: Snapshot) -> list[Question]:
    """Return the questions of an edition, by uid."""
    return [
        Question(
            nugget["uid"],
            tuple(
                Gold(gold["id"], frozenset(reference["docid"] for reference in gold["references"] or ()))
                for gold in nugget.get("gold") or ()
            ),
            nugget.get("aggregator", ""),
            nugget["importance"],
        )
        for nugget in nuggets
    ]


def gold_texts(nuggets: Snapshot) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the texts of gold answers, each with its question's, by uid and id."""
    return {
        (nugget["uid"], gold["id"]): (nugget["text"], gold["text"])
        for nugget in nuggets
        for gold in nugget.get("gold") or ()
    }
