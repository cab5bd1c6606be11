"""What studies draw: what each kind of label that can be studied has to say."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import condition_kinds, kind_named
from assessor.campaigns.models import Condition, Topic
from assessor.studies.models import SampledItem

Key = tuple[int, str]  # of an answer, and what a sheet calls one of its items now


class Told(NamedTuple):
    """What a drawn item is about, for organizers. place: where in the answer; docid: what is cited, if anything is."""

    place: str
    text: str
    docid: str
    passage: str


class Sampling(Protocol):
    """Which labels of a kind there are, and where they stand."""

    heading: str  # of a table's column with the texts of items
    is_asked_one_by_one: bool = False  # else a model is asked about all of an answer at once

    def labels_on(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[Key, str]:
        """Return what stands on topics under a condition, of the systems' own answers; nothing but these labels."""

    def names(self, keys: Collection[Key]) -> Mapping[Key, str]:
        """Return what is to be stored for items: names that hold whatever files are imported later."""

    def key_of(self, item: Any) -> str:
        """Return what sheets call an item, by its key as arrays of labels have it."""
        return str(item)

    def drawn_by(self, name: str) -> str:
        """Return what of a stored name decides the draw: in all databases the same for the same files."""
        return name

    def nugget_of(self, name: str) -> str | None:
        """Return the uid of the nugget that a stored name is of; None where it is of something else."""
        return None

    def labels_of(self, drawn: Mapping[int, Collection[SampledItem]]) -> Mapping[int, Mapping[int, str]]:
        """Return the labels of drawn items under conditions, by the condition's key and the item's.

        drawn: by condition's key. Items without a label are left out.
        """

    def sheets_on(self, topic: Topic) -> QuerySet[Any]:
        """Return all sheets of answers to a topic, under whatever condition, but for what follows from a rule alone."""

    def told(self, drawn: Sequence[SampledItem]) -> Mapping[int, Told]:
        """Return what items, each read with its answer, are about, by the item's key."""


def sampling_of(name: str) -> Sampling:
    """Return what is drawn of labels of a kind. Raises KeyError for a kind of which there are no studies."""
    found = kind_named(name).sampling()
    if found is None:
        raise KeyError(name)
    return found


def sampled_kinds() -> list[str]:
    """Return the names of the kinds of label of which there can be studies."""
    return [kind.name for kind in condition_kinds() if kind.sampling()]
