"""Conditions as pages list them: how far each is, who works on it, and how it agrees with its reference."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Max

from assessor.campaigns.condition_kind import kind_named, kind_of, kinds_in_order_of_work
from assessor.campaigns.models import Campaign, Condition
from assessor.desk.progress import Step
from assessor.exports.models import Frozen
from assessor.llm.job_kind import launched_kinds
from assessor.llm.models import Job
from assessor.llm.queries import open_failures
from assessor.scores.cache import Counts, counts_by_condition, kept_scores, scopes, states_of
from assessor.scores.score_source import scoring_of
from assessor.studies.panels import settings_of
from assessor.work.models import Task
from assessor.work.queries import Counted
from metaeval.queries import Agreement
from metaeval.stats.means import INCOMPLETE


class ConditionState(NamedTuple):
    """How far a condition is. done and total are in units; topics: given out, labelled or with a nugget list.

    people, model: who works here, by name. ready: topics whose nuggets people finished, where nuggets are assigned.
    version: the newest frozen one, 0 where there is none. agreements: with what it was compared to as a candidate.
    shown: the condition whose labels people see. awaited_job: the kind of job that fills it, where none was launched.
    """

    pk: int
    name: str
    kind: str
    nuggets: int | None
    in_words: str
    sample: str
    is_by_people: bool  # work here, on a screen
    is_a_models: bool
    is_imported: bool
    is_rehearsed: bool
    done: int
    total: int
    unit: str
    topics: int
    given: int
    people: list[str]
    model: str
    failed: int
    job_state: str
    version: int
    agreements: list[Agreement]
    is_reference: bool
    shown: int | None
    awaited_job: str
    leaves_open: bool = False  # a panel that leaves labels to people, as far as is known

    @property
    def counted(self) -> str:
        """What is counted there, such as the nuggets of a list."""
        return kind_named(self.kind).counted

    @property
    def percent(self) -> int:
        """Share that is done, 0 to 100; 100 only where nothing is left."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def is_complete(self) -> bool:
        """Whether everything that is planned here is done."""
        is_done = 0 < self.total <= self.done and not self.leaves_open
        return is_done and not self.failed and not self.job_state

    @property
    def chip(self) -> tuple[str, str]:
        """The state as a chip shows it: its class and its words."""
        if self.failed:
            return "bad", f"{self.failed:,} failed"
        if self.job_state:
            return ("run" if self.job_state in Job.ACTIVE else "warn"), self.job_state
        if self.version:
            return "lock", f"frozen, version {self.version}"
        if self.leaves_open:
            return "part", "leaves labels to people"
        if self.is_complete:
            return "ok", "imported" if self.is_imported else "complete"
        if self.total:
            return ("part", "incomplete") if self.is_imported or not self.is_by_people else ("run", "running")
        return "plain", "not started"


class MatrixRow(NamedTuple):
    """A way in which nuggets came to be, and the conditions that assign them, by people and by models."""

    nuggets: ConditionState
    people: list[ConditionState]
    models: list[ConditionState]

    @property
    def assigned(self) -> tuple[list[ConditionState], list[ConditionState]]:
        """The columns of the matrix after the nuggets' own."""
        return self.people, self.models


class Group(NamedTuple):
    """The conditions of a kind. page: the name of the address where two of them are side by side, or ""."""

    title: str
    page: str
    states: list[ConditionState]


class Overview(NamedTuple):
    """All conditions of a campaign: those around nuggets as a matrix, others by kind, those of studies' samples."""

    matrix: list[MatrixRow]
    others: list[Group]
    samples: list[ConditionState]

    @property
    def every(self) -> list[ConditionState]:
        """All conditions but those of samples."""
        of_nuggets = [one for row in self.matrix for one in (row.nuggets, *row.people, *row.models)]
        return [*of_nuggets, *(one for group in self.others for one in group.states)]


def conditions(
    campaign: Campaign, tasks: Iterable[Counted], steps: Iterable[Step], agreements: Sequence[Agreement]
) -> Overview:
    """Return how far a campaign's conditions are, in as many queries for many as for one."""
    states = _states(campaign, tasks, steps, agreements)
    own = [one for one in states if not one.sample]
    rows = [
        MatrixRow(
            one,
            [other for other in own if other.nuggets == one.pk and not other.is_a_models],
            [other for other in own if other.nuggets == one.pk and other.is_a_models],
        )
        for one in own
        if kind_named(one.kind).makes_nuggets
    ]
    others = [
        Group(kind.title, getattr(kind, "comparison_page", ""), [one for one in own if one.kind == kind.name])
        for kind in kinds_in_order_of_work()
        if not kind.makes_nuggets and not kind.labels_nuggets
    ]
    return Overview(rows, others, [one for one in states if one.sample])


