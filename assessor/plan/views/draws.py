"""Topics drawn at random for a condition, so that what people say of them can be estimated for all."""

from collections.abc import Iterator
from typing import NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Topic
from assessor.plan import queries
from assessor.plan.actions import draw_topics
from assessor.plan.forms import DrawForm
from assessor.work.actions import PlanError
from assessor.work.models import Draw

_DRAWS = 20  # on a page


class Row(NamedTuple):
    """A draw as the page shows it. number: of how many under its condition; is_again: another seed was used before it.

    further: the topics that were not drawn with this seed before; more: how many can be, 0 where a later draw has more.
    """

    draw: Draw
    number: int
    numbers: int
    is_again: bool
    further: list[Topic]
    more: int


@require_http_methods(["GET", "POST"])
def draws(request: PersonRequest, slug: str) -> HttpResponse:
    """The draws so far, and the form of another one; a POST draws, which is on record for good."""
    campaign = organized_campaign(request.user, slug)
    form = DrawForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            made = draw_topics(
                condition=asked["condition"],
                number=asked["drawn"] + asked["number"],
                seed=asked["seed"],
                in_queue=asked["in_queue"],
                acting_user=request.user,
            )
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Drawn under {made.condition}: {made}.")
            return redirect("draws", slug)
    known = queries.draws_by_number(campaign)
    newest_first = sorted((draw for of_one in known.values() for draw in of_one), key=lambda one: -one.pk)
    page = Paginator(newest_first, _DRAWS).get_page(request.GET.get("page"))
    rows = list(_rows(campaign, list(page), known))
    return render(request, "plan/draws.html", {"campaign": campaign, "form": form, "page": page, "rows": rows})


def _rows(campaign: Campaign, shown: list[Draw], known: dict[int, list[Draw]]) -> Iterator[Row]:
    topics = {one.qid: one for one in campaign.topics.filter(qid__in={qid for one in shown for qid in one.topics})}
    for draw in shown:
        of_condition = known[draw.condition_id]
        at = of_condition.index(draw)
        same = [one for one in of_condition if one.seed == draw.seed]
        before = {qid for one in same[: same.index(draw)] for qid in one.topics}
        yield Row(
            draw,
            at + 1,
            len(of_condition),
            any(one.seed != draw.seed for one in of_condition[:at]),
            [topics[qid] for qid in draw.topics if qid not in before and qid in topics],
            len(draw.frame) - len(draw.topics) if same[-1] == draw else 0,
        )
