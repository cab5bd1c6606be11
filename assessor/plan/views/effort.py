"""What the work of a campaign took, by topic, condition and person."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.queries import byte_order
from assessor.plan.effort import effort
from assessor.plan.effort_tables import ALL, FIGURE, condition_rows, figure, people_rows, topics_listing
from assessor.plan.exportables import EFFORT
from assessor.plan.hours import LEAST_FOR_OUTLIERS
from assessor.scores.sorting import shown
from assessor.work.queries import minutes
from metaeval.charts.rendering import FORMS
from metaeval.pages import figure_content
from metaeval.views.figures import figure_response

_TOPICS = 100  # on a page


@require_safe
def effort_page(request: PersonRequest, slug: str) -> HttpResponse:
    """All of it; the topics that took longest first, or sorted as the address says."""
    campaign = organized_campaign(request.user, slug)
    found = effort(campaign)
    topics = campaign.topics.order_by(byte_order("qid"))
    asked = request.GET.copy()
    asked.pop("page", None)  # another order begins on the first page
    hours = figure(found)
    table = shown(asked, topics_listing(found, topics), f"-{ALL}")
    context = {
        "campaign": campaign,
        "found": found,
        "time": minutes(sum(task.seconds for task in found.work)),
        "practice": minutes(sum(task.seconds for task in found.practice)),
        "conditions": condition_rows(found),
        "people": people_rows(found),
        "heads": table.heads,
        "listing": table.listing,
        "page": Paginator(table.listing.lines, _TOPICS).get_page(request.GET.get("page")),
        "least": LEAST_FOR_OUTLIERS,
        "figures": [figure_content(hours.name, hours.title, hours.specification)],
        "figure_forms": FORMS,
        "address": reverse("effort", args=[slug]),
        "files": EFFORT.forms,
    }
    return render(request, "plan/effort.html", context)


@require_safe
def effort_figure(request: PersonRequest, slug: str, name: str, form: str) -> HttpResponseBase:
    """The figure of the page, of what stands now."""
    campaign = organized_campaign(request.user, slug)
    if name != FIGURE:
        raise Http404("There is no such figure.")
    specification = figure(effort(campaign)).specification
    return figure_response(request, specification, name=f"{campaign.slug}.effort.{name}", form=form)
