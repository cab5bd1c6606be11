"""Who wants to know that files change loaded answers, or the texts behind their citations: apps above register here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from assessor.collection.models import Answer, Run, Sentence

# The answers as they now are, each with its sentences before: one, where only its text was known.
Follower = Callable[[Mapping[Answer, Sequence[Sentence]]], None]
_followers: list[Follower] = []


class TextFollower(NamedTuple):
    """What an app has judged by the segments that a run cites, by docid, and what it does once own texts replace them.

    Both are given the run and the docids. The latter raises JudgedBySegments.
    """

    judged: Callable[[Run, Collection[str]], Collection[str]]
    replaced: Callable[[Run, Collection[str]], None]


_text_followers: list[TextFollower] = []


class JudgedBySegments(Exception):
    """Citations of a run were judged while texts of its own were imported for them."""


def register(follower: Follower) -> None:
    """Have a function called, in the transaction that changes the answers; the texts are equal but for blanks.

    Where sentences were known before they are the same too, but for blanks, and cite what they did, and maybe more.
    """
    _followers.append(follower)


def tell(answers: Mapping[Answer, Sequence[Sentence]]) -> None:
    """Call all who registered."""
    for follower in _followers:
        follower(answers)


def follow_texts(follower: TextFollower) -> None:
    """Have an app asked before a loaded run gets texts of its own in the place of segments, and told when it does."""
    _text_followers.append(follower)


def judged_by_segments(run: Run, docids: Collection[str]) -> set[str]:
    """Return those of the docids of which citations of the run were judged here."""
    return {docid for follower in _text_followers for docid in follower.judged(run, docids)}


def tell_replaced(run: Run, docids: Collection[str]) -> None:
    """Tell all who follow, in the transaction that makes the texts visible. Raises JudgedBySegments."""
    for follower in _text_followers:
        follower.replaced(run, docids)
