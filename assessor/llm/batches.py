"""Batches: made of the requests of a job that wait, sent, looked at and read, each by one process at a time.

Whatever a process is killed at, the next one goes on from what the database and the provider have: a batch is looked
for there by its uid before it is sent again, and answers that are read again are not written twice.
"""

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Sum
from django.db.models.functions import Length
from django.utils import timezone

from assessor.llm import gateway, ledger, runner
from assessor.llm.batch_gateway import BatchGateway, Told
from assessor.llm.gateway import Failed, Unusable, storable
from assessor.llm.ledger import Asked, Entry
from assessor.llm.models import Batch, BatchRequest, Call, Job, ModelJudge, Runner, Unit
from assessor.llm.prompt_requests import TRIES
from assessor.runtime import claims
from assessor.runtime.clock import shared_now
from assessor.runtime.sql import update

MOST_REQUESTS, MOST_BYTES = 50_000, 190_000_000  # of a file; providers take 200 MB
_LINE = 200  # bytes of a line beside the request itself, at most
_KEY = "assay"  # in the metadata of a batch
_OVER = ("completed", "expired", "cancelled", "failed")
_NOT_TAKEN = ("", "validating")  # before a provider has said that a batch is not too large for it
_NOT_DONE = ("batch_expired", "batch_cancelled")  # words for a request that was not answered, nor paid
_NO_ANSWER = "The provider's batches left this request out."
_LOOKS = 10  # the longest time between two looks, and a batch's age at it, in shortest ones and in longest
_MISSES, _AFTER_A_MISS = 3, 60  # looks at which a provider knows no such batch, and how many shortest times are between
_AT_ONCE = 500  # rows
_SIGN_OF_LIFE = 30.0  # seconds


def work_on(job_id: int) -> bool:
    """Do what is due of a job's batches, and say whether its units can go on."""
    close_old_connections()
    job = Job.objects.select_related("judge__judge", "campaign", "condition").get(pk=job_id)
    if job.mode == Job.Mode.LIVE and not (job.batches.exists() or job.batch_requests.exists()):
        return False
    for batch, rows in claims.left_behind(Batch):
        if batch.job_id == job_id:
            rows.update(state=Batch.State.WAITING)
    waiting = job.batches.filter(state=Batch.State.WAITING, is_carried=False, look_at__lte=shared_now())
    for batch in waiting.order_by("pk"):
        _look(batch)
    if batch := make(job.pk):
        _look(batch)
    return _settle(job.pk)


