"""The only way to a campaign, and to what belongs to it, for a person."""

from django.db.models import Q, QuerySet
from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Import, Role


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


def may_create_campaigns(person: Person) -> bool:
    """Say whether a person may make a campaign: administrators may, and who organizes one."""
    return person.is_superuser or Role.ORGANIZER in person.role_names


def organized_campaign(person: Person, slug: str) -> Campaign:
    """Return a campaign that the person organizes. Raises Http404 for others' and for none."""
    campaign = organized_campaigns(person).filter(slug=slug).first()
    if campaign is None:
        raise Http404("There is no such campaign for you.")
    return campaign


def campaign_import(campaign: Campaign, import_id: int) -> Import:
    """Return an import of a campaign that was reached through organized_campaign. Raises Http404."""
    rows = campaign.imports.select_related("person", "campaign").defer("further_warnings")
    import_record = rows.filter(pk=import_id).first()
    if import_record is None:
        raise Http404("There is no such import in this campaign.")
    return import_record
