"""Fixtures that write to the database run once in a process; later tests get the rows that they wrote.

Most of the tests' time was the making of the same few campaigns, row by row through all the rules. A fixture's rows are
kept with what it returned, under the fixtures that ran before it in the test. Where the same ran before another test,
the rows are put back and the result is made anew. Whenever anything else has written since, as the database counts it,
the fixture runs. `ASSAY_KEEP=0` has all run for each test.
"""

import inspect
import io
import os
import pickle
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client

from assessor.runtime.process_cache import cache

# A fixture that takes these does more than to write, or finds something else each time.
_DO_MORE = {"monkeypatch", "settings", "request", "tmp_path", "tmp_path_factory", "endpoint", "caplog", "mailoutbox"}
_IS_ON = os.environ.get("ASSAY_KEEP") != "0"

Row = tuple[Any, ...]
Rows = dict[str, dict[Any, Row]]  # by table and key


class _SQLite:
    """Reads and writes rows by their numbers. Keys are given in order, from where they were before the test."""

    def __init__(self) -> None:
        self.tables: list[str] = []

    def changes(self) -> int:
        return connection.connection.total_changes if connection.connection else -1

    def read(self) -> Rows:
        """Return all rows; SQLite's own count of keys among them."""
        execute = connection.connection.execute
        if not self.tables:
            self.tables = [name for (name,) in execute("select name from sqlite_master where type = 'table'")]
        return {
            table: {row[0]: tuple(row[1:]) for row in execute(f'select rowid, * from "{table}"')}
            for table in self.tables
        }

    def write(self, gone: list[tuple[str, list[Any]]], new: list[tuple[str, list[Row]]], counts: list[Row]) -> None:
        many, execute = connection.connection.executemany, connection.connection.execute
        for table, numbers in gone:
            many(f'delete from "{table}" where rowid = ?', [(number,) for number in numbers])
        for table, rows in new:
            many(f'insert into "{table}" values ({",".join("?" * len(rows[0]))})', rows)
        execute("delete from sqlite_sequence")
        many("insert into sqlite_sequence values (?, ?)", counts)


class _PostgreSQL:
    """Reads and writes rows as text by their keys. None is given twice, so that what is put back meets no other."""

    OURS = "relkind = 'r' and relnamespace = 'public'::regnamespace"
    # What pg_stat_xact_user_tables says, without what else that looks up for each table.
    COUNTED = " + ".join(f"pg_stat_get_xact_tuples_{done}(oid)" for done in ("inserted", "updated", "deleted"))

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}

    def changes(self) -> int:
        if not connection.connection:
            return -1
        return int(_prepared(f"select sum({self.COUNTED}) from pg_class where {self.OURS}")[0][0])

    def read(self) -> Rows:
        if not self.keys:
            self.keys = dict(
                _prepared(
                    "select relname, attname from pg_index join pg_class c on c.oid = indrelid"
                    " join pg_attribute a on a.attrelid = indrelid and a.attnum = indkey[0]"
                    f" where indisprimary and {self.OURS}"
                )
            )
        found: Rows = {table: {} for table in self.keys}
        each = [f"""select '{name}', "{key}"::text, one::text from "{name}" one""" for name, key in self.keys.items()]
        for table, key, row in _prepared(" union all ".join(each)):
            found[table][key] = (row,)
        return found

    def write(self, gone: list[tuple[str, list[Any]]], new: list[tuple[str, list[Row]]], counts: list[Row]) -> None:
        execute = connection.connection.execute
        for table, keys in gone:
            execute(f'delete from "{table}" where "{self.keys[table]}"::text = any(%s)', [keys])
        for table, rows in new:
            texts = [text for (text,) in rows]
            execute(f'insert into "{table}" select one.* from unnest(%s::text[]::"{table}"[]) one', [texts])


def _prepared(sql: str) -> list[Row]:
    """Return the rows of a query whose plan PostgreSQL keeps: of one of all tables, it took most of the time."""
    import psycopg

    return psycopg.Cursor(connection.connection).execute(sql, prepare=True).fetchall()


class _Kept(NamedTuple):
    gone: list[tuple[str, list[Any]]]
    new: list[tuple[str, list[Row]]]
    counts: list[Row]  # of SQLite's keys
    result: bytes


class _State:
    """What is known of the database of the test at hand: after which fixtures, if nothing else has written.

    emptied: how often tests of transactions have emptied it; what migrations wrote may have other keys since.
    is_sure: no fixture has run since the changes were counted. rows: all that there was then, where it was read.
    """

    def __init__(self) -> None:
        self.emptied = 0
        self.after: tuple[Any, ...] | None = None
        self.changes = 0
        self.is_sure = False
        self.rows: Rows | None = None
        self.values: dict[str, Any] = {}

    def is_known(self) -> bool:
        """Say whether nothing else has written."""
        if self.after is not None and not self.is_sure and self.changes != _database.changes():
            self.after = None
        return self.after is not None

    def set_after(self, after: tuple[Any, ...] | None, rows: Rows | None = None) -> None:
        self.after, self.rows = after, rows
        self.changes, self.is_sure = (_database.changes(), True) if after is not None else (0, False)


