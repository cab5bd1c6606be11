"""Which runs are judged changes: what was said counts by it from then on, and people are asked for what is new."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import CONTROL, Condition, Topic
from assessor.campaigns.queries import own_answers, texts_to_label
from assessor.plan.models import Planned
from assessor.work import task_changes
from assessor.work.actions import PlanError, give, require_person
from assessor.work.judging_pool import judged_under
from assessor.work.models import MAX_REASON, Scope, Task


def set_runs(
    *, condition: Condition, topics: Sequence[Topic], rule: str, acting_user: Person | None, reason: str = ""
) -> list[Topic]:
    """Have the runs of a rule judged on topics from now on; return on which that is new. Raises PlanError."""
    by: dict[str, Any] = {"acting_user": acting_user, "reason": reason}
    changed = task_changes.set_rule(condition=condition, topics=topics, rule=rule, **by)
    for topic in changed:
        follow_scope(condition, topic, acting_user=acting_user)
    return changed


@transaction.atomic
def follow_scope(condition: Condition, topic: Topic, *, acting_user: Person | None, then_gives: bool = False) -> None:
    """Let what is said on a topic count by what is judged now, and ask whoever has it for what is new.

    then_gives: the caller gives next what is planned, which asks those for whom the topic is planned once more.
    """
    moved = task_changes.follow_scope(condition, topic)
    if not moved.back and not _lacks_sheets(condition, topic):
        return
    held = Task.objects.filter(condition=condition, topic=topic).exclude(state=Task.State.WITHDRAWN)
    if then_gives:
        same = Planned.objects.filter(condition=condition, topic=topic, person=OuterRef("person"))
        held = held.exclude(Exists(same))
    for task in held.select_related("person").order_by("pk"):
        try:
            with transaction.atomic():
                require_person(task.person, condition.campaign, condition, [topic])
                lease = task.leased_until
                give("task given", topic, condition, task.person, acting_user, "", lease)
        except PlanError as error:
            # Such as: the nuggets are being changed. The same person goes on once they are finished, unless somebody
            # else is to have it then.
            if not Planned.objects.filter(condition=condition, topic=topic).exists():
                Planned.objects.create(
                    condition=condition,
                    topic=topic,
                    person=task.person,
                    reason=task.reason,
                    waits_for=str(error)[:MAX_REASON],
                    created_by=acting_user,
                )


def _lacks_sheets(condition: Condition, topic: Topic) -> bool:
    """Say whether an answer to a topic is to be judged and nobody is asked yet."""
    sheets: Any = kind_of(condition).sheets
    if sheets is None:
        return False
    judged = judged_under(condition, topic.pk)
    there = set(sheets.in_or_out.filter(condition=condition, answer__topic=topic).values_list("answer", flat=True))
    rows = texts_to_label(condition, [topic]).values_list("pk", "run")
    return any(pk not in there and judged.holds(topic.pk, run) for pk, run in rows)


def unsettled(condition: Condition) -> set[int]:
    """Return the topics, by key, with answers that are marked otherwise than is judged, or that nobody is asked yet."""
    judged = judged_under(condition)
    sheets: Any = kind_of(condition).sheets
    rows = sheets.in_or_out.filter(condition=condition).order_by()
    found, known = set(), set()
    for topic, run, answer, is_out in rows.values_list("answer__topic", "answer__run", "answer", "out_of_scope"):
        known.add(answer)
        if is_out == judged.holds(topic, run):
            found.add(topic)
    held = Task.objects.filter(condition=condition).exclude(state=Task.State.WITHDRAWN).values_list("topic", flat=True)
    # Where a rule was made, or a run dropped and brought back, be it undone since: nobody may have followed that yet.
    scopes = Scope.objects.filter(condition=condition)
    topics, runs = scopes.exclude(topic=None).values("topic"), scopes.exclude(run=None).values("run")
    told_of = Q(topic__in=topics) | Q(run__in=runs)
    answers = own_answers(set(held)).filter(told_of).exclude(run__task=CONTROL).order_by()
    lacking = {
        topic
        for pk, topic, run in answers.values_list("pk", "topic", "run")
        if pk not in known and judged.holds(topic, run)
    }
    return found | lacking
