"""Who wants to know that answers which came with labels got their sentences or citations: apps above register here."""

from collections.abc import Callable, Mapping, Sequence

from assessor.collection.models import Answer, Sentence

# The answers as they now are, each with its sentences before: one, where only its text was known.
Follower = Callable[[Mapping[Answer, Sequence[Sentence]]], None]
_followers: list[Follower] = []


def register(follower: Follower) -> None:
    """Have a function called, in the transaction that changes the answers; the texts are equal but for blanks.

    Where sentences were known before they are the same too, but for blanks, and cite what they did, and maybe more.
    """
    _followers.append(follower)


def tell(answers: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Call all who registered."""
    for follower in _followers:
        follower(answers)
