"""The plan over HTTP: which topics, under which condition, for whom, and which runs are judged."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from assessor.campaigns.access import organized_campaign
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Topic
from assessor.plan import change_impact, queries
from assessor.plan.actions import Piece, advance, cancel, change_piece, drop_run, piece_at, plan_work, settle
from assessor.plan.forms import DropForm, PieceForm, PlanForm
from assessor.plan.models import Planned
from assessor.work.actions import PlanError, take_out_of_queue, withdraw_task
from assessor.work.models import Waiting
from assessor.work.write_protocol import Stale

_TOPICS = 100  # on a page


@require_http_methods(["GET", "POST"])
def plan(request: PersonRequest, slug: str) -> HttpResponse:
    """The table of topics; a POST gives the chosen ones to a person or to whoever draws them, all or none."""
    campaign = organized_campaign(request.user, slug)
    form = PlanForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        if told := _unconfirmed(request, form.cleaned_data):
            return _confirm(request, campaign, "Runs to judge", told, request.get_full_path())
        try:
            messages.success(request, _plan(request, form.cleaned_data))
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            return redirect(request.get_full_path())
    page = Paginator(campaign.topics.order_by("qid"), _TOPICS).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "form": form,
        "page": page,
        "rows": queries.rows(campaign, page),
        "waits": Planned.objects.filter(condition__campaign=campaign).exists(),
        "chosen": set(request.POST.getlist("topics")),
    }
    return render(request, "plan/plan.html", context)


def _unconfirmed(request: PersonRequest, asked: dict[str, Any]) -> list[str]:
    """Return what planning touches of what was said so far, where the organizer has not said yes to it yet."""
    if not asked["rule"] or "confirmed" in request.POST:
        return []
    touched = change_impact.of_rule(asked["condition"], list(asked["topics"]), asked["rule"])
    return touched.told() if touched.leave or touched.back else []


def _plan(request: PersonRequest, asked: dict[str, Any]) -> str:
    """Plan topics for a person, or None: for whoever draws them; return what was done, in words. Raises PlanError."""
    condition, person, topics = asked["condition"], asked["person"], list(asked["topics"])
    outcome = plan_work(
        condition=condition,
        topics=topics,
        person=person,
        rule=asked["rule"],
        reason=asked["reason"],
        acting_user=request.user,
    )
    told = []
    if outcome.given:
        many = _several(outcome.given)
        told.append(
            f"{person} has {many} under {condition}."
            if person
            else f"For whoever draws them: {many} under {condition}."
        )
    if outcome.waiting:
        first = outcome.waiting[0].waits_for
        told.append(f"{_several(outcome.waiting)} under {condition} will be given as soon as that is possible: {first}")
    return " ".join(told)


def _several(topics: Sequence[object]) -> str:
    return f"{len(topics)} topic{'s' if len(topics) > 1 else ''}"


def _confirm(
    request: PersonRequest, campaign: Campaign, title: str, told: list[str], back: str, status: int = 200
) -> HttpResponse:
    """Say what a change touches, and ask whether it is meant: the same form again, with that said."""
    context = {"campaign": campaign, "title": title, "told": told, "sent": sent_again(request), "back": back}
    return render(request, "plan/confirm.html", context, status=status)


def sent_again(request: PersonRequest, without: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return what was filled in, to be sent again."""
    left_out = ("csrfmiddlewaretoken", *without)
    return [(name, str(value)) for name, values in request.POST.lists() for value in values if name not in left_out]


@require_POST
def try_again(request: PersonRequest, slug: str) -> HttpResponse:
    """Give what waits and can be given by now; the plan's page asks for it when it is opened."""
    campaign = organized_campaign(request.user, slug)
    settle(campaign, acting_user=request.user)
    given = advance(campaign)
    if given:
        messages.success(request, f"What waited is there: {given} given.")
    if not request.htmx:
        return _back(request, slug)
    response = HttpResponse(status=204)
    if given:
        response["HX-Refresh"] = "true"
    return response


