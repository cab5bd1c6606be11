"""Which answers of a topic are compared: pure functions on places in the order of run tags."""

from math import gcd

OTHERS = 4  # with how many each answer is compared, from its own place on


def pairs(answers: int, others: int = OTHERS) -> list[tuple[int, int]]:
    """Return which of so many answers are compared, by their places, each pair once, in the order in which it is asked.

    Each answer is compared with every stride-th of those that follow it in a circle, the stride such that these are
    spread over all; what begins them differs from answer to answer. A pair that is there already is left out. This is
    how PrefNugget chooses pairs. The first of a pair is the one whose turn it was.
    """
    found: dict[frozenset[int], tuple[int, int]] = {}
    for place in range(answers):
        circle = [*range(place + 1, answers), *range(place)]
        stride = max(1, len(circle) // others)
        for other in circle[place % gcd(stride, len(circle)) :: stride][:others] if circle else ():
            found.setdefault(frozenset((place, other)), (place, other))
    return list(found.values())
