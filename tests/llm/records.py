"""What a job at work leaves, without an endpoint: for tests that only look at the records."""

from django.utils import timezone

from assessor.campaigns.models import Topic
from assessor.llm.models import Batch, BatchRequest, Call, Job, Runner, StoredPrompt, Trial, Unit
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import sha256_of
from assessor.runtime import processes


def fail_units(job: Job, topic: Topic, number: int) -> None:
    """Leave failed units of a topic, besides those that the job has."""
    failed = {"job": job, "topic": topic, "state": Unit.State.FAILED}
    Unit.objects.bulk_create([Unit(**failed, item=f"failed {place}") for place in range(number)])
    Job.objects.filter(pk=job.pk).update(units_failed=number)


def leave_traces(job: Job) -> None:
    """Leave a runner, prompts, a trial, and for each unit that it failed, a call, a batch and a request of that."""
    now, prompts = timezone.now(), prompt_set("assay-1")
    for text in prompts.texts.values():
        StoredPrompt.objects.get_or_create(sha256=sha256_of(text), defaults={"text": text})
    Runner.objects.create(job=job, judge=job.judge, owner=processes.me(), alive_at=now)
    Trial.objects.get_or_create(judge=job.judge, defaults={"created_by": job.campaign.created_by})
    for unit in job.units.all():
        Unit.objects.filter(pk=unit.pk).update(state=Unit.State.FAILED, error=f"failed on {unit.topic_id}")
        came = {"request": f"{unit.pk:064}", "outcome": Call.Outcome.LOST}
        Call.objects.create(judge=job.judge, job=job, unit=unit, at=now, **came)
        batch = Batch.objects.create(job=job, requests_total=1)
        of_unit = {"unit": unit, "batch": batch, "body": "{}"}
        BatchRequest.objects.get_or_create(job=job, request=came["request"], defaults=of_unit)
    count = job.units.count()
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, started_at=now, units_total=count, units_failed=count)
