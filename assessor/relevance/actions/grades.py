"""What a job graded, and the qrels source of a condition whose grades are made here."""

from collections.abc import Mapping

from django.db.models import DateTimeField
from django.utils import timezone

from assessor.campaigns.actions import grades_made_under
from assessor.campaigns.models import Grade, QrelsSource
from assessor.llm.models import Job
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.runtime.sql import Parameter, PreparedUpdate, as_kept, insert

Place = tuple[int, str]  # topic's key, docid
_BOTH = ("value", "version", "state", "judge", "job", "at")
_JUDGMENT = ("topic", "docid", "position", "condition", *_BOTH)
_EVENT = ("judgment", "verb", "reason", "state_before", *_BOTH)
_GRADE = ("topic", "docid", "grade", "source", "iteration", "import_record")
_CHANGED = PreparedUpdate(
    QrelsSource.everything.filter(pk=Parameter("source")), changed_at=Parameter("now", DateTimeField())
)
MADE_HERE = "0"  # column 2 of qrels, which says nothing of grades that are made here


def store_grades(job: Job, grades: Mapping[Place, int]) -> None:
    """Write what a job graded, a batch at a time: judgments of its condition, and grades of the condition's source.

    What the condition has graded already stays as it is: another job was there first.
    """
    condition, source = job.condition, grades_made_under(job.condition)
    batch = {"topic__in": {topic for topic, _ in grades}, "docid__in": {docid for _, docid in grades}}
    there = Grade.everything.filter(source=source, **batch)
    known = set(there.values_list("topic_id", "docid"))
    new = {place: grade for place, grade in grades.items() if place not in known}
    given = RelevanceJudgment.State.GIVEN.value
    both = (1, given, job.judge.judge.pk, job.pk, as_kept(RelevanceJudgment, "at", timezone.now()))
    of_condition = (0, condition.pk)
    insert(
        RelevanceJudgment,
        _JUDGMENT,
        [(*place, *of_condition, str(grade), *both) for place, grade in new.items()],
    )
    kept = RelevanceJudgment.objects.filter(condition=condition, **batch).order_by("pk")
    keys = kept.values_list("pk", "topic_id", "docid")
    first = ("label", "", "")
    events = [(pk, *first, str(new[topic, docid]), *both) for pk, topic, docid in keys if (topic, docid) in new]
    insert(LabelEvent, _EVENT, events)
    insert(Grade, _GRADE, [(*place, grade, source.pk, MADE_HERE, None) for place, grade in new.items()])
    mark_changed(source)


def mark_changed(source: QrelsSource) -> None:
    """Note that grades came to a source or left it: what is counted of them is counted anew."""
    _CHANGED.carry_out(source=source.pk, now=timezone.now())