_now = _State()
_kept: dict[tuple[Any, ...], _Kept] = {}
_not_kept: set[tuple[Any, ...]] = set()  # steps that wrote nothing, or what can't be kept: to read all rows is no use
_database = _SQLite() if connection.vendor == "sqlite" else _PostgreSQL()


class _Pickler(pickle.Pickler):
    """Names values of the test's other fixtures, which are the same objects afterwards."""

    def __init__(self, file: io.BytesIO, names: dict[int, str]) -> None:
        super().__init__(file, protocol=5)
        self.names = names

    def persistent_id(self, value: Any) -> str | None:
        return self.names.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Client:
            return _client, (dict(value.cookies.items()), value.defaults)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: str) -> Any:
        return _now.values[name]


def _client(cookies: dict[str, Any], defaults: dict[str, Any]) -> Client:
    client = Client()
    client.cookies.load({name: morsel.value for name, morsel in cookies.items()})
    client.defaults = dict(defaults)
    return client


def _dump(result: Any) -> bytes:
    """Return the result, and how the fixture left the objects that it was given."""
    given = {name: value for name, value in _now.values.items() if isinstance(value, Model)}
    # Only what can be changed, and so is somebody's own.
    names = {id(value): name for name, value in _now.values.items() if isinstance(value, Model | list | dict | Client)}
    file = io.BytesIO()
    _Pickler(file, names).dump(({name: vars(value) for name, value in given.items()}, result))
    return file.getvalue()


def _load(data: bytes) -> Any:
    given, result = _Unpickler(io.BytesIO(data)).load()
    for name, attributes in given.items():
        vars(_now.values[name]).clear()
        vars(_now.values[name]).update(attributes)
    return result


def _keep(step: tuple[Any, ...], before: Rows, result: Any) -> Rows | None:
    """Keep what a fixture wrote; return all rows, or None where it can't be kept."""
    try:
        data = _dump(result)
    except Exception:  # whatever a class says that can't be pickled
        return None
    after = _database.read()
    counts = list(after.get("sqlite_sequence", {}).values())
    gone, new = [], []
    for table in after.keys() - {"sqlite_sequence"}:
        now, old = after[table], before[table]
        left = [key for key, row in old.items() if now.get(key) != row]
        come = [row for key, row in now.items() if old.get(key) != row]
        if left:
            gone.append((table, left))
        if come:
            new.append((table, come))
    _kept[step] = _Kept(gone, new, counts, data)
    return after


def _put_back(kept: _Kept) -> Any:
    _database.write(kept.gone, kept.new, kept.counts)
    return _load(kept.result)


def _can_be_kept(fixturedef: Any, request: Any) -> bool:
    func = fixturedef.func
    return (
        fixturedef.scope == "function"
        and getattr(func, "__module__", "").startswith("tests.")
        and not inspect.isgeneratorfunction(func)  # which does something afterwards
        and not _DO_MORE & set(fixturedef.argnames)
        and "time_machine" not in request.fixturenames  # it may move the clock
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    if not _IS_ON:
        return (yield)
    name = fixturedef.argname
    if name == "_django_db_helper":
        result = yield
        # A test of transactions commits what it writes, and has threads that do.
        if connection.in_atomic_block:
            _now.set_after((_now.emptied, "unread" if request.node.get_closest_marker("unread") else ""))
        else:
            _now.emptied += 1
            _now.set_after(None)
        cache.clear()  # it is named by keys and times, which are the same again
        return result
    if name in _now.values and fixturedef.scope == "function":
        _now.set_after(None)  # a fixture of the same name as one that it takes: two objects of one name
    module = getattr(fixturedef.func, "__module__", "")
    step = (module, name, repr(request.param) if hasattr(request, "param") else "")
    can_be_kept = _can_be_kept(fixturedef, request)
    is_step = can_be_kept or (module.startswith("tests.") and module != "tests.conftest")
    if not (is_step and _now.is_known() and can_be_kept):
        if is_step and _now.after is not None:
            _now.after = (*_now.after, step)
        _now.is_sure = False
        result = yield
        _now.is_sure = False  # it may have asked for others, and written since
        if fixturedef.scope == "function":
            _now.values[name] = result
        return result
    key = (*_now.after, step)  # type: ignore[misc]
    own: Callable[..., Any] = fixturedef.func
    rows = None
    kept = _kept.get(key)
    if key in _not_kept:
        changes = _now.changes
        result = yield
        if _database.changes() != changes:
            key = ()
    elif kept:
        fixturedef.func = lambda **_: _put_back(kept)
        try:
            result = yield
        finally:
            fixturedef.func = own
    else:
        before, changes = _now.rows or _database.read(), _now.changes
        result = yield
        if _database.changes() == changes:
            rows = before
            _not_kept.add(key)
        elif result is None or (rows := _keep(key, before, result)) is None:
            _not_kept.add(key)
            key = ()
    _now.values[name] = result
    _now.set_after(key or None, rows)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, Any]:
    _now.set_after(None)
    _now.values = {}
    return (yield)
