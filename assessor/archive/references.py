"""Keys of records inside JSON columns and texts: where they are, and each of them as another number.

Every function takes a value as a row has it and returns it with all keys replaced by what `keys.of` makes of them: the
number of the record's line when an archive is written, its key in this database when one is restored. So one function
serves both ways. What is no key stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from django.db.models import Model

from assessor.collection.models import Answer, Topic
from assessor.labels.label_kind import label_kind
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from assessor.studies.models import Study
from assessor.work.models import Task
from assignment.models import AnswerSheet
from nuggets.models import Nugget, NuggetBank
from support.models import SupportSheet


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


def nuggets(value: list[int] | None, keys: Keys) -> list[int] | None:
    """A list of nuggets' keys, or none."""
    return None if value is None else [_of(Nugget, key, keys) for key in value]


def by_nugget(value: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """What is said of nuggets, by key."""
    return {_of_text(Nugget, key, keys): said for key, said in value.items()}


def by_kind_of_change(value: dict[str, list[int]], keys: Keys) -> dict[str, Any]:
    """Lists of nuggets' keys, by what becomes of labels: the consequences of an edition."""
    return {name: nuggets(some, keys) for name, some in value.items()}


def snapshot(value: list[dict[str, Any]], keys: Keys) -> list[dict[str, Any]]:
    """The nuggets of an edition, each with its key as "id"."""
    return [nugget | {"id": _of(Nugget, nugget["id"], keys)} for nugget in value]


def bank_changes(value: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """What an edit of a bank changed: the order before and after, fields by nugget; else texts of one's own."""
    changed = dict(value)
    if "order" in changed:
        changed["order"] = [nuggets(some, keys) for some in changed["order"]]
    if "nuggets" in changed:
        changed["nuggets"] = by_nugget(changed["nuggets"], keys)
    return changed


def write_result(value: dict[str, Any] | None, keys: Keys) -> dict[str, Any] | None:
    """What came of a write: the sheets on which equal citations got a label with one, by "sheet"."""
    if not value or "equal" not in value:
        return value
    return value | {"equal": [told | {"sheet": _of(SupportSheet, told["sheet"], keys)} for told in value["equal"]]}


def result_topics(value: dict[str, Any] | None, keys: Keys) -> dict[str, Any] | None:
    """A comparison's result: the topics that the campaign has, by "pk"."""
    if value is None or "topics" not in value:
        return value

    def told(row: dict[str, Any]) -> dict[str, Any]:
        return row if row["pk"] is None else row | {"pk": _of(Topic, row["pk"], keys)}

    return value | {"topics": [told(row) for row in value["topics"]]}


def unit_item(value: str, keys: Keys) -> str:
    """What a unit is about: nothing, a docid, or an answer's key, alone or before a colon."""
    if not job_kind_named(keys.told(Job, keys.row["job"])).items_are_of_answers:
        return value
    answer, colon, rest = value.partition(":")
    return _of_text(Answer, answer, keys) + colon + rest


def drawn_item(value: str, keys: Keys) -> str:
    """What was drawn for a study."""
    model = label_kind(keys.told(Study, keys.row["study"])).item_model()
    if model is None:
        return value
    key, blank, hashed = value.partition(" ")
    return _of_text(model, key, keys) + blank + hashed


def reply_sheet(value: int | None, keys: Keys) -> int | None:
    """The sheet that a reply is about."""
    return None if value is None else _of(label_kind(keys.told(Task, keys.row["task"])).sheets, value, keys)


def reply_item(value: str, keys: Keys) -> str:
    """What of a sheet a reply is about."""
    if keys.row["sheet"] is None:
        return value
    model = label_kind(keys.told(Task, keys.row["task"])).item_model()
    return value if model is None else _of_text(model, value, keys)


_JOB = re.compile(r"(\S+) ([1-9][0-9]{0,18})(: .*)", re.DOTALL)
_OF_JOBS = ("job ", "failed units retried", "budget changed")


def event_subject(value: str, keys: Keys) -> str:
    """What an event of the history is about, as it was called; a job by its number."""
    if keys.row["verb"].startswith(_OF_JOBS) and (job := _JOB.fullmatch(value)):
        return f"{job[1]} {_of_text(Job, job[2], keys)}{job[3]}"
    return value


def event_details(value: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """What an event of the history tells: of a bank, a nugget, or a sheet by which a label was settled."""
    verb, told = keys.row["verb"], dict(value)
    if verb in ("bank finished", "bank reopened"):
        told["bank"] = _of(NuggetBank, told["bank"], keys)
        if "consequences" in told:
            told["consequences"] = by_kind_of_change(told["consequences"], keys)
    elif verb in ("nugget left out", "nugget taken back"):
        told["nugget"] = _of(Nugget, told["nugget"], keys)
    elif verb in ("label adopted", "label decided") or (verb == "question answered" and told["sheet"] is not None):
        if "." in told["item"]:  # a citation's key
            told["sheet"] = _of(SupportSheet, told["sheet"], keys)
        else:
            told["sheet"] = _of(AnswerSheet, told["sheet"], keys)
            told["item"] = _of_text(Nugget, told["item"], keys)
    return told