@contextmanager
def _signs_of_life(batch: Batch) -> Iterator[None]:
    """Have others see that this process is at a batch, however long a file takes on its way."""
    is_over = threading.Event()

    def give() -> None:
        while not is_over.wait(_SIGN_OF_LIFE):
            claims.mine(batch).update(alive_at=shared_now())
        connection.close()

    thread = threading.Thread(target=give, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _look(batch: Batch) -> None:
    """Do the next step of a batch, unless another process is at it."""
    if not claims.claim(batch):
        return
    batch = Batch.objects.select_related("job__judge__judge", "job__condition", "job__campaign").get(pk=batch.pk)
    with claims.held(batch), _signs_of_life(batch):
        batch.message, batch.look_at = "", _next_look(batch)
        try:
            with BatchGateway(gateway.setting_of(batch.job.judge)) as provider:
                _step(batch, provider)
        except (Failed, Unusable) as error:
            batch.message = storable(str(error))[:1_000]
            if isinstance(error, Unusable) or error.status in (401, 403):
                runner.halt(batch.job_id, batch.message)
            elif isinstance(error, Failed) and error.retry_after:
                batch.look_at = max(batch.look_at, shared_now() + timedelta(seconds=error.retry_after))
        batch.state = Batch.State.DONE if batch.ended_at and not _has_files(batch) else Batch.State.WAITING
        claims.mine(batch).update(**{name: getattr(batch, name) for name in _KEPT})


# What a look may change, beside what is committed on the way.
_KEPT = (
    "state",
    "status",
    "message",
    "look_at",
    "requests_ended",
    "times_missed",
    "output_file",
    "error_file",
    "input_file",
)


def _next_look(batch: Batch) -> datetime:
    """Return when to look next: the longer it has been under way, the later."""
    shortest = timedelta(seconds=settings.BATCH_LOOK_SECONDS)
    now = shared_now()
    age = now - batch.sent_at if batch.sent_at else timedelta()
    return now + min(max(shortest, age / _LOOKS), _LOOKS * shortest)


def _has_files(batch: Batch) -> bool:
    return bool(batch.input_file or batch.output_file or batch.error_file)


def _step(batch: Batch, provider: BatchGateway) -> None:
    if batch.ended_at:
        _delete_files(batch, provider)
    elif not batch.remote_id:
        _send(batch, provider)
    else:
        try:
            told = provider.retrieve(batch.remote_id)
        except Failed as failed:
            if failed.status != 404:
                raise
            _miss(batch)
            return
        _follow(batch, told, provider)


def _is_wanted(job: Job) -> bool:
    return job.mode == Job.Mode.BATCH and not job.is_over


def _send(batch: Batch, provider: BatchGateway) -> None:
    """Send a batch, unless a process that was killed has done so."""
    uid, name = str(batch.uid), f"assay-{batch.uid}.jsonl"
    told = None
    if batch.attempts > 1:
        told = provider.find(_KEY, uid, since=batch.made_at - timedelta(days=1))
        if told is None:
            for file_id in provider.files_called(name):
                provider.delete_file(file_id)
            batch.input_file = ""
    _count(batch)
    if told is None and not (_is_wanted(batch.job) and batch.requests_total):
        end(batch, "cancelled")
        return
    if told is None and batch.job.state not in Job.ACTIVE:
        batch.message = "It is sent once the job is resumed."
        return
    if told is None:
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
            write_requests(batch, file)
            file.seek(0)
            batch.input_file = provider.upload(name, file)
        if not claims.mine(batch).exists():
            return  # another process took this one for dead
        told = provider.create(batch.input_file, {_KEY: uid})
    batch.remote_id, batch.status, batch.input_file = told.remote_id, told.status, told.input_file or batch.input_file
    batch.sent_at = shared_now()
    claims.mine(batch).update(
        remote_id=batch.remote_id, status=batch.status, input_file=batch.input_file, sent_at=batch.sent_at
    )
    batch.look_at = _next_look(batch)


def write_requests(batch: Batch, file: IO[bytes]) -> None:
    """Write the requests of a batch as providers take them: a line of JSON each, in the order of their hashes."""
    rows = batch.requests.filter(status=None).order_by("request").values_list("request", "body")
    for request, body in rows.iterator(chunk_size=_AT_ONCE):
        line = f'{{"custom_id":"{request}","method":"POST","url":"/v1/chat/completions","body":{body}}}\n'
        file.write(line.encode())


def _follow(batch: Batch, told: Told, provider: BatchGateway) -> None:
    """Take in what a provider tells of a batch."""
    batch.status, batch.times_missed = told.status, 0
    batch.requests_ended = min(told.ended, batch.requests_total)
    if told.status not in _OVER:
        if not _is_wanted(batch.job) and told.status != "cancelling":
            batch.status = provider.cancel(batch.remote_id).status
        return
    batch.input_file = told.input_file or batch.input_file
    batch.output_file, batch.error_file, batch.code = told.output_file, told.error_file, told.code
    names = [name for name in (told.output_file, told.error_file) if name]
    reading = Reading(batch, provider.without_key)
    for name in names:
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
            provider.fetch_file(name, file)
            file.seek(0)
            reading.read(file)
    if told.status == "failed" and told.code != Batch.TOKEN_LIMIT:
        runner.halt(
            batch.job_id, f"The provider refused a batch: {told.message or told.code or 'it does not say why'}."
        )
    elif told.status == "failed" and batch.requests_total == 1:
        runner.halt(batch.job_id, f"A single request is too large for the provider's batches: {told.message}.")
    elif told.status == "completed" and not names:
        runner.halt(batch.job_id, "The provider says that a batch is completed, and has neither answers nor errors.")
    batch.message = told.message
    end(batch, told.status, reading.repeated)
    _delete_files(batch, provider)


def _miss(batch: Batch) -> None:
    """Count that a provider knows no such batch; after some times its requests wait again, and the ledger says so."""
    batch.times_missed += 1
    batch.look_at = shared_now() + timedelta(seconds=_AFTER_A_MISS * settings.BATCH_LOOK_SECONDS)
    if batch.times_missed < _MISSES:
        batch.message = f"The provider knows no such batch ({batch.times_missed} of {_MISSES} looks)."
        return
    message = f"Batch {batch.remote_id} has vanished at the provider."
    lost = (
        (request, Failed(message, 0), Call.Outcome.LOST)
        for request in batch.requests.filter(status=None).select_related("unit").iterator(chunk_size=_AT_ONCE)
    )
    _record(batch, lost)
    batch.message, batch.input_file = message, ""
    end(batch, "vanished")


def _delete_files(batch: Batch, provider: BatchGateway) -> None:
    if not batch.job.judge.keeps_batch_files:
        for file_id in filter(None, (batch.input_file, batch.output_file, batch.error_file)):
            provider.delete_file(file_id)
    batch.input_file = batch.output_file = batch.error_file = ""


class Repeated(NamedTuple):
    """An answer to a request that was answered already: what it took counts, what it says doesn't."""

    request: str
    model: str
    tokens_in: int
    tokens_out: int


class Reading:
    """Reads files of answers of a batch, in any order of lines, and writes them beside its requests.

    clean: takes the key out of what an endpoint repeats.
    """

    def __init__(self, batch: Batch, clean: Callable[[str], str] = str) -> None:
        self._batch = batch
        self._clean = clean
        self._seen: set[str] = set()
        self.repeated: list[Repeated] = []
        self.unknown = 0  # lines that are no answer to a request of the batch

    def read(self, file: IO[bytes]) -> None:
        """Take in a file, some lines at a time. What is no line of a batch is counted and left alone."""
        lines = self._lines(file)
        while some := list(islice(lines, _AT_ONCE)):
            update(BatchRequest, ("status", "response", "body"), ("batch", "request"), some)

    def _lines(self, file: IO[bytes]) -> Iterator[tuple[Any, ...]]:
        limit = settings.MAX_REPLY_BYTES
        while line := file.readline(limit + 1):
            if len(line) > limit and not line.endswith(b"\n"):
                while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
                    pass
                self.unknown += 1
                continue
            try:
                request, status, response = _outcome(line)
            except gateway.NO_COMPLETION:
                self.unknown += 1
                continue
            if status is None:
                continue
            if request in self._seen:
                self._repeat(request, status, response)
                continue
            self._seen.add(request)
            yield status, self._clean(response), "", self._batch.pk, request

    def _repeat(self, request: str, status: int, response: str) -> None:
        came = gateway.read_batched(status, response)
        if isinstance(came, gateway.Reply):
            self.repeated.append(Repeated(request, came.model, came.tokens_in, came.tokens_out))


def _outcome(line: bytes) -> tuple[str, int | None, str]:
    """Return a line's request, the HTTP status (None: not asked after all) and the raw response or the error.

    Raises one of NO_COMPLETION for what is no such line.
    """
    told = json.loads(line)
    request, response, error = told["custom_id"], told.get("response"), told.get("error")
    if not isinstance(request, str) or len(request) != 64:
        raise ValueError
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        return request, None if code in _NOT_DONE else 500, storable(f"The batch says: {message or code}")[:1_000]
    status, body = response["status_code"], response["body"]
    if not isinstance(status, int) or not 100 <= status < 600:
        raise ValueError
    if status == gateway.HTTP_OK:
        return request, status, storable(json.dumps(body, separators=(",", ":"), ensure_ascii=False))
    refused = body.get("error") if isinstance(body, dict) else None
    message = refused.get("message") if isinstance(refused, dict) else body
    return request, status, storable(f"The endpoint answered {status}: {message}")[:1_000]


@transaction.atomic
def end(batch: Batch, status: str, repeated: list[Repeated] | None = None) -> None:
    """End a batch: what it left out waits for the next one, and units with all their answers go on."""
    job = Job.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.job_id)
    left = BatchRequest.objects.filter(batch=batch, status=None)
    answered = batch.requests.exclude(status=None).count()
    job.calls_begun -= min(job.calls_begun, left.count())
    job.save(update_fields=["calls_begun"])
    _record(batch, _answered_twice(batch, repeated or []))
    if status == "completed":  # what a provider leaves out again and again is not asked for ever
        left.filter(tries__gte=TRIES - 1).update(status=0, response=_NO_ANSWER, body="")
        left.update(batch=None, tries=F("tries") + 1)
    else:
        left.update(batch=None)
    batch.ended_at, batch.status = timezone.now(), status[:20]
    Batch.objects.filter(pk=batch.pk).update(
        ended_at=batch.ended_at,
        status=batch.status,
        code=batch.code,
        requests_answered=answered,
        output_file=batch.output_file,
        error_file=batch.error_file,
        input_file=batch.input_file,
    )
    _let_go_on(job)


