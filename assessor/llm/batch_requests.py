"""Requests that go in batches: put down by units that defer, and taken away when the ledger has what came."""

import json
from collections.abc import Sequence

from assessor.llm.models import BatchRequest, Job
from assessor.llm.prompt_requests import Batched, BatchLookup


def look_up(job: Job, lookups: Sequence[BatchLookup]) -> dict[str, Batched]:
    """Return what batches brought, by request; put down those that are new. Call it in a transaction."""
    rows = BatchRequest.objects.filter(job=job, request__in={one.request for one in lookups})
    there = {row.request: row for row in rows.only("request", "batch", "status", "response", "tries")}
    new = {one.request: one for one in lookups if one.request not in there and one.body is not None}
    # Another process may put the same down meanwhile.
    BatchRequest.objects.bulk_create(
        (
            BatchRequest(
                job=job,
                unit=one.unit,
                request=one.request,
                question=one.question,
                body=json.dumps(one.body, separators=(",", ":")),
                tokens_in=one.expected.tokens_in,
                tokens_out=one.expected.tokens_out,
                tries=one.tries,
            )
            for one in new.values()
        ),
        ignore_conflicts=True,
    )
    return {
        row.request: Batched(row.batch_id, row.status, row.response, row.tries)
        for row in there.values()
        if row.status is not None
    }


def forget(job: Job, requests: Sequence[str]) -> None:
    """Take away the requests whose outcome is in the ledger. Call it in the transaction that writes it there."""
    BatchRequest.objects.filter(job=job, request__in=requests, status__isnull=False).delete()
