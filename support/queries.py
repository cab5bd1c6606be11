"""What jobs, scores and pages read of support sheets."""

from collections.abc import Iterable

from django.db.models import QuerySet

from assessor.collection.models import Campaign, Condition


def loaded_docids(campaign: Campaign, docids: Iterable[str]) -> set[str]:
    """Return those of the docids whose segment's text is loaded."""
    wanted = set(docids)
    return set(campaign.segments.filter(docid__in=wanted).values_list("docid", flat=True)) if wanted else set()


def supporting(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file."""
    return campaign.conditions.filter(kind=Condition.Kind.SUPPORT).select_related("judge")
