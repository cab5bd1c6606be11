"""Topics that were drawn for people become planned work, all at once; a worker makes tasks of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.plan.actions.planned_work import hint
from assessor.plan.models import NOT_TRIED, Planned
from assessor.work.actions import PlanError, lock, refuse_taken, require_person
from assessor.work.task_changes import set_rule


class Allotment(NamedTuple):
    """A topic that is to be a person's under a condition. rule: which runs are judged, "" for all."""

    condition: Condition
    topic: Topic
    person: Person
    rule: str


@transaction.atomic
def allot_topics(
    *, campaign: Campaign, allotments: Sequence[Allotment], drawn: Mapping[str, Any], acting_user: Person | None
) -> None:
    """Plan what was drawn, all or none. Raises PlanError.

    drawn: what makes the draw the one it was, seed included, for the history.
    """
    for condition in dict.fromkeys(one.condition for one in allotments):
        lock(condition)
        of_condition = [one for one in allotments if one.condition == condition]
        topics = [one.topic for one in of_condition]
        refuse_taken(topics, condition)
        for person in dict.fromkeys(one.person for one in of_condition):
            theirs = [one.topic for one in of_condition if one.person == person]
            require_person(person, campaign, condition, theirs)
        rows = Planned.objects.filter(condition=condition, topic__in=topics).select_related("topic")
        if row := rows.first():
            raise PlanError(f"{row.topic.qid} is planned under {condition} already: load the page again.")
        Planned.objects.bulk_create(
            Planned(
                condition=condition,
                topic=one.topic,
                person=one.person,
                waits_for=NOT_TRIED,
                created_by=acting_user,
            )
            for one in of_condition
        )
        for rule in sorted({one.rule for one in of_condition if one.rule and condition.judges_answers}):
            on = [one.topic for one in of_condition if one.rule == rule]
            set_rule(condition=condition, topics=on, rule=rule, reason="", acting_user=acting_user)
    history.record("topics allotted", campaign, campaign=campaign, person=acting_user, **drawn)
    hint(campaign, acting_user)
