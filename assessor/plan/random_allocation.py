"""Who gets which topic under which condition, drawn by a seed: pure functions, without a database.

The same seed, topics, people and numbers give the same allocation, in whatever order they come.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """So many topics under a condition, by its name."""

    condition: str
    topics: int


class Allotted(NamedTuple):
    """A topic that is to be a person's under a condition."""

    topic: str
    condition: str
    person: str


class AllocationError(Exception):
    """Topics can't be allotted like that; the text says why."""


Bars = Callable[[str, str, str], bool]  # topic, condition, person: whether the person can't have it


def _nobody(topic: str, condition: str, person: str) -> bool:
    return False


def allot(
    seed: int, topics: Sequence[str], people: Sequence[str], shares: Sequence[Share], is_barred: Bars = _nobody
) -> list[Allotted]:
    """Allot topics to conditions and people at random. Raises AllocationError.

    Under each condition the people have as many topics, or one more than others; whoever has fewest in all comes first
    to have one more. is_barred: a topic goes to another person there, if need be by a swap.
    """
    wanted = sum(share.topics for share in shares)
    if not people:
        raise AllocationError("There is nobody to have the topics.")
    if wanted > len(topics):
        raise AllocationError(f"{wanted} topics are wanted, and there are {len(topics)}.")
    chance = random.Random(f"allot {seed}")  # noqa: S311  # a draw that can be repeated, no secret
    in_order = _shuffled(topics, chance)
    order = _shuffled(people, chance)
    in_all = Counter[str]()
    found, start = [], 0
    for share in sorted(shares, key=lambda one: one.condition.encode()):
        drawn = in_order[start : start + share.topics]
        start += share.topics
        given = _shared_out(drawn, _fewest_first(order, in_all), len(drawn), _under(share.condition, is_barred))
        _require_even(drawn, share.condition, given, people, is_barred)
        found += [Allotted(topic, share.condition, person) for topic, person in given.items()]
        in_all.update(given.values())
    return sorted(found, key=lambda one: (one.topic.encode(), one.condition.encode()))


def draw(seed: int, topics: Sequence[str], number: int) -> list[str]:
    """Draw so many topics; more of them, drawn with the same seed, begin with these. Raises AllocationError."""
    if not 1 <= number <= len(topics):
        raise AllocationError(f"{number} topics are wanted, and there are {len(topics)}.")
    chance = random.Random(f"draw {seed}")  # noqa: S311  # a draw that can be repeated, no secret
    return _shuffled(topics, chance)[:number]


def _shuffled(names: Sequence[str], chance: random.Random) -> list[str]:
    """Return names in an order that the seed alone decides."""
    found = sorted(names, key=str.encode)
    chance.shuffle(found)
    return found


def _under(condition: str, is_barred: Bars) -> Callable[[str, str], bool]:
    return lambda topic, person: is_barred(topic, condition, person)


def _fewest_first(order: Sequence[str], in_all: Mapping[str, int]) -> list[str]:
    return sorted(order, key=lambda person: in_all[person])  # sorted() keeps the drawn order of equals


def _shared_out(
    topics: Sequence[str], people: Sequence[str], number: int, is_barred: Callable[[str, str], bool]
) -> dict[str, str]:
    """Give so many of the topics to people, as evenly as can be; return whose each is. Fewer where no more can be had.

    Everybody gets one before anybody gets the next, in the order of people: so nobody goes short for whom any other
    way of sharing out would have had something.
    """
    has: dict[str, str] = {}
    before = -1
    while before < len(has) < number:
        before = len(has)
        for person in people:
            if len(has) < number:
                _give_one_more(person, topics, has, is_barred)
    return has


def _give_one_more(
    person: str, topics: Sequence[str], has: dict[str, str], is_barred: Callable[[str, str], bool]
) -> None:
    """Give a person a topic that nobody has; where they can have none of these, others move over, if they can."""
    gives_up: dict[str, tuple[str, str] | None] = {person: None}  # which topic for whom, by person
    reached = [person]
    for taker in reached:
        for topic in topics:
            if is_barred(topic, taker):
                continue
            holder = has.get(topic)
            if holder is None:
                has[topic] = taker
                while step := gives_up[taker]:
                    given_up, taker = step
                    has[given_up] = taker
                return
            if holder not in gives_up:
                gives_up[holder] = topic, taker
                reached.append(holder)


def _require_even(
    topics: Sequence[str], condition: str, given: Mapping[str, str], people: Sequence[str], is_barred: Bars
) -> None:
    """Raise AllocationError where not all topics are given, or some people have two more than others."""
    numbers = Counter(given.values())
    if len(given) == len(topics) and max(numbers[one] for one in people) - min(numbers[one] for one in people) <= 1:
        return
    for topic in topics:
        if all(is_barred(topic, condition, person) for person in people):
            raise AllocationError(
                f"Nobody can have {topic} under {condition}: all have seen too much of it, or don't read its "
                "languages. Choose more people, or another seed."
            )
    raise AllocationError(
        f"The topics drawn for {condition} can't be shared out so that all have as many: people have seen too much of "
        "some of them, or don't read their languages. Choose more people, or another seed."
    )


def second_readers(
    seed: int, first: Sequence[Allotted], people: Sequence[str], number: int, is_barred: Bars = _nobody
) -> list[Allotted]:
    """Draw so many of what is allotted and give it to a second person too, each to another one than the first.

    The people have as many, or one more than others, as far as whose the topics are allows it; whoever has fewest of
    the first comes first to have one more. Raises AllocationError.
    """
    if number > len(first):
        raise AllocationError(f"{number} topics for a second person are wanted, and there are {len(first)}.")
    if number and len(set(people)) < 2:
        raise AllocationError("A second person needs to be somebody else: there is only one.")
    chance = random.Random(f"second {seed}")  # noqa: S311  # a draw that can be repeated, no secret
    at = {one.topic: one for one in first}
    topics = _shuffled(list(at), chance)
    order = _fewest_first(_shuffled(people, chance), Counter(one.person for one in first))

    def is_no_second(topic: str, person: str) -> bool:
        return at[topic].person == person or is_barred(topic, at[topic].condition, person)

    given = _shared_out(topics, order, number, is_no_second)
    if len(given) < number:
        raise AllocationError(
            f"{number} topics for a second person are wanted, and only {len(given)} can have one: of the others "
            "everybody else has seen too much, or does not read their languages."
        )
    found = [Allotted(topic, at[topic].condition, person) for topic, person in given.items()]
    return sorted(found, key=lambda one: (one.topic.encode(), one.condition.encode()))
