"""Keys of the database where nobody could follow them: inside texts and JSON."""

import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import connection

from assessor.runtime.fields import JSONText

FAR = 700_000_000  # no other number of a campaign is as large


@pytest.fixture
def far_keys(db: None) -> Iterator[None]:
    """Let the keys of all records begin so high that none looks like a number of anything else."""
    tables = [model._meta.db_table for model in apps.get_models() if model._meta.pk.name == "id"]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for table in tables:
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, FAR])
            yield
            return
        before = {}
        for table in tables:
            cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [f'"{table}"'])
            [sequence] = cursor.fetchone()
            if sequence:
                cursor.execute(f"SELECT last_value, is_called FROM {sequence}")  # the database's own name
                before[sequence] = cursor.fetchone()
                cursor.execute("SELECT setval(%s, %s)", [sequence, FAR])
    yield
    with connection.cursor() as cursor:  # what a sequence gave is not taken back with the test's records
        for sequence, (last, is_called) in before.items():
            cursor.execute("SELECT setval(%s, %s, %s)", [sequence, last, is_called])


def json_of_labels() -> dict[str, list[str]]:
    """Return what stands in each JSON column of labels and their history, as the database has it."""
    found: dict[str, list[str]] = {}
    for model in (
        model for app in ("labels", "assignment", "support") for model in apps.get_app_config(app).get_models()
    ):
        for field in model._meta.concrete_fields:
            if isinstance(field, JSONText):
                with connection.cursor() as cursor:
                    name, table = (connection.ops.quote_name(one) for one in (field.column, model._meta.db_table))
                    cursor.execute(f"SELECT {name} FROM {table}")  # ours
                    texts = [text for (text,) in cursor.fetchall()]
                found[f"{model._meta.label_lower}.{field.name}"] = [text for text in texts if text]
    return found


def keys_in(texts: dict[str, list[str]]) -> list[str]:
    """Return which columns hold a key, with the text; texts: by column."""
    key = re.compile(r"(?<![0-9a-f])7000\d{5}(?![0-9a-f])")  # not the digits inside a hash
    return [f"{name}: {text}" for name, of_column in texts.items() for text in of_column if key.search(text)]
