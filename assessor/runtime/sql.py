"""What Django's own queries are too slow for: a query for every label, many rows at once, keys in one piece."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, wraps
from typing import Any, Generic, TypeVar, cast

from django.db import connection
from django.db.models import BigIntegerField, Expression, Field, Manager, Max, Model, QuerySet
from django.db.models.query import ModelIterable
from django.db.models.sql import UpdateQuery

_TRIES = 20  # to get keys in one piece, while others take some
_FEW = 20  # rows: up to so many are sooner inserted than copied
Record = TypeVar("Record", bound=Model)


class KeysTaken(Exception):
    """No free keys in one piece could be had; the text says why."""


def fetch_prepared(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query that is asked for every label, whose plan PostgreSQL keeps.

    To plan one of some fifteen tables takes PostgreSQL ten times as long as to carry it out. Django's own cursors put
    values into the text, of which no plan can be kept.
    """
    cursor: Any = connection.cursor()  # connects where there is no connection yet
    # Django's log of queries, where it is on, has no text of a prepared one.
    if connection.vendor == "postgresql" and not connection.queries_logged:
        import psycopg

        own: Any = psycopg.Cursor(connection.connection)
        cursor = connection.make_cursor(own)
    with cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def filter_once(get_queryset: Callable[[Any], QuerySet[Record]]) -> Callable[[Any], QuerySet[Record]]:
    """Let a manager put its filters together once for each model: it is asked with nearly every query of a page.

    get_queryset: what filters the records of the manager's base class, by nothing that changes.
    """
    queries: dict[type[Model], Any] = {}

    @wraps(get_queryset)
    def filtered(self: Any) -> QuerySet[Record]:
        records: QuerySet[Record] = Manager.get_queryset(self)
        if self.model not in queries:
            queries[self.model] = get_queryset(self).query
        records.query = queries[self.model].chain()
        return records

    return filtered


class Parameter(Expression):
    """What a Prepared query or update is told each time, by its name; as_: what keeps such values, if it matters."""

    def __init__(self, name: str, as_: "Field[Any, Any] | None" = None) -> None:
        super().__init__(as_)
        self.name = name
        self._as = as_

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def kept(self, value: Any) -> Any:
        """Return a value as the database keeps it."""
        return self._as.get_db_prep_save(value, connection) if self._as else value


def _bound(parameters: Sequence[Any], values: Mapping[str, Any]) -> list[Any]:
    return [one.kept(values[one.name]) if isinstance(one, Parameter) else one for one in parameters]


class Prepared(Generic[Record]):
    """Records that are asked for every write of an assessor: Django puts the query together once, not each time.

    records: a queryset with a Parameter for each value that differs. Its records come with what select_related() and
    annotate() say, not with what is prefetched, and in an order only where it names one: the usual one costs joins.
    """

    def __init__(self, records: QuerySet[Record]) -> None:
        self._records = records if records.query.order_by else records.order_by()

    @cached_property
    def _compiled(self) -> tuple[Any, str, Sequence[Any]]:
        records = self._records.all()  # to put a query together changes it, and threads share the one that is kept
        compiler: Any = records.query.get_compiler(connection.alias)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([expression for expression, *_ in compiler.select])
        compiler.get_converters = lambda _: converters
        compiler.connection = connection  # whichever thread's it is, not that of the thread which came first
        return compiler, sql, parameters

    def fetch(self, **values: Any) -> Iterator[Record]:
        """Return the records for these values of the parameters, as the queryset itself would."""
        if any(isinstance(value, int) and value > BigIntegerField.MAX_BIGINT for value in values.values()):
            return iter(())  # no database can even be asked for it
        compiler, sql, parameters = self._compiled
        told = _bound(parameters, values)
        asked, records = copy(compiler), cast("Any", self._records.all())
        asked.execute_sql = lambda **_: [fetch_prepared(sql, told)]
        records.query.get_compiler = lambda **_: asked
        return iter(ModelIterable(records))


