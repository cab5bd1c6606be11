"""What the pages of jobs read."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from string import digits
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from assessor.campaigns.models import Campaign, Topic
from assessor.campaigns.queries import among, by_names
from assessor.llm import gateway
from assessor.llm.endpoints import Key, key_of
from assessor.llm.job_kind import Expected, job_kind_named, job_prompts
from assessor.llm.models import Batch, Call, Job, ModelJudge, StoredPrompt, Trial, Unit
from assessor.llm.prompts import Preview, PreviewError, PromptSet

_MINUTE = timedelta(minutes=1)
# Of the line of calls a minute
_SHORTEST_WINDOW, _LONGEST_WINDOW = timedelta(seconds=10), timedelta(minutes=20)
_SHORTEST_PART, _PARTS = timedelta(seconds=2), 20
_SHOWN = 5  # of the latest replies
_LAST = 50  # calls from which it is told how long one takes


class Pace(NamedTuple):
    """How fast a job is. a_minute: calls over the last minute; left: seconds until its end, or None."""

    a_minute: float
    left: int | None

    @property
    def ends_at(self) -> datetime | None:
        return None if self.left is None else timezone.now() + timedelta(seconds=self.left)


def pace(job: Job) -> Pace:
    """Return a job's rate over the last minute, and from it how long the rest takes."""
    now = timezone.now()
    since = max(now - _MINUTE, job.started_at or now)
    calls = Call.objects.filter(job=job, at__gte=since).count()
    per_second = calls / max(1.0, (now - since).total_seconds())
    ended = job.units_done + job.units_failed
    rest = job.units_total - ended
    if not calls or not ended or not job.calls:
        return Pace(60 * per_second, None)
    return Pace(60 * per_second, int(rest * job.calls / ended / per_second))


class Rate(NamedTuple):
    """Calls a minute over the last minutes of a job, the oldest first. is_whole: since its start."""

    values: Sequence[float]
    is_whole: bool

    @property
    def most(self) -> float:
        return max(self.values)

    @property
    def points(self) -> str:
        """The line of an SVG of 600 by 70, its highest value just below the upper edge."""
        width, height = 600 / (len(self.values) - 1), 66 / (self.most or 1)
        return " ".join(f"{n * width:.1f},{68 - value * height:.1f}" for n, value in enumerate(self.values))


