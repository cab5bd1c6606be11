"""Reminders: an organizer makes one, its assessor says that they have seen it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assessor.accounts.links import site_of
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.work.queries import planned
from assessor.work.reminders import Reminded, note_seen, remind


@require_POST
def remind_assessor(request: PersonRequest, slug: str, task_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    task = planned(campaign).select_related("campaign").filter(pk=task_id).first()
    if task is None:
        raise Http404("There is no such task in this campaign.")
    try:
        is_mailed = remind(task=task, site=site_of(request), acting_user=request.user)
    except Reminded as error:
        messages.error(request, str(error))
    else:
        mailed = " and was sent a mail" if is_mailed else ""
        messages.success(request, f"{task.person} sees the reminder of {task.topic.qid} on their home{mailed}.")
    return redirect("progress", slug)


@require_POST
def reminder_seen(request: PersonRequest, reminder_id: int) -> HttpResponse:
    if not note_seen(request.user, reminder_id):
        raise Http404("This is no reminder of yours.")
    return redirect("home")
