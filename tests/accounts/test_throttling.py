"""The limits hold over several processes: what one has counted, the other knows."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from assessor.accounts.adapters import TOO_MANY_CODES
from tests.accounts.steps import code, give_code, give_password, has_app
from tests.conftest import PASSWORD, make_person

ROOT = Path(__file__).resolve().parent.parent.parent
ELSEWHERE = """
import sys
import tests.environment, os
os.environ["DJANGO_SETTINGS_MODULE"] = "assessor.settings"
import django
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
settings.ALLOWED_HOSTS = ["testserver"]
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
django.setup()
from django.test import Client
"""


def in_another_process(program: str) -> str:
    """Run a program on the same database; return what it printed."""
    name = str(connection.settings_dict["NAME"])
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE + program, name], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.django_db(transaction=True)
def test_wrong_passwords_and_codes_count_over_all_processes():
    anna = make_person("anna", "assessor")
    has_app(anna)
    client = Client()
    give_password(client)
    said = in_another_process(f"""
client = Client()
client.post("/login/", {{"username": "anna", "password": {PASSWORD!r}}})
print([client.post("/login/code/", {{"code": "000000"}}).status_code for _ in range(5)])
print([Client().post("/login/", {{"username": "anna", "password": "wrong"}}).status_code for _ in range(5)])
""")
    assert said == f"{[200] * 5}\n{[200] * 5}\n"
    assert give_code(client, code()) == TOO_MANY_CODES
    assert give_password(Client()).status_code == 429
    assert give_password(Client(REMOTE_ADDR="10.9.9.9"))["Location"] == "/login/code/", "of that address alone"


@pytest.mark.django_db(transaction=True)
def test_a_code_that_was_used_in_one_process_is_used_in_all():
    has_app(make_person("anna", "assessor"))
    used = code()
    said = in_another_process(f"""
client = Client()
client.post("/login/", {{"username": "anna", "password": {PASSWORD!r}}})
print(client.post("/login/code/", {{"code": {used!r}}}).get("Location"))
""")
    assert said == "/\n"
    client = Client()
    give_password(client)
    assert give_code(client, used) != "/"