@require_http_methods(["GET", "POST"])
def piece(request: PersonRequest, slug: str, condition_id: int, topic_id: int) -> HttpResponse:
    """A topic under a condition: whose it is, which runs are judged, whether it rests. Changes are told, then made."""
    campaign = organized_campaign(request.user, slug)
    found = _piece(request, campaign, condition_id, topic_id)
    form = PieceForm(found, request.POST or None)
    told: list[str] = []
    status = 200
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["seen"] != found.seen:
            status = 409
        elif "confirmed" not in request.POST:
            told = change_impact.of_change(found, form.wanted)
        else:
            try:
                change_piece(piece=found, wanted=form.wanted, seen=form.cleaned_data["seen"], acting_user=request.user)
            except PlanError as error:
                form.add_error(None, str(error))
            except Stale:
                found, status = _piece(request, campaign, condition_id, topic_id), 409
            else:
                messages.success(request, f"Changed: {found.topic.qid} under {found.condition}.")
                return _done(request, slug)
    context = {"campaign": campaign, "piece": found, "form": form, "told": told, "is_late": status == 409}
    template = "plan/piece.html#form" if request.htmx else "plan/piece.html"
    return render(request, template, context, status=status)


def _piece(request: PersonRequest, campaign: Campaign, condition_id: int, topic_id: int) -> Piece:
    condition = queries.condition_of(campaign, condition_id)
    topic: Topic | None = campaign.topics.filter(pk=topic_id).first()
    person = request.GET.get("person", "")
    person_id = int(person) if person.isascii() and person.isdigit() and len(person) < 18 else None
    found = piece_at(condition, topic, person_id) if condition and topic else None
    if found is None:
        raise Http404("Nothing of this kind is planned in this campaign.")
    return found


def _done(request: PersonRequest, slug: str) -> HttpResponse:
    if not request.htmx:
        return _back(request, slug)
    response = HttpResponse(status=204)
    response["HX-Refresh"] = "true"
    return response


@require_http_methods(["GET", "POST"])
def runs(request: PersonRequest, slug: str) -> HttpResponse:
    """Runs that are dropped from conditions; a POST drops one or brings it back, once it is told what that touches."""
    campaign = organized_campaign(request.user, slug)
    form = DropForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked, is_out = form.cleaned_data, request.POST.get("out") == "1"
        if "confirmed" not in request.POST:
            told = change_impact.of_run(asked["condition"], asked["run"], is_out=is_out).told()
            title = (
                f"{'Drop' if is_out else 'Bring back'} {asked['run']} {'from' if is_out else 'to'} {asked['condition']}"
            )
            nothing = ["Nothing that was said so far."]
            return _confirm(request, campaign, title, told or nothing, reverse("plan_runs", args=[slug]))
        try:
            drop_run(**asked, is_out=is_out, acting_user=request.user)
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            words = ("dropped from", "is out of its scores") if is_out else ("back in", "counts again")
            messages.success(request, f"{asked['run']} is {words[0]} {asked['condition']}: what was said {words[1]}.")
            return redirect("plan_runs", slug)
    context = {"campaign": campaign, "form": form, "dropped": queries.dropped(campaign)}
    return render(request, "plan/runs.html", context)


@require_POST
def take_out(request: PersonRequest, slug: str, waiting_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    in_campaign = Waiting.objects.filter(condition__campaign=campaign).select_related("condition", "topic")
    waiting = in_campaign.filter(pk=waiting_id).first()
    if waiting is None:
        raise Http404("There is no such topic in a queue of this campaign.")
    done = f"Nobody can draw {waiting} any more."
    return _tried(request, slug, lambda: take_out_of_queue(waiting=waiting, acting_user=request.user), done)


@require_POST
def take_back(request: PersonRequest, slug: str, planned_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    in_campaign = Planned.objects.filter(condition__campaign=campaign).select_related("condition", "topic", "person")
    planned = in_campaign.filter(pk=planned_id).first()
    if planned is None:
        raise Http404("Nothing of this kind is planned in this campaign.")
    return _tried(
        request, slug, lambda: cancel(planned=planned, acting_user=request.user), f"Not planned any more: {planned}."
    )


@require_POST
def withdraw(request: PersonRequest, slug: str, task_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    task = campaign.tasks.select_related("campaign", "topic", "person").filter(pk=task_id).first()
    if task is None:
        raise Http404("There is no such task in this campaign.")
    done = f"Withdrawn: {task}. What was done is kept."
    return _tried(request, slug, lambda: withdraw_task(task=task, acting_user=request.user), done)


def _tried(request: PersonRequest, slug: str, act: Callable[[], None], done: str) -> HttpResponse:
    """Do something, and tell the organizer on the plan's page that it is done, or why it can't be."""
    try:
        act()
    except PlanError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return _back(request, slug)


def _back(request: PersonRequest, slug: str) -> HttpResponse:
    return redirect(f"{reverse('plan', args=[slug])}?page={request.GET.get('page', 1)}")
