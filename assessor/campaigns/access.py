"""The only way to a campaign, and to what belongs to it, for a person."""

from functools import cache
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Import, Membership, Role
from assessor.runtime.sql import Parameter, Prepared


def has_now(person: Person, role: Role, campaign: str = "") -> Q:
    """Return the condition that a person has a role in a campaign now, for a query; campaign: how that is reached."""
    member = f"{campaign}__memberships" if campaign else "memberships"
    return Q(**{f"{member}__person": person, f"{member}__role": role, f"{member}__until": None})


def members(campaign: Campaign, role: Role) -> QuerySet[Person]:
    """Return the people who have a role in a campaign now."""
    return Person.objects.filter(memberships__campaign=campaign, memberships__role=role, memberships__until=None)


def organized_campaigns(person: Person) -> QuerySet[Campaign]:
    """Return the campaigns that the person organizes now."""
    return Campaign.objects.filter(has_now(person, Role.ORGANIZER))


def answers_for(organizer: Person, person: Person) -> bool:
    """Say whether an organizer may let a person in anew, or out.

    That is so for assessors of the organizer's own campaigns who never had another role or campaign. Everybody else,
    such as a co-organizer, is an administrator's to change: or who organizes one study could take over another.
    """
    own = Q(campaign__in=organized_campaigns(organizer), role=Role.ASSESSOR)
    is_assessor = person.memberships.filter(own, until=None).exists()
    # Who could sign in as somebody invited elsewhere could take that role for them.
    elsewhere = person.invitations.exclude(campaign__in=organized_campaigns(organizer)).exists()
    return is_assessor and not (person.is_superuser or elsewhere or person.memberships.exclude(own).exists())


def member(campaign: Campaign, person_id: int) -> Membership:
    """Return the present membership of a person in a campaign that was reached through organized_campaign.

    Raises Http404. Who has both roles, which the protocol can allow, is its organizer here.
    """
    found = campaign.memberships.filter(person_id=person_id, until=None).select_related("person", "campaign")
    membership = found.order_by("-role").first()
    if membership is None:
        raise Http404("There is nobody like that in this campaign.")
    return membership


def has_organizers_menu(person: Person) -> bool:
    """Say whether a person has the organizers' menu: administrators have it, and who organizes a campaign."""
    return person.is_superuser or Role.ORGANIZER in person.role_names


def may_create_campaigns(person: Person) -> bool:
    """Say whether a person may make a campaign: administrators may, and who organizes one."""
    return has_organizers_menu(person)


def organized_campaign(person: Person, slug: str) -> Campaign:
    """Return a campaign that the person organizes. Raises Http404 for others' and for none."""
    campaign = next(_organized().fetch(person=person.pk, slug=slug), None)
    if campaign is None:
        raise Http404("There is no such campaign for you.")
    return campaign


@cache
def _organized() -> Prepared[Campaign]:
    person: Any = Parameter("person")
    return Prepared(organized_campaigns(person).filter(slug=Parameter("slug")))


def campaign_import(campaign: Campaign, import_id: int) -> Import:
    """Return an import of a campaign that was reached through organized_campaign. Raises Http404."""
    rows = campaign.imports.select_related("person", "campaign").defer("further_warnings")
    import_record = rows.filter(pk=import_id).first()
    if import_record is None:
        raise Http404("There is no such import in this campaign.")
    return import_record
