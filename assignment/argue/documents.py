"""What cited documents say, as models are shown it and files have it."""

from assessor.campaigns.passages import Passage


def document_text(passage: Passage | None) -> str:
    """Return a document with its title; "" where its text is not loaded."""
    if passage is None:
        return ""
    return f"Title: {passage.title}\n\nContent: {passage.text}" if passage.title else passage.text
