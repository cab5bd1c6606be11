"""What assessors ask and what organizers reply: the organizer's list, and the assessor's."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.flags import ANSWERED, OPEN, SETTLED, answers_to, asked, remember_open, replied, rows, state
from assessor.labels.flags import ResolveError
from assessor.labels.replies import MAX_REPLY, note_read, reply
from assessor.work.queries import planned

_ON_A_PAGE = 25
_MOST = 200  # replies that an assessor looks back at
_STATES = (OPEN, ANSWERED, SETTLED)


@require_safe
def questions(request: PersonRequest, slug: str) -> HttpResponse:
    """All questions of a campaign's assessors in a state; at first the open ones."""
    campaign = organized_campaign(request.user, slug)
    wanted = request.GET.get("state", OPEN)
    replies = replied(campaign)
    by_state = {name: [one for one in asked(campaign) if state(one, replies) == name] for name in _STATES}
    remember_open(campaign, len(by_state[OPEN]))
    page = Paginator(by_state.get(wanted, []), _ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "wanted": wanted,
        "counts": {name: len(found) for name, found in by_state.items()},
        "page": page,
        "rows": rows(campaign, list(page), replies),
        "max_reply": MAX_REPLY,
    }
    return render(request, "desk/flags.html", context)


@require_POST
def answer_question(request: PersonRequest, slug: str) -> HttpResponse:
    """Reply to a question that stands as it was read."""
    campaign = organized_campaign(request.user, slug)
    place = tuple(request.POST.get(name, "") for name in ("task", "sheet", "item"))
    question = next((one for one in asked(campaign) if tuple(str(part or "") for part in one.place) == place), None)
    task = planned(campaign).select_related("campaign").filter(pk=question.task).first() if question else None
    if question is None or task is None:
        raise Http404("Nobody asks that in this campaign.")
    back = redirect(f"{reverse('questions', args=[slug])}?{urlencode({'state': request.GET.get('state', OPEN)})}")
    # A form's text comes back with the line ends of HTTP.
    if request.POST.get("question", "").splitlines() != question.text.splitlines():
        messages.error(
            request,
            f"{task.person} has worded the question anew. Your answer, not sent: {request.POST.get('text', '')}",
        )
        return back
    try:
        reply(
            task=task,
            sheet=question.sheet,
            item=question.item,
            question=question.text,
            text=request.POST.get("text", ""),
            acting_user=request.user,
        )
    except ResolveError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{task.person} finds your answer on their home and beside what they asked about.")
    return back


@require_safe
def my_answers(request: PersonRequest) -> HttpResponse:
    """What organizers replied to a person; what is shown counts as read from then on."""
    found = answers_to(request.user, _MOST)
    note_read(one.reply for one in found)
    return render(request, "desk/my_answers.html", {"answers": found})
