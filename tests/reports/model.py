"""What a model found for reports, and a report, without a model."""

from assessor.campaigns.models import Condition, Topic
from assessor.llm.models import Job
from nuggets.reports.models import Reading, Report


def write(condition: Condition, topic: Topic, job: Job, number: int) -> None:
    """Keep that a document was read for a question, and a report, under whatever condition."""
    found = [{"part": 0, "extracted": "Cats purr.", "condensed": "Cats do purr.", "confidence": 7}]
    Reading.objects.create(condition=condition, topic=topic, question=f"{number:032}", docid="d1", found=found, job=job)
    Report.objects.create(condition=condition, tag=f"crucible.{number}", text="extractive", per_question=1)
