"""What the screen reads: of a person's own pairs, and no other's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import prefetch_related_objects
from django.utils.translation import gettext_noop

from assessor.formats.values import to_json
from assessor.labels.queries import numbers_of
from assessor.preference.models import PreferencePair
from assessor.preference.queries import own_pairs
from assessor.preference.verdicts import FIRST, SECOND, TIE, of_answers
from assessor.work.models import Task

MEANINGS = {
    FIRST: gettext_noop("Answer 1 is better"),
    SECOND: gettext_noop("Answer 2 is better"),
    TIE: gettext_noop("Neither is better"),
}  # of what is shown


class Queued(NamedTuple):
    """A pair in a person's queue, as those of any screen. number: what it is called, from 1, wherever it stands."""

    sheet: int
    number: int
    to_do: int
    version: int
    put_off: int


def queue(task: Task) -> list[Queued]:
    """Return a person's queue."""
    pairs = list(own_pairs(task))
    numbers = numbers_of((pair.position, pair.pk) for pair in pairs)
    return [Queued(pair.pk, numbers[pair.pk], pair.to_do, pair.version, pair.put_off) for pair in pairs]


class Shown(NamedTuple):
    """A pair as the screen shows it: both texts in the order that was drawn; said, under: as JSON, for the browser.

    under: by which version of the guidelines it was said, once it can only be read.
    """

    pair: PreferencePair
    texts: list[str]
    said: str
    under: str


def shown(pairs: Sequence[PreferencePair], task: Task) -> list[Shown]:
    """Return pairs of a person's as the screen shows them. No run is read."""
    prefetch_related_objects(pairs, "first", "second")
    is_over = task.state != Task.State.OPEN
    return [
        Shown(
            pair,
            [answer.text for answer in pair.as_shown],
            to_json(said(pair)),
            to_json({pair.item: pair.guidelines_version} if is_over and pair.guidelines_version else {}),
        )
        for pair in pairs
    ]


def at_hand(task: Task, keys: Sequence[int]) -> list[PreferencePair]:
    """Return pairs of a person's, in this order."""
    found = own_pairs(task).in_bulk(keys)
    return [found[pk] for pk in keys]


def said(pair: PreferencePair) -> dict[str, Any]:
    """Return what stands of a pair, in terms of what is shown."""
    labels = {
        item: of_answers(value, second_stood_first=pair.second_stood_first) for item, value in pair.labels.items()
    }
    return {"open": [pair.item], "labels": labels, "cannot": pair.cannot, "flags": pair.flags}
