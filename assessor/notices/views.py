"""Settings of a campaign: its webhooks."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from assessor.notices.access import campaign_webhook, campaign_webhooks
from assessor.notices.actions import add_webhook, remove_webhook, renew_secret, send_test
from assessor.notices.forms import WebhookForm
from assessor.notices.models import Webhook
from assessor.notices.signatures import secret_of


@require_http_methods(["GET", "POST"])
def webhooks(request: PersonRequest, slug: str) -> HttpResponse:
    """A campaign's webhooks; a new one's secret is in the answer to the request that makes it, and nowhere else."""
    campaign = organized_campaign(request.user, slug)
    form = WebhookForm(request.POST or None)
    made = None
    if request.method == "POST" and form.is_valid():
        try:
            made = add_webhook(campaign=campaign, **form.cleaned_data, acting_user=request.user)
        except ValidationError as error:
            form.add_error(None, error.messages)
    return _page(request, campaign, WebhookForm() if made else form, made)


@require_POST
def renew(request: PersonRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Give a webhook another secret, and show it."""
    campaign = organized_campaign(request.user, slug)
    webhook = campaign_webhook(campaign, webhook_id)
    renew_secret(webhook=webhook, acting_user=request.user)
    return _page(request, campaign, WebhookForm(), webhook)


@require_POST
def test(request: PersonRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Try a webhook."""
    webhook = campaign_webhook(organized_campaign(request.user, slug), webhook_id)
    send_test(webhook=webhook, acting_user=request.user)
    messages.success(request, f"A test is on its way to {webhook}.")
    return redirect("webhooks", slug)


@require_POST
def remove(request: PersonRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Remove a webhook."""
    webhook = campaign_webhook(organized_campaign(request.user, slug), webhook_id)
    remove_webhook(webhook=webhook, acting_user=request.user)
    messages.success(request, f"Removed: {webhook} is sent nothing more.")
    return redirect("webhooks", slug)


def _page(request: PersonRequest, campaign: Campaign, form: WebhookForm, shown: Webhook | None) -> HttpResponse:
    """Return the page. shown: whose secret it tells."""
    context: dict[str, Any] = {
        "campaign": campaign,
        "form": form,
        "is_on": bool(settings.WEBHOOK_HOSTS),
        "hosts": settings.WEBHOOK_HOSTS,
        "webhooks": campaign_webhooks(campaign),
        "shown": shown,
        "secret": secret_of(shown) if shown else "",
    }
    return render(request, "notices/webhooks.html", context)
