"""Topics drawn at random, on which people judge what a model judges everywhere."""

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import CONTROL, Campaign, Condition
from assessor.campaigns.queries import own_answers, without_practice
from assessor.plan import random_allocation
from assessor.plan.actions.planned_work import plan_work
from assessor.plan.random_allocation import AllocationError
from assessor.scores.cache import with_answers
from assessor.scores.score_source import scored_conditions
from assessor.work.actions import PlanError
from assessor.work.models import Draw


@transaction.atomic
def draw_topics(
    *, condition: Condition, number: int, seed: int, in_queue: bool = False, acting_user: Person | None
) -> Draw:
    """Draw topics of a condition that people label, from all that runs answered. Raises PlanError.

    in_queue: they wait under the condition for whoever draws them.
    """
    if not condition.is_by_people or not condition.judges_answers or condition.sample:
        raise PlanError(f"Topics are drawn for people who judge runs' answers: {condition} is no such condition.")
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=condition.campaign_id)
    topics = without_practice(campaign.topics.all(), "pk")
    answered = own_answers(topics.values("pk")).exclude(run__task=CONTROL).order_by()  # type: ignore[arg-type]
    by_id = {topic.qid: topic for topic in topics.filter(pk__in=answered.values("topic"))}
    frame = sorted(by_id, key=str.encode)
    try:
        drawn = random_allocation.draw(seed, frame, number)
    except AllocationError as error:
        raise PlanError(str(error)) from error
    models = [one for one in scored_conditions(campaign).filter(kind=condition.kind) if one.is_a_models]
    there = with_answers(models)
    made = Draw.objects.create(
        condition=condition,
        seed=seed,
        frame=frame,
        topics=drawn,
        scored_models=sorted((one.name for one in models if one.pk in there), key=str.encode),
        created_by=acting_user,
    )
    history.record(
        "topics drawn",
        condition,
        campaign=campaign,
        person=acting_user,
        seed=seed,
        topics=drawn,
        frame=len(frame),
        scored_models=made.scored_models,
    )
    if in_queue:
        plan_work(condition=condition, topics=[by_id[qid] for qid in drawn], person=None, acting_user=acting_user)
    return made
