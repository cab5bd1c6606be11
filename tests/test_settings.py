"""Settings that are missing or odd stop the start, and say what is wrong."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from assessor.runtime import environment
from assessor.runtime.folders import data_folder
from assessor.runtime.secret_key import secret_key

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
        ({"ASSAY_DATA_DIR": "/dev/null/var"}, "The data folder can't be made: Not a directory: /dev/null/var."),
        ({"ASSAY_DEBUG": "maybe"}, "ASSAY_DEBUG is 'maybe'; it must be one of"),
        ({"ASSAY_HTTPS": "2"}, "ASSAY_HTTPS is '2'; it must be one of"),
        ({"ASSAY_MAX_UPLOAD_MB": "-1"}, "ASSAY_MAX_UPLOAD_MB is '-1'; it must be a whole number"),
        ({"ASSAY_LEASE_HOURS": "0.5"}, "ASSAY_LEASE_HOURS is '0.5'; it must be a whole number"),
        ({"ASSAY_HOSTS": "a,,b"}, "ASSAY_HOSTS has an empty entry"),
        ({"ASSAY_STORAGE": "s3://"}, "ASSAY_STORAGE must be like s3://bucket/prefix?endpoint=https://s3.example.org"),
        ({"ASSAY_STORAGE": "https://s3.example.org/trec"}, "ASSAY_STORAGE must be like s3://bucket/prefix"),
        ({"ASSAY_STORAGE": "s3://key:secret@trec"}, "without keys: these are AWS_ACCESS_KEY_ID and AWS_SECRET_"),
        ({"ASSAY_STORAGE": "s3://trec/a/../b"}, "ASSAY_STORAGE must be like s3://bucket/prefix"),
        ({"ASSAY_STORAGE": "s3://trec?endpoint=s3.example.org"}, "ASSAY_STORAGE must be like s3://bucket/prefix"),
        ({"ASSAY_STORAGE": "s3://trec?endpoint=https://a:b@s3.example.org"}, "ASSAY_STORAGE must be like s3://bucket"),
        ({"ASSAY_STORAGE": "s3://trec?acl=public-read"}, "ASSAY_STORAGE must be like s3://bucket/prefix"),
        ({"ASSAY_STORAGE": "s3://trec", "AWS_ACCESS_KEY_ID": "x"}, "only AWS_ACCESS_KEY_ID is set."),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL must name SQLite or PostgreSQL"),
        ({"DATABASE_URL": "mysql://root@127.0.0.1/test"}, "DATABASE_URL must name SQLite or PostgreSQL"),
        ({"ASSAY_REPLICA_URL": "nonsense"}, "ASSAY_REPLICA_URL must name SQLite or PostgreSQL"),
        ({"DATABASE_URL": None, "ASSAY_REPLICA_URL": "postgres://b/assay"}, "ASSAY_REPLICA_URL names a replica of a"),
        *(
            ({"DATABASE_URL": "postgres://a/assay", "ASSAY_REPLICA_URL": url}, message)
            for url, message in {
                "sqlite:///copy": "ASSAY_REPLICA_URL names a replica of a PostgreSQL that DATABASE_URL names.",
                "postgres://b/other": "ASSAY_REPLICA_URL must name the same database as DATABASE_URL.",
                "postgres://c@a/assay": "ASSAY_REPLICA_URL and DATABASE_URL name the same server.",
            }.items()
        ),
    ],
)
def test_odd_settings_stop_the_start(tmp_path, changed, message):
    done = start(tmp_path, **changed)
    assert done.returncode != 0
    assert message in done.stderr


def read_key(folder: Path, **changed: str) -> "subprocess.Popen[str]":
    """Start a process that prints the key, in an environment of nothing but this."""
    env = {"DJANGO_SETTINGS_MODULE": "assessor.settings", "ASSAY_DATA_DIR": str(folder)} | changed
    command = [sys.executable, "-c", "from django.conf import settings; print(settings.SECRET_KEY)"]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("changed", "host"),
    [
        ({"ASSAY_HOSTS": "localhost,assay.example.org"}, "assay.example.org (ASSAY_HOSTS)"),
        ({"ASSAY_BIND": ":8000", "ASSAY_SECRET_KEY": "  "}, "0.0.0.0 (ASSAY_BIND)"),
        ({"DATABASE_URL": "postgres://assay@10.0.0.5/assay"}, "10.0.0.5 (DATABASE_URL)"),
        ({"CELERY_BROKER_URL": "redis://queue.example.org/0"}, "queue.example.org (CELERY_BROKER_URL)"),
    ],
)
def test_what_is_not_on_this_machine_alone_takes_its_key_from_the_environment(tmp_path, changed, host):
    process = read_key(tmp_path, **changed)
    assert "Set the environment variable ASSAY_SECRET_KEY" in (error := process.communicate()[1])
    assert f"names {host}. See docs/administrator/settings.md." in error
    assert not (tmp_path / "secret-key").exists()


def test_the_key_of_the_environment_is_taken_and_not_kept(tmp_path):
    out, _ = read_key(tmp_path, ASSAY_SECRET_KEY=" the key ", ASSAY_HOSTS="assay.example.org").communicate()
    assert out == "the key\n"
    assert not (tmp_path / "secret-key").exists()


def test_commands_without_an_environment_make_one_key_and_keep_it(tmp_path):
    """Also where several start at once."""
    folder = tmp_path / "data"
    starting = [read_key(folder) for _ in range(4)]
    [key] = {process.communicate()[0].strip() for process in starting}
    path = folder / "secret-key"
    assert len(key) >= 60
    assert path.read_text() == key
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    local = {"DATABASE_URL": "postgres://assay@localhost/assay", "CELERY_BROKER_URL": "amqp://guest@127.0.0.1:5672//"}
    again = read_key(folder, ASSAY_HOSTS="assay.localhost,[::1]", ASSAY_BIND="[::1]:8000", **local)
    assert again.communicate()[0].strip() == key
    assert read_key(tmp_path / "other").communicate()[0].strip() != key


def test_threads_that_start_at_once_have_one_key(tmp_path):
    """Fifty times, so that some of them meet."""
    with ThreadPoolExecutor(8) as pool:
        for at in range(50):
            folder = tmp_path / str(at)
            folder.mkdir()
            assert len(set(pool.map(lambda _, folder=folder: secret_key(folder, {}, env={}), range(8)))) == 1


def test_a_key_whose_writing_was_cut_off_is_made_anew(tmp_path):
    (tmp_path / "secret-key").touch(0o600)
    assert secret_key(tmp_path, {}, env={}) == (tmp_path / "secret-key").read_text() != ""


def test_a_key_that_others_may_know_is_not_used(tmp_path):
    path = tmp_path / "secret-key"
    path.write_text("of somebody else")
    for mode in (0o644, 0o620, 0o602):
        path.chmod(mode)
        with pytest.raises(ImproperlyConfigured, match=f"The key in {path} must be readable by its owner alone"):
            secret_key(tmp_path, {}, env={})
    path.chmod(0o600)
    assert secret_key(tmp_path, {}, env={}) == "of somebody else"


def test_where_no_key_can_be_kept_the_start_says_so(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch(0o600)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "secret-key").symlink_to(elsewhere)
    (tmp_path / "folder" / "secret-key").mkdir(parents=True)
    for name, reason in (
        ("link", "Too many levels of symbolic links"),
        ("folder", "Is a directory"),
        ("none", "No such file or directory"),
    ):
        path = tmp_path / name / "secret-key"
        with pytest.raises(ImproperlyConfigured, match=f"can't be kept in {path}: {reason}. Set ASSAY_SECRET_KEY"):
            secret_key(tmp_path / name, {}, env={})
    assert elsewhere.read_text() == ""


def test_texts_flags_numbers_and_lists():
    assert environment.text("A", default="x", env={"A": " a "}) == "a"
    assert environment.text("A", default="x", env={"A": " "}) == "x"
    assert environment.flag("A", default=True, env={}) is True
    assert environment.flag("A", default=True, env={"A": "No"}) is False
    assert environment.number("A", default=7, env={"A": " 12 "}) == 12
    assert environment.words("A", default="x", env={"A": "a, b"}) == ["a", "b"]
    with pytest.raises(ImproperlyConfigured):
        environment.number("A", default=7, env={"A": "0"})


def test_a_database_is_named_by_a_url():
    url = "postgres://ann:p%40ss@db.example.org:5433/assay?sslmode=require"
    named = environment.database_url("A", default="sqlite://", env={"A": url})
    names = ("ENGINE", "USER", "PASSWORD", "HOST", "PORT", "NAME", "OPTIONS")
    assert [named[name] for name in names] == [
        "django.db.backends.postgresql",
        "ann",
        "p@ss",
        "db.example.org",
        5433,
        "assay",
        {"sslmode": "require"},
    ]
    assert environment.database_url("A", default="sqlite://", env={"A": ""})["NAME"] == ":memory:"


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


@pytest.mark.parametrize(("asked", "options"), [("", ""), ("?options=-c%20work_mem%3D8MB", " -c work_mem=8MB")])
def test_postgresql_is_told_of_queries_and_of_machines_cut_off_before_what_the_url_says(tmp_path, asked, options):
    code = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['options'])"
    env = os.environ | {
        "ASSAY_SECRET_KEY": "x",
        "ASSAY_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"postgres://ann@127.0.0.1/assay{asked}",
        "DJANGO_SETTINGS_MODULE": "assessor.settings",
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    away = "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=2 -c tcp_user_timeout=30000"
    assert done.stdout.strip() == f"-c jit=off {away}{options}"


def test_without_a_setting_the_source_tree_has_the_data(monkeypatch):
    monkeypatch.delenv("ASSAY_DATA_DIR")
    assert data_folder() == ROOT / "var"
    monkeypatch.setenv("ASSAY_DATA_DIR", " /srv/../srv/data ")
    assert data_folder() == Path("/srv/data")


@pytest.mark.django_db
def test_sqlite_keeps_what_it_committed():
    if connection.vendor != "sqlite":
        pytest.skip("these are SQLite's own settings")
    with connection.cursor() as cursor:
        assert cursor.execute("pragma journal_mode").fetchone() == ("wal",)
        assert cursor.execute("pragma synchronous").fetchone() == (2,)  # FULL
    assert settings.DATABASES["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
