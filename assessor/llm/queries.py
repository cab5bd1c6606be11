"""What the pages of jobs read."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from assessor.campaigns.models import Campaign, Topic
from assessor.campaigns.queries import by_names
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Call, Job, ModelJudge, Trial, Unit

_MINUTE = timedelta(minutes=1)


class Pace(NamedTuple):
    """How fast a job goes. per_second: requests over the last minute; left: seconds until its end, or None."""

    per_second: float
    left: int | None


def pace(job: Job) -> Pace:
    """Return a job's rate over the last minute, and from it how long the rest takes."""
    now = timezone.now()
    since = max(now - _MINUTE, job.started_at or now)
    calls = Call.objects.filter(job=job, at__gte=since).count()
    per_second = calls / max(1.0, (now - since).total_seconds())
    ended = job.units_done + job.units_failed
    rest = job.units_total - ended
    if not calls or not ended or not job.calls:
        return Pace(per_second, None)
    return Pace(per_second, int(rest * job.calls / ended / per_second))


def trial_of(judge: ModelJudge) -> Trial | None:
    """Return how a judge was tried last."""
    return Trial.objects.select_related("call", "created_by").filter(judge=judge).first()


class Reason(NamedTuple):
    """Why units failed, and how many; one of them as an example, by topic and item."""

    error: str
    units: int
    example: str


_REASONS = 20


def reasons(job: Job) -> list[Reason]:
    """Return the reasons why a job's units failed, the most frequent first."""
    failed = Unit.objects.filter(job=job, state=Unit.State.FAILED)
    groups = failed.values("error").annotate(units=Count("pk"), first=Min("pk")).order_by("-units", "first")[:_REASONS]
    firsts = Unit.objects.select_related("topic").filter(pk__in=[group["first"] for group in groups])
    examples = {unit.pk: f"{unit.topic.qid} {item}".strip() for unit, item in with_items(job, firsts)}
    return [Reason(group["error"], group["units"], examples[group["first"]]) for group in groups]


def with_items(job: Job, units: Iterable[Unit]) -> list[tuple[Unit, str]]:
    """Return units of a job, each with what organizers call its item."""
    units = list(units)
    names = job_kind_named(job.kind).unit_names(units) if units else {}
    return [(unit, names.get(unit.pk, unit.item)) for unit in units]


def notes(job: Job) -> Sequence[str]:
    """Return what organizers should know of what a job has brought so far, a sentence each."""
    return job_kind_named(job.kind).notes(job)


def failed_units(job: Job) -> QuerySet[Unit]:
    """Return a job's failed units, in order."""
    return job.units.filter(state=Unit.State.FAILED).select_related("topic").order_by("pk")


def outcomes(job: Job) -> dict[str, int]:
    """Count a job's requests by what came of them."""
    counts = Call.objects.filter(job=job).values_list("outcome").annotate(count=Count("pk")).order_by("outcome")
    return {Call.Outcome(outcome).label: count for outcome, count in counts}


def chosen_topics(campaign: Campaign, qids: Collection[str]) -> tuple[list[Topic], list[str]]:
    """Return the topics with these ids, or all of them where none is named, and the ids that there are not."""
    topics = campaign.topics.order_by("qid")
    return by_names(topics, "qid", sorted(set(qids))) if qids else (list(topics), [])


def jobs_of(campaign: Any) -> QuerySet[Job]:
    """Return a campaign's jobs, the latest first, with what a list shows of them."""
    jobs: QuerySet[Job] = campaign.jobs.select_related("judge__judge", "condition", "created_by")
    return jobs
