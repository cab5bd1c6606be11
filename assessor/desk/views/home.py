"""Where a person starts."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.campaigns.access import may_create_campaigns, organized_campaigns
from assessor.campaigns.http import PersonRequest
from assessor.desk import queries
from assessor.work.reminders import reminders_of


@require_safe
def home(request: PersonRequest) -> HttpResponse:
    """An assessor's topics, an organizer's campaigns; who is both sees both."""
    context = {
        **queries.home(request.user),
        "reminders": reminders_of(request.user),
        "campaigns": organized_campaigns(request.user),
        "may_create": may_create_campaigns(request.user),
        "invitations": request.user.invitations.select_related("campaign", "invited_by").order_by("campaign__name"),
    }
    return render(request, "desk/home.html", context)
