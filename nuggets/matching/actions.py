"""The writers of matchings."""

from collections.abc import Iterable, Sequence

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import create_condition, judge_of
from assessor.campaigns.models import Campaign, Condition, Judge, Topic
from assessor.llm.models import Job
from nuggets.matching.condition_kind import MANUAL, MATCHING
from nuggets.matching.models import BankMatching, NuggetMatch
from nuggets.matching.queries import banks_to_match, newest_matchings

# The keys of both editions, and the keys of nuggets of the first and the second that say the same.
Matched = tuple[int, int, Sequence[tuple[int, int]]]


class MatchingError(Exception):
    """Banks can't be matched so; the text says why, and what to do."""


def create_manual_matching(
    *, campaign: Campaign, nuggets: Condition, other_nuggets: Condition, name: str = "", acting_user: Person | None
) -> Condition:
    """Make a condition in which organizers match the nuggets of two others. Raises ConditionError."""
    condition = Condition(
        campaign=campaign,
        name=name or f"{str(nuggets)[:50]} beside {str(other_nuggets)[:50]}",
        kind=MATCHING.name,
        method=MANUAL,
        nuggets=nuggets,
        other_nuggets=other_nuggets,
    )
    return create_condition(condition, acting_user=acting_user)


@transaction.atomic
def match_by_person(
    *, condition: Condition, topic: Topic, pairs: Iterable[tuple[int, int]], known: int, acting_user: Person
) -> BankMatching:
    """Keep how a person matched the banks of a topic. Raises MatchingError.

    pairs: places of nuggets in the banks as they are now, from 0. known: the number of the newest matching that the
    person saw, 0 for none.
    """
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    newest = newest_matchings(condition).get(topic.pk)
    if known != (newest.number if newest else 0):
        raise MatchingError("Somebody matched this topic meanwhile: nothing was saved. Look at their matches first.")
    banks = banks_to_match(condition, [topic]).get(topic.pk)
    if banks is None:
        raise MatchingError("One of the banks is open again: nothing was saved. Match them once it is finished.")
    keys = [(banks.first.nuggets[one]["id"], banks.second.nuggets[other]["id"]) for one, other in sorted(set(pairs))]
    [made] = _store(condition, {topic.pk: (banks.first.pk, banks.second.pk, keys)}, judge_of(acting_user), None)
    history.record(
        "banks matched", condition, campaign=condition.campaign, person=acting_user, topic=topic.qid, pairs=len(keys)
    )
    return made


def store_matchings(job: Job, matched: dict[int, Matched]) -> None:
    """Write what a model matched, by topic's key. Topics that were matched so meanwhile keep what they have."""
    there = newest_matchings(job.condition)
    new = {
        topic: one
        for topic, one in matched.items()
        if topic not in there or (there[topic].first_id, there[topic].second_id) != one[:2]
    }
    _store(job.condition, new, job.judge.judge, job)


def _store(condition: Condition, matched: dict[int, Matched], judge: Judge, job: Job | None) -> list[BankMatching]:
    there = newest_matchings(condition)
    made = []
    for topic, (first, second, pairs) in matched.items():
        number = there[topic].number + 1 if topic in there else 1
        matching = BankMatching(condition=condition, topic_id=topic, number=number, judge=judge, job=job)
        matching.first_id, matching.second_id = first, second
        matching.save()
        NuggetMatch.objects.bulk_create(
            [NuggetMatch(matching=matching, first_id=one, second_id=other) for one, other in pairs]
        )
        made.append(matching)
    return made
