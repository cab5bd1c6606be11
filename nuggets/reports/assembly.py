"""How documents are read, and how a report is put together from what was found: pure functions on plain values.

The steps are Crucible's (Dietz et al., arXiv 2601.13222).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.report_length import characters
from assessor.formats.stems import stems

CHUNK = 1_000  # characters of a document that are read at once
# The marks that end a sentence where blanks follow; of Chinese and Japanese, which write none, at once.
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")  # noqa: RUF001


class Found(NamedTuple):
    """What a chunk of a document says to a question.

    question: its id; place: of the document, from 0, and part: of the chunk in it; extracted: as the document has it,
    blanks folded; condensed: in a sentence of its own; confidence: 0 to 10.
    """

    question: str
    docid: str
    place: int
    part: int
    extracted: str
    condensed: str
    confidence: int


class ReportSentence(NamedTuple):
    """A sentence of a report, and what it rests on."""

    text: str
    found: Found


def as_question(text: str, *, is_fact: bool) -> str:
    """Return what documents are read for: a question of a bank, or whether a fact is stated."""
    return f"Is it stated that {text.rstrip('. ')}?" if is_fact else text


def fold(text: str) -> str:
    """Return a text with each run of blanks as one."""
    return " ".join(text.split())


def chunks(text: str) -> list[str]:
    """Return a text in parts of at most CHUNK characters, blanks folded, cut where a sentence ends if one does."""
    found: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        for piece in _pieces(fold(sentence)):
            if found and len(found[-1]) + 1 + len(piece) <= CHUNK:
                found[-1] += f" {piece}"
            else:
                found.append(piece)
    return found


def _pieces(sentence: str) -> Iterable[str]:
    """Yield a sentence in pieces of at most CHUNK characters, each cut at a blank if it can be."""
    while len(sentence) > CHUNK:
        cut = sentence.rfind(" ", 1, CHUNK + 1)
        cut = CHUNK if cut < 0 else cut
        yield sentence[:cut]
        sentence = sentence[cut:].lstrip()
    if sentence:
        yield sentence


def is_verbatim(extracted: str, chunk: str) -> bool:
    """Say whether a text stands so in a chunk, whatever the blanks."""
    return fold(extracted) in fold(chunk)


def by_confidence(found: Iterable[Found]) -> list[Found]:
    """Return what was found for a question, the most confident first, and of equal ones those of the first document."""
    return sorted(found, key=lambda one: (-one.confidence, one.place, one.part))


def assemble(
    questions: Sequence[str],
    found: Mapping[str, Sequence[Found]],
    *,
    per_question: int,
    limit: int,
    is_extractive: bool,
) -> list[ReportSentence]:
    """Return the sentences of a report.

    questions: by their ids, in the order of the bank; found: by question. Of each question the most confident
    sentences come in, of equal ones those of the first document; none that has the same stems as one before; and none
    from the first on that would make the report longer than the limit, in characters; 0 for none.
    """
    report: list[ReportSentence] = []
    said: set[frozenset[str]] = set()
    length = 0
    for question in questions:
        for one in by_confidence(found.get(question, ()))[:per_question]:
            text = one.extracted if is_extractive else one.condensed
            words = stems(text)
            if words in said:
                continue
            length += characters(text)
            if limit and length > limit:
                return report
            said.add(words)
            report.append(ReportSentence(text, one))
    return report
