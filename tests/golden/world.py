"""A process in which nothing happens by chance: the clock, random numbers, keys and secrets are the same each time."""

import os
import random
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEP = timedelta(seconds=20)  # from one request or command to the next


class _Random(random.Random):
    """In the place of the system's source of random numbers: each use goes on where the one before ended."""

    _numbers = random.Random("seeds")

    def __init__(self) -> None:
        super().__init__(self._numbers.random())


def _take_chance_out() -> None:
    """Before anything of the project is imported, which takes names from these modules."""
    random.seed("random")
    random.SystemRandom = _Random  # type: ignore[misc]
    keys, tokens = random.Random("uuid4"), random.Random("secrets")
    uuid.uuid4 = lambda: uuid.UUID(int=keys.getrandbits(128), version=4)
    secrets.token_bytes = lambda nbytes=None: tokens.randbytes(32 if nbytes is None else nbytes)
    secrets.choice, secrets.randbits = tokens.choice, tokens.getrandbits
    secrets.randbelow = tokens.randrange


class Clock:
    """Stands still, but for the steps that the script takes."""

    def __init__(self, traveller: time_machine.Traveller) -> None:
        self._traveller = traveller

    def step(self, by: timedelta = STEP) -> None:
        self._traveller.shift(by)


@contextmanager
def open_world(folder: Path) -> Iterator[Clock]:
    """Set Django up on an empty SQLite database in the folder; jobs run where they are launched, a call at a time."""
    _take_chance_out()
    for name in [name for name in os.environ if name.startswith(("ASSAY_", "CELERY_", "DATABASE_URL"))]:
        del os.environ[name]
    os.environ |= {
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_HTTPS": "0",
        "ASSAY_LLM_HOSTS": "127.0.0.1",
        "ASSAY_SECRET_KEY": "only for golden files",
        "DJANGO_SETTINGS_MODULE": "assessor.settings",
        "TZ": "UTC",
    }
    with time_machine.travel(START, tick=False) as traveller:
        import django
        from django.conf import settings

        django.setup()
        settings.STORAGES |= {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        settings.ALLOWED_HOSTS = ["testserver"]

        from django.db import connection

        from assessor.celery import app
        from assessor.work.models import Installation

        app.conf.task_always_eager = True
        # No file has the name of the database, so it takes none of the keys that files have.
        Installation._meta.get_field("key").default = uuid.UUID(int=0)
        # The tables come from the models, which takes a twentieth of the time: see test_migrated.py.
        connection.settings_dict["TEST"]["MIGRATE"] = False
        connection.creation.create_test_db(verbosity=0)
        yield Clock(traveller)
