"""Sides of comparisons and calibrations, as commands name them."""

from django.core.management.base import CommandError

from assessor.campaigns.models import Campaign
from metaeval.models import Comparable
from metaeval.queries import comparables_named, comparables_of


def comparable_called(campaign: Campaign, name: str) -> Comparable:
    """Return what has a name, or end the command saying what there is."""
    found = comparables_named(campaign, name)
    if not found:
        known = ", ".join(str(one) for one in comparables_of(campaign)) or "none"
        raise CommandError(f"There is no condition, source of grades or score table {name}. There are: {known}.")
    if len(found) > 1:
        raise CommandError(f"{name} is the name of {len(found)} things: a condition, grades or a score table.")
    return found[0]
