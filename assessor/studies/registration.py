"""The document of a registered study: its form, its canonical text, its hash. No database."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

FORMAT = "assay-registration-1"
TEXTS, LISTS = ("title", "sample", "stopping_rule"), ("hypotheses", "conditions", "measures")
MAX_TEXT = 100_000  # characters of a document
_MAX_TITLE = 200

Document = dict[str, Any]


class RegistrationError(Exception):
    """There can be no such registration; the text says why."""


def read_document(fields: Mapping[str, Any], campaign: str) -> Document:
    """Return the document of what was filled in or came in a file. campaign: its short name.

    Blanks at ends of lines and texts are dropped and letters composed (NFC), so that no hash depends on how a text was
    typed. Raises RegistrationError.
    """
    if odd := sorted(set(fields) - {*TEXTS, *LISTS}):
        raise RegistrationError(f"{odd[0]} is no part of a registration. These are: {', '.join((*TEXTS, *LISTS))}.")
    texts = {name: _text(fields.get(name), name) for name in TEXTS}
    lists = {name: _texts(fields.get(name), name) for name in LISTS}
    if len(texts["title"]) > _MAX_TITLE:
        raise RegistrationError(f"The title has more than {_MAX_TITLE} characters.")
    document = {"format": FORMAT, "campaign": campaign, **texts, **lists}
    if len(canonical_text(document)) > MAX_TEXT:
        raise RegistrationError(f"A registration has at most {MAX_TEXT:,} characters.")
    return document


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise RegistrationError(f"{name} must be a list of texts, with at least one.")
    found = [_text(one, name) for one in value]
    if len(set(found)) < len(found):
        raise RegistrationError(f"{name} has the same text twice.")
    return found


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise RegistrationError(f"{name} must be a text.")
    text = "\n".join(line.rstrip() for line in unicodedata.normalize("NFC", value).splitlines()).strip()
    if not text:
        raise RegistrationError(f"{name} is empty.")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise RegistrationError(f"{name} has characters that are no text.")
    return text


def canonical_text(document: Document) -> str:
    """Return a document as JSON with sorted keys, no blanks between them, in UTF-8 and with a line break at its end."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def hash_of(document: Document) -> str:
    """Return the SHA-256 of the canonical text, as sha256sum has it of the file."""
    return sha256(canonical_text(document).encode()).hexdigest()
