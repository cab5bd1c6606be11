"""Keys of records inside JSON columns and texts: where they are, and each of them as another number.

Every function takes a value as a row has it and returns it with all keys replaced by what `keys.of` makes of them: the
number of the record's line when an archive is written, its key in this database when one is restored. So one function
serves both ways. What is no key stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from django.db.models import Model

from assessor.campaigns.models import Answer
from assessor.labels.label_kind import label_kind, label_kinds
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from assessor.studies.models import Study


class Keys(Protocol):
    """What a reference becomes. row: the record that it stands in, its columns as an archive has them."""

    row: Mapping[str, Any]

    def of(self, model: type[Model], key: int) -> int:
        """Return what stands in the place of a key. Raises ValueError where there is no such record."""

    def told(self, model: type[Model], number: int) -> str:
        """Return what is remembered of a record, by the number of its line: see registry.Kept."""


Replace = Callable[[Any, Keys], Any]


def _of(model: type[Model], key: object, keys: Keys) -> int:
    if type(key) is not int:
        raise TypeError(f"{key!r} is no whole number")
    return keys.of(model, key)


def _of_text(model: type[Model], text: str, keys: Keys) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,18}", text):
        raise ValueError(f"{text!r} is no key")
    return str(keys.of(model, int(text)))


def write_result(value: dict[str, Any] | None, keys: Keys) -> dict[str, Any] | None:
    """What came of a write: other sheets that it changed, by "sheet"."""
    changed = dict(value or {})
    for kind in label_kinds():
        if (name := kind.sheets_in_results) in changed:
            changed[name] = [told | {"sheet": _of(kind.sheets, told["sheet"], keys)} for told in changed[name]]
    return changed or value


def unit_item(value: str, keys: Keys) -> str:
    """What a unit is about: nothing, a docid, or an answer's key, alone or before a colon."""
    if not job_kind_named(keys.told(Job, keys.row["job"])).items_are_of_answers:
        return value
    answer, colon, rest = value.partition(":")
    return _of_text(Answer, answer, keys) + colon + rest


def sampled_item(value: str, keys: Keys) -> str:
    """What was drawn for a study."""
    model = label_kind(keys.told(Study, keys.row["study"])).item_model()
    if model is None:
        return value
    key, blank, hashed = value.partition(" ")
    return _of_text(model, key, keys) + blank + hashed
