"""The people of a campaign: what they have at hand, how they sign in, and what they may see."""

from collections.abc import Sequence
from typing import Any

from allauth.mfa.models import Authenticator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assessor.accounts.access import SECOND_FACTORS
from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Membership, Role
from assessor.work.blindness import barred_from
from assessor.work.models import Exposure, Task


def people_of(campaign: Campaign) -> QuerySet[Membership]:
    """Return the present memberships of a campaign, organizers first, with the work of each person there."""
    given = Q(person__tasks__campaign=campaign) & ~Q(person__tasks__state=Task.State.WITHDRAWN)
    work, practice = (given & Q(person__tasks__topic__is_practice=is_practice) for is_practice in (False, True))
    finished = Q(person__tasks__state=Task.State.FINISHED)
    return (
        campaign.memberships.filter(until=None)
        .select_related("person")
        .annotate(
            open_topics=Count("person__tasks", filter=work & Q(person__tasks__state=Task.State.OPEN)),
            finished_topics=Count("person__tasks", filter=work & finished),
            practice=Count("person__tasks", filter=practice),
            practice_finished=Count("person__tasks", filter=practice & finished),
            has_second_factor=Exists(Authenticator.objects.filter(user=OuterRef("person"), type__in=SECOND_FACTORS)),
        )
        .order_by("-role", "person__username")
    )


def what_they_see(person: Person, campaign: Campaign) -> list[str]:
    """Say what a person may open in a campaign and why, and what they work blind to no longer, in sentences."""
    roles = set(campaign.memberships.filter(person=person, until=None).values_list("role", flat=True))
    told: list[str] = []
    if person.is_superuser:
        told.append("Every record, as an administrator.")
    if Role.ORGANIZER in roles:
        told.append("Everything in this campaign, models' labels and other people's work included, as an organizer.")
    if Role.ASSESSOR in roles:
        told.append("Topics given to them or taken by them, and the guidelines for these, as an assessor.")
    if barred := barred_from(person, campaign):
        told.append(f"No work can be given to them: {barred}")
    return told


def seen_by(person: Person, campaign: Campaign) -> Sequence[dict[str, Any]]:
    """Return on how many topics a person saw what a model gave or others said, by kind of work and screen."""
    seen = Exposure.objects.filter(person=person, topic__campaign=campaign)
    return list(seen.values("kind", "where").annotate(topics=Count("topic", distinct=True)).order_by("kind", "where"))
