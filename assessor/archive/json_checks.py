"""What JSON columns and names of kinds say, in the shapes that pages and scores take for granted.

Whoever writes a label checks it, so whoever reads one does not: what an archive brings must be as if it was written
here. All the functions are checks, or return one: it raises Unfit.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Model

from assessor.archive.values import Unfit, as_uuid
from assessor.formats.families import FAMILIES
from assessor.labels.models import Label, LabelEvent
from assessor.llm.gateway import RESERVED
from assessor.llm.job_kind import job_kinds
from assessor.studies.actions import MOST_MEMBERS
from assessor.studies.registration import FORMAT, RegistrationError, read_document
from assessor.studies.sampling import sampled_kinds
from assessor.studies.sensitivity import BATCH, FACTORS, REPLICATE
from assessor.studies.sensitivity_actions import variant_kinds
from metaeval.stats.panels import Rule, Ties
from nuggets.drafting import Cut
from nuggets.formats import IMPORTANCE
from nuggets.models import Nugget
from nuggets.reports.prompts import Said

Check = Callable[[Any], None]


def one_of(*labels: str) -> Check:
    """One of these texts."""

    def check(value: Any) -> None:
        if value not in labels:
            raise Unfit(f"one of {', '.join(label or 'nothing' for label in labels)}")

    return check


def text(value: Any) -> None:
    """A text."""
    if not isinstance(value, str):
        raise Unfit("texts")


def mark(value: Any) -> None:
    """Words of an answer: sentence, start, end."""
    if not isinstance(value, list) or [type(place) for place in value] != [int] * 3 or min(value) < 0:
        raise Unfit("words as [sentence, start, end]")


def cut(value: Any) -> None:
    """A list of a model that was cut."""
    if not isinstance(value, dict) or {name: type(count) for name, count in value.items()} != Cut.__annotations__:
        raise Unfit("numbers as {window, nuggets, limit}")


def number(value: Any) -> None:
    """A whole number from 0."""
    if type(value) is not int or value < 0:
        raise Unfit("whole numbers")


def said(value: Any) -> None:
    """What a chunk of a document says to a question."""
    if not isinstance(value, dict) or {name: type(field) for name, field in value.items()} != _SAID_FIELDS:
        raise Unfit("what chunks say as {part, extracted, condensed, confidence}")


def parameters(value: Any) -> None:
    """A judge's parameters: its family is a known one, and nothing sent beside Assay's own fields is one of these."""
    extra = value.get("extra", {}) if isinstance(value, dict) else None
    if not isinstance(extra, dict) or extra.keys() & RESERVED or value.get("family", "") not in ("", *FAMILIES):
        raise Unfit("parameters as the form of judges makes them")


def panel(value: Any) -> None:
    """How a panel's labels follow from its members'; nothing of other conditions."""
    if value == {}:
        return
    fields = {"members", "rule", "ties", "quorum"}
    is_whole = isinstance(value, dict) and value.keys() == fields and isinstance(value["members"], list)
    members = value["members"] if is_whole else []
    if (
        not 2 <= len(members) <= MOST_MEMBERS
        or not all(isinstance(one, str) for one in members)
        or value["rule"] not in list(Rule)
        or value["ties"] not in [None, *Ties]
        or type(value["quorum"]) is not int
        or not 2 <= value["quorum"] <= len(members)
    ):
        raise Unfit("panels as {members, rule, ties, quorum}")


def variant(value: Any) -> None:
    """How a sensitivity study has a judge asked; nothing of other conditions."""
    if value == {}:
        return
    fields = {"prompt_set": str, "batch": int, "order": str}
    if not isinstance(value, dict) or {name: type(one) for name, one in value.items()} != fields or value["batch"] < 1:
        raise Unfit("variants as {prompt_set, batch, order}")


def factors(value: Any) -> None:
    """The levels of each factor of a sensitivity study."""
    if not isinstance(value, dict) or value.keys() != set(FACTORS):
        raise Unfit(f"levels of {', '.join(FACTORS)}")
    for name, levels in value.items():
        each(number if name in (BATCH, REPLICATE) else text)(levels)
        if not levels:
            raise Unfit("a level of each factor")


def registration(value: Any) -> None:
    """What a study is about, as it is registered."""
    fields = dict(value) if isinstance(value, dict) else {}
    is_known, campaign = fields.pop("format", None) == FORMAT, fields.pop("campaign", None)
    try:
        whole = is_known and isinstance(campaign, str) and read_document(fields, campaign) == value
    except RegistrationError:
        whole = False
    if not whole:
        raise Unfit("what was registered, as it was hashed")


def anything(value: Any) -> None:
    """Whatever a file had there."""


def each(of: Check) -> Check:
    """A list."""

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise Unfit("a list")
        for one in value:
            of(one)

    return check


def by_item(of: Check) -> Check:
    """An object: what is said of each item, by its key."""

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Unfit("an object")
        for said in value.values():
            of(said)

    return check


def or_nothing(of: Check) -> Check:
    """Nothing, or what it is of."""

    def check(value: Any) -> None:
        if value is not None:
            of(value)

    return check


def changes_of_item(said: Mapping[str, Check]) -> Check:
    """What differs: of each field that can be said, what stood there and what stands there now, if anything."""

    def check(fields: Any) -> None:
        if not isinstance(fields, dict):
            raise Unfit("an object for each item")
        for field, pair in fields.items():
            if field in said:
                if not isinstance(pair, list) or len(pair) != 2:
                    raise Unfit("[before, after]")
                for one in filter(None, pair):
                    said[field](one)

    return check


def readable(read: Callable[[Any], object]) -> Check:
    """What a function can read: its ValueError says what is expected."""

    def check(value: Any) -> None:
        try:
            read(value)
        except ValueError as error:
            raise Unfit(str(error)) from error

    return check


def uid(value: Any) -> None:
    """What names an item of a list that people edit."""
    as_uuid(value, "uids")


def list_changes(value: Any) -> None:
    """What an edit of a bank or report changed: the order before and after, fields by item; else texts of its own."""
    for listed in value.get("order", ()):
        each(uid)(listed)
    for name in (*value.get("nuggets", ()), *value.get("sentences", ())):
        uid(name)


def snapshot(value: Any) -> None:
    """The nuggets of an edition."""
    for nugget in value:
        uid(nugget["uid"])
        text(nugget["text"])
        _IMPORTANCE_OR_NONE(nugget["importance"])
        if "gold" in nugget:
            each(gold_answer)(nugget["gold"])
            one_of(*_AGGREGATORS)(nugget["aggregator"])
            or_nothing(uid)(nugget["under"])


def gold_answer(value: Any) -> None:
    """A gold answer of a question."""
    text(value["id"])
    text(value["text"])
    for reference in value["references"] or ():
        text(reference["docid"])


_SAID_FIELDS = {"part": int, **Said.__annotations__}
_IMPORTANCE_OR_NONE = one_of("", *IMPORTANCE)
_AGGREGATORS = [value for value, _ in Nugget.Aggregator.choices]
# By the field of a change: what can be said of an item besides its label.
_SAID: dict[str, Check] = {"cannot": text, "flag": text, "invalid": anything, "marks": each(mark)}
_LABEL: dict[str, Check] = {"marks": or_nothing(each(mark)), "raw": or_nothing(by_item(anything))}


def of_labels(model: type[Model]) -> dict[str, Check]:
    """Return what columns say of a model that belongs to a kind of label."""
    if issubclass(model, LabelEvent):
        label = one_of(*(value for value, _ in model._meta.get_field("value").flatchoices))
        return {"changes": or_nothing(changes_of_item(_SAID | {"adopted": label, "shown": label}))}
    columns = {column.name for column in model._meta.concrete_fields}
    read_by = model.READ_BY.items() if issubclass(model, Label) else ()
    return {name: check for name, check in _LABEL.items() if name in columns} | {
        name: readable(read) for name, read in read_by
    }


# By column.
NUGGET_BANK = {"order": each(uid)}
NUGGET = {"parents": each(uid), "gold": or_nothing(each(gold_answer))}
BANK_EDIT = {"changes": list_changes}
BANK_EDITION = {"nuggets": snapshot, "consequences": by_item(each(uid))}
CONDITION = {"prompts": by_item(text), "panel": panel, "variant": variant}
JOB = {"kind": one_of(*job_kinds()), "topics_left": each(text)}
STUDY = {"kind": one_of(*sampled_kinds())}
SENSITIVITY = {"kind": one_of(*variant_kinds()), "factors": factors, "topics": each(text), "runs": each(text)}
REGISTRATION = {"document": registration}
PROMPT_SET = {"texts": by_item(text), "provenance": by_item(by_item(text))}
DRAFTING = {"importance": each(each(_IMPORTANCE_OR_NONE)), "cuts": each(cut)}
READING = {"found": each(said)}
REPORT = {"editions": by_item(number)}
EDITED_REPORT = NUGGET_BANK
REPORT_EDIT = BANK_EDIT
JUDGE = {"parameters": parameters}
