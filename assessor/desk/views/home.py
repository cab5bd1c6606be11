"""Where a person starts."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assessor.collection.http import PersonRequest
from assessor.collection.roles import ORGANIZER, has_role
from assessor.desk import queries


@require_safe
def home(request: PersonRequest) -> HttpResponse:
    """An assessor's topics, an organizer's campaigns; who is both sees both."""
    context = {
        **queries.home(request.user),
        "campaigns": queries.campaigns_of(request.user) if has_role(request.user, ORGANIZER) else None,
    }
    return render(request, "desk/home.html", context)
