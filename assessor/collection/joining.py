"""Who wants to know that answers which came with labels got their sentences: apps above register what they do then."""

from collections.abc import Callable, Mapping

from assessor.collection.models import Answer

Follower = Callable[[Mapping[Answer, str]], None]  # the answers as they now are, each with its one text before
_followers: list[Follower] = []


def register(follower: Follower) -> None:
    """Have a function called, in the transaction that changes the answers; the texts are equal but for blanks."""
    _followers.append(follower)


def tell(texts: Mapping[Answer, str]) -> None:
    """Call all who registered."""
    for follower in _followers:
        follower(texts)
