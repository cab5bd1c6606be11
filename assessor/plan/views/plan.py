"""The plan over HTTP: which topics, under which condition, for whom, and which runs are judged."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaign
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.plan import change_impact, queries
from assessor.plan.actions import Outcome, Piece, cancel, carry_out, change_piece, drop_run, piece_at, plan_work
from assessor.plan.forms import DropForm, GiveForm, PieceForm, peoples_conditions
from assessor.plan.hours import HOUR, LEAST_SECONDS, Week, weeks
from assessor.plan.models import NOT_TRIED, Planned
from assessor.plan.queries import FINISHED, NOT_GIVEN, OPEN, QUEUED, WAITING, Filters, Line, WorkRow
from assessor.plan.recent_time import recent_time
from assessor.plan.workload import Workload, hours, workload
from assessor.work.actions import PlanError, Taken, take_out_of_queue, withdraw_task
from assessor.work.languages import unread_in_words
from assessor.work.models import Waiting
from assessor.work.queries import assessors
from assessor.work.write_protocol import Stale

_TOPICS = 50  # on a page
_STATES = {"": "All", NOT_GIVEN: "Not given", OPEN: "Open", WAITING: "Waiting", FINISHED: "Finished"}


class Slot(NamedTuple):
    """A piece of work as a cell of the matrix shows it; condition: its name, where the column has several."""

    work: WorkRow
    address: str
    condition: str
    rule: str


class Row(NamedTuple):
    """A topic of the matrix: a list of slots for each column, and its hours left, "" where none are known."""

    topic: Topic
    cells: list[list[Slot]]
    left: str

    @property
    def is_given(self) -> bool:
        return any(self.cells)


@require_safe
def plan(request: PersonRequest, slug: str) -> HttpResponse:
    """The matrix of topics and kinds of work, as the address filters it, with hours by person and by week.

    htmx asks only how much a worker still has to give, and for the page anew once that is all given.
    """
    campaign = organized_campaign(request.user, slug)
    if request.htmx:
        if untried := Planned.objects.filter(condition__campaign=campaign, waits_for=NOT_TRIED).count():
            return render(request, "plan/plan.html#giving", {"campaign": campaign, "untried": untried})
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    by = _filters(request)
    conditions = list(peoples_conditions(campaign).order_by("name"))
    work = queries.work_rows(campaign)
    found = queries.matrix(campaign.topics.order_by("qid"), work, conditions, by)
    page = Paginator(found.lines, _TOPICS).get_page(request.GET.get("page"))
    load = workload(campaign, work)
    waiting = [row.note for row in work if row.state == WAITING]
    untried = waiting.count(NOT_TRIED)
    context = {
        "campaign": campaign,
        "by": by,
        "given": found.counts[""] - found.counts[NOT_GIVEN],
        "states": [(name, label, found.counts[name]) for name, label in _STATES.items()],
        "conditions": conditions,
        "people": sorted({(row.person_id, row.person) for row in work if row.person_id}, key=lambda one: one[1]),
        "can_give": bool(conditions) and assessors(campaign).exists(),
        "headings": [queries.heading(kind) for kind in found.kinds],
        "page": page,
        "untried": untried,
        "rows": _rows(campaign, list(page), found.kinds, conditions, load),
        "waiting": len(waiting) - untried,
        "queued": sum(row.state == QUEUED for row in work),
        "filters": request.GET.urlencode(),
        **hours_shown(campaign, load),
    }
    return render(request, "plan/plan.html", context)


def _filters(request: PersonRequest) -> Filters:
    state = request.GET.get("state", "")
    return Filters(
        state if state in _STATES else "", _key(request, "condition"), _key(request, "person"), request.GET.get("q", "")
    )


def _key(request: PersonRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else None


def _rows(
    campaign: Campaign, lines: Sequence[Line], kinds: Sequence[str], conditions: Sequence[Condition], load: Workload
) -> list[Row]:
    rules = queries.rules_of(campaign, [line.topic.pk for line in lines])
    names = {one.pk: one.name for one in conditions}
    is_one = {kind: sum(one.kind == kind for one in conditions) == 1 for kind in kinds}
    rows = []
    for line in lines:
        cells = [
            [
                Slot(
                    one,
                    piece_address(campaign, one),
                    "" if is_one[kind] else names[one.condition],
                    rules.get((one.condition, one.topic), ""),
                )
                for one in of_kind
            ]
            for kind, of_kind in zip(kinds, line.by_kind, strict=True)
        ]
        known = [load.left(one) for one in line.work if one.state != FINISHED]
        left = [seconds for seconds in known if seconds is not None]
        rows.append(Row(line.topic, cells, f"{sum(left) / HOUR:.1f}" if left else ""))
    return rows


def piece_address(campaign: Campaign, row: WorkRow) -> str:
    """Return the address of a piece of work."""
    address = reverse("plan_piece", args=[campaign.slug, row.condition, row.topic])
    return f"{address}?person={row.person_id}" if row.person_id else address


class Bar(NamedTuple):
    """A week to come as a bar, in a chart whose full weeks are 80 high and end at 100."""

    week: Week
    x: int
    given: float
    free: float
    given_hours: str
    free_hours: str
    told: str

    @property
    def top(self) -> float:
        return round(100 - self.given, 1)

    @property
    def higher(self) -> float:
        return round(self.top - self.free, 1)

    @property
    def label(self) -> float:
        return round(self.higher - 5, 1)

    @property
    def middle(self) -> int:
        return self.x + 20


def hours_shown(campaign: Campaign, load: Workload) -> dict[str, Any]:
    """Return what the cards of hours by person and by week show."""
    a_week = sum(recent_time(campaign).seconds.values())
    if a_week < LEAST_SECONDS:
        a_week = 0
    given, free = load.whole.seconds - load.free.seconds, load.free.seconds
    to_come = weeks(given, free, a_week, timezone.localdate())
    scale = 80 / a_week if a_week else 0
    bars = [
        Bar(
            one,
            62 * at + 10,
            round(one.given * scale, 1),
            round(one.free * scale, 1),
            hours(one.given),
            hours(one.free),
            hours(one.given + one.free),
        )
        for at, one in enumerate(to_come)
    ]
    return {
        "load": load,
        "usual": hours(load.usual),
        "shares": [
            (row, round(100 * row.done / load.longest, 1), round(100 * row.seconds / load.longest, 1))
            for row in load.people
        ],
        "bars": bars,
        "a_week": hours(a_week),
        "chart_width": 62 * max(len(bars), 5),
        "is_longer": a_week * len(bars) < given + free,
        "last_week": to_come[-1].start if to_come else None,
    }


@require_http_methods(["GET", "POST"])
def give(request: PersonRequest, slug: str) -> HttpResponse:
    """Selected topics, and what giving them adds in hours; a POST gives them to a person or a queue, all or none."""
    campaign = organized_campaign(request.user, slug)
    asked = request.POST if request.method == "POST" else request.GET
    initial = request.GET.dict() | {"condition": request.GET.getlist("condition")}
    form = GiveForm(campaign, request.POST if request.method == "POST" else None, initial=initial)
    back = f"{reverse('plan', args=[slug])}?{asked.get('filters', '')}".rstrip("?")
    if request.method == "POST" and form.is_valid():
        if told := _unconfirmed(request, form.cleaned_data):
            return _confirm(request, campaign, "What this changes", told, back)
        try:
            messages.success(request, _plan(request, form.cleaned_data))
        except Taken as error:
            form.add_error(None, f"{error} To move one, open its cell on the plan.")
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            return redirect(back)
    topics = list(form.one("topics", asked.getlist("topics")) or [])
    context = {
        "campaign": campaign,
        "form": form,
        "topics": topics,
        "fields": [form[name] for name in form.field_order],
        "back": back,
        "filters": asked.get("filters", ""),
        "at_random": f"{reverse('allocate_plan', args=[slug])}",
        **_effect(campaign, form, asked, topics),
    }
    return render(request, "plan/give.html#effect" if request.htmx else "plan/give.html", context)


def _effect(campaign: Campaign, form: GiveForm, asked: Any, topics: Sequence[Topic]) -> dict[str, Any]:
    """Return what giving topics adds, in hours: under the conditions and for the person that are chosen, and all."""
    load = workload(campaign, also=list(form.fields["condition"].queryset))  # type: ignore[attr-defined]
    conditions = list(form.one("condition", asked.getlist("condition")) or [])
    person = form.people.get(asked.get("person", ""))
    known = [pace.topic for one in conditions if (pace := load.known.get(one.pk))]
    seconds = sum(known)
    to_come = {one.name: one.seconds for one in load.people}
    now = to_come.get(person.username, 0.0) if person else 0.0
    form.name_hours({name: hours(seconds) for name, seconds in to_come.items()})
    return {
        "paces": load.paces,
        "conditions": conditions,
        "unknown": len(conditions) - len(known),
        "person": person,
        "each": hours(seconds) if known else "",
        "added": hours(seconds * len(topics)) if known else "",
        "now": hours(now),
        "then": hours(now + seconds * len(topics)) if known else "",
    }


def _unconfirmed(request: PersonRequest, asked: dict[str, Any]) -> list[str]:
    """Return what planning touches of what was said so far, where the organizer has not said yes to it yet."""
    if "confirmed" in request.POST:
        return []
    person, topics, conditions = asked["person"], list(asked["topics"]), list(asked["condition"])
    told = list(change_impact.of_blind_work(person, topics, conditions))
    if person:
        told += unread_in_words(person, topics, conditions)
    if not asked["rule"]:
        return told
    touched = [change_impact.of_rule(one, topics, asked["rule"]) for one in conditions]
    return told + [line for one in touched if one.leave or one.back for line in one.told()]


def _plan(request: PersonRequest, asked: dict[str, Any]) -> str:
    """Plan topics for a person, or None: for whoever draws them; return what was done, in words. Raises PlanError."""
    person, topics = asked["person"], list(asked["topics"])
    # A rule of runs says nothing to whoever writes nuggets; said of nothing else, it is a mistake.
    is_for_all = not any(one.judges_answers for one in asked["condition"])
    with transaction.atomic():
        outcomes = {
            condition: plan_work(
                condition=condition,
                topics=topics,
                person=person,
                rule=asked["rule"] if is_for_all or condition.judges_answers else "",
                reason=asked["reason"],
                acting_user=request.user,
            )
            for condition in asked["condition"]
        }
    return " ".join(told for condition, outcome in outcomes.items() for told in _told(condition, person, outcome))


def _told(condition: Condition, person: Person | None, outcome: Outcome) -> Iterator[str]:
    """Yield what became of topics under a condition by now, in words."""
    waiting = Planned.objects.filter(pk__in=[row.pk for row in outcome.waiting]).order_by("pk")
    still = list(waiting.values_list("waits_for", flat=True))
    if given := len(outcome.given) + len(outcome.waiting) - len(still):
        many = _several(given)
        yield f"{person} has {many} under {condition}." if person else f"In the queue of {condition}: {many}."
    if untried := still.count(NOT_TRIED):
        yield f"Being given under {condition}: {_several(untried)}."
    elif still:
        yield f"Waiting under {condition}: {_several(len(still))}. {still[0]}"


def _several(topics: int) -> str:
    return f"{topics} topic{'s' if topics > 1 else ''}"


def _confirm(
    request: PersonRequest, campaign: Campaign, title: str, told: list[str], back: str, status: int = 200
) -> HttpResponse:
    """Say what a change touches, and ask whether it is meant: the same form again, with that said."""
    context = {"campaign": campaign, "title": title, "told": told, "sent": sent_again(request), "back": back}
    context["keeps_labels"] = any("scores" in line for line in told)
    return render(request, "plan/confirm.html", context, status=status)


def sent_again(request: PersonRequest, without: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return what was filled in, to be sent again."""
    left_out = ("csrfmiddlewaretoken", *without)
    return [(name, str(value)) for name, values in request.POST.lists() for value in values if name not in left_out]


