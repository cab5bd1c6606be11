"""The limits of a judge, kept over all workers: requests in flight, requests and tokens a minute."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from django.db import transaction

from assessor.llm.claims import reap_dead_runners
from assessor.llm.models import ModelJudge, Runner
from assessor.runtime.clock import shared_now
from assessor.runtime.sql import Parameter, Prepared, update

# Requests leave at even distances, a little longer than they must be: what is late on its way does not add up with
# what is not to more than a minute's limit.
_SLACK = 1.02
_JUDGE = Prepared(ModelJudge.objects.select_for_update(no_key=True).filter(pk=Parameter("judge")))
_TIMES = ("next_request_at", "next_token_at", "open_at", "clock")


def reserve(judge_id: int, tokens: Sequence[int]) -> list[float]:
    """Return in how many seconds each of some requests (by expected tokens) may leave. Call it in a transaction."""
    waits = []
    with _locked(judge_id) as (judge, now):
        for count in tokens:
            start = max(now, judge.open_at, judge.next_request_at, judge.next_token_at)
            waits.append(start - now)
            if judge.requests_per_minute:
                judge.next_request_at = start + _SLACK * 60 / judge.requests_per_minute
            if judge.tokens_per_minute:
                judge.next_token_at = start + _SLACK * 60 * count / judge.tokens_per_minute
    return waits


def correct(judge_id: int, tokens: int) -> None:
    """Count tokens that came in addition to those expected (or fewer: negative). Call it in a transaction."""
    with _locked(judge_id) as (judge, _):
        if judge.tokens_per_minute:
            judge.next_token_at += _SLACK * 60 * tokens / judge.tokens_per_minute


@transaction.atomic
def hold_off(judge_id: int, seconds: float) -> None:
    """Let no request leave for a while, because the endpoint asked for it."""
    with _locked(judge_id) as (judge, now):
        judge.open_at = max(judge.open_at, now + seconds)


class Share(NamedTuple):
    """What a runner may do now. wait: seconds for which nobody may ask this judge."""

    seats: int
    wait: float


@transaction.atomic
def share(runner: Runner, in_flight: int) -> Share | None:
    """Return how many requests a runner may have in flight: its share, as far as others have given up theirs.

    in_flight: how many it has now, which it can't give up. The sum over all runners never exceeds the judge's limit.
    None where the runner was taken for dead meanwhile: others do its units now.
    """
    with _locked(runner.judge_id) as (judge, now):
        reap_dead_runners(judge=judge)
        others = list(judge.runners.exclude(pk=runner.pk).values_list("pk", "seats"))
        each, rest = divmod(judge.concurrency, len(others) + 1)
        fair = each + (sum(pk < runner.pk for pk, _ in others) < rest)
        free = judge.concurrency - sum(seats for _, seats in others)
        seats = max(in_flight, min(fair, free))
        if not Runner.objects.filter(pk=runner.pk).update(seats=seats, alive_at=shared_now()):
            return None
        return Share(min(fair, seats), max(0.0, judge.open_at - now))


@contextmanager
def _locked(judge_id: int) -> Iterator[tuple[ModelJudge, float]]:
    """Lend a judge, locked, and the time; what is changed of its times is kept.

    Where the clock was set back, so are they: nobody waits for it.
    """
    [judge] = _JUDGE.fetch(judge=judge_id)
    now = shared_now().timestamp()
    back = max(0.0, judge.clock - now)
    judge.next_request_at -= back
    judge.next_token_at -= back
    judge.open_at -= back
    judge.clock = now
    yield judge, now
    update(ModelJudge, _TIMES, ("id",), [(*(getattr(judge, name) for name in _TIMES), judge_id)])