def rate(job: Job) -> Rate | None:
    """Return how fast a job was of late, in one query; None where it has not sent anything."""
    if not job.calls or not job.started_at:
        return None
    end = job.ended_at or timezone.now()
    window = min(_LONGEST_WINDOW, max(_SHORTEST_WINDOW, end - job.started_at))
    parts = min(_PARTS, window // _SHORTEST_PART)
    part = window / parts
    edges = [end - window + number * part for number in range(parts + 1)]
    counts = Call.objects.filter(job=job, at__gt=edges[0], at__lte=end).aggregate(
        **{
            f"part{number}": Count("pk", filter=Q(at__gt=edges[number], at__lte=edges[number + 1]))
            for number in range(parts)
        }
    )
    values = [60 * counts[f"part{number}"] / part.total_seconds() for number in range(parts)]
    return Rate(values, window < _LONGEST_WINDOW)


class Bar(NamedTuple):
    """A job's units by state, and where each part of the bar begins, in percent."""

    done: int
    failed: int
    in_flight: int
    waiting: int

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """Class, start and width in percent of each part that is drawn over the waiting ones."""
        total = sum(self) or 1
        drawn, start = [], 0.0
        for name, units in (("f-model", self.done), ("f-bad", self.failed), ("f-soft", self.in_flight)):
            width = round(100 * units / total, 2)
            drawn.append((name, round(start, 2), width))
            start += width
        return [part for part in drawn if part[2]]

    @property
    def legend(self) -> list[tuple[str, int, str]]:
        """Class, number and word of each state."""
        words = (("f-model", "done"), ("f-bad", "failed"), ("f-soft", "in flight"), ("f-no", "waiting"))
        return [(name, units, word) for (name, word), units in zip(words, self, strict=True)]


def bar(job: Job) -> Bar:
    """Return a job's units by state."""
    claimed = Unit.objects.filter(job=job, state=Unit.State.CLAIMED).count() if job.state in Job.ACTIVE else 0
    rest = max(0, job.units_total - job.units_done - job.units_failed - claimed)
    return Bar(job.units_done, job.units_failed, claimed, rest)


def batches_of(job: Job, most: int) -> Page[Batch] | None:
    """Return a job's latest batches, None for a job that sends nothing in any."""
    page = Paginator(job.batches.all(), most).get_page(1)
    return page if job.mode != Job.Mode.LIVE or page.paginator.count else None


class LatestReply(NamedTuple):
    """A call with what organizers call its item and what came back."""

    call: Call
    item: str
    text: str


def latest_replies(job: Job) -> list[LatestReply]:
    """Return what came back last."""
    calls = _calls_of_units(job).order_by("-at", "-pk")[:_SHOWN]
    items = {unit.pk: item for unit, item in with_items(job, [call.unit for call in calls if call.unit])}
    return [LatestReply(call, items[call.unit_id or 0], _reply_text(call)) for call in calls]


def call_of(job: Job, number: str) -> Call | None:
    """Return the call of a job with this key; None where it has none."""
    is_key = number.isascii() and number.isdigit() and len(number) < 19
    return _calls_of_units(job).filter(pk=number).first() if is_key else None


def _calls_of_units(job: Job) -> QuerySet[Call]:
    calls: QuerySet[Call] = Call.objects.filter(job=job, unit__isnull=False).select_related("unit__topic")
    return calls


def _reply_text(call: Call) -> str:
    """Return what a model wrote; where that can't be read, all that came back."""
    try:
        return gateway.read_reply(call.response).text or call.response
    except Exception:  # as many as a reply can be wrong in
        return call.response


def prompt_of(job: Job, call: Call) -> Preview | None:
    """Return the request of a call's unit, put together again; None where what it was made from is gone.

    Of a variant of a sensitivity study, which asks other batches than a preview shows, there is none.
    """
    if job.condition.variant:
        return None
    unit = Unit.objects.select_related("topic", "answer__run").get(calls=call)
    unit.job = job
    stored = StoredPrompt.objects.in_bulk(job.condition.prompts.values(), field_name="sha256")
    try:
        texts = {prompt: stored[sha256].text for prompt, sha256 in job.condition.prompts.items()}
        subject = job_kind_named(job.kind).preview_subject(unit)
        return job_prompts()[call.question].preview(
            job.campaign, unit.topic, PromptSet(str(job.condition), texts), subject
        )
    except (PreviewError, KeyError):
        return None


def seconds_for(judge: ModelJudge, expected: Expected) -> int | None:
    """Return how long a judge takes, by its limits and its last calls; None where nothing is known."""
    calls, tokens = expected.calls, expected.characters // 4 + expected.tokens_out
    took = Call.objects.filter(judge=judge, batch=None).order_by("-pk").values_list("milliseconds", flat=True)[:_LAST]
    known = [calls * 60 / judge.requests_per_minute] if judge.requests_per_minute else []
    if judge.tokens_per_minute:
        known.append(tokens * 60 / judge.tokens_per_minute)
    if took:
        known.append(calls * sum(took) / len(took) / 1000 / judge.concurrency)
    return round(max(known)) if known else None


class JudgeRow(NamedTuple):
    """A judge with what it has done and cost. latest: when it was asked last."""

    judge: ModelJudge
    jobs: int
    calls: int
    cost: Decimal
    latest: datetime | None

    @property
    def key(self) -> Key:
        return key_of(self.judge.key_variable)


def judges_with_work(campaign: Campaign) -> list[JudgeRow]:
    """Return a campaign's judges with what they have done and cost."""
    judges = ModelJudge.objects.filter(campaign=campaign).select_related("judge", "trial")
    worked = {
        pk: found
        for pk, *found in Job.objects.filter(campaign=campaign)
        .order_by()
        .values_list("judge")
        .annotate(Count("pk"), Sum("calls"), Sum("cost"), Max("started_at"))
    }
    return [JudgeRow(judge, *worked.get(judge.pk, (0, 0, Decimal(0), None))) for judge in judges]


def trial_of(judge: ModelJudge) -> Trial | None:
    """Return how a judge was tried last."""
    return Trial.objects.select_related("call", "created_by").filter(judge=judge).first()


class Reason(NamedTuple):
    """Why units failed, and how many. example: one of them, by topic and item; error: why that one failed, in full."""

    reason: str
    units: int
    example: str
    error: str


_REASONS = 20
_NO_DIGITS = str.maketrans("", "", digits)  # ids and counts differ from unit to unit


def open_failures() -> QuerySet[Unit]:
    """Return the failed units of jobs that were not cancelled, but for those that a later job took up instead."""
    later = Unit.objects.filter(
        ~Q(job__state=Job.State.CANCELLED) | Q(state=Unit.State.DONE),
        job__condition=OuterRef("job__condition"),
        job__gt=OuterRef("job"),
        item=OuterRef("item"),
    )
    # Two questions, since each of the keys of units answers one.
    taken_up = (
        Exists(later.filter(answer=OuterRef("answer"))),
        Exists(later.filter(answer=None, topic=OuterRef("topic"))),
    )
    failed = Unit.objects.filter(state=Unit.State.FAILED).exclude(job__state=Job.State.CANCELLED).order_by()
    return failed.filter(*(~one for one in taken_up))


def reason_of(error: str) -> str:
    """Return an error without its digits, so that those of many units are one reason."""
    return error.translate(_NO_DIGITS)


def reasons(job: Job) -> list[Reason]:
    """Return the reasons why a job's units failed, the most frequent first."""
    counts: Counter[str] = Counter()
    firsts: dict[str, int] = {}
    for pk, error in _failed(job).values_list("pk", "error") if job.units_failed else ():
        reason = reason_of(error)
        counts[reason] += 1
        firsts.setdefault(reason, pk)
    most = counts.most_common(_REASONS)
    units = Unit.objects.select_related("topic").filter(pk__in=[firsts[reason] for reason, _ in most])
    examples = {unit.pk: (unit, item) for unit, item in with_items(job, units)}
    found = []
    for reason, count in most:
        unit, item = examples[firsts[reason]]
        found.append(Reason(reason, count, f"{unit.topic.qid} {item}".strip(), unit.error))
    return found


def errors_of(job: Job, reason: str) -> list[str]:
    """Return the errors that a reason stands for, as the failed units have them."""
    return list({error for error in _failed(job).values_list("error", flat=True) if reason_of(error) == reason})


def _failed(job: Job) -> QuerySet[Unit]:
    return Unit.objects.filter(job=job, state=Unit.State.FAILED).order_by("pk")


def with_items(job: Job, units: Iterable[Unit]) -> list[tuple[Unit, str]]:
    """Return units of a job, each with what organizers call its item."""
    units = list(units)
    names = job_kind_named(job.kind).unit_names(units) if units else {}
    return [(unit, names.get(unit.pk, unit.item)) for unit in units]


def notes(job: Job) -> Sequence[str]:
    """Return what organizers should know of what a job has brought so far, a sentence each."""
    return job_kind_named(job.kind).notes(job)


def failed_units(job: Job, reason: str = "") -> QuerySet[Unit]:
    """Return a job's failed units, in order: all of them, or those of one reason."""
    failed = job.units.filter(state=Unit.State.FAILED).select_related("topic").order_by("pk")
    return failed.filter(error__in=among(errors_of(job, reason))) if reason else failed


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
