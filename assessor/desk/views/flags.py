"""What assessors ask and what organizers reply: the organizer's list, and the assessor's."""

from datetime import UTC, datetime

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.desk.flags import ANSWERED, OPEN, SETTLED, answers_to, asked, remember_open, replied, rows, state
from assessor.labels.flag_views import to_inbox
from assessor.labels.flags import ResolveError
from assessor.labels.label_kind import label_kinds
from assessor.labels.replies import MAX_REPLY, note_read, reply
from assessor.work.queries import planned

_ON_A_PAGE = 25
_MOST = 200  # replies that an assessor looks back at
_STATES = (OPEN, ANSWERED, SETTLED)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)  # of what is without a time


@require_safe
def questions(request: PersonRequest, slug: str) -> HttpResponse:
    """The inbox: questions of a campaign's assessors in a state, the oldest first; at first the open ones."""
    campaign = organized_campaign(request.user, slug)
    wanted = request.GET.get("state", OPEN)
    condition = request.GET.get("condition", "")
    replies, found = replied(campaign), list(asked(campaign))
    tasks = campaign.tasks.values_list("pk", "condition", "condition__name")
    of_task = {key: (str(pk), name) for key, pk, name in tasks}
    conditions = sorted({of_task[one.task] for one in found}, key=lambda one: one[1])
    remember_open(campaign, sum(state(one, replies) == OPEN for one in found))
    found = [one for one in found if condition in ("", of_task[one.task][0])]
    by_state = {name: [one for one in found if state(one, replies) == name] for name in _STATES}
    oldest_first = sorted(by_state.get(wanted, []), key=lambda one: one.at or _LONG_AGO)
    page = Paginator(oldest_first, _ON_A_PAGE).get_page(request.GET.get("page"))
    left_out = [(kind, kind.left_out_records(campaign)) for kind in label_kinds()]
    context = {
        "campaign": campaign,
        "wanted": wanted,
        "counts": {name: len(of_it) for name, of_it in by_state.items()},
        "conditions": conditions,
        "condition": condition,
        "page": page,
        "rows": rows(campaign, list(page), replies),
        "left_out": [one for one in left_out if one[1]] if wanted == SETTLED else [],
        "filters": request.GET.urlencode(),
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
    back = to_inbox(request, slug)
    # A form's text comes back with the line ends of HTTP.
    if request.POST.get("question", "").splitlines() != question.text.splitlines():
        messages.error(
            request,
            f"Not sent: {task.person} changed the question. Your answer was: {request.POST.get('text', '')}",
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
        messages.success(request, f"Answered: {task.person} sees it on their home and beside the question.")
    return back


@require_safe
@in_own_language_unless_organizer
def my_answers(request: PersonRequest) -> HttpResponse:
    """What organizers replied to a person; what is shown counts as read from then on."""
    found = answers_to(request.user, _MOST)
    note_read(one.reply for one in found)
    return render(request, "desk/my_answers.html", {"answers": found})
