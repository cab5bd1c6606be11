"""Whether a condition is finished, and what is missing if it isn't."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition
from assessor.labels.completeness import by_topic
from assessor.llm.models import Job, Unit
from assessor.work.models import Task, Waiting


def missing(condition: Condition) -> list[str]:
    """Return what keeps a condition from being finished, each with the first few topics; nothing where it is."""
    lacking = kind_of(condition).missing(condition)
    return list(lacking) if condition.method == Condition.IMPORTED else [*_work_left(condition), *lacking]


def _work_left(condition: Condition) -> Iterator[str]:
    """Say what people and jobs have still to do."""
    open_tasks = Task.objects.filter(condition=condition, state=Task.State.OPEN)
    yield from by_topic(open_tasks, "task of people is open", "tasks of people are open")
    # What somebody has drawn is their task.
    drawn = Task.objects.filter(condition=condition, topic=OuterRef("topic")).exclude(state=Task.State.WITHDRAWN)
    waiting = Waiting.objects.filter(~Exists(drawn), condition=condition)
    yield from by_topic(waiting, "topic waits to be drawn", "topics wait to be drawn")
    jobs = Job.objects.filter(condition=condition)
    if under_way := jobs.exclude(state__in=Job.OVER).count():
        yield f"{under_way:,} {'job is' if under_way == 1 else 'jobs are'} not over."
    done = Unit.objects.filter(job__condition=condition, item=OuterRef("item"), state=Unit.State.DONE)
    of_topic, of_answer = done.filter(answer=None, topic=OuterRef("topic")), done.filter(answer=OuterRef("answer"))
    failed = Unit.objects.filter(~Exists(of_topic), ~Exists(of_answer), job__in=jobs).exclude(state=Unit.State.DONE)
    yield from by_topic(failed, "unit of a job failed, or was never done", "units of jobs failed, or were never done")
