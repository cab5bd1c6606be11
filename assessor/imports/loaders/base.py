"""What every loader does, and what they share."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from assessor.campaigns.models import Campaign, Import, MaybeImported
from assessor.campaigns.queries import among
from assessor.formats.beginning import Beginning
from assessor.formats.lines import Line
from assessor.formats.report import Report

Options = dict[str, str]
AddError = Callable[[str, str], None]
# Characters of keys and their values that are kept in memory, and what a key counts for besides.
_IN_MEMORY, _OF_A_KEY = 2_000_000, 100
SENDER = "sender"  # among the options of what a script sent: how its token begins


class FirstSeen(NamedTuple):
    """Where a key stood first, and with what value."""

    line: int
    value: str


class Seen:
    """The keys a file has given so far: the first in memory, all others on disk, so that memory stays bounded."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}
        self._room = _IN_MEMORY

    @cached_property
    def _disk(self) -> sqlite3.Connection:
        disk = sqlite3.connect("", isolation_level=None)
        # It is thrown away with the loader, so it needs no journal; keys come in no order, so it needs a cache.
        disk.executescript("pragma journal_mode = off; pragma cache_size = -16000;")
        disk.execute("create table seen (key text primary key, line integer, value text) without rowid")
        disk.execute("begin")
        return disk

    def __del__(self) -> None:
        # A connection refers to itself: left alone it keeps its cache and file until the garbage collector finds it.
        if self._room <= 0:
            self._disk.close()

    def before(self, key: str, line: Line, value: str = "") -> FirstSeen | None:
        """Remember a key; return where it stood first if it did before."""
        if key in self._first:
            return FirstSeen(*self._first[key])
        if self._room > 0:
            self._first[key] = (line.number, value)
            self._room -= _OF_A_KEY + len(key) + len(value)
            return None
        added = self._disk.execute("insert or ignore into seen values (?, ?, ?)", (key, line.number, value))
        if added.rowcount:
            return None
        return FirstSeen(*self._disk.execute("select line, value from seen where key = ?", (key,)).fetchone())

    def has(self, key: str) -> bool:
        """Say whether the file gave this key."""
        if key in self._first or self._room > 0:
            return key in self._first
        return self._disk.execute("select 1 from seen where key = ?", (key,)).fetchone() is not None


class Loader:
    """Takes the records of one file into a campaign.

    First sift() sees every batch of the file. Only if all of it is right, write() gets what sift() returned (put aside
    on disk meanwhile), each batch in a transaction of its own, and finish() and follow() run in the transaction that
    makes the import visible.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    needs_topics: ClassVar[bool] = True  # its files can't be checked before the campaign has topics
    is_a_judges: ClassVar[bool] = False  # its files are work of a judge, which scripts may send: labels, drafts, ...
    makes_nuggets: ClassVar[bool] = False  # its files bring the nuggets that others' labels are of
    asks: ClassVar[Sequence[str]] = ()  # fields of the form of imports that its files can need
    takes_invalid_labels: ClassVar[bool] = False  # what is no label in its files can count as the lowest one
    batch_size: ClassVar[int] = 500
    sha256: str = ""  # of the file, from end() on

    def __init__(self, campaign: Campaign, options: Options, report: Report) -> None:
        self.campaign = campaign
        self.options = options
        self.report = report
        self.seen = Seen()

    @classmethod
    def recognises(cls, beginning: Beginning) -> bool:
        """Say whether a file that begins like this is of this kind."""
        return False

    @classmethod
    def asks_first(cls, beginning: Beginning) -> bool:
        """Say whether such a file waits until a person has filled in what it needs."""
        return bool(cls.asks)

    @classmethod
    def suggest(cls, campaign: Campaign, words: Sequence[str]) -> Options:
        """Return what its fields can be filled with, from the words of a file's name."""
        return {"condition": " ".join(words).capitalize()}

    @classmethod
    def read_form(cls, filled_in: Mapping[str, Any], add_error: AddError) -> Options:
        """Return the options that the form of imports asks for, besides those of every file.

        add_error: takes a field of the form and what is wrong with it.
        """
        source, by = filled_in.get("source", "").strip(), filled_in.get("by", "")
        if source and not by:
            add_error("by", "Say whether people or a model gave these grades.")
        return {"source": source, "by": by} if source else {}

    @property
    def invalid_labels_missing(self) -> bool:
        """Whether labels that are none count as missing, as was asked for, instead of being errors."""
        return self.options.get("invalid_labels") == Import.InvalidLabels.MISSING

    def read(self, lines: Iterable[Line]) -> Iterator[Any]:
        """Yield the records of the file."""
        raise NotImplementedError

    def sift(self, records: Sequence[Any]) -> Any:
        """Report what does not fit the file so far or the campaign, and return what is new, for write()."""
        raise NotImplementedError

    def end(self) -> None:
        """Report what can be said only after the last record."""

    def write(self, new: Any, import_record: Import) -> None:
        """Write what is new, invisible until the import is done."""
        raise NotImplementedError

    def finish(self, import_record: Import) -> None:
        """Do what must happen at the moment the import becomes visible."""

    def follow(self) -> None:
        """Do, in the same transaction, what needs to see what the import brought."""

    def repeats(self, key: str, line: Line, field: str, shown: str, value: str = "") -> bool:
        """Say whether the file gave this key before, which is then an error; remember it, with the value."""
        first = self.seen.before(key, line, value)
        if first:
            self.report.error(line.number, field, shown, f"each once; it stands on line {first.line} already")
        return first is not None


def may_add_to(record: MaybeImported, options: Options) -> bool:
    """Say whether a file may add to what is there: what a script sends, to what came by the same token alone.

    Else errors would tell whoever has the token what others said, label by label.
    """
    sender, brought_by = options.get(SENDER), record.import_record
    return not sender or (brought_by is not None and brought_by.options.get(SENDER) == sender)


def rows_by(queryset: Any, key: str, values: Iterable[str]) -> dict[str, Any]:
    """Return the rows whose key is among the values, by key."""
    return {getattr(row, key): row for row in queryset.filter(**{f"{key}__in": among(set(values))})}
