"""The writers of tasks, of the queues that they are drawn from, and of active time."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from assessor.collection import history
from assessor.collection.models import Campaign, Condition, Person, Topic
from assessor.collection.roles import ASSESSOR, has_role
from assessor.work.blindness import barred_from, decides, has_seen, sees_grades
from assessor.work.kinds import is_registered, is_shared, kind_of, refusal
from assessor.work.leases import free, lapsed, new_end, sign_of_work
from assessor.work.models import MAX_REASON, Task, TimeSpent, Waiting
from assessor.work.writes import Stale

MAX_SECONDS = 120  # the browser reports every half minute


class PlanError(Exception):
    """The plan can't be changed like that; the text says why."""


@transaction.atomic
def give_tasks(
    *,
    campaign: Campaign,
    topics: Sequence[Topic],
    condition: Condition,
    person: Person,
    acting_user: Person | None,
    reason: str = "",
) -> list[Task]:
    """Give a person topics under a condition, all or none. Raises PlanError.

    reason: why to this person, where the work would be somebody else's; it is kept with the task.

    One that was withdrawn from them comes back. A topic that they have under it already stays as it is, unless its kind
    finds something new to do there.
    """
    _require_work(condition, topics)
    _require_assessor(person, campaign)
    if decided := decides(person, topics, condition):
        qids = ", ".join(sorted(topic.qid for topic in topics if topic.pk in decided))
        raise PlanError(
            f"{person} has both an adjudication and other labels of this kind to give on {qids} then. An adjudication "
            "shows what other people said: who decides labels nothing else there, and who still labels there decides "
            "nothing before that is done."
        )
    if seen := has_seen(person, topics, condition):
        qids = ", ".join(sorted(topic.qid for topic in topics if topic.pk in seen))
        raise PlanError(f"{person} has seen LLM output of this kind on {qids}, and {condition.name} is done blind.")
    if shown := sees_grades(person, topics, condition):
        qids = ", ".join(sorted(topic.qid for topic in topics if topic.pk in shown))
        raise PlanError(
            f"{person} has both nuggets and grading from scratch on {qids} then. The nugget editor shows grades: who "
            "grades a topic from scratch writes its nuggets after that, and not the other way round."
        )
    _lock(condition)
    if not is_shared(condition):
        _refuse_taken(topics, condition, but=person)
    reason = _folded(reason)
    return [_give_task("task given", topic, condition, person, acting_user, reason) for topic in topics]


def _require_work(condition: Condition, topics: Sequence[Topic]) -> None:
    """Raise PlanError where nobody can do these topics under a condition."""
    if not topics:
        raise PlanError("Choose at least one topic.")
    if not is_registered(condition.kind):
        raise PlanError(f"Nobody can be given {condition.name}: it is not done by people on a screen.")
    if refused := refusal(condition, topics):
        raise PlanError(refused)


def _require_assessor(person: Person, campaign: Campaign) -> None:
    """Raise PlanError where a person can't be given any work in a campaign."""
    if not has_role(person, ASSESSOR):
        raise PlanError(f"{person} is not an assessor.")
    if barred := barred_from(person, campaign):
        raise PlanError(barred)


def _lock(condition: Condition) -> None:
    """Let one at a time give or draw under a condition, or two people could each find a topic free and both get it."""
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)


def _folded(reason: str) -> str:
    """Return a reason with its blanks folded. Raises PlanError."""
    reason = " ".join(reason.split())
    if len(reason) > MAX_REASON or "\x00" in reason:
        raise PlanError(f"A reason has at most {MAX_REASON} characters.")
    return reason


def _refuse_taken(topics: Iterable[Topic], condition: Condition, but: Person | None = None) -> None:
    """Raise PlanError where topics are somebody's under a condition; but: not this person's."""
    others = Task.objects.filter(condition=condition, topic__in=list(topics)).exclude(person=but)
    others = others.exclude(state=Task.State.WITHDRAWN).select_related("topic", "person")
    if others:
        taken = ", ".join(f"{task.topic.qid} ({task.person})" for task in others)
        raise PlanError(f"Under {condition.name} these topics are somebody else's already: {taken}.")


def _give_task(
    verb: str,
    topic: Topic,
    condition: Condition,
    person: Person,
    acting_user: Person | None,
    reason: str,
    leased_until: datetime | None = None,
) -> Task:
    """Make a topic a person's: leased, or for good. verb: what the history calls that."""
    campaign = condition.campaign
    task, is_new = Task.objects.get_or_create(
        topic=topic,
        condition=condition,
        kind=condition.kind,
        person=person,
        defaults={"campaign": campaign, "created_by": acting_user, "reason": reason, "leased_until": leased_until},
    )
    if (reason and task.reason != reason) or task.leased_until != leased_until:
        task.reason = reason or task.reason
        task.leased_until = leased_until
        task.save(update_fields=["reason", "leased_until"])
    before = None if is_new else task.state
    if is_new:
        kind_of(task).prepare(task)
    else:
        kind_of(task).renew(task)
    if task.state == Task.State.WITHDRAWN:
        task.state = Task.State.OPEN
        task.save(update_fields=["state"])
    if task.state != before:
        told = {"condition": condition.name} | ({"reason": reason} if reason else {})
        history.record(verb, task, campaign=campaign, person=acting_user, **told)
    return task


