"""How long reports may be, as tracks count it: in characters of NFKC, without blanks between sentences."""

import unicodedata
from collections.abc import Sequence

from assessor.campaigns.models import Protocol, Topic


def characters(text: str) -> int:
    """Return how many characters a text has."""
    return len(unicodedata.normalize("NFKC", text))


def report_limit(topic: Topic, protocol: Protocol) -> int:
    """Return how many characters of a report on a topic count: as the protocol says, or else the topic; 0 for all."""
    found = protocol.argue_max_chars or topic.extras.get("limit")
    if isinstance(found, str) and found.strip().isdecimal():
        return int(found)
    return found if type(found) is int and found > 0 else 0


def within_limit(texts: Sequence[str], limit: int) -> int:
    """Return how many sentences of a report end within the limit, 0 for none."""
    if not limit:
        return len(texts)
    left = limit
    for number, text in enumerate(texts):
        left -= characters(text)
        if left < 0:
            return number
    return len(texts)
