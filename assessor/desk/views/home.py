"""Where a person starts."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.campaigns.access import has_organizers_menu, may_create_campaigns
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Role
from assessor.desk import queries
from assessor.desk.flags import last_open
from assessor.desk.glossary import GLOSSARY, anchor
from assessor.work.reminders import reminders_of


@require_safe
@in_own_language_unless_organizer
def home(request: PersonRequest) -> HttpResponse:
    """An assessor's topics, an organizer's campaigns; who is both sees both.

    Whoever does nothing else here than organize one campaign is sent to its Overview.
    """
    campaigns = list(queries.organized(request.user)) if has_organizers_menu(request.user) else []
    invitations = request.user.invitations.select_related("campaign", "invited_by").order_by("campaign__name")
    is_organizer_alone = not request.user.is_superuser and request.user.role_names == {Role.ORGANIZER}
    if len(campaigns) == 1 and is_organizer_alone and not invitations:
        return redirect("campaign", campaigns[0].slug)
    context = {
        **queries.home(request.user),
        "reminders": reminders_of(request.user),
        "campaigns": [(one, last_open(one)) for one in campaigns],
        "may_create": may_create_campaigns(request.user),
        "invitations": invitations,
    }
    return render(request, "desk/home.html", context)


@require_safe
def glossary(request: PersonRequest) -> HttpResponse:
    """The words of the field, each with its definition."""
    return render(
        request, "desk/glossary.html", {"terms": [(anchor(word), word, told) for word, told in GLOSSARY.items()]}
    )
