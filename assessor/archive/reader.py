"""Reading an archive, line by line and without a database: nothing of it is believed until it is checked."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from django.core.exceptions import ValidationError
from django.db.models import NOT_PROVIDED, Model

from assessor.archive.container import MANIFEST, Reader, Told
from assessor.archive.errors import wrong
from assessor.archive.frozen_files import FrozenFiles
from assessor.archive.item_names import ItemNames
from assessor.archive.label_values import LabelValues
from assessor.archive.list_names import NuggetNames, SentenceNames
from assessor.archive.registry import BY_LABEL, KEPT, Kept
from assessor.archive.values import Unfit, reader
from assessor.archive.writer import FORMAT, VERSION
from assessor.campaigns.models import Campaign, Judge
from assessor.formats.values import to_json

Translate = Callable[[type[Model], int], int]
# By version: the last commit that reads archives which this one does not.
_READ_BY = {1: "fbb1bdc", 2: "69736ad", 3: "f373175", 5: "343bd20", 6: "8581206"}
_HEAD = {"format": str, "version": int, "campaign": str, "name": str, "files": list}
_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, IndexError)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


class _Keys:
    """What references of records become while they are read."""

    def __init__(self, counts: Mapping[type[Model], int], translate: Translate) -> None:
        self._counts = counts
        self._translate = translate

    def of(self, model: type[Model], key: int) -> int:
        if type(key) is not int or not 1 <= key <= self._counts.get(model, 0):
            raise ValueError(f"there is no line {key} of {model._meta.label_lower}")
        return self._translate(model, key)


@cache  # a track's archive has millions of values
def _columns(model: type[Model]) -> list[tuple[str, str, Callable[[Any, _Keys], Any]]]:
    """Return the columns of a model that archives have: the names of each, and what reads a value of it."""
    kept = next(kept for kept in KEPT if kept.model is model)
    return [(column.name, column.attname, _reader(kept, column)) for column in kept.fields]


def _reader(kept: Kept, column: Any) -> Callable[[Any, _Keys], Any]:
    """Return what reads a column's values: it raises Unfit, ValidationError and what _UNREADABLE has."""
    model = column.related_model
    means, is_checked = kept.means.get(column.name), column.name in kept.checked
    update = kept.updates.get(column.name)

    def of_reference(value: Any, keys: _Keys) -> Any:
        if value is not None:
            return keys.of(model, value)
        if not column.null:
            raise Unfit("a reference")
        return None

    if column.is_relation:
        return of_reference
    read = reader(column)
    if not (means or is_checked or update):
        return lambda value, keys: read(value)

    def of_value(value: Any, keys: _Keys) -> Any:
        value = read(value)
        if update:
            value = update(value)
        if means:
            means(value)
        if is_checked:
            column.run_validators(value)
        return value

    return of_value


