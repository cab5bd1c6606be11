"""What the pages of the plan read."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.plan.models import Planned
from assessor.work.judging_pool import ALL, NONE
from assessor.work.models import Scope, Task, Waiting
from assessor.work.queries import lease, minutes, planned, waiting_in


class TaskRow(NamedTuple):
    """A task as the plan shows it. rule: which runs are judged, "" where all are."""

    task: Task
    items: str
    time: str
    lease: str
    rule: str


class PlanRow(NamedTuple):
    """A topic of the plan: its tasks, where it waits to be drawn and is nobody's, and what can't be given yet."""

    topic: Topic
    tasks: list[TaskRow]
    waiting: list[tuple[Waiting, str]]
    planned: list[tuple[Planned, str]]


def rows(campaign: Campaign, topics: Iterable[Topic]) -> list[PlanRow]:
    """Return topics of the campaign with all that is planned of them."""
    found = {topic.pk: PlanRow(topic, [], [], []) for topic in topics}
    rules = rules_of(campaign, found)
    for task in planned(campaign).filter(topic__in=found):
        rule = rules.get((task.condition_id, task.topic_id), "")
        row = TaskRow(task, kind_of(task).counted, minutes(task.seconds), lease(task), rule)
        found[task.topic_id].tasks.append(row)
    for waiting in waiting_in(campaign).filter(topic__in=found):
        rule = rules.get((waiting.condition_id, waiting.topic_id), "")
        found[waiting.topic_id].waiting.append((waiting, rule))
    to_come = Planned.objects.filter(condition__campaign=campaign, topic__in=found).select_related(
        "condition", "person"
    )
    for one in to_come:
        found[one.topic_id].planned.append((one, rules.get((one.condition_id, one.topic_id), "")))
    return list(found.values())


def planned_counts(campaign: Campaign) -> dict[int, int]:
    """Return how many topics wait for other work under each condition, by its key; none for practice.

    A topic that somebody has there already, and is to be another person's, is one of theirs.
    """
    theirs = Task.objects.filter(condition=OuterRef("condition"), topic=OuterRef("topic"), state=Task.State.OPEN)
    to_come = Planned.objects.filter(condition__campaign=campaign, topic__is_practice=False).exclude(Exists(theirs))
    return dict(to_come.order_by().values_list("condition").annotate(Count("pk")))


def rules_of(campaign: Campaign, topics: Any) -> dict[tuple[int, int], str]:
    """Return the rules by which not all runs are judged on some topics, by condition's key and topic's."""
    records = Scope.objects.filter(condition__campaign=campaign, topic__in=topics).order_by("pk")
    newest = {(condition, topic): rule for condition, topic, rule in records.values_list("condition", "topic", "rule")}
    return {key: rule for key, rule in newest.items() if rule != ALL}


def dropped(campaign: Campaign) -> list[Scope]:
    """Return what drops runs from conditions of a campaign now."""
    same = Scope.objects.filter(condition=OuterRef("condition"), run=OuterRef("run")).order_by("-pk")
    newest = Scope.objects.filter(condition__campaign=campaign).exclude(run=None)
    newest = newest.filter(pk=Subquery(same.values("pk")[:1]), rule=NONE)
    return list(newest.select_related("condition", "run", "person").order_by("condition__name", "run__tag"))


def condition_of(campaign: Campaign, condition_id: int) -> Condition | None:
    """Return a condition of a campaign, or None."""
    conditions: QuerySet[Any] = campaign.conditions.select_related("campaign", "nuggets", "shown", "protocol")
    found: Condition | None = conditions.filter(pk=condition_id).first()
    return found
