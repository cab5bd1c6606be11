"""What jobs, scores and pages read of support sheets."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from django.db.models import Q, QuerySet

from assessor.collection.models import Answer, Campaign, Condition, Topic
from assessor.collection.queries import answers_to, lacking_docids
from support.models import SupportSheet

_AT_A_TIME = 2_000


def loaded_docids(campaign: Campaign, docids: Iterable[str]) -> set[str]:
    """Return those of the docids whose segment's text is loaded."""
    wanted = set(docids)
    return wanted - lacking_docids(campaign, wanted) if wanted else set()


def answers_without_sheet(condition: Condition, topics: Sequence[Topic]) -> Iterator[list[Answer]]:
    """Yield the systems' own answers to topics that have no sheet under a condition yet, some thousand at a time."""
    known = set(SupportSheet.objects.filter(condition=condition.pk, answer__topic__in=topics).values_list("answer"))
    keys = answers_to(topics).order_by("topic", "pk").values_list("pk")
    new = iter([pk for (pk,) in keys if (pk,) not in known])
    while some := list(islice(new, _AT_A_TIME)):
        answers = Answer.objects.filter(pk__in=some).order_by("topic", "pk").only("form", "references", "content")
        yield [answer for answer in answers if _citations_are_known(answer)]


def _citations_are_known(answer: Answer) -> bool:
    """Say whether it is known what an answer cites; not of a bare text that came with labels of nuggets."""
    return answer.form != Answer.Form.TEXT or any(sentence["citations"] for sentence in answer.content)


def unfinished_sheets(condition: Condition, topics: Sequence[Topic]) -> QuerySet[SupportSheet]:
    """Return the sheets with citations of which nothing is said, be it that their text is not loaded.

    None is of a text that has given way to what the run itself answered.
    """
    lacking = Q(to_do__gt=0) | ~Q(unresolved=[])
    return SupportSheet.objects.filter(lacking, condition=condition.pk, answer__topic__in=topics, answer__apart=False)


def supporting(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file."""
    return campaign.conditions.filter(kind=Condition.Kind.SUPPORT).select_related("judge")
