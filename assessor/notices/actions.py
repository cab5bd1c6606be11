"""The writers of webhooks."""

from collections.abc import Sequence
from secrets import token_hex

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.notices.addresses import check_address
from assessor.notices.models import Delivery, Webhook
from assessor.notices.payloads import TEST, add_deliveries, test_of

MOST = 10  # webhooks of a campaign


@transaction.atomic
def add_webhook(*, campaign: Campaign, address: str, events: Sequence[str], acting_user: Person | None) -> Webhook:
    """Have an address told what ends in a campaign. Raises ValidationError."""
    check_address(address)
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.webhooks.exclude(state=Webhook.State.REMOVED).count() >= MOST:
        raise ValidationError(f"A campaign has at most {MOST} webhooks: remove one first.")
    webhook = Webhook(
        campaign=campaign, address=address, salt=token_hex(16), events=list(events), created_by=acting_user
    )
    webhook.clean_fields(exclude=("created_by",))
    webhook.save()
    history.record("webhook added", webhook, campaign=campaign, person=acting_user, events=list(events))
    return webhook


@transaction.atomic
def renew_secret(*, webhook: Webhook, acting_user: Person) -> None:
    """Give a webhook another secret; from now on it signs all that is sent."""
    webhook.salt = token_hex(16)
    webhook.save(update_fields=["salt"])
    history.record("webhook secret renewed", webhook, campaign=webhook.campaign, person=acting_user)


@transaction.atomic
def send_test(*, webhook: Webhook, acting_user: Person | None) -> None:
    """Send an event to try a webhook, unless one is on its way; a stopped webhook is started again by it."""
    if Webhook.objects.filter(pk=webhook.pk, state=Webhook.State.STOPPED).update(state=Webhook.State.ACTIVE):
        history.record("webhook started again", webhook, campaign=webhook.campaign, person=acting_user)
    # One that waits for its next attempt is sent now.
    tests = webhook.deliveries.filter(event=TEST, state__in=Delivery.OPEN)
    if not tests.update(due_at=timezone.now()):
        add_deliveries([webhook], [test_of(webhook.campaign)])


@transaction.atomic
def remove_webhook(*, webhook: Webhook, acting_user: Person) -> None:
    """Send nothing more to a webhook, and forget its address and what was sent."""
    removed = Webhook.objects.filter(pk=webhook.pk).exclude(state=Webhook.State.REMOVED)
    if removed.update(state=Webhook.State.REMOVED, address="", salt=""):
        webhook.deliveries.all().delete()
        history.record("webhook removed", webhook, campaign=webhook.campaign, person=acting_user)