def _let_go_on(job: Job) -> int:
    """Have the units go on that wait for no answer any more; return how many. Call it in a transaction."""
    waits = BatchRequest.objects.filter(unit=OuterRef("pk"), status=None)
    deferred = Unit.objects.filter(~Exists(waits), job=job, state=Unit.State.DEFERRED)
    return deferred.update(state=Unit.State.WAITING)


def _answered_twice(batch: Batch, repeated: list[Repeated]) -> Iterator[tuple[BatchRequest, Any, Call.Outcome]]:
    rows = {one.request: one for one in batch.requests.filter(request__in=[one.request for one in repeated][:_AT_ONCE])}
    for one in repeated:
        if row := rows.get(one.request) or batch.requests.filter(request=one.request).first():
            came = gateway.Reply("", "", one.model, one.tokens_in, one.tokens_out, "", 0)
            yield row, came, Call.Outcome.REPEATED


def _unread(batch: Batch) -> Iterator[tuple[BatchRequest, Any, Call.Outcome | None]]:
    """Yield what came for requests whose units nobody does any more."""
    for row in batch.requests.exclude(status=None).select_related("unit").iterator(chunk_size=_AT_ONCE):
        came = gateway.read_batched(row.status or 0, row.response)
        yield row, came, Call.Outcome.UNREAD if isinstance(came, gateway.Reply) else None


