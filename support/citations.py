"""Which citations of an answer are judged, and what can be said of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from assessor.campaigns.models import Sentence

FULL, PARTIAL, NONE = LABELS = ("full", "partial", "none")
# What files have where a sentence was not worth verifying, and what an organizer may decide where a person could not
# judge: it counts nowhere, and is no label that a judge here gives.
NOT_JUDGED = "not judged"
EQUAL = "equal"  # what an event notes of one that got its label with an equal one: the key of that one's row


def key_of(sentence: int, citation: int) -> str:
    """Return how a sheet names a citation, by its place and its sentence's, each from 0."""
    return f"{sentence}.{citation}"


def places(key: str) -> tuple[int, int]:
    """Return the places of a key's sentence and citation."""
    sentence, _, citation = key.partition(".")
    return int(sentence), int(citation)


def judged_citations(sentences: Iterable[Sentence], most: int | None) -> dict[str, str]:
    """Return the citations of an answer that are judged, in its order: the docid of each, by its key.

    These are the first `most` of each sentence, without a number all. What a sentence cites more than once counts once,
    where it first does: a pair is a sentence and a docid.
    """
    found: dict[str, str] = {}
    for sentence in sentences:
        for docid, position in list(first_places(sentence).items())[:most]:
            found[key_of(sentence.position, position)] = docid
    return found


def name_of(key: str, docid: str) -> str:
    """Return what names a citation for ever, its sentence and what it cites: its key changes as further ones come."""
    return f"{places(key)[0]} {docid}"


def first_places(sentence: Sentence) -> dict[str, int]:
    """Return what a sentence cites, in its order, and where it first does: the docid's place, from 0."""
    docids: dict[str, int] = {}
    for citation in sentence.citations:
        docids.setdefault(citation.docid, citation.position)
    return docids


def pair(text: str, docid: str, version: str) -> tuple[str, str, str]:
    """Return what is the same of equal pairs: the sentence's text, its blanks folded, and the passage that it cites.

    version: which text of the docid it is, as own_versions() of assessor.campaigns.passages has it; "" the campaign's.
    """
    return " ".join(text.split()), docid, version


class Cited(NamedTuple):
    """What a judge of a citation is asked about: the sentence's text, and the docid that it cites."""

    sentence: str
    docid: str


def cited_in(sentences: Sequence[Sentence], keys: Iterable[str]) -> dict[str, Cited]:
    """Return what citations of an answer, whose sentences these are, are about, by their keys."""
    found = {key: places(key) for key in keys}
    return {
        key: Cited(sentences[sentence].text, sentences[sentence].citations[citation].docid)
        for key, (sentence, citation) in found.items()
    }
