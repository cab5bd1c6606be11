"""Who wants to know that a bank was finished again: apps above register, so that nuggets need not know them."""

from collections.abc import Callable

from nuggets.models import NuggetBank

Follower = Callable[[NuggetBank], None]
_followers: list[Follower] = []


def register(follower: Follower) -> None:
    """Have a function called, in the transaction that finishes a bank, once its new edition is there."""
    _followers.append(follower)


def tell(bank: NuggetBank) -> None:
    """Call all who registered."""
    for follower in _followers:
        follower(bank)
