"""What cited documents say, as models are shown it and files have it."""

from assessor.campaigns.passages import Passage


def document_text(passage: Passage) -> str:
    """Return a document with its title, if it has one."""
    return f"Title: {passage.title}\n\nContent: {passage.text}" if passage.title else passage.text