def _states(
    campaign: Campaign, tasks: Iterable[Counted], steps: Iterable[Step], agreements: Sequence[Agreement]
) -> list[ConditionState]:
    records: list[Any] = [one for kind in kinds_in_order_of_work() for one in kind.conditions(campaign)]
    scored = counts_by_condition(one for one in records if kind_of(one).scoring())
    panels = {one.pk for one in records if one.is_panel}
    sizes = scopes({pk: counts for pk, counts in scored.items() if pk not in panels})
    sizes |= {pk: sizes[some[0].pk] for pk, some in Condition.members_of(records).items() if some[0].pk in sizes}
    leaving_open = _leaving_open(records)
    people: dict[int, set[str]] = defaultdict(set)
    for task in tasks:
        if not task.topic__is_practice:
            people[task.condition_id].add(task.person__username)
    step_of = {step.condition: step for step in steps}
    jobs: dict[int, list[Job]] = defaultdict(list)
    for job in campaign.jobs.exclude(state=Job.State.CANCELLED).defer("scope", "estimate"):
        jobs[job.condition_id].append(job)
    of_condition = open_failures().filter(job__campaign=campaign).values_list("job__condition")
    failed = dict(of_condition.annotate(Count("pk")))
    frozen = Frozen.objects.filter(condition__campaign=campaign).order_by().values("condition")
    versions = dict(frozen.annotate(version=Max("version")).values_list("condition", "version"))
    references = {one.reference for one in agreements}
    filled_by = {(kind.condition_kind, kind.method): kind.name for kind in launched_kinds().values()}
    found = []
    for one in records:
        step, own_jobs = step_of.get(one.pk), jobs[one.pk]
        done, total, unit = _share(one, step, scored.get(one.pk), own_jobs)
        given = step.topics + step.waiting + step.planned if step else 0
        kind = kind_of(one)
        size = sizes.get(one.pk)
        found.append(
            ConditionState(
                pk=one.pk,
                name=one.name,
                kind=one.kind,
                nuggets=one.nuggets_id if kind.labels_nuggets else None,
                in_words=kind.in_words(one),
                sample=one.sample,
                is_by_people=one.is_by_people,
                is_a_models=one.is_a_models,
                is_imported=one.method == Condition.IMPORTED,
                is_rehearsed=one.is_rehearsed,
                done=done,
                total=total,
                unit=unit,
                topics=one.banks if kind.makes_nuggets else size.topics if size else given,
                given=given,
                people=sorted(people[one.pk]) or (["people"] if one.is_peoples else []),
                model=one.name if one.is_panel else "" if one.judge is None or one.is_peoples else str(one.judge),
                failed=failed.get(one.pk, 0),
                job_state=_job_state(own_jobs),
                version=versions.get(one.pk, 0),
                agreements=[other for other in agreements if other.candidate == one.pk],
                is_reference=one.pk in references,
                shown=one.shown_id,
                awaited_job="" if own_jobs else filled_by.get((one.kind, one.method), ""),
                leaves_open=one.pk in leaving_open,
            )
        )
    return found


def _leaving_open(conditions: Sequence[Condition]) -> set[int]:
    """Return the keys of the panels that leave labels to people: all that may, but those known to lack none.

    Known is what was scored here since any label changed; to score all takes seconds.
    """
    panels = [one for one in conditions if one.is_panel and settings_of(one).routes]
    states = states_of(panels)
    kept = {one.pk: kept_scores(one, states[one.pk]) for one in panels}
    return {pk for pk, found in kept.items() if found is None or (found.states == INCOMPLETE).any()}


def _share(one: Any, step: Step | None, counts: Counts | None, jobs: Iterable[Job]) -> tuple[int, int, str]:
    """Return how much of a condition is done, of how much, and what is counted."""
    kind = kind_of(one)
    if kind.matches_banks:
        return one.matched, one.both, kind.counted
    if one.is_by_people and step and step.unit != "topics":
        return step.done, step.done + step.left + step.rests, step.unit
    if one.is_by_people:
        given = step.topics + step.waiting + step.planned if step else 0
        return (step.finished if step else 0), given, "topics"
    if kind.makes_nuggets:
        return one.finished, one.banks, "lists"
    if counts:
        return counts.done, counts.answers, scoring_of(one.kind).counted
    return sum(job.units_done for job in jobs), sum(job.units_total for job in jobs), kind.counted


def _job_state(jobs: Iterable[Job]) -> str:
    """Return the state of the job that is not over, if there is one."""
    return next((job.state for job in jobs if not job.is_over), "")


class PersonWork(NamedTuple):
    """What a person has to do under a condition, and how much of it is done."""

    name: str
    topics: int
    finished: int
    done: int
    total: int
    seconds: int


def work_of_people(tasks: Iterable[Counted]) -> list[PersonWork]:
    """Return the work of each person on tasks of one condition; practice is no part of it."""
    of_person: Mapping[str, list[Counted]] = defaultdict(list)
    for task in tasks:
        if not task.topic__is_practice:
            of_person[task.person__username].append(task)
    return [
        PersonWork(
            name,
            len(own),
            sum(task.state == Task.State.FINISHED for task in own),
            sum(task.done for task in own),
            sum(task.total for task in own),
            sum(task.seconds for task in own),
        )
        for name, own in sorted(of_person.items())
    ]
