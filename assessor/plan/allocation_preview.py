"""What the page of random allocation reads and proposes; nothing is written here."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.labels.manual_setups import FIRST, SECOND
from assessor.labels.models import ManualSetup
from assessor.plan.actions.allotments import Allotment
from assessor.plan.forms import peoples_conditions
from assessor.plan.models import Planned
from assessor.plan.random_allocation import Share, allot, second_readers
from assessor.work.blindness import spoiled
from assessor.work.languages import foreign_languages, unread_languages
from assessor.work.models import Task, Waiting


class Wished(NamedTuple):
    """What an organizer wishes: so many topics under each nugget condition, and what follows on all of them."""

    shares: Sequence[tuple[Condition, int]]
    people: Sequence[Person]
    support: Condition | None
    rule: str
    second: Condition | None
    overlap: int
    seed: int

    def told(self) -> dict[str, Any]:
        """Return what makes the draw the one it was, for the history."""
        return {
            "seed": self.seed,
            "shares": {condition.name: topics for condition, topics in self.shares},
            "people": [person.username for person in self.people],
            "runs": self.rule,
            "support": self.support.name if self.support else "",
            "second opinion": self.second.name if self.second else "",
            "overlap": self.overlap,
        }


class Proposal(NamedTuple):
    """What was drawn: all work that follows, and how many topics each person has, by condition's name."""

    allotments: list[Allotment]
    counts: list[tuple[str, list[tuple[str, int]]]]

    @property
    def digest(self) -> str:
        """What was drawn, in short: the same for whoever is shown the same."""
        shown = [(one.condition.pk, one.topic.pk, one.person.pk, one.rule) for one in self.allotments]
        return sha256(repr(shown).encode()).hexdigest()

    def rows(self) -> list[tuple[Allotment, str]]:
        """Return each piece of work with what it will wait for, "" where it can be given at once."""
        waits: dict[int, dict[int, str]] = {}
        for condition in {one.condition.pk: one.condition for one in self.allotments}.values():
            topics = [one.topic for one in self.allotments if one.condition.pk == condition.pk]
            waits[condition.pk] = kind_of(condition).refusals(condition, topics)
        return [(one, waits[one.condition.pk].get(one.topic.pk, "")) for one in self.allotments]


def free_topics(campaign: Campaign) -> list[Topic]:
    """Return the topics of which nothing is planned for people yet, none for practice."""
    busy = {
        *Task.objects.filter(campaign=campaign).exclude(state=Task.State.WITHDRAWN).values_list("topic", flat=True),
        *Waiting.objects.filter(condition__campaign=campaign).values_list("topic", flat=True),
        *Planned.objects.filter(condition__campaign=campaign).values_list("topic", flat=True),
    }
    return [topic for topic in campaign.topics.filter(is_practice=False).order_by("qid") if topic.pk not in busy]


def assigned_on(nuggets: Condition) -> Condition | None:
    """Return the condition under which people first assign the nuggets of another one; None where there is none."""
    first = ManualSetup.objects.filter(purpose=FIRST, condition__nuggets=nuggets, condition__sample="")
    setup = first.select_related("condition__campaign").order_by("pk").first()
    return setup.condition if setup else None


def seconds(campaign: Campaign) -> Any:
    """Return the conditions under which a second person labels."""
    return peoples_conditions(campaign).filter(manual_setup__purpose=SECOND)


def propose(campaign: Campaign, wished: Wished) -> Proposal:
    """Draw who gets what. Raises AllocationError."""
    topics = {topic.qid: topic for topic in free_topics(campaign)}
    people = {person.username: person for person in wished.people}
    conditions = {condition.name: condition for condition, _ in wished.shares}
    barred = _barred(
        campaign, list(topics.values()), [*conditions.values(), *([wished.second] if wished.second else [])], people
    )

    def is_barred(topic: str, condition: str, person: str) -> bool:
        return (topic, condition, person) in barred

    shares = [Share(condition.name, number) for condition, number in wished.shares]
    drawn = allot(wished.seed, list(topics), list(people), shares, is_barred)
    found = []
    assigned = {condition.name: assigned_on(condition) for condition, _ in wished.shares}
    for one in drawn:
        nuggets, topic, person = conditions[one.condition], topics[one.topic], people[one.person]
        found.append(Allotment(nuggets, topic, person, ""))
        found += [
            Allotment(condition, topic, person, wished.rule)
            for condition in (assigned[nuggets.name], wished.support)
            if condition
        ]
    if wished.second and wished.overlap:
        of = wished.second.nuggets
        first = [one for one in drawn if of is None or conditions[one.condition] == of]
        second = wished.second
        again = second_readers(
            wished.seed,
            first,
            list(people),
            wished.overlap,
            lambda topic, _, person: is_barred(topic, second.name, person),
        )
        found += [Allotment(second, topics[one.topic], people[one.person], "") for one in again]
    return Proposal(found, _counts(found))


def _barred(
    campaign: Campaign, topics: Sequence[Topic], conditions: Sequence[Condition], people: dict[str, Person]
) -> set[tuple[str, str, str]]:
    """Return (topic, condition, person) where a person has seen too much there, or can't read all of it."""
    qids = {topic.pk: topic.qid for topic in topics}
    foreign = foreign_languages(list(people.values()), campaign)
    barred = set()
    for condition in conditions:
        unread = unread_languages(foreign, topics, condition)
        for name, person in people.items():
            out = {*spoiled(person, topics, condition), *unread.get(person.pk, ())}
            barred |= {(qids[topic], condition.name, name) for topic in out}
    return barred


def _counts(found: Sequence[Allotment]) -> list[tuple[str, list[tuple[str, int]]]]:
    of: dict[str, Counter[str]] = {}
    for one in found:
        of.setdefault(one.condition.name, Counter())[one.person.username] += 1
    return [(condition, sorted(counts.items())) for condition, counts in of.items()]
