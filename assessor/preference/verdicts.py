"""What verdicts on two answers come to: pure functions."""

from collections.abc import Sequence

FIRST, SECOND, TIE = "1", "2", "0"
_OTHER = {FIRST: SECOND, SECOND: FIRST, TIE: TIE}


def verdicts(*, ties: bool) -> tuple[str, ...]:
    """Return what can be said of two answers."""
    return (FIRST, SECOND, TIE) if ties else (FIRST, SECOND)


def of_answers(verdict: str, *, second_stood_first: bool) -> str:
    """Return a verdict in terms of the pair, given in terms of what was shown; or the other way round."""
    return _OTHER[verdict] if second_stood_first else verdict


def preference(given: Sequence[str | None], *, second_stood_first: bool) -> str:
    """Return what verdicts come to: the order of the first, then the other way round if that was asked too.

    Two that disagree are a tie. given: in terms of what was shown, at least the first given.
    """
    found = {
        of_answers(verdict, second_stood_first=second_stood_first != bool(order))
        for order, verdict in enumerate(given)
        if verdict is not None
    }
    return found.pop() if len(found) == 1 else TIE


def by_rule(first: str, second: str) -> str | None:
    """Return what follows from two texts without asking: an empty one loses, equal ones tie; else None."""
    texts = first.split(), second.split()
    if texts[0] == texts[1]:
        return TIE
    return None if all(texts) else FIRST if texts[0] else SECOND
