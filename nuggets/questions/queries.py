"""What a bank of questions lacks, and what its maker may want to look at again."""

from collections.abc import Sequence

from django.utils.translation import gettext

from assessor.campaigns.models import Condition
from nuggets.formats import is_question
from nuggets.models import Nugget
from nuggets.queries import Finding, most_nuggets


def findings(listed: Sequence[Nugget]) -> list[Finding]:
    """Return what of questions can't be finished: files tell questions, and gold answers of one, by their texts."""
    found = []
    first_place: dict[str, int] = {}
    for place, nugget in enumerate(listed, start=1):
        uid, texts = str(nugget.uid), [answer["text"] for answer in nugget.gold]
        first = first_place.setdefault(nugget.text.casefold(), place) if nugget.text else place
        if first != place:
            found.append(
                Finding(
                    uid, gettext("Question {place} is the same as question {first}.").format(place=place, first=first)
                )
            )
        if "" in texts:
            found.append(
                Finding(uid, gettext("Question {place} has a gold answer without a text.").format(place=place))
            )
        if len(set(texts)) < len(texts):
            found.append(Finding(uid, gettext("Question {place} has a gold answer twice.").format(place=place)))
        if nugget.aggregator == Nugget.Aggregator.AND and len(texts) < 2:
            told = gettext("Question {place} asks for all of several gold answers, and has {number}.")
            found.append(Finding(uid, told.format(place=place, number=len(texts))))
    return found


def remarks(condition: Condition, listed: Sequence[Nugget]) -> dict[str, int]:
    """Return what is unusual in a list of questions, and how often it is there."""
    most = most_nuggets(condition)
    return {
        gettext("without a question mark"): sum(not is_question(nugget.text) for nugget in listed),
        gettext("more than the usual {most}").format(most=most): max(0, len(listed) - most),
        gettext("without a gold answer"): sum(not nugget.gold for nugget in listed),
        gettext("with a gold answer that has no reference"): sum(
            any(not answer["references"] for answer in nugget.gold) for nugget in listed
        ),
    }
