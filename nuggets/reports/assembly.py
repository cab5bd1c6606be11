"""How documents are read, and how a report is put together from what was found: pure functions on plain values.

The steps are Crucible's (Dietz et al., arXiv 2601.13222).
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.llm.rehearsal.word_overlap import stems

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


def fold(text: str) -> str:
    """Return a text with each run of blanks as one."""
    return " ".join(text.split())


def measure(text: str) -> int:
    """Return the length of a text as length limits count it: in code points of NFKC."""
    return len(unicodedata.normalize("NFKC", text))


def report_limit(topic: Mapping[str, Any], set_limit: int) -> int | None:
    """Return how many characters a report may have: as is set, or else as the topic's further keys say; or None."""
    limit = set_limit or topic.get("limit")
    return limit if isinstance(limit, int) and limit > 0 else None


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


def assemble(
    questions: Sequence[str],
    found: Mapping[str, Sequence[Found]],
    *,
    per_question: int,
    limit: int | None,
    is_extractive: bool,
) -> list[ReportSentence]:
    """Return the sentences of a report.

    questions: by their ids, in the order of the bank; found: by question. Of each question the most confident
    sentences come in, of equal ones those of the first document; none that has the same stems as one before; and none
    from the first on that would make the report longer than the limit, in characters.
    """
    report: list[ReportSentence] = []
    said: set[frozenset[str]] = set()
    length = -1  # no blank before the first one
    for question in questions:
        of_question = sorted(found.get(question, ()), key=lambda one: (-one.confidence, one.place, one.part))
        for one in of_question[:per_question]:
            text = one.extracted if is_extractive else one.condensed
            words = stems(text)
            if words in said:
                continue
            if limit is not None and length + 1 + measure(text) > limit:
                return report
            said.add(words)
            length += 1 + measure(text)
            report.append(ReportSentence(text, one))
    return report