class Archive:
    """An archive on disk."""

    _is_verified = False  # its lines need not be looked at as closely again

    def __init__(self, path: Path) -> None:
        self._reader = Reader(path)
        try:
            self._read_manifest()
        except BaseException:
            self._reader.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._reader.close()

    def _read_manifest(self) -> None:
        raw = self._reader.manifest()
        try:
            head = json.loads(raw.decode())
        except (ValueError, RecursionError) as error:
            raise wrong(MANIFEST, 0, "", error, "JSON") from error
        if not isinstance(head, dict):
            raise wrong(MANIFEST, 0, "", head, "an object")
        for name, kind in _HEAD.items():
            if type(head.get(name)) is not kind:
                raise wrong(MANIFEST, 0, name, head.get(name), f"a value of type {kind.__name__}")
        if head["format"] != FORMAT:
            raise wrong(MANIFEST, 0, "format", head["format"], FORMAT)
        if (version := head["version"]) != VERSION:
            expected = str(VERSION)
            if version in _READ_BY:
                expected += f": Assay at commit {_READ_BY[version]} reads it"
            elif version > VERSION:
                expected = f"at most {VERSION}: it was written by a newer Assay"
            raise wrong(MANIFEST, 0, "version", version, expected)
        self.slug, self.name = head["campaign"], head["name"]
        self.files: dict[type[Model], Told] = {}
        for at, told in enumerate(head["files"]):
            kept, file = _file(told, at)
            if kept.model in self.files:
                raise wrong(MANIFEST, 0, f"files[{at}]", file.name, "each file once")
            self.files[kept.model] = file
        there = {file.name for file in self.files.values()}
        if there != self._reader.names():
            differ = ", ".join(sorted(there ^ self._reader.names()))
            raise wrong(MANIFEST, 0, "files", differ, "the files that are there, each of them")
        if self.counts.get(Campaign) != 1:
            raise wrong(MANIFEST, 0, "files", f"{self.counts.get(Campaign, 0)} campaigns", "one campaign")

    @property
    def counts(self) -> dict[type[Model], int]:
        """How many records there are of each model."""
        return {model: file.rows for model, file in self.files.items()}

    def verify(self) -> None:
        """Check all of it: sums, counts, every value and reference, frozen files. Raises ArchiveError."""
        keys, looked_at = (
            self.keys(lambda model, number: number),
            (FrozenFiles(), NuggetNames(), SentenceNames(), ItemNames(), LabelValues()),
        )
        models: dict[str, int] = {}  # that are judges: their lines by name
        for kept in KEPT:
            for number, (values, _) in enumerate(self.records(kept, keys), 1):
                for one in looked_at:
                    one.look_at(kept.model, number, values)
                if kept.model is Judge and values["kind"] == Judge.Kind.MODEL:
                    first = models.setdefault(values["name"], number)
                    if first != number:
                        expected = f"a name other than that of the model in line {first}"
                        raise wrong(self.files[Judge].name, number, "name", values["name"], expected)
        for one in looked_at:
            one.end()
        self._is_verified = True

    def keys(self, translate: Translate) -> _Keys:
        """Return what follows references. translate: what one becomes, a model and the number of a line."""
        return _Keys(self.counts, translate)

    def records(self, kept: Kept, keys: _Keys) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the records of a model, each with about how long it is. Raises ArchiveError.

        The models are read in their order, with the same keys.
        """
        if kept.model not in self.files:
            return  # a model that is newer than the archive
        file = self.files[kept.model]
        for number, line in enumerate(self._reader.lines(file), 1):
            row = _decoder.decode(line.decode()) if self._is_verified else _row(file, number, line)
            yield self._values(kept, row, keys, file, number), len(line)

    def _values(self, kept: Kept, row: dict[str, Any], keys: _Keys, file: Told, number: int) -> dict[str, Any]:
        if kept.model is Campaign and row["slug"] != self.slug:
            raise wrong(file.name, number, "slug", row["slug"], f"{self.slug}, says {MANIFEST}")
        values: dict[str, Any] = {}
        for name, attname, read_value in _columns(kept.model):
            if name not in row:
                continue  # a column that is newer than the archive
            value = row[name]
            try:
                values[attname] = read_value(value, keys)
            except Unfit as error:
                raise wrong(file.name, number, name, value, str(error)) from error
            except ValidationError as error:
                raise wrong(file.name, number, name, value, " ".join(error.messages)) from error
            except _UNREADABLE as error:
                raise wrong(file.name, number, name, f"{value} ({error})", "records of the archive") from error
        return values


def _file(told: object, at: int) -> tuple[Kept, Told]:
    """Check what the manifest says of a file."""
    field = f"files[{at}]"
    kinds = Told.__annotations__
    if not isinstance(told, dict) or told.keys() != kinds.keys():
        raise wrong(MANIFEST, 0, field, told, f"an object with {', '.join(kinds)}")
    file = Told(**told)
    for name, kind in (("name", str), ("rows", int), ("bytes", int), ("sha256", str), ("fields", list)):
        if type(told[name]) is not kind:
            raise wrong(MANIFEST, 0, f"{field}.{name}", told[name], f"a value of type {kind.__name__}")
    if min(file.rows, file.bytes) < 0:
        raise wrong(MANIFEST, 0, field, file, "counts from 0 on")
    kept = BY_LABEL.get(file.name.removesuffix(".jsonl"))
    if kept is None or file.name != f"{kept.label}.jsonl":
        raise wrong(MANIFEST, 0, f"{field}.name", file.name, "a model that this version of Assay knows")
    known = {column.name: column for column in kept.fields}
    if any(type(name) is not str for name in file.fields) or len(set(file.fields)) < len(file.fields):
        raise wrong(MANIFEST, 0, f"{field}.fields", file.fields, "names, each once")
    if unknown := [name for name in file.fields if name not in known]:
        raise wrong(
            file.name, 0, unknown[0], "the field", f"fields that this version of Assay knows: {', '.join(known)}"
        )
    for name in known.keys() - set(file.fields):
        # A column that came later has a default, which older records get.
        if not (known[name].null or known[name].default is not NOT_PROVIDED):
            raise wrong(file.name, 0, name, "no such field", "the field")
    return kept, file


def _row(file: Told, number: int, line: bytes) -> dict[str, Any]:
    """Return a line's object, which must be spelt as archives are: so it is the same when it is written again."""
    try:
        text = line.decode()
        row = _decoder.decode(text)
        is_ours = to_json(row) == text
    except (ValueError, RecursionError) as error:
        raise wrong(file.name, number, "", error, "a JSON object as archives have them") from error
    if not isinstance(row, dict) or not is_ours:
        raise wrong(file.name, number, "", text, "a JSON object as archives spell it, each key once")
    if list(row) != file.fields:
        raise wrong(file.name, number, "", f"the keys {', '.join(row)}", f"{', '.join(file.fields)}, says {MANIFEST}")
    return row


def verify(path: Path) -> dict[str, int]:
    """Check an archive, without a database; return how many records there are of each model. Raises ArchiveError."""
    with Archive(path) as archive:
        archive.verify()
        return {file.name.removesuffix(".jsonl"): file.rows for file in archive.files.values()}
