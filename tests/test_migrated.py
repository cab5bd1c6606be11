"""What the migrations make of an empty database, and what the tests run on."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler

from tests.llm.house import House, own_database


def tables(database: BaseDatabaseWrapper) -> dict[str, tuple[list[str], list[str]]]:
    """Return each table's columns and constraints, in an order that does not tell which was there first.

    Constraints have a name where a model gives them one; the others are numbered or named as they come.
    """
    named = {each.name for model in apps.get_models() for each in [*model._meta.constraints, *model._meta.indexes]}
    look = database.introspection
    with database.cursor() as cursor:
        return {
            table: (
                sorted(map(repr, look.get_table_description(cursor, table))),
                sorted(
                    f"{name if name in named else ''} {told}"
                    for name, told in look.get_constraints(cursor, table).items()
                ),
            )
            for table in look.table_names(cursor)
        }


@contextmanager
def migrated(folder: Path, *first: str) -> Iterator[BaseDatabaseWrapper]:
    """Migrate an empty database of the kind that the tests run on; first: one app before all others."""
    is_sqlite = connection.vendor == "sqlite"
    with nullcontext("") if is_sqlite else own_database("template0") as url:
        house = House(folder, "embedded://", url)
        if first:
            house.manage("migrate", "--verbosity=0", *first)
        house.manage("migrate", "--verbosity=0")
        name = folder / "assay.sqlite3" if is_sqlite else url.rpartition("/")[2]
        database = ConnectionHandler({"default": connection.settings_dict | {"NAME": name}})["default"]
        try:
            yield database
        finally:
            database.close()
            if not is_sqlite:
                database.close_pool()


def applied(database: BaseDatabaseWrapper) -> set[tuple[str, str]]:
    return set(MigrationRecorder(database).applied_migrations())


def test_migrations_make_the_tables_that_the_tests_run_on(db: None, tmp_path: Path):
    """Where an app has its tables already, all others get theirs one migration after another."""
    with migrated(tmp_path, "contenttypes") as database:
        assert tables(database) == tables(connection)
        assert applied(database) == set(MigrationLoader(database).disk_migrations)


def test_an_empty_database_gets_the_same_tables_at_once(db: None, tmp_path: Path):
    with migrated(tmp_path) as database:
        assert tables(database) == tables(connection)
        assert applied(database) == set(MigrationLoader(database).disk_migrations)
        with database.cursor() as cursor:
            cursor.execute("select count(*) from work_installation")
            assert cursor.fetchone() == (1,), "what follows migrations was done"
            cursor.execute("select count(*) from auth_permission")
            assert cursor.fetchone()[0] > 100


def test_a_database_of_another_version_is_left_alone(db: None):
    MigrationRecorder(connection).record_applied("campaigns", "0002_unknown_here")
    with pytest.raises(CommandError, match=r"another version of Assay, which has the migration 0002_unknown_here of"):
        call_command("migrate", verbosity=0)