@transaction.atomic
def withdraw_task(*, task: Task, acting_user: Person) -> None:
    """Take an unfinished task from a person. What they did stays, and is there again if they get it back."""
    changed = Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(state=Task.State.WITHDRAWN)
    if not changed:
        raise PlanError(f"{task} is not open any more.")
    history.record("task withdrawn", task, campaign=task.campaign, person=acting_user)


@transaction.atomic
def put_in_queue(
    *, topics: Sequence[Topic], condition: Condition, acting_user: Person | None, reason: str = ""
) -> list[Waiting]:
    """Have topics wait under a condition for whoever draws them, all or none. Raises PlanError.

    reason: as in give_tasks(), for whoever it will be. One that waits already stays as it is.
    """
    _require_work(condition, topics)
    if is_shared(condition):
        raise PlanError(f"Under {condition.name} people draw passages of topics that they have: give them the topics.")
    reason = _folded(reason)
    _lock(condition)
    there = {waiting.topic_id: waiting for waiting in Waiting.objects.filter(condition=condition, topic__in=topics)}
    _refuse_taken([topic for topic in topics if topic.pk not in there], condition)
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
def take_out_of_queue(*, waiting: Waiting, acting_user: Person) -> None:
    """Have a topic wait no longer. Raises PlanError where somebody has it, or had it and left it."""
    condition = waiting.condition
    _lock(condition)
    _refuse_taken([waiting.topic], condition)
    history.record("topic taken out of queue", waiting, campaign=condition.campaign, person=acting_user)
    Waiting.objects.filter(pk=waiting.pk).delete()


def draw_next(*, condition: Condition, person: Person) -> Task:
    """Return the topic that a person drew under a condition and has not finished; else draw the next one for them.

    A topic whose lease ran out is taken over: it is withdrawn from who had it. Raises PlanError where there is none
    that they may have; the text names nobody and no topic.
    """
    _require_assessor(person, condition.campaign)
    if (held := _drawn(condition, person)) and note_opened(held):
        return held
    waiting = free().filter(condition=condition).select_related("topic")
    topics = [one.topic for one in waiting]
    spoiled = set[int]().union(*(spoils(person, topics, condition) for spoils in (decides, has_seen, sees_grades)))
    for one in waiting:
        if one.topic_id not in spoiled and (task := _draw(one, condition, person)):
            return task
    if not waiting.all():
        raise PlanError("No topic is free here now: others have them, or all are done.")
    raise PlanError(
        "None of the topics that are free here can be yours: you have seen too much of them, or they wait for somebody "
        "else or for work that is not done yet. Your organizer can tell you more."
    )


def _drawn(condition: Condition, person: Person) -> Task | None:
    """Return the topic that a person drew under a condition and has not finished."""
    mine = Task.objects.filter(condition=condition, person=person, state=Task.State.OPEN).exclude(leased_until=None)
    return mine.select_related("condition", "topic").order_by("pk").first()


def _draw(waiting: Waiting, condition: Condition, person: Person) -> Task | None:
    """Draw a topic; None, and nothing is changed, where the person can't have it or somebody else has it by now.

    A transaction for each try: a queue may be long, and its lock and SQLite's are not kept over all of it.
    """
    try:
        with transaction.atomic():
            _lock(condition)
            if held := _drawn(condition, person):  # in another tab, meanwhile
                return held
            if not free().filter(pk=waiting.pk).exists():
                return None
            _require_work(condition, [waiting.topic])
            task = _give_task("task drawn", waiting.topic, condition, person, person, waiting.reason, new_end())
            # After the answers, which is the order in which every save locks them and its task.
            _withdraw_lapsed(task)
            _refuse_taken([waiting.topic], condition, but=person)
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
    return bool(Task.objects.filter(pk=task.pk, state=Task.State.OPEN).update(**sign_of_work()))


def record_time(*, task: Task, key: UUID, seconds: int) -> None:
    """Add active seconds to a task; a key counts once, and never more time than has passed."""
    try:
        with transaction.atomic():
            Task.objects.select_for_update(no_key=True).get(pk=task.pk)  # reports of two tabs one after the other
            last = task.times.order_by("-at").first()
            since = task.created_at if last is None else last.at
            passed = max(timedelta(), timezone.now() - since)
            counted = min(seconds, MAX_SECONDS, int(passed.total_seconds()) + 1)
            TimeSpent.objects.create(task=task, key=key, seconds=counted)
            Task.objects.filter(pk=task.pk).update(seconds=F("seconds") + counted, **sign_of_work())
    except IntegrityError:
        return  # sent twice
