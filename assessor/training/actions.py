"""The writers of training: which topics are for practice, what it is held against, and who has read feedback."""

from collections.abc import Sequence

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Topic
from assessor.training.models import Reference
from assessor.training.queries import possible_references, references, worked_on
from assessor.work.blindness import FEEDBACK, had_feedback, record_exposure
from assessor.work.models import Task


class TrainingError(Exception):
    """Training can't be arranged like that; the text says why."""


@transaction.atomic
def mark_practice(
    *, campaign: Campaign, topics: Sequence[Topic], is_practice: bool = True, acting_user: Person | None
) -> list[Topic]:
    """Make topics such for practice, or such that count, all or none; return those that were not so before.

    Raises TrainingError where somebody, person or model, has said something on one of them here: what was said to count
    would count no longer, and what was said for practice would count.
    """
    locked = Topic.objects.select_for_update(no_key=True, of=("self",)).filter(campaign=campaign)
    changed = [
        topic for topic in locked.filter(pk__in=[topic.pk for topic in topics]) if topic.is_practice != is_practice
    ]
    if worked := worked_on(changed):
        qids = ", ".join(sorted(topic.qid for topic in changed if topic.pk in worked))
        if is_practice:
            raise TrainingError(
                f"People or models have worked on {qids} already, for scores: what they said would count no longer. "
                "Choose topics on which nobody has said anything here."
            )
        raise TrainingError(f"People or models have worked on {qids} for practice: what they said must never count.")
    Topic.objects.filter(pk__in=[topic.pk for topic in changed]).update(is_practice=is_practice)
    for topic in changed:
        topic.is_practice = is_practice
        verb = "topic marked for practice" if is_practice else "topic counts again"
        history.record(verb, topic, campaign=campaign, person=acting_user)
    return changed


@transaction.atomic
def name_reference(
    *, condition: Condition, reference: Condition | QrelsSource | None, acting_user: Person | None
) -> None:
    """Say what practice under a condition is held against, None for nothing. Raises TrainingError.

    It is people's, made here or brought by a file: of the same kind, and of labels about the same nuggets.
    """
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    if reference is not None and reference not in possible_references(condition):
        raise TrainingError(
            f"Practice under {condition} can't be held against {reference}: a reference is people's, of the same kind, "
            "and about the same nuggets or on the same scale."
        )
    now = references([condition.pk]).get(condition.pk)
    if reference == (now and now.named):
        return
    named = {"grades" if isinstance(reference, QrelsSource) else "reference": reference} if reference else {}
    record = Reference.objects.create(condition=condition, person=acting_user, **named)
    told = {"reference": str(reference) if reference else None}
    history.record("practice reference named", record, campaign=condition.campaign, person=acting_user, **told)


def read_feedback(task: Task) -> None:
    """Record that a task's person reads what the reference says on its topic; once. They label it no more."""
    if not had_feedback(task.person, [task.topic], task.condition):
        record_exposure(task.person, [task.topic], task.kind, FEEDBACK)
