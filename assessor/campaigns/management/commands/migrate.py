"""Django's migrate; an empty database gets its tables at once (docs/decisions/047-tables-at-once.md)."""

from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# With these somebody wants some of the migrations, or to see what they would do.
_OTHERWISE = ("app_label", "migration_name", "fake", "fake_initial", "plan", "check_unapplied", "prune")


class Command(Migrate):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        if not any(options[name] for name in _OTHERWISE) and not connection.introspection.table_names():
            if options["verbosity"]:
                self.stdout.write("Making the tables of an empty database.")
            _make_tables(connection)
        super().handle(*args, **options)


def _make_tables(connection: BaseDatabaseWrapper) -> None:
    """Make the tables as all migrations leave them, and record these as applied, all in one transaction."""
    with connection.schema_editor() as editor:
        for model in apps.get_models():
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        call_command("createcachetable", database=connection.alias, verbosity=0)
        recorder = MigrationRecorder(connection)
        recorder.ensure_schema()
        for app, name in MigrationLoader(connection).disk_migrations:
            recorder.record_applied(app, name)
