"""Which answers are compared, and what jobs and pages read of pairs."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.campaigns.queries import answers_to, byte_order
from assessor.preference.models import PreferencePair
from assessor.preference.pairs import pairs
from assessor.preference.verdicts import SECOND, TIE, by_rule
from assessor.work.judging_pool import NONE, judged_under
from assessor.work.models import Scope, Task

GIVEN = Q(state=PreferencePair.State.GIVEN)
OPEN = Q(state=PreferencePair.State.OPEN)
LACKING = ~GIVEN & Q(resolved_value__isnull=True)  # of which it is not known which answer is better


def in_scope(pairs: QuerySet[PreferencePair]) -> QuerySet[PreferencePair]:
    """Return those of the pairs that are compared still: neither run was dropped from their condition."""
    later = Scope.objects.filter(condition=OuterRef("condition"), run=OuterRef("run"), pk__gt=OuterRef("pk"))
    of_pair = Q(run=OuterRef("first__run")) | Q(run=OuterRef("second__run"))
    drops = Scope.objects.filter(of_pair, ~Exists(later), condition=OuterRef("condition"), rule=NONE)
    return pairs.filter(~Exists(drops))


_FURTHER_KEYS = ("background", "problem_statement")  # of topics' files, as requests have them


def background(topic: Topic) -> str:
    """Return what a topic's file says of what is asked besides its title."""
    told = (str(topic.extras.get(name) or "") for name in _FURTHER_KEYS)
    return " ".join(filter(None, told))


class NewPair(NamedTuple):
    """A pair that a condition lacks. first, second: answers' keys, by the bytes of their runs' tags.

    value: what follows by a rule; None where somebody is to be asked. characters: of both texts.
    """

    topic: int
    first: int
    second: int
    second_stood_first: bool
    value: str | None
    characters: int


def compared_answers(condition: Condition, topics: Sequence[Topic]) -> dict[int, list[int]]:
    """Return the answers that are compared, by topic's key: by the bytes of their runs' tags.

    They are systems' own answers; those of runs that were dropped take no part. The condition may not be saved yet.
    """
    judged = judged_under(condition)
    found: dict[int, list[int]] = defaultdict(list)
    rows = answers_to(topics).order_by("topic", byte_order("run__tag")).values_list("topic", "run", "pk")
    for topic, run, answer in rows:
        if judged.holds(topic, run):
            found[topic].append(answer)
    return found


def new_pairs(condition: Condition, topics: Sequence[Topic]) -> Iterator[NewPair]:
    """Yield the pairs of topics that a condition does not have yet, in the order in which they are asked.

    Texts are read a topic at a time.
    """
    known: set[frozenset[int]] = set()
    if condition.pk:
        own = PreferencePair.everything.filter(condition=condition, topic__in=topics).order_by()
        known = {frozenset(keys) for keys in own.values_list("first", "second")}
    compared = compared_answers(condition, topics)
    for topic in topics:
        answers = compared.get(topic.pk, [])
        lacking = [
            (one, other) for one, other in pairs(len(answers)) if frozenset((answers[one], answers[other])) not in known
        ]
        texts = {}
        if lacking:
            texts = {one.pk: one.text for one in Answer.objects.filter(pk__in=answers).only("content").order_by()}
        for one, other in lacking:
            first, second = (answers[place] for place in sorted((one, other)))
            characters = len(texts[first]) + len(texts[second])
            value = by_rule(texts[first], texts[second])
            yield NewPair(topic.pk, first, second, one > other, value, characters)


def open_pairs(condition: Condition, topics: Sequence[Topic]) -> QuerySet[PreferencePair]:
    """Return the pairs of which a model has still to say something, topic by topic in their order.

    The texts of both answers are to be there, and their runs to be compared still.
    """
    found = in_scope(PreferencePair.objects.filter(OPEN, condition=condition, topic__in=topics))
    return found.order_by("topic", "position")


def asked_pairs(condition: Condition, topic: Topic) -> QuerySet[PreferencePair]:
    """Return the pairs of a topic that people are asked about, whoever has them.

    None follows from a rule, and both answers are judged still.
    """
    return in_scope(PreferencePair.objects.filter(condition=condition, topic=topic, by_rule=False))


def own_pairs(task: Task) -> QuerySet[PreferencePair]:
    """Return what a person has to compare or has compared, in the order of their queue: what is put off comes last."""
    return asked_pairs(task.condition, task.topic).filter(task=task).order_by("put_off", "position")


def pairs_of(task: Task) -> QuerySet[PreferencePair]:
    """Return all pairs of a task with their runs, for organizers, in the order in which they were shuffled."""
    pairs = PreferencePair.objects.filter(task=task).select_related("first__run", "second__run")
    return pairs.order_by("position")


def counted_pairs(condition: Condition) -> Mapping[int, tuple[int, int]]:
    """Count the pairs of a condition and those that are done, by topic's key; none where it is not saved yet."""
    if not condition.pk:
        return {}
    own = PreferencePair.objects.filter(condition=condition).order_by().values_list("topic")
    return {topic: (every, done) for topic, every, done in own.annotate(Count("pk"), done=Count("pk", filter=~OPEN))}


class CountedPreference(NamedTuple):
    """A preference that counts. better, worse: of the two runs' tags and the keys of their answers, in any order of a
    tie.
    """

    topic: int
    better: tuple[str, int]
    worse: tuple[str, int]
    is_tie: bool


def counted_preferences(condition: Condition, topics: Sequence[Topic]) -> Iterator[CountedPreference]:
    """Yield the preferences that count in the order in which they were asked; none of runs that were dropped."""
    judged = judged_under(condition)
    own = PreferencePair.objects.filter(condition=condition, topic__in=topics).exclude(LACKING)
    of_answers = [f"{place}__{name}" for place in ("first", "second") for name in ("run", "run__tag", "pk")]
    rows = own.order_by("topic", "position").values_list("topic", "state", "value", "resolved_value", *of_answers)
    for topic, state, value, resolved, *answers in rows.iterator(chunk_size=2_000):
        runs, first, second = (answers[0], answers[3]), tuple(answers[1:3]), tuple(answers[4:])
        if all(judged.holds(topic, run) for run in runs):
            preference = value if state == PreferencePair.State.GIVEN else resolved
            pair = (second, first) if preference == SECOND else (first, second)
            yield CountedPreference(topic, *pair, preference == TIE)


def pair_names(places: Collection[tuple[int, int]], condition: Condition) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the tags of the two runs of pairs, by topic's key and position."""
    topics = {topic for topic, _ in places}
    own = PreferencePair.objects.filter(condition=condition, topic__in=topics)
    rows = own.values_list("topic", "position", "first__run__tag", "second__run__tag").order_by()
    return {
        (topic, position): (first, second) for topic, position, first, second in rows if (topic, position) in places
    }
