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
    """Draw so many topics of a condition that people label, from all that runs answered. Raises PlanError.

    A seed under which topics were drawn there before draws more of the same frame: number counts these too. in_queue:
    what is drawn now waits under the condition for whoever draws it.
    """
    if not condition.is_by_people or not condition.judges_answers or condition.sample:
        raise PlanError(f"Topics are drawn for people who judge runs' answers: {condition} is no such condition.")
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=condition.campaign_id)
    earlier = condition.draws.filter(seed=seed).last()
    before = earlier.topics if earlier else []
    if number <= len(before):
        was_drawn = f"{len(before)} topics were drawn with seed {seed} under {condition}."
        raise PlanError(f"{was_drawn} Draw more of them, or use another seed.")
    frame = earlier.frame if earlier else _frame(campaign)
    try:
        drawn = random_allocation.draw(seed, frame, number)
    except AllocationError as error:
        raise PlanError(str(error)) from error
    made = Draw.objects.create(
        condition=condition,
        seed=seed,
        frame=frame,
        topics=drawn,
        # The seed and the frame decide which topics come next: nobody could choose them by scores that came later.
        scored_models=earlier.scored_models if earlier else _scored_models(condition),
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
        further = drawn[len(before) :]
        by_id = {topic.qid: topic for topic in campaign.topics.filter(qid__in=further)}
        plan_work(condition=condition, topics=[by_id[qid] for qid in further], person=None, acting_user=acting_user)
    return made


def _frame(campaign: Campaign) -> list[str]:
    topics = without_practice(campaign.topics.all(), "pk")
    answered = own_answers(topics.values("pk")).exclude(run__task=CONTROL).order_by()  # type: ignore[arg-type]
    found = topics.filter(pk__in=answered.values("topic")).values_list("qid", flat=True)
    return sorted(found, key=str.encode)


def _scored_models(condition: Condition) -> list[str]:
    of_kind = scored_conditions(condition.campaign).filter(kind=condition.kind)
    models = [one for one in of_kind if one.is_a_models]
    there = with_answers(models)
    return sorted((one.name for one in models if one.pk in there), key=str.encode)
