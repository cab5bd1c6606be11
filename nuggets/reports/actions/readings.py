"""What a model found, kept in the transaction of the job's units."""

from collections.abc import Sequence
from typing import Any

from assessor.llm.models import Job
from nuggets.reports.models import Reading
from nuggets.reports.queries import read_pairs


def store_readings(job: Job, readings: Sequence[tuple[int, str, str, list[dict[str, Any]]]]) -> None:
    """Write what was found on topics, by key, for a question in a document. What was read already stays as it is."""
    there = read_pairs(job.condition, {topic for topic, *_ in readings})
    new = [
        Reading(condition=job.condition, topic_id=topic, question=question, docid=docid, found=found, job=job)
        for topic, question, docid, found in readings
        if (question, docid) not in there[topic]
    ]
    Reading.objects.bulk_create(new)
