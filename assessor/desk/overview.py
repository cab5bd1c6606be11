"""Where a study stands and what is to be done next: all that the Overview shows, worked out once for each state."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, F, Max, Q, Sum
from django.db.models.functions import TruncDate
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst

from assessor.campaigns.condition_kind import ConditionKind, kind_named, kinds_in_order_of_work
from assessor.campaigns.models import Campaign, Role
from assessor.desk import flags
from assessor.desk.alarms import alarms, facts
from assessor.desk.completeness import Gap, gaps
from assessor.desk.conditions import ConditionState, conditions
from assessor.desk.conditions import Overview as Conditions
from assessor.desk.judge_alarms import judge_alarms
from assessor.desk.progress import Progress, progress
from assessor.desk.queries import loaded, state_of_loaded
from assessor.desk.sentences import SYSTEM, predicate
from assessor.desk.stalled_work import stuck
from assessor.desk.study_templates import chosen_template, planned
from assessor.labels.queries import outdated_labels
from assessor.llm.models import Job
from assessor.plan.hours import HOUR
from assessor.plan.workload import workload
from assessor.runtime.process_cache import cache
from assessor.work.models import Task, TimeSpent
from assessor.work.queries import counted
from metaeval.models import Calculation
from metaeval.queries import Agreement, agreements

_STEPS = 4
_ATTENTION = 6
_LATEST = 5
_DAYS = 7
_QUIET = timedelta(minutes=1)


class State(NamedTuple):
    """Names what an Overview shows. is_running: whether a job or a comparison changes it by itself."""

    name: str
    is_running: bool


class Stage(NamedTuple):
    """A stage of the study. is_begun: whether it has anything to be done."""

    title: str
    percent: int
    told: str
    is_begun: bool

    @property
    def is_done(self) -> bool:
        return self.percent == 100


class Figure(NamedTuple):
    """A figure with its unit, and a line under it."""

    label: str
    value: str
    unit: str
    under: str


class NextStep(NamedTuple):
    """Something to do now: what it is, what it unblocks, and the page on which it is done."""

    title: str
    why: str
    address: str
    button: str


class Attention(NamedTuple):
    """Something that waits for the organizer. icon: of icons.svg; tone: "warn" or "bad"."""

    icon: str
    tone: str
    text: str
    why: str
    address: str


class Day(NamedTuple):
    """Active hours of people on a day of the week, and its bar in a chart of 100 by 40 per day."""

    name: str
    hours: float
    x: float
    y: float
    height: float


class Cost(NamedTuple):
    """What jobs cost so far. budget: of all of them, None where one has none; by_kind: name, calls and cost."""

    total: Decimal
    budget: Decimal | None
    by_kind: list[tuple[str, int, Decimal]]

    @property
    def percent(self) -> int:
        return min(100, int(100 * self.total / self.budget)) if self.budget else 0


class Latest(NamedTuple):
    """An event as a sentence: who, and what they did."""

    who: str
    told: str
    at: datetime

    @property
    def kind(self) -> str:
        return "nobody" if self.who == SYSTEM else "person"


class Overview(NamedTuple):
    """All that the page shows. due: the title of the stage that is to be worked on."""

    sentence: str
    stages: list[Stage]
    due: str
    figures: list[Figure]
    steps: list[NextStep]
    attention: list[Attention]
    more_attention: int
    conditions: Conditions
    week: list[Day]
    cost: Cost
    latest: list[Latest]

    @property
    def has_worked(self) -> bool:
        return any(day.hours for day in self.week)


def state_of(campaign: Campaign) -> State:
    """Name the state of all that an Overview shows.

    What organizers, jobs and imports do is seen at once. While people label, the state is named by the minute, so that
    a page works all of it out once in one at most.
    """
    now = timezone.now()
    tasks = campaign.tasks.aggregate(Count("pk"), last=Max("worked_at"))
    jobs = campaign.jobs.aggregate(
        Count("pk"),
        units=Sum(F("units_done") + F("units_failed")),
        active=Count("pk", filter=Q(state__in=Job.ACTIVE)),
        running=Count("pk", filter=Q(state=Job.State.RUNNING)),
    )
    found = Calculation.objects.filter(comparison__campaign=campaign)
    calculations = found.aggregate(Max("pk"), active=Count("pk", filter=Q(state__in=Calculation.ACTIVE)))
    last = tasks.pop("last")
    worked = f"{now:%Y%m%d%H%M}" if last and now - last < _QUIET else last and last.timestamp()
    event = campaign.events.aggregate(Max("pk"))["pk__max"]
    facts = (*tasks.values(), *jobs.values(), *calculations.values(), worked, event, f"{now:%Y%m%d%H}")
    name = ".".join(map(str, (state_of_loaded(campaign), *facts)))
    return State(name, bool(jobs["active"] or calculations["active"]))


def overview(campaign: Campaign, state: State) -> Overview:
    """Return all that an Overview shows, in the zone of whoever reads it."""
    key = f"overview.{state.name}.{timezone.get_current_timezone_name()}"
    found: Overview = cache.get_or_set(key, lambda: _overview(campaign, state), timeout=3_600)
    return found


def conditions_of(campaign: Campaign) -> Conditions:
    """Return all conditions with how far they are, as the Overview has them."""
    return overview(campaign, state_of(campaign)).conditions


def _overview(campaign: Campaign, state: State) -> Overview:
    tasks = list(counted(campaign))
    done = progress(campaign, tasks)
    compared = agreements(campaign)
    every = conditions(campaign, tasks, done.steps, compared)
    asked, replies = list(flags.asked(campaign)), flags.replied(campaign)
    questions = Counter(one.task for one in asked if flags.state(one, replies) == flags.OPEN)
    has, lacking = loaded(campaign), gaps(campaign)
    stages = list(_stages(campaign, has, lacking, every))
    finished = {task.pk for task in tasks if task.state == Task.State.FINISHED}
    unsettled = sum(one.is_unsettled and one.task in finished for one in asked)
    outdated = outdated_labels(campaign)
    attention = [
        *(
            Attention("alert", "warn", one.fact, one.why, reverse("alarms", args=[campaign.slug]))
            for one in facts(alarms(campaign, state.name))
        ),
        *(
            Attention("alert", "warn", f"{one.job} {one.fact}.", one.figure, one.address)
            for one in judge_alarms(campaign, state.name)
        ),
        *_attention(campaign, sum(questions.values()), outdated, lacking),
        *(
            Attention(one.icon, "bad" if one.is_bad else "warn", one.fact, one.more, one.buttons[0].address)
            for one in stuck(campaign, tasks, questions)
        ),
    ]
    return Overview(
        sentence=_sentence(campaign, has, every),
        stages=stages,
        due=due(stages),
        figures=_figures(campaign, done, compared),
        steps=list(islice(_steps(campaign, has, lacking, sum(questions.values()), unsettled, every), _STEPS)),
        attention=attention[:_ATTENTION],
        more_attention=len(attention[_ATTENTION:]),
        conditions=every,
        week=_week(campaign),
        cost=_cost(campaign),
        latest=_latest(campaign),
    )


def _number(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun: "1 run", "1,204 runs"."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def _sentence(campaign: Campaign, has: dict[str, int], every: Conditions) -> str:
    """Say what is studied, and who works on it."""
    kinds = [kind.title.lower() for kind in kinds_in_order_of_work() if _of_kind(every, kind)]
    people = campaign.memberships.filter(until=None, role=Role.ASSESSOR).count()
    models = sorted({one.model for one in every.every if one.is_a_models and one.model and not one.is_imported})
    what = f"{_joined(kinds)} of ".capitalize() if kinds else ""
    by = _joined([*([_number(people, "assessor")] if people else []), *models])
    return (
        f"{what}{_number(has['runs'], 'run')} on {_number(has['topics'], 'topic')}{f', by {by}' if by else ''}. "
        f"Protocol {campaign.protocol.name}, version {campaign.protocol.version}."
    )


def _joined(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _of_kind(every: Conditions, kind: ConditionKind) -> list[ConditionState]:
    return [one for one in every.every if one.kind == kind.name]


def _stages(campaign: Campaign, has: dict[str, int], lacking: Iterable[Gap], every: Conditions) -> Iterator[Stage]:
    parts = (has["topics"], has["segments"], has["runs"])
    told = f"{_number(has['topics'], 'topic')}, {_number(has['runs'], 'run')}"
    yield Stage("Collection", 100 * sum(map(bool, parts)) // len(parts), told, True)
    for kind in kinds_in_order_of_work():
        of_kind = _of_kind(every, kind)
        if kind.makes_grades:
            ungraded = next((gap.size for gap in lacking if gap.name == "ungraded"), 0)
            graded = has["topics"] - ungraded
            yield Stage(
                capfirst(kind.name),
                100 * graded // has["topics"] if has["topics"] else 0,
                f"{graded:,} of {_number(has['topics'], 'topic')} graded",
                bool(has["topics"]),
            )
        elif of_kind or kind.is_in_every_study:
            complete = sum(one.is_complete for one in of_kind)
            yield Stage(
                capfirst(kind.name),
                sum(100 if one.is_complete else min(99, one.percent) for one in of_kind) // len(of_kind)
                if of_kind
                else 0,
                f"{complete} of {_number(len(of_kind), 'condition')} complete" if of_kind else "no condition yet",
                bool(of_kind),
            )
    comparisons = campaign.comparisons.aggregate(
        total=Count("pk", distinct=True),
        done=Count("pk", distinct=True, filter=Q(calculations__state=Calculation.State.DONE)),
    )
    yield _counted("Agreement", comparisons["done"], comparisons["total"], "comparison")
    to_freeze = [*every.every, *every.samples]
    yield _counted("Freeze", sum(bool(one.version) for one in to_freeze), len(to_freeze), "condition")


def _counted(title: str, done: int, total: int, what: str) -> Stage:
    told = f"{done} of {_number(total, what)}" if total else f"no {what} yet"
    return Stage(title, 100 * done // total if total else 0, told, bool(total))


def due(stages: Sequence[Stage]) -> str:
    """Return the first stage that is not done of those that have something to do; else of all."""
    open_ones = sorted((stage for stage in stages if not stage.is_done), key=lambda stage: not stage.is_begun)
    return open_ones[0].title if open_ones else ""


def _figures(campaign: Campaign, done: Progress, compared: Sequence[Agreement]) -> list[Figure]:
    left = workload(campaign).whole
    best = next((one for one in compared if one.tau is not None), None)
    unknown = f"{_number(left.unknown, 'piece')} of work without an estimate" if left.unknown else "for open work"
    interval = f"[{best.low:.2f}, {best.high:.2f}]" if best and best.low is not None and best.high is not None else ""
    pace = f"at the pace of {_number(done.days, 'day')}"
    return [
        Figure(
            "Pieces of work finished",
            f"{done.finished:,}",
            f"of {done.topics:,}",
            f"given to {_number(len(done.people), 'person', 'people')}",
        ),
        Figure("Time spent", done.time if done.time != "—" else "none yet", "", "active, without practice"),
        Figure(
            "Agreement of rankings",
            f"τ {best.tau:.2f}" if best else "—",
            interval,
            f"{best.candidate_name} with {best.reference_name}" if best else "no comparison yet",
        ),
        Figure("Time to come", left.hours if left.pieces > left.unknown else "—", "", unknown),
        Figure(
            "Expected end",
            date_format(done.ends.latest, "j M") if done.ends.latest and done.topics else "—",
            "",
            pace
            if done.ends.latest and done.topics
            else "too early to tell"
            if done.topics
            else "nothing is given out",
        ),
    ]


def _steps(
    campaign: Campaign, has: dict[str, int], lacking: Iterable[Gap], questions: int, unsettled: int, every: Conditions
) -> Iterator[NextStep]:
    """Yield what to do, in the order of what it unblocks."""
    files = reverse("imports", args=[campaign.slug])
    for what, single in (("topics", "topics"), ("segments", "passages"), ("runs", "runs")):
        if not has[what]:
            yield NextStep(f"Upload {single}", _WHY_LOADED[what], files, f"Upload {single}")
    study = chosen_template(campaign)
    to_make = [one for one in planned(campaign, study) if not one.condition and not one.waits] if study else []
    if study and to_make:
        lacking_parts = sorted({one.lacks for one in to_make if one.lacks})
        why = f"They need {_joined(lacking_parts)}." if lacking_parts else "All that they need is here."
        title = f"Make {_number(len(to_make), 'more condition')} of {study.title}"
        yield NextStep(title, why, f"{reverse('setup', args=[campaign.slug])}#step-study", "Set up")
    elif not every.every:
        why = "A condition says who makes the nuggets and who labels. Create one to plan work."
        yield NextStep("Create a condition", why, reverse("new_condition", args=[campaign.slug]), "New condition")
    if questions:
        what = _number(questions, "question")
        yield NextStep(
            f"Answer {what}",
            "Assessors asked or flagged something.",
            reverse("questions", args=[campaign.slug]),
            "Answer questions",
        )
    if unsettled:
        what = _number(unsettled, "label")
        why = "The answers that lack them have no complete score until then."
        yield NextStep(
            f"Settle {what} that assessors could not give",
            why,
            reverse("questions", args=[campaign.slug]),
            "Settle labels",
        )
    for gap in lacking:
        if gap.name in _WHY_TEXT:
            yield NextStep(
                f"Upload {_number(gap.size, 'passage')} {_WHY_TEXT[gap.name][0]}",
                _WHY_TEXT[gap.name][1],
                reverse("missing", args=[campaign.slug, gap.name]),
                "See which",
            )
    for one in every.every:
        if one.awaited_job:
            address = f"{reverse('launch_job', args=[campaign.slug])}?kind={one.awaited_job}"
            why = "A model does it in the background. You see the cost before anything is sent."
            yield NextStep(f"Launch the job {one.awaited_job} for {one.name}", why, address, "New job")
    plan = reverse("plan", args=[campaign.slug])
    for one, number in _to_give(every):
        if number:
            why = "Their nuggets are finished, and nobody has them."
            yield NextStep(f"Give out {_number(number, 'topic')} for {one.name}", why, plan, "Open the plan")
        else:
            yield NextStep(f"Give out topics for {one.name}", "Nobody works on it yet.", plan, "Open the plan")
    failed = [one for one in every.every if one.failed]
    if failed:
        number = sum(one.failed for one in failed)
        named = _joined([one.name for one in failed[:3]])
        why = f"{named} {'lacks' if len(failed) == 1 else 'lack'} labels. Each job says why."
        jobs = reverse("jobs", args=[campaign.slug])
        yield NextStep(f"See why {_number(number, 'item')} failed", why, jobs, "Open the jobs")
    for reference, candidate in to_compare(every):
        why = "It tells whether the model can stand in for people."
        sides = urlencode({"first": f"Condition-{reference.pk}", "second": f"Condition-{candidate.pk}"})
        address = f"{reverse('comparisons', args=[campaign.slug])}?{sides}"
        yield NextStep(f"Compare {candidate.name} with {reference.name}", why, address, "Compare")
    complete = [one for one in (*every.every, *every.samples) if one.is_complete and not one.version]
    if len(complete) == 1:
        address = reverse("frozen_condition", args=[campaign.slug, complete[0].pk])
        yield NextStep(f"Freeze {complete[0].name}", "It is complete: freezing keeps its files.", address, "Freeze…")
    elif complete:
        why = f"{_joined([one.name for one in complete])}: freezing keeps their files."
        address = reverse("frozen_conditions", args=[campaign.slug])
        yield NextStep(f"Freeze {len(complete)} complete conditions", why, address, "Freeze…")


_WHY_LOADED = {
    "topics": "Everything else refers to them.",
    "segments": "Nuggets and support are judged by their text.",
    "runs": "Nothing can be scored without them.",
}
_WHY_TEXT = {
    "relevant": ("that are relevant and have no text", "Whoever writes nuggets can't read them."),
    "pooled": ("of the pool that have no text", "Nobody can grade them."),
}


def to_compare(every: Conditions) -> Iterator[tuple[ConditionState, ConditionState]]:
    """Yield people's labels and a model's of the same, where both are complete and nobody has compared the model's."""
    labelled = [one for one in every.every if one.is_complete and kind_named(one.kind).judges_answers]
    for candidate in labelled:
        same = (one for one in labelled if (one.kind, one.nuggets) == (candidate.kind, candidate.nuggets))
        reference = next((one for one in same if not one.is_a_models), None)
        if candidate.is_a_models and reference and not candidate.agreements:
            yield reference, candidate


