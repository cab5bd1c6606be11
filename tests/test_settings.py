"""Settings that are missing or odd stop the start, and say what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from assessor import environment

ROOT = Path(__file__).resolve().parent.parent


def start(tmp_path: Path, **changed: str | None) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"ASSAY_SECRET_KEY": "x" * 60, "ASSAY_DATA_DIR": str(tmp_path)} | changed
    env = {name: value for name, value in env.items() if value is not None}
    return subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, env=env, capture_output=True, text=True)


def test_sound_settings_start(tmp_path):
    assert start(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ASSAY_SECRET_KEY": None}, "Set the environment variable ASSAY_SECRET_KEY"),
        ({"ASSAY_SECRET_KEY": "  "}, "Set the environment variable ASSAY_SECRET_KEY"),
        ({"ASSAY_DEBUG": "maybe"}, "ASSAY_DEBUG is 'maybe'; it must be one of"),
        ({"ASSAY_HTTPS": "2"}, "ASSAY_HTTPS is '2'; it must be one of"),
        ({"ASSAY_MAX_UPLOAD_MB": "-1"}, "ASSAY_MAX_UPLOAD_MB is '-1'; it must be a whole number"),
        ({"ASSAY_LEASE_HOURS": "0.5"}, "ASSAY_LEASE_HOURS is '0.5'; it must be a whole number"),
        ({"ASSAY_HOSTS": "a,,b"}, "ASSAY_HOSTS has an empty entry"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL must name SQLite or PostgreSQL"),
        ({"DATABASE_URL": "mysql://root@127.0.0.1/test"}, "DATABASE_URL must name SQLite or PostgreSQL"),
    ],
)
def test_odd_settings_stop_the_start(tmp_path, changed, message):
    done = start(tmp_path, **changed)
    assert done.returncode != 0
    assert message in done.stderr


def test_flags_numbers_and_lists():
    assert environment.flag("A", default=True, env={}) is True
    assert environment.flag("A", default=True, env={"A": "No"}) is False
    assert environment.number("A", default=7, env={"A": " 12 "}) == 12
    assert environment.words("A", default="x", env={"A": "a, b"}) == ["a", "b"]
    with pytest.raises(ImproperlyConfigured):
        environment.number("A", default=7, env={"A": "0"})


def test_https_is_the_default(tmp_path):
    code = "from django.conf import settings as s; print(s.SESSION_COOKIE_SECURE, s.SECURE_SSL_REDIRECT, s.DEBUG)"
    env = os.environ | {
        "ASSAY_SECRET_KEY": "x",
        "ASSAY_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "assessor.settings",
    }
    env.pop("ASSAY_HTTPS")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]


@pytest.mark.django_db
def test_sqlite_keeps_what_it_committed():
    if connection.vendor != "sqlite":
        pytest.skip("these are SQLite's own settings")
    with connection.cursor() as cursor:
        assert cursor.execute("pragma journal_mode").fetchone() == ("wal",)
        assert cursor.execute("pragma synchronous").fetchone() == (2,)  # FULL
    assert settings.DATABASES["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
