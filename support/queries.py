"""What jobs, scores and pages read of support sheets."""

from collections.abc import Iterable

from assessor.collection.models import Campaign


def loaded_docids(campaign: Campaign, docids: Iterable[str]) -> set[str]:
    """Return those of the docids whose segment's text is loaded."""
    wanted = set(docids)
    return set(campaign.segments.filter(docid__in=wanted).values_list("docid", flat=True)) if wanted else set()
