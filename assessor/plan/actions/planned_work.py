"""Work that is planned becomes tasks as soon as it can."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of, names_of_answers
from assessor.campaigns.models import Campaign, Condition, Import, Topic
from assessor.campaigns.queries import texts_to_label
from assessor.llm.models import Job
from assessor.plan.actions.judging_pool import follow_scope, set_runs, unsettled
from assessor.plan.models import NOT_TRIED, WHOEVER_DRAWS, Planned
from assessor.runtime import hints
from assessor.runtime.commits import after_commit
from assessor.work import task_changes
from assessor.work.actions import (
    NotYet,
    PlanError,
    folded,
    give_tasks,
    lock,
    put_in_queue,
    refuse_taken,
    require_person,
)
from assessor.work.judging_pool import ALL, NONE, judged_under
from assessor.work.models import MAX_REASON, Task
from nuggets.models import NuggetBank

_AT_A_TIME = 500
_TOGETHER = 8  # topics in a transaction: most of what one takes is the same for several, and others wait for its end


class Outcome(NamedTuple):
    """What became of topics that were planned: those that are somebody's now, and those that wait."""

    given: list[Topic]
    waiting: list[Planned]


def hint(campaign: Campaign, person: Person | None) -> None:
    """Tell the workers, once it is committed. Should the queue be gone, the next look finds what was not tried."""
    after_commit(hints.send, "assessor.plan.tasks.give_planned", campaign.pk, person and person.pk)


@transaction.atomic
def plan_work(
    *,
    condition: Condition,
    topics: Sequence[Topic],
    person: Person | None,
    acting_user: Person | None,
    reason: str = "",
    rule: str = "",
) -> Outcome:
    """Have topics be a person's under a condition, or (None) whoever's who draws them: all or none.

    Raises PlanError. What can't be given yet waits until it can. Many topics wait for a worker, which gives a few at a
    time. rule: which runs are judged there; empty: those that were, or all.
    """
    topics = list(dict.fromkeys(topics))
    lock(condition)  # or two people could each find a topic planned for nobody
    are_many = len(topics) > _TOGETHER
    ruled = topics
    if not rule:  # what was left out comes back to the condition
        known = judged_under(condition)
        rule, ruled = ALL, [topic for topic in topics if known.rule(topic.pk) == NONE]
    if ruled:
        tell = task_changes.set_rule if are_many else set_runs
        tell(condition=condition, topics=ruled, rule=rule, acting_user=acting_user, reason=reason)
    outcome = Outcome([], [])
    if refused := kind_of(condition).refusal(condition, []):
        raise PlanError(refused)
    if are_many:
        hint(condition.campaign, acting_user)
        later = dict.fromkeys(topics, NOT_TRIED)
    else:
        why = _what_for(condition, topics, person)
        ready = [topic for topic in topics if topic.pk not in why]
        for some in _in_parts(condition, ready, person, acting_user, reason):
            outcome.given.extend(some)
        there = set(outcome.given)
        not_there = "What there is to do on {} under {} is not there yet."
        later = {
            topic: why.get(topic.pk) or not_there.format(topic.qid, condition)[:MAX_REASON]
            for topic in topics
            if topic not in there
        }
    outcome.waiting.extend(_wait(condition, later, person, reason, acting_user))
    return outcome


def carry_out(campaign: Campaign, *, acting_user: Person | None) -> int:
    """Let rules of runs hold on what is there, then give what is planned and can be given by now; return how many.

    Each topic, or a few, in a transaction of their own, as people save meanwhile. Doing it twice does no more.
    """
    return settle(campaign, acting_user=acting_user) + advance(campaign)


def settle(campaign: Campaign, *, acting_user: Person | None) -> int:
    """Let what is said everywhere count by what is judged now, and give what is planned there; return how much.

    Doing it twice changes nothing more.
    """
    narrowed = Condition.objects.filter(campaign=campaign, kind__in=names_of_answers(), scopes__isnull=False)
    narrowed = narrowed.distinct().order_by("pk")
    done = 0
    for condition in narrowed.select_related("campaign", "nuggets", "protocol"):
        for topic in Topic.objects.filter(pk__in=unsettled(condition)).order_by("qid"):
            follow_scope(condition, topic, acting_user=acting_user, then_gives=True)
            done += advance(campaign, topic.pk)  # at once, so that the page can say how many are left
    return done