def _record(batch: Batch, came: Iterator[tuple[BatchRequest, Any, Call.Outcome | None]]) -> None:
    """Write into the ledger what no unit reads."""
    job = batch.job
    entries = (
        Entry(
            row.unit,
            row.question,
            Asked(row.request, job.condition.replicate, row.unit.round),
            reply,
            "",
            None,
            row.batch_id or batch.pk,
            outcome,
        )
        for row, reply, outcome in came
    )
    while some := list(islice(entries, _AT_ONCE)):
        Job.count(job.pk, **ledger.record(job.judge, job, some))


@transaction.atomic
def _settle(job_id: int) -> bool:
    """Do what is left once no batch of a job is under way, and say whether units of it can go on."""
    job = (
        Job.objects.select_for_update(no_key=True, of=("self",))
        .select_related("judge__judge", "condition")
        .get(pk=job_id)
    )
    if not job.batches.exclude(state=Batch.State.DONE).filter(ended_at=None).exists():
        rows = job.batch_requests
        if job.is_over:
            for batch in job.batches.all():
                batch.job = job
                _record(batch, _unread(batch))
            rows.all().delete()
        elif job.mode == Job.Mode.LIVE:
            rows.filter(status=None).delete()
        if not rows.filter(status=None).exists():
            _let_go_on(job)
    return job.state in Job.ACTIVE and job.units.filter(state=Unit.State.WAITING).exists()