def _to_give(every: Conditions) -> Iterator[tuple[ConditionState, int]]:
    """Yield conditions with topics to give out, and how many have nuggets that people finished; 0: any of them."""
    nuggets = {row.nuggets.pk: row.nuggets for row in every.matrix}
    awaited = {one.pk for one in every.every if one.awaited_job}
    for one in every.every:
        if not one.is_by_people or awaited & {one.pk, one.shown}:
            continue
        basis = nuggets.get(one.nuggets or 0)
        ready = basis.done - one.given if basis and basis.is_by_people else 0
        if ready > 0 or not (one.given or (basis and not basis.done)):
            yield one, max(0, ready)


def _attention(campaign: Campaign, questions: int, outdated: int, lacking: Iterable[Gap]) -> Iterator[Attention]:
    if questions:
        address = reverse("questions", args=[campaign.slug])
        yield Attention("ask", "warn", _number(questions, "open question"), "Asked or flagged by assessors.", address)
    if outdated:
        why = "Their nuggets were reworded since. Assessors label them again."
        address = reverse("progress", args=[campaign.slug])
        yield Attention("retry", "warn", _number(outdated, "outdated label"), why, address)
    for gap in lacking:
        names = ", ".join(gap.names) + (", …" if gap.size > len(gap.names) else "")
        yield Attention("file", "warn", gap.text, names, reverse("missing", args=[campaign.slug, gap.name]))


