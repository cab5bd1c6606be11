"""Queues: topics wait there, and people draw them for as long as they work on them."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Topic
from assessor.work.actions.given_tasks import (
    PlanError,
    folded,
    give,
    lock,
    refuse_taken,
    require_assessor,
    require_work,
)
from assessor.work.blindness import spoiled
from assessor.work.languages import foreign_languages, unread_languages
from assessor.work.leases import free, lapsed
from assessor.work.models import Task, Waiting
from assessor.work.write_protocol import SignOfWork, Stale, new_end

_OPENED = SignOfWork(Task.objects.filter(state=Task.State.OPEN))


@transaction.atomic
def put_in_queue(
    *, topics: Sequence[Topic], condition: Condition, acting_user: Person | None, reason: str = ""
) -> list[Waiting]:
    """Have topics wait under a condition for whoever draws them, all or none. Raises PlanError.

    reason: as in give_tasks(), for whoever it will be. One that waits already stays as it is.
    """
    require_work(condition, topics)
    if kind_of(condition).is_shared(condition):
        raise PlanError(f"Under {condition.name} people draw passages of topics that they have: give them the topics.")
    reason = folded(reason)
    lock(condition)
    there = {waiting.topic_id: waiting for waiting in Waiting.objects.filter(condition=condition, topic__in=topics)}
    refuse_taken([topic for topic in topics if topic.pk not in there], condition)
    put = []
    for topic in dict.fromkeys(topics):
        if topic.pk not in there:
            waiting = Waiting(condition=condition, topic=topic, reason=reason, created_by=acting_user)
            waiting.save()
            told = {"reason": reason} if reason else {}
            history.record("topic put in queue", waiting, campaign=condition.campaign, person=acting_user, **told)
            there[topic.pk] = waiting
        put.append(there[topic.pk])
    return put


@transaction.atomic
def take_out_of_queue(*, waiting: Waiting, acting_user: Person | None) -> None:
    """Have a topic wait no longer. Raises PlanError where somebody has it, or had it and left it."""
    condition = waiting.condition
    lock(condition)
    refuse_taken([waiting.topic], condition)
    history.record("topic taken out of queue", waiting, campaign=condition.campaign, person=acting_user)
    Waiting.objects.filter(pk=waiting.pk).delete()


def draw_next(*, condition: Condition, person: Person) -> Task:
    """Return the topic that a person drew under a condition and has not finished; else draw the next one for them.

    A topic whose lease ran out is taken over: it is withdrawn from who had it. Raises PlanError where there is none
    that they may have; the text names nobody and no topic.
    """
    require_assessor(person, condition.campaign)
    if (held := _drawn(condition, person)) and note_opened(held):
        return held
    waiting = free().filter(condition=condition).select_related("topic")
    barred = spoiled(person, [one.topic for one in waiting], condition)
    foreign = foreign_languages([person], condition.campaign)
    for one in waiting:
        if one.topic_id in barred or unread_languages(foreign, [one.topic], condition).get(person.pk):
            continue
        if task := _draw(one, condition, person):
            return task
    if not waiting.all():
        raise PlanError(gettext("No topic is free here now: others have them, or all are done."))
    raise PlanError(
        gettext(
            "None of the topics that are free here can be yours: you have seen too much of them, cannot read one of "
            "their languages, or they wait for somebody else or for work that is not done yet. Your organizer can tell "
            "you more."
        )
    )


def _drawn(condition: Condition, person: Person) -> Task | None:
    """Return the topic that a person drew under a condition and has not finished; none that rests."""
    drawn = Task.objects.filter(condition=condition, person=person, state=Task.State.OPEN, paused=False)
    mine = drawn.exclude(leased_until=None)
    return mine.select_related("condition", "topic").order_by("pk").first()


def _draw(waiting: Waiting, condition: Condition, person: Person) -> Task | None:
    """Draw a topic; None, and nothing is changed, where the person can't have it or somebody else has it by now.

    A transaction for each try: a queue may be long, and its lock and SQLite's are not kept over all of it.
    """
    try:
        with transaction.atomic():
            lock(condition)
            if held := _drawn(condition, person):  # in another tab, meanwhile
                return held
            if not free().filter(pk=waiting.pk).exists():
                return None
            require_work(condition, [waiting.topic])
            task = give("task drawn", waiting.topic, condition, person, person, waiting.reason, new_end())
            # After the answers, which is the order in which every save locks them and its task.
            _withdraw_lapsed(task)
            refuse_taken([waiting.topic], condition, but=person)
            return task
    except (PlanError, Stale):
        return None


def _withdraw_lapsed(task: Task) -> None:
    """Withdraw from others the topic that a task's person has drawn, where their lease ran out."""
    others = Task.objects.filter(lapsed(), topic=task.topic, condition=task.condition).exclude(pk=task.pk)
    # Locked: whoever comes back from now on finds it withdrawn, and whoever did before has a lease again.
    for other in others.select_related("topic", "person").select_for_update(no_key=True, of=("self",)):
        other.state = Task.State.WITHDRAWN
        other.save(update_fields=["state"])
        told = {"condition": task.condition.name, "drawn by": str(task.person)}
        history.record("lease ran out", other, campaign=task.campaign, person=None, **told)


def note_opened(task: Task) -> bool:
    """Begin a drawn task's lease anew, since its person has just opened it; return whether it has one."""
    if task.leased_until is None:
        return False
    return bool(_OPENED.carry_out(task=task.pk))