def _what_for(condition: Condition, topics: Sequence[Topic], person: Person | None) -> dict[int, str]:
    """Say of each topic that surely can't be given yet, by key, what it waits for: in few queries for all of them.

    Whether another one can be given is told by trying to.
    """
    why = kind_of(condition).refusals(condition, topics)
    if person and kind_of(condition).judges_answers:  # a queue may be there before the answers are
        answered = set(texts_to_label(condition, topics).order_by().values_list("topic", flat=True).distinct())
        what = "passage of" if condition.of_passages else "answer to"
        judged = judged_under(condition)
        for topic in topics:
            if topic.pk not in answered:
                why.setdefault(topic.pk, f"There is no {what} {topic.qid} yet.")
            elif judged.rule(topic.pk) == NONE:
                why.setdefault(topic.pk, f"There is no answer to judge on {topic.qid} under {condition}.")
    return {topic: told[:MAX_REASON] for topic, told in why.items()}


def _in_parts(
    condition: Condition, topics: list[Topic], person: Person | None, acting_user: Person | None, reason: str
) -> list[list[Topic]]:
    """Give topics all at once, or where some can't be given yet, each on its own; return those that were given."""
    try:
        with transaction.atomic():
            if topics:
                _give(condition, topics, person, acting_user, reason)
            return [topics]
    except NotYet:
        if len(topics) == 1:
            return []
    given = []
    for topic in topics:
        given += _in_parts(condition, [topic], person, acting_user, reason)
    return given


def _give(
    condition: Condition, topics: list[Topic], person: Person | None, acting_user: Person | None, reason: str
) -> None:
    by: dict[str, Any] = {"condition": condition, "acting_user": acting_user, "reason": reason}
    if person is None:
        put_in_queue(topics=topics, **by)
    else:
        give_tasks(campaign=condition.campaign, topics=topics, person=person, **by)
    planned = Planned.objects.filter(condition=condition, topic__in=topics)
    # Under a queue of passages several people have a topic, each for themselves.
    (planned.filter(person=person) if kind_of(condition).is_shared(condition) else planned).delete()


def _wait(
    condition: Condition, left: Mapping[Topic, str], person: Person | None, reason: str, acting_user: Person | None
) -> list[Planned]:
    """Note down that topics are to be somebody's, and what each waits for.

    Raises PlanError where one is another's, or can't ever be theirs.
    """
    topics = list(left)
    if person:
        require_person(person, condition.campaign, condition, topics)
    reason = folded(reason)
    rows = Planned.objects.filter(condition=condition, topic__in=topics).select_related("topic", "person")
    if not kind_of(condition).is_shared(condition):
        refuse_taken(topics, condition, but=person)
        if other := rows.exclude(person=person).first():
            raise PlanError(f"{other.topic.qid} is planned under {condition} for {other.person or WHOEVER_DRAWS}.")
    there = {row.topic_id: row for row in rows.filter(person=person)}
    for row in there.values():
        row.waits_for = left[row.topic]
    Planned.objects.bulk_update(there.values(), ["waits_for"], batch_size=_AT_A_TIME)
    by: dict[str, Any] = {"person": person, "reason": reason, "created_by": acting_user}
    new = [
        Planned(condition=condition, topic=topic, waits_for=why, **by)
        for topic, why in left.items()
        if topic.pk not in there
    ]
    for planned in Planned.objects.bulk_create(new):
        told = {"waits for": planned.waits_for} | ({"reason": reason} if reason else {})
        history.record("work planned", planned, campaign=condition.campaign, person=acting_user, **told)
        there[planned.topic_id] = planned
    return [there[topic.pk] for topic in topics]


@transaction.atomic
def cancel(*, planned: Planned, acting_user: Person | None) -> None:
    """Plan something no longer that has not become a task yet."""
    history.record("planned work taken back", planned, campaign=planned.condition.campaign, person=acting_user)
    Planned.objects.filter(pk=planned.pk).delete()


