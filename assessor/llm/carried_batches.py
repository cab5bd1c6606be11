"""Batches that somebody carries as files: to a machine without a network, or to a server that takes files alone."""

from collections.abc import Iterable
from pathlib import Path

from django.db import transaction

from assessor.llm import batches, runner
from assessor.llm.actions import JobError
from assessor.llm.models import Batch, Job


def write_carried(job: Job, path: Path) -> Batch:
    """Write the requests that a job waits for into a new file, as providers of batches take them. Raises JobError."""
    _check(job)
    if path.exists():
        raise JobError(f"{path} is there already: name a new file.")
    runner.run_job(job.pk)
    batch = batches.make(job.pk, is_carried=True)
    if batch is None:
        job.refresh_from_db()
        reason = job.message or "every request of it is in a file already, or is answered."
        raise JobError(f"There is nothing to write: the job is {job.get_state_display()}; {reason}")
    with path.open("xb") as file:
        batches.write_requests(batch, file)
    return batch


def read_carried(job: Job, paths: Iterable[Path]) -> tuple[int, int]:
    """Read answers to a job's files, and go on with it; what they left out waits for the next file.

    Return how many requests were answered, and how many lines were no answer to any of them. Raises JobError where
    there is none.
    """
    _check(job)
    open_ones = list(Batch.objects.filter(job=job, is_carried=True, ended_at=None).select_related("job__judge__judge"))
    if not open_ones:
        raise JobError("No file of this job is under way: write one first.")
    paths = list(paths)
    answered = unknown = 0
    with transaction.atomic():
        for batch in open_ones:
            reading = batches.Reading(batch)
            for path in paths:
                with path.open("rb") as file:
                    reading.read(file)
            found = batch.requests.exclude(status=None).count()
            if found:
                answered += found
                batches.end(batch, "read", reading.repeated)
                Batch.objects.filter(pk=batch.pk).update(state=Batch.State.DONE)
            unknown = reading.unknown
        if not answered:
            raise JobError("None of these lines answers a request of the job's files: nothing was changed.")
    runner.run_job(job.pk)
    return answered, unknown


def _check(job: Job) -> None:
    if job.mode != Job.Mode.FILES:
        raise JobError("This job's requests are not carried as files.")
