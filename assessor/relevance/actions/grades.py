"""The writers of judgments."""

from collections.abc import Mapping

from django.utils import timezone

from assessor.collection.actions import grades_made_under
from assessor.collection.loaders.base import as_kept, insert
from assessor.collection.models import Grade, QrelsSource
from assessor.llm.models import Job
from assessor.relevance.models import Judgment

Place = tuple[int, str]  # topic's key, docid
_JUDGMENT = (
    *("topic", "docid", "grade", "condition", "judge", "job", "state", "version", "reason"),
    *("task", "shown", "seconds", "at"),
)
_GRADE = ("topic", "docid", "grade", "source", "iteration", "import_record")
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
    new = [(topic, docid, grade) for (topic, docid), grade in grades.items() if (topic, docid) not in known]
    at, graded = as_kept(Judgment, "at", timezone.now()), Judgment.State.GRADED.value
    of_job = (condition.pk, judge.pk, job.pk, graded, 1, "", None, None, None, at)
    insert(Judgment, _JUDGMENT, [(*row, *of_job) for row in new])
    insert(Grade, _GRADE, [(*row, source.pk, MADE_HERE, None) for row in new])
    mark_changed(source)


def mark_changed(source: QrelsSource) -> None:
    """Note that grades came to a source or left it: what is counted of them is counted anew."""
    QrelsSource.everything.filter(pk=source.pk).update(changed_at=timezone.now())