def make(job_id: int, *, is_carried: bool = False) -> Batch | None:
    """Make a batch of requests that wait, once no unit of the job can go on without an answer; None for none.

    Requests are put into it some at a time, so that others can write in between: one that lacks the rest after a kill
    is sent as it is.
    """
    job = Job.objects.select_related("judge", "condition", "campaign").get(pk=job_id)
    chosen = _choose(job, job.judge, most) if (most := _most(job, is_carried=is_carried)) else []
    if not chosen:
        return None
    with transaction.atomic():
        ModelJudge.objects.select_for_update(no_key=True).get(pk=job.judge_id)  # one batch of a judge at a time
        job = Job.objects.select_related("judge", "condition", "campaign").get(pk=job_id)
        if not _most(job, is_carried=is_carried):
            return None
        batch = Batch.objects.create(job=job, is_carried=is_carried, **claims.begun())
    with claims.held(batch), _signs_of_life(batch):
        for start in range(0, len(chosen), _AT_ONCE):
            some = BatchRequest.objects.filter(pk__in=chosen[start : start + _AT_ONCE], batch=None, status=None)
            some.update(batch=batch)
        _count(batch)
        claims.mine(batch).update(state=Batch.State.WAITING)
    return batch


def _most(job: Job, *, is_carried: bool) -> int:
    """Return how many requests the next batch of a job may have; 0 where it can have none now."""
    mode = Job.Mode.FILES if is_carried else Job.Mode.BATCH
    open_ones = Batch.objects.filter(job__judge=job.judge_id, ended_at=None)
    not_taken = open_ones.filter(is_carried=False, status__in=_NOT_TAKEN)
    at_work = job.units.filter(state__in=(Unit.State.WAITING, Unit.State.CLAIMED))
    if job.state not in Job.ACTIVE or job.mode != mode or at_work.exists() or (not is_carried and not_taken.exists()):
        return 0
    last = job.batches.first()
    if last is None or last.code != Batch.TOKEN_LIMIT:
        return MOST_REQUESTS
    return 0 if open_ones.exists() else max(1, last.requests_total // 2)  # half of it, once there is room again


@transaction.atomic
def _count(batch: Batch) -> None:
    """Count a batch's requests, and them as calls of its job, once."""
    sums = batch.requests.aggregate(number=Count("pk"), tokens=Sum("tokens_in"))
    batch.requests_total, batch.tokens_in = sums["number"], sums["tokens"] or 0
    counted = Batch.objects.filter(pk=batch.pk, requests_total=0)
    if counted.update(requests_total=batch.requests_total, tokens_in=batch.tokens_in):
        Job.objects.filter(pk=batch.job_id).update(calls_begun=F("calls_begun") + batch.requests_total)


def _choose(job: Job, judge: ModelJudge, most: int) -> list[int]:
    """Return the keys of the requests of the next batch, as many as may go; halt the job where its budget allows none.

    Budgets count what is under way by what it is expected to take.
    """
    under_way = BatchRequest.objects.filter(job__judge=judge, status=None, batch__isnull=False)
    room = None
    if judge.batch_tokens:
        room = judge.batch_tokens - (under_way.aggregate(sum=Sum("tokens_in"))["sum"] or 0)
    spent = job.cost + reserved(job, judge)
    chosen: list[int] = []
    size = 0
    rows = job.batch_requests.filter(batch=None, status=None).order_by("request").annotate(size=Length("body"))
    for pk, tokens_in, tokens_out, length in rows.values_list("pk", "tokens_in", "tokens_out", "size").iterator(
        chunk_size=_AT_ONCE
    ):
        cost = judge.cost(tokens_in, tokens_out, in_batch=True)
        if why := job.refuses(job.calls_begun + len(chosen), spent + cost):
            if not chosen and not job.batches.filter(ended_at=None).exists():
                runner.halt(job.pk, why)
            break
        # A single one that is larger than all the room goes when nothing else is under way.
        is_first = not chosen and (room is None or room == judge.batch_tokens)
        if not is_first and room is not None and tokens_in > room:
            break
        if len(chosen) == most or size + length + _LINE > MOST_BYTES:
            break
        chosen.append(pk)
        size += length + _LINE
        spent += cost
        room = None if room is None else room - tokens_in
    return chosen


def reserved(job: Job, judge: ModelJudge) -> Decimal:
    """Return about what the requests of a job will cost that are under way, or whose answers no unit has read yet."""
    sums = job.batch_requests.exclude(batch=None).aggregate(sent=Sum("tokens_in"), back=Sum("tokens_out"))
    let_go = Runner.objects.filter(job=job).aggregate(sum=Sum("cost_let_go"))["sum"] or Decimal(0)
    return judge.cost(sums["sent"] or 0, sums["back"] or 0, in_batch=True) + let_go
