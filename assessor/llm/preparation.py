"""Writing down what a job has to do, in transactions so short that others can save in between."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Max

from assessor.campaigns import history
from assessor.campaigns.models import Topic
from assessor.llm.job_kind import JobKind, job_kind_named
from assessor.llm.models import Job, Unit
from assessor.runtime.analyze import look_at_grown_tables
from assessor.runtime.commits import after_commit
from assessor.runtime.sql import insert
from assessor.runtime.turns import let_others_write

MOST_UNITS = 2_000  # in a transaction


def prepare(job: Job) -> Iterator[int]:
    """Make the units that a job lacks, some topics at a time; yield after each transaction how much was new.

    Whoever works on the job goes on where its launch was killed, and two may be at it at once. It ends early where the
    job is not active any more.
    """
    if not job.topics_left:
        return
    # Whoever launches a job again has wrong answers of before asked for anew: the ledger gives good ones alone.
    before = Unit.objects.filter(job__condition=job.condition_id).exclude(job=job).aggregate(last=Max("round"))["last"]
    this_round = 0 if before is None else before + 1
    found = 0
    while True:
        started = time.monotonic()
        with transaction.atomic():
            locked = Job.objects.select_for_update(no_key=True).filter(pk=job.pk, state__in=Job.ACTIVE).first()
            if locked is None or not locked.topics_left:
                return
            job.units_total, job.topics_left = locked.units_total, locked.topics_left
            new = _go_on(job, this_round)
            found += new
            if not job.topics_left and (found or job.units_total):
                told = {"units": job.units_total, "estimate": job.estimate}
                history.record("job launched", job.name, campaign=job.campaign, person=job.created_by, **told)
                after_commit(look_at_grown_tables)
        let_others_write(time.monotonic() - started)
        yield new


def _go_on(job: Job, this_round: int) -> int:
    """Write some of what is to be done on the first topics that are left; return how much was new."""
    kind = job_kind_named(job.kind)
    topics = list(job.campaign.topics.filter(qid__in=job.topics_left[: kind.topics_at_once]))
    if begun := kind.begin(job.condition, topics):
        return begun
    units = _add_units(job, kind, topics, this_round)
    job.units_total += units
    if units < MOST_UNITS:
        job.topics_left = job.topics_left[kind.topics_at_once :]
    job.save(update_fields=["units_total", "topics_left"])
    return units


def _add_units(job: Job, kind: JobKind, topics: Sequence[Topic], this_round: int) -> int:
    fields = ("job", "topic", "answer", "item", "state", "round", "attempts", "error", "runner", "ended_at")
    known = set(job.units.filter(topic__in=topics).values_list("topic", "answer", "item"))
    lacking = (one for one in kind.units(job.condition, topics) if one not in known)
    rows: list[tuple[Any, ...]] = [
        (job.pk, *one, Unit.State.WAITING.value, this_round, 0, "", None, None) for one in islice(lacking, MOST_UNITS)
    ]
    insert(Unit, fields, rows)
    return len(rows)
