"""The kinds of label that studies are about. Each app registers its own, so that studies need not know it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from django.db.models import QuerySet

from assessor.collection.models import Condition, Topic
from assessor.studies.models import Drawn

Key = tuple[int, str]  # of an answer, and what a sheet calls one of its items now


class Told(NamedTuple):
    """What a drawn item is about, for organizers. place: where in the answer; docid: what is cited, if anything is."""

    place: str
    text: str
    docid: str
    passage: str


class Kind(Protocol):
    """A kind of label: which ones there are, where they stand, and who can be asked for more."""

    condition_kind: str  # of Condition.Kind
    labels: Sequence[str]  # in ascending order
    items: str  # what is drawn: "citations"
    job: str  # the kind of job that asks a model
    peoples_method: str  # of Condition.Method: how a person labels them blind

    def labels_on(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[Key, str]:
        """Return what stands on topics under a condition, of the systems' own answers; nothing but these labels."""

    def names(self, keys: Collection[Key]) -> Mapping[Key, str]:
        """Return what is to be stored for items: names that hold whatever files are imported later."""

    def labels_of(self, drawn: Mapping[int, Collection[Drawn]]) -> Mapping[int, Mapping[int, str]]:
        """Return the labels of drawn items under conditions, by the condition's key and the item's.

        drawn: by condition's key. Items without a label are left out.
        """

    def sheets_on(self, topic: Topic) -> QuerySet[Any]:
        """Return all sheets of answers to a topic, under whatever condition, but for what follows from a rule alone."""

    def told(self, drawn: Sequence[Drawn]) -> Mapping[int, Told]:
        """Return what items, each read with its answer, are about, by the item's key."""


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known."""
    _kinds[kind.condition_kind] = kind


def kind_named(name: str) -> Kind:
    """Return the kind of such conditions. Raises KeyError for one that no app registered."""
    return _kinds[name]


def names() -> list[str]:
    """Return the kinds of condition of which there can be studies."""
    return sorted(_kinds)