def _week(campaign: Campaign) -> list[Day]:
    """Return the active hours of the last days, today last."""
    today = timezone.localdate()
    first = today - timedelta(days=_DAYS - 1)
    times = TimeSpent.objects.filter(
        at__gte=timezone.now() - timedelta(days=_DAYS), task__campaign=campaign, task__topic__is_practice=False
    )
    by_day = times.order_by().annotate(day=TruncDate("at")).values("day").annotate(seconds=Sum("seconds"))
    hours = {day: seconds / HOUR for day, seconds in by_day.values_list("day", "seconds")}
    most = max([*hours.values(), 1 / HOUR])
    days = []
    for at in range(_DAYS):
        day = first + timedelta(days=at)
        height = 84 * hours.get(day, 0.0) / most
        days.append(
            Day(date_format(day, "D"), hours.get(day, 0.0), 14 + 40 * at, round(100 - height, 1), round(height, 1))
        )
    return days


def _cost(campaign: Campaign) -> Cost:
    kinds = campaign.jobs.order_by("kind").values("kind")
    rows = list(
        kinds.annotate(
            spent=Sum("cost"), sent=Sum("calls"), most=Sum("most_cost"), free=Count("pk", filter=Q(most_cost=None))
        ).values_list("kind", "sent", "spent", "most", "free")
    )
    has_budget = rows and not any(free for *_, free in rows)
    budget = sum((most for *_, most, _ in rows), Decimal(0)) if has_budget else None
    total = sum((spent for _, _, spent, _, _ in rows), Decimal(0))
    return Cost(total, budget, [(kind, sent, spent) for kind, sent, spent, _, _ in rows])


def _latest(campaign: Campaign) -> list[Latest]:
    events = campaign.events.select_related("person")[:_LATEST]
    return [Latest(str(one.person or SYSTEM), predicate(one.verb, one.subject), one.at) for one in events]
