"""The only way to a webhook, for a person."""

from django.db.models import Prefetch, QuerySet
from django.http import Http404

from assessor.campaigns.models import Campaign
from assessor.notices.models import Delivery, Webhook

_LATEST = 10  # deliveries


def campaign_webhooks(campaign: Campaign) -> QuerySet[Webhook]:
    """Return the webhooks of a campaign that was reached through organized_campaign, with their latest deliveries."""
    latest = Prefetch("deliveries", Delivery.objects.defer("body").order_by("-pk")[:_LATEST], to_attr="latest")
    present = Webhook.objects.filter(campaign=campaign).exclude(state=Webhook.State.REMOVED)
    return present.select_related("campaign").prefetch_related(latest)


def campaign_webhook(campaign: Campaign, webhook_id: int) -> Webhook:
    """Return a webhook of a campaign that was reached through organized_campaign. Raises Http404."""
    webhook = campaign_webhooks(campaign).filter(pk=webhook_id).first()
    if webhook is None:
        raise Http404("There is no such webhook in this campaign.")
    return webhook