class PreparedUpdate:
    """An update that is made with every write of an assessor, which Django puts together once too.

    records: a queryset; changes: what update() takes. Both with a Parameter for each value that differs.
    """

    def __init__(self, records: QuerySet[Any], **changes: Any) -> None:
        self._records = records
        self._changes = changes

    @cached_property
    def _compiled(self) -> tuple[str, Sequence[Any]]:
        query: Any = self._records.query.chain(UpdateQuery)
        query.add_update_values(self._changes)
        compiled: tuple[str, Sequence[Any]] = query.get_compiler(connection.alias).as_sql()
        return compiled

    def carry_out(self, **values: Any) -> int:
        """Change the records for these values of the parameters; return how many there were."""
        sql, parameters = self._compiled
        with connection.cursor() as cursor:
            cursor.execute(sql, _bound(parameters, values))
            return int(cursor.rowcount)


def insert(model: type[Model], fields: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Add rows, each with the values of these fields as the database keeps them (ids, texts, numbers).

    A field that is not named is null, or has the database's default. bulk_create, with an object of each row, takes
    three times as long, and was half the time of an import.
    """
    quote = connection.ops.quote_name
    column_of = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = [quote(column_of[name]) for name in fields]
    into = f"{quote(model._meta.db_table)} ({', '.join(columns)})"
    written = list(rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and len(written) > _FEW:
            # Django's cursor wraps no copy(): without it errors would be psycopg's own, and nobody would know them.
            with connection.wrap_database_errors, cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in written:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            _execute_all(cursor, f"INSERT INTO {into} VALUES ({marks})", written)  # noqa: S608  # our own names only


def update(model: type[Model], fields: Sequence[str], where: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> int:
    """Change rows: each has the new values of some fields, then those of others by which it is found.

    Returns how many there were.
    """
    quote = connection.ops.quote_name
    column_of = {field.name: quote(str(field.column)) for field in model._meta.concrete_fields}
    new, found = (
        mark.join(f"{column_of[one]} = %s" for one in names) for mark, names in ((", ", fields), (" AND ", where))
    )
    with connection.cursor() as cursor:
        table = quote(model._meta.db_table)
        _execute_all(cursor, f"UPDATE {table} SET {new} WHERE {found}", list(rows))  # noqa: S608  # our own names only
        return int(cursor.rowcount)


def _execute_all(cursor: Any, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if len(rows) == 1:  # as with nearly every write of an assessor: executemany() makes more of it than it is
        cursor.execute(sql, rows[0])
    else:
        cursor.executemany(sql, rows)


def reserve_keys(model: type[Model], number: int) -> int:
    """Return a key after which as many are free, and stay so while others write. Raises KeysTaken."""
    table, column = model._meta.db_table, model._meta.pk.column
    if not number or connection.vendor == "sqlite":  # which has one writer, and that is this transaction
        last = model._base_manager.aggregate(last=Max("pk"))["last"] or 0
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
                last = max(last, *cursor.fetchone() or (0,))
        return int(last)
    sequence = "pg_get_serial_sequence(%s, %s)"
    drawn = f"SELECT nextval({sequence}) AS key FROM generate_series(1, %s)"  # noqa: S608  # our own names only
    for _ in range(_TRIES):
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT min(key), max(key) FROM ({drawn}) AS drawn",  # noqa: S608  # our own names only
                [connection.ops.quote_name(table), column, number],
            )
            least, most = cursor.fetchone()
        if most - least == number - 1:
            return int(least) - 1
    raise KeysTaken(f"Others write {model._meta.verbose_name_plural} all the time.")


def as_kept(model: type[Model], field: str, value: Any) -> Any:
    """Return a value as the database keeps it, for insert()."""
    if value is None:
        return None
    return model._meta.get_field(field).get_db_prep_save(value, connection)  # type: ignore[union-attr]  # no relation


def row_as_kept(model: type[Model], names: Iterable[str], values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values of these columns as the database keeps them, for insert()."""
    return tuple(as_kept(model, name, value) for name, value in zip(names, values, strict=True))
