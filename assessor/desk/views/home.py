"""Where a person starts."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaigns
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign
from assessor.desk import queries


@require_safe
def home(request: PersonRequest) -> HttpResponse:
    """An assessor's topics, an organizer's campaigns; who is both sees both."""
    context = {
        **queries.home(request.user),
        "campaigns": organized_campaigns(request.user),
        "has_campaign": Campaign.objects.exists,
    }
    return render(request, "desk/home.html", context)
