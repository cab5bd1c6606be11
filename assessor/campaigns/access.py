"""The only way to a campaign, and to what belongs to it, for a person."""

from django.db.models import QuerySet
from django.http import Http404

from assessor.accounts.models import Person
from assessor.accounts.roles import ORGANIZER, has_role
from assessor.campaigns.models import Campaign, Import


def organized_campaigns(person: Person) -> QuerySet[Campaign]:
    """Return the campaigns that the person organizes now: none for who is no organizer."""
    campaigns = Campaign.objects.filter(organizers__person=person, organizers__until__isnull=True)
    return campaigns if has_role(person, ORGANIZER) else campaigns.none()


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
