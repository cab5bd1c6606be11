"""The ledger of calls: what was asked before is answered from it, and every request that goes out is written down."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from assessor.campaigns.actions import mark_panels
from assessor.llm.gateway import REHEARSAL, Failed, Reply
from assessor.llm.models import Call, Job, ModelJudge, Unit
from assessor.runtime.sql import as_kept, fetch_prepared, insert

_ANSWERED = (Call.Outcome.GOOD, Call.Outcome.WRONG)
_KNOWN = (*_ANSWERED, Call.Outcome.UNREAD)
_COLUMNS = (
    *("judge", "job", "unit", "batch", "at", "request", "replicate", "round", "question"),
    *("outcome", "model", "response", "tokens_in", "tokens_out", "cost", "milliseconds"),
)


class Asked(NamedTuple):
    """A request by which the ledger knows it. round: how often a person had its unit tried again."""

    request: str
    replicate: int
    round: int


class Permit(NamedTuple):
    """About how many tokens a request and its answer will have: for these it asks to be let go."""

    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Entry(NamedTuple):
    """A request that went out, and what came of it. problem: why the answer can't be used, or "".

    leave: with which the request was let go, None where it needed none; batch: the key of the one that it went in;
    outcome: where it doesn't follow from the others.
    """

    unit: Unit | None
    question: str
    asked: Asked
    came: Reply | Failed
    problem: str
    leave: Permit | None
    batch: int | None = None
    outcome: Call.Outcome | None = None


def find(judge: ModelJudge, asked: Sequence[Asked]) -> dict[Asked, str]:
    """Return the raw responses that the ledger has: good and unread ones of any round, wrong ones of the very round.

    So that after a kill nothing is paid twice, and a unit that failed is really asked again when a person says so.
    """
    rounds: dict[tuple[str, int], set[int]] = {}
    for one in asked:
        rounds.setdefault((one.request, one.replicate), set()).add(one.round)
    calls = Call.objects.filter(judge=judge, request__in={one.request for one in asked}, outcome__in=_KNOWN)
    columns = ("request", "replicate", "round", "outcome", "response")
    found: dict[Asked, str] = {}
    for request, replicate, round_, outcome, response in calls.order_by("pk").values_list(*columns):
        wanted = rounds.get((request, replicate), set())
        fits = wanted & {round_} if outcome == Call.Outcome.WRONG else wanted
        found |= {Asked(request, replicate, one): response for one in fits}
    return found


def record(judge: ModelJudge, job: Job | None, entries: Sequence[Entry]) -> dict[str, int | Decimal]:
    """Write down what went out, and return what is to be counted on the job. Call it in a transaction."""
    taken = _taken(judge, entries)
    at = as_kept(Call, "at", timezone.now())
    rows = []
    tokens_in = tokens_out = 0
    costs = Decimal(0)
    for entry in entries:
        came = entry.came
        if isinstance(came, Reply):
            # Answered twice: somebody else asked the same meanwhile.
            outcome = Call.Outcome.REPEATED if entry.asked in taken else _outcome(entry)
            if outcome in _ANSWERED:
                taken.add(entry.asked)
            told = (came.model, came.raw, came.tokens_in, came.tokens_out)
        else:
            outcome, told = _outcome(entry), ("", str(came), 0, 0)
        cost = judge.cost(told[2], told[3], in_batch=entry.batch is not None)
        of_unit = (judge.pk, job.pk if job else None, entry.unit.pk if entry.unit else None, entry.batch)
        kept = as_kept(Call, "cost", cost)
        rows.append((*of_unit, at, *entry.asked, entry.question, outcome.value, *told, kept, came.milliseconds))
        tokens_in, tokens_out, costs = tokens_in + told[2], tokens_out + told[3], costs + cost
    insert(Call, _COLUMNS, rows)
    if not judge.judge.is_rehearsal and any(_is_rehearsal(entry.came) for entry in entries):
        judge.judge.is_rehearsal = True
        judge.judge.save(update_fields=["is_rehearsal"])
        mark_panels(judge.judge)
    return {"calls": len(rows), "tokens_in": tokens_in, "tokens_out": tokens_out, "cost": costs}


def _taken(judge: ModelJudge, entries: Sequence[Entry]) -> set[Asked]:
    """Return which of the requests have an answer already."""
    requests = list({entry.asked.request for entry in entries})
    marks = ", ".join(["%s"] * len(requests))
    calls = (
        "SELECT request, replicate, round FROM llm_call"  # noqa: S608  # marks alone
        f" WHERE judge_id = %s AND outcome IN ('good', 'wrong') AND request IN ({marks})"
    )
    return {Asked(*key) for key in fetch_prepared(calls, [judge.pk, *requests])}


def _is_rehearsal(came: Reply | Failed) -> bool:
    return isinstance(came, Reply) and came.model.startswith(REHEARSAL)


def _outcome(entry: Entry) -> Call.Outcome:
    if entry.outcome is not None:
        return entry.outcome
    if isinstance(entry.came, Reply):
        return Call.Outcome.WRONG if entry.problem else Call.Outcome.GOOD
    return Call.Outcome.REFUSED if entry.came.status else Call.Outcome.LOST