@require_POST
def try_again(request: PersonRequest, slug: str) -> HttpResponse:
    """Give what waits and can be given by now; the plan's page asks for it when it is opened."""
    campaign = organized_campaign(request.user, slug)
    given = carry_out(campaign, acting_user=request.user)
    if given:
        messages.success(request, f"Started: {given} piece{'' if given == 1 else 's'} of work that had waited.")
    if not request.htmx:
        return redirect("plan", slug)
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
                return redirect("plan", slug)
    context = {
        "campaign": campaign,
        "piece": found,
        "work": kind_of(found.task) if found.task else None,
        "form": form,
        "told": told,
        "is_late": status == 409,
    }
    return render(request, "plan/piece.html", context, status=status)


def _piece(request: PersonRequest, campaign: Campaign, condition_id: int, topic_id: int) -> Piece:
    condition = queries.condition_of(campaign, condition_id)
    topic: Topic | None = campaign.topics.filter(pk=topic_id).first()
    person = request.GET.get("person", "")
    person_id = int(person) if person.isascii() and person.isdigit() and len(person) < 18 else None
    found = piece_at(condition, topic, person_id) if condition and topic else None
    if found is None:
        raise Http404("This campaign has no such piece of work.")
    return found


@require_http_methods(["GET", "POST"])
def runs(request: PersonRequest, slug: str) -> HttpResponse:
    """Runs that are dropped from conditions; a POST drops one or brings it back, once it is told what that touches."""
    campaign = organized_campaign(request.user, slug)
    form = DropForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked, is_out = form.cleaned_data, request.POST.get("out") == "1"
        if "confirmed" not in request.POST:
            told = change_impact.of_run(asked["condition"], asked["run"], is_out=is_out).told()
            words = ("Leave", "out of") if is_out else ("Bring", "back to")
            title = f"{words[0]} {asked['run']} {words[1]} {asked['condition']}"
            nothing = ["No labels so far."]
            return _confirm(request, campaign, title, told or nothing, reverse("plan_runs", args=[slug]))
        try:
            drop_run(**asked, is_out=is_out, acting_user=request.user)
        except PlanError as error:
            form.add_error(None, str(error))
        else:
            words = ("left out of", "do not count") if is_out else ("back in", "count again")
            messages.success(request, f"{asked['run']} is {words[0]} {asked['condition']}: its labels {words[1]}.")
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
    done = f"Removed from the queue: {waiting}."
    return _tried(request, slug, lambda: take_out_of_queue(waiting=waiting, acting_user=request.user), done)


@require_POST
def take_back(request: PersonRequest, slug: str, planned_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    in_campaign = Planned.objects.filter(condition__campaign=campaign).select_related("condition", "topic", "person")
    planned = in_campaign.filter(pk=planned_id).first()
    if planned is None:
        raise Http404("This campaign has no such piece of work.")
    return _tried(request, slug, lambda: cancel(planned=planned, acting_user=request.user), f"Cancelled: {planned}.")


@require_POST
def withdraw(request: PersonRequest, slug: str, task_id: int) -> HttpResponse:
    campaign = organized_campaign(request.user, slug)
    task = campaign.tasks.select_related("campaign", "topic", "person").filter(pk=task_id).first()
    if task is None:
        raise Http404("There is no such task in this campaign.")
    done = f"Taken away: {task}. Its labels are kept."
    return _tried(request, slug, lambda: withdraw_task(task=task, acting_user=request.user), done)


def _tried(request: PersonRequest, slug: str, act: Callable[[], None], done: str) -> HttpResponse:
    """Do something, and tell the organizer on the plan's page that it is done, or why it can't be."""
    try:
        act()
    except PlanError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("plan", slug)