def advance(campaign: Campaign, topic: int | None = None) -> int:
    """Make tasks of what is planned and waits, where that can be by now; return how many. Doing it twice does no more.

    topic: on it alone, by its key. Each in a transaction of its own; what can't be says why.
    """
    rows = Planned.objects.filter(condition__campaign=campaign, **({} if topic is None else {"topic": topic}))
    waiting: dict[tuple[Condition, bool], list[Planned]] = {}
    for row in rows.select_related("condition__campaign", "condition__nuggets", "topic", "person", "created_by"):
        waiting.setdefault((row.condition, row.person is None), []).append(row)
    done, told = 0, dict[int, str]()
    # Asked once for all of a condition, without a lock: what surely can't be given yet costs no transaction.
    for (condition, _), some in waiting.items():
        why = _what_for(condition, [row.topic for row in some], some[0].person)
        told |= {row.pk: why[row.topic_id] for row in some if row.topic_id in why}
        for rows_alike in _alike([row for row in some if row.topic_id not in why]):
            if _make_all_so(condition, rows_alike):
                done += len(rows_alike)
                continue
            for row in rows_alike:
                try:
                    with transaction.atomic():
                        done += _make_so(row.pk)
                except PlanError as error:
                    told[row.pk] = str(error)[:MAX_REASON]
    changed = [row for some in waiting.values() for row in some if told.get(row.pk, row.waits_for) != row.waits_for]
    for row in changed:
        row.waits_for = told[row.pk]
    Planned.objects.bulk_update(changed, ["waits_for"], batch_size=_AT_A_TIME)
    return done


def _alike(rows: Sequence[Planned]) -> Iterator[list[Planned]]:
    """Yield rows of one condition that are for the same person, by the same one and for the same reason, a few each."""
    alike: dict[tuple[Any, ...], list[Planned]] = {}
    for row in rows:
        alike.setdefault((row.person_id, row.created_by_id, row.reason), []).append(row)
    for some in alike.values():
        left = iter(some)
        while part := list(islice(left, _TOGETHER)):
            yield part


def _make_all_so(condition: Condition, rows: Sequence[Planned]) -> bool:
    """Give topics together that are planned alike; return whether that could be done.

    Not where somebody else has one of them, or had it, or where the person drew one: then each is its own case.
    """
    try:
        with transaction.atomic():
            lock(condition)
            topics, person = [row.topic for row in rows], rows[0].person
            still = Planned.objects.filter(pk__in=[row.pk for row in rows]).count()
            others = Task.objects.filter(condition=condition, topic__in=topics)
            if still < len(rows) or others.exclude(person=person, leased_until=None).exists():
                return False
            _give(condition, topics, person, rows[0].created_by, rows[0].reason)
            return True
    except PlanError:
        return False


def _make_so(pk: int) -> bool:
    """Give a topic as it is planned, or hand it over where it is still somebody else's and it is said why.

    Return whether it was still planned so.
    """
    of_row = Condition.objects.filter(planned=pk).first()
    if of_row is None:  # another row of its topic was made so, or somebody took it back
        return False
    lock(of_row)
    rows = Planned.objects.select_related("condition__campaign", "topic", "person", "created_by")
    planned = rows.filter(pk=pk).first()
    if planned is None:  # somebody else was faster
        return False
    condition, topic, person = planned.condition, planned.topic, planned.person
    others = Task.objects.filter(condition=condition, topic=topic, state=Task.State.OPEN).exclude(person=person)
    is_shared = kind_of(condition).is_shared(condition)
    other = None if is_shared else others.select_related("topic", "condition", "person").first()
    by = planned.created_by
    if other and person and planned.reason:
        task_changes.reassign(task=other, person=person, reason=planned.reason, acting_user=by)
        Planned.objects.filter(condition=condition, topic=topic).delete()
    else:
        held = Task.objects.filter(condition=condition, topic=topic, person=person, state=Task.State.OPEN).first()
        _give(condition, [topic], person, by, planned.reason)
        if held and held.leased_until:  # they drew it, and what came since waited: it is not theirs for good by that
            Task.objects.filter(pk=held.pk).update(leased_until=held.leased_until)
    return True


def follow_bank(*, bank: NuggetBank, **_: Any) -> None:
    """Give what waits for a bank, once it is handed in for good: nothing that goes wrong there keeps it from that."""
    after_commit(advance, bank.condition.campaign, bank.topic_id)


def follow_import(*, import_record: Import, **_: Any) -> None:
    """Give what waits for what an import brought, or what it planned; count by the rules that it changed."""
    campaign = import_record.campaign
    if Condition.everything.filter(campaign=campaign).exists():  # a track is mostly loaded before there is one
        carry_out(campaign, acting_user=import_record.person)


def follow_job(*, job: Job, **_: Any) -> None:
    """Give what waits for what a job made, such as drafts."""
    advance(job.campaign)
