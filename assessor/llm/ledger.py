"""The ledger of calls: what was asked before is answered from it, and every request that goes out is written down."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from django.db.models import F
from django.utils import timezone

from assessor.llm.gateway import Failed, Reply
from assessor.llm.models import Call, Job, ModelJudge, Unit

_ANSWERED = (Call.Outcome.GOOD, Call.Outcome.WRONG)


class Asked(NamedTuple):
    """A request by which the ledger knows it. round: how often a person had its unit tried again."""

    request: str
    replicate: int
    round: int


class Entry(NamedTuple):
    """A request that went out, and what came of it. problem: why the answer can't be used, or "".

    expected: the tokens for which the request was let go, which the limit a minute counted.
    """

    unit: Unit | None
    question: str
    asked: Asked
    came: Reply | Failed
    problem: str
    expected: int


def find(judge: ModelJudge, asked: Sequence[Asked]) -> dict[Asked, str]:
    """Return the raw responses that the ledger has: good ones of any round, wrong ones of the very round.

    So that after a kill nothing is paid twice, and a unit that failed is really asked again when a person says so.
    """
    rounds: dict[tuple[str, int], set[int]] = {}
    for one in asked:
        rounds.setdefault((one.request, one.replicate), set()).add(one.round)
    calls = Call.objects.filter(judge=judge, request__in={one.request for one in asked}, outcome__in=_ANSWERED)
    columns = ("request", "replicate", "round", "outcome", "response")
    found: dict[Asked, str] = {}
    for request, replicate, round_, outcome, response in calls.order_by("pk").values_list(*columns):
        wanted = rounds.get((request, replicate), set())
        fits = wanted if outcome == Call.Outcome.GOOD else wanted & {round_}
        found |= {Asked(request, replicate, one): response for one in fits}
    return found


def record(judge: ModelJudge, job: Job | None, entries: Sequence[Entry]) -> None:
    """Write down what went out, and count it on the job. Call it in a transaction."""
    taken = _taken(judge, entries)
    calls = []
    for entry in entries:
        call = _call(judge, job, entry)
        if call.outcome in _ANSWERED:
            if entry.asked in taken:
                call.outcome = Call.Outcome.REPEATED  # somebody else asked the same meanwhile
            taken.add(entry.asked)
        calls.append(call)
    Call.objects.bulk_create(calls)
    if job:
        Job.objects.filter(pk=job.pk).update(
            calls=F("calls") + len(calls),
            tokens_in=F("tokens_in") + sum(call.tokens_in for call in calls),
            tokens_out=F("tokens_out") + sum(call.tokens_out for call in calls),
            cost=F("cost") + sum((call.cost for call in calls), Decimal(0)),
        )


def _taken(judge: ModelJudge, entries: Sequence[Entry]) -> set[Asked]:
    """Return which of the requests have an answer already."""
    requests = {entry.asked.request for entry in entries}
    calls = Call.objects.filter(judge=judge, request__in=requests, outcome__in=_ANSWERED)
    return {Asked(*key) for key in calls.values_list("request", "replicate", "round")}


def _call(judge: ModelJudge, job: Job | None, entry: Entry) -> Call:
    came = entry.came
    call = Call(
        judge=judge,
        job=job,
        unit=entry.unit,
        at=timezone.now(),
        question=entry.question,
        milliseconds=came.milliseconds,
        **entry.asked._asdict(),
    )
    if isinstance(came, Reply):
        call.outcome = Call.Outcome.WRONG if entry.problem else Call.Outcome.GOOD
        call.response, call.model = came.raw, came.model
        call.tokens_in, call.tokens_out = came.tokens_in, came.tokens_out
        call.cost = judge.cost(came.tokens_in, came.tokens_out)
    else:
        call.outcome = Call.Outcome.REFUSED if came.status else Call.Outcome.LOST
        call.response = str(came)
    return call
