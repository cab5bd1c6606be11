"""The writers of judgments."""

from collections.abc import Mapping

from django.utils import timezone

from assessor.collection.actions import grades_made_under
from assessor.collection.models import Grade, QrelsSource
from assessor.llm.models import Job
from assessor.relevance.models import Judgment

Place = tuple[int, str]  # topic's key, docid
MADE_HERE = "0"  # column 2 of qrels, which says nothing of grades that are made here


def store_grades(job: Job, grades: Mapping[Place, int]) -> None:
    """Write what a job graded, a batch at a time: judgments of its condition, and grades of the condition's source.

    What the condition has graded already stays as it is: another job was there first.
    """
    condition, judge, source = job.condition, job.judge.judge, grades_made_under(job.condition)
    there = Grade.everything.filter(
        source=source, topic__in={topic for topic, _ in grades}, docid__in={docid for _, docid in grades}
    )
    known = set(there.values_list("topic_id", "docid"))
    new = {place: grade for place, grade in grades.items() if place not in known}
    Judgment.objects.bulk_create(
        Judgment(condition=condition, topic_id=topic, docid=docid, grade=grade, judge=judge, job=job)
        for (topic, docid), grade in new.items()
    )
    Grade.everything.bulk_create(
        Grade(source=source, topic_id=topic, docid=docid, grade=grade, iteration=MADE_HERE)
        for (topic, docid), grade in new.items()
    )
    mark_changed(source)


def mark_changed(source: QrelsSource) -> None:
    """Note that grades came to a source or left it: what is counted of them is counted anew."""
    QrelsSource.everything.filter(pk=source.pk).update(changed_at=timezone.now())
