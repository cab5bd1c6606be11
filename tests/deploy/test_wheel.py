"""The wheel: what is in it, and that it runs with nothing of the source tree; make try-wheel tries more, for longer."""

import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection
from packaging.requirements import Requirement

from assay.processes import without_settings
from assessor.runtime.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("assay", "assessor", "nuggets", "assignment", "support", "metaeval", "demo")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
# Both in one process: most of their time is Django's start.
CHECK_AND_OPEN_FIRST_PAGE = """
import re, sys
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
call_command("check")
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
page = Client(headers={"host": "assay.example.org"}).get("/login/")
files = re.findall(r'(?:href|src)="/static/([^"]+)"', page.text)
print(page.status_code, "Demo sign-ins" in page.text, len(files) > 1, all(map(finders.find, files)))
ours = {module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in %r and module.__file__}
print({path.removesuffix(path.partition("/site/")[2]) for path in ours})
"""


def files_in(*folders: str) -> set[str]:
    """Return the files of folders of the source tree, but for those that Python makes."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*PIP, "wheel", *offline, "--wheel-dir", str(folder), str(ROOT)], check=True)
    [path] = folder.iterdir()
    return path


class Installed:
    """The wheel in a folder of its own, and its command in another one that has nothing to do with it."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.site, self.elsewhere, self.home = folder / "site", folder / "elsewhere", folder / "home"
        subprocess.run(
            [*PIP, "install", "--no-index", "--no-deps", "--no-compile", "--target", str(self.site), str(wheel)],
            check=True,
        )
        self.elsewhere.mkdir()
        (self.elsewhere / "support.py").write_text("raise SystemExit('taken from the current folder')\n")

    def run(self, *words: str, **settings: str) -> str:
        """Run a command of the wheel's; return what it printed."""
        env = without_settings(os.environ) | {"PYTHONPATH": str(self.site), "XDG_DATA_HOME": str(self.home), **settings}
        env.pop("DJANGO_SETTINGS_MODULE", None)
        command = [str(self.site / "bin" / "assay"), *words]
        done = subprocess.run(command, cwd=self.elsewhere, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(wheel, tmp_path_factory.mktemp("installed"))


def test_it_has_every_file_of_the_program_and_nothing_else(wheel: Path):
    in_assay = {f"assay/{name}" for name in {"deploy/gunicorn.conf.py", *files_in("templates", "static")}}
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert names == files_in(*PACKAGES) | in_assay
    assert {"assay/templates/account/login.html", "assay/static/assay/outbox.js", "demo/topics.tsv"} < names


def test_it_depends_on_what_the_program_runs_on(wheel: Path):
    with zipfile.ZipFile(wheel) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        lines = opened.read(name).decode().splitlines()
    wanted = [line for line in (ROOT / "requirements.in").read_text().splitlines() if not line.startswith("#")]
    more = [line for line in (ROOT / "requirements-s3.in").read_text().splitlines() if not line.startswith("#")]
    wanted += [f"{line}; extra == 's3'" for line in more]
    found = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    assert {Requirement(line.lower()) for line in found} == {Requirement(line.lower()) for line in wanted}
    assert f"Version: {VERSION}" in lines


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the database of an installation without settings is SQLite")
def test_it_runs_from_anywhere_without_the_source_tree(installed: Installed):
    """On a copy of the tests' database: to apply all migrations, as test_migrated.py does, takes half a minute."""
    data = installed.home / "assay"
    data.mkdir(parents=True, mode=0o700)
    tests = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(tests)) as here, closing(sqlite3.connect(data / "assay.sqlite3")) as there:
        here.backup(there)
    assert installed.run("migrate").splitlines()[3:] == ["  No migrations to apply."]

    given = {"ASSAY_DATA_DIR": str(data), "ASSAY_HOSTS": "assay.example.org", "ASSAY_SECRET_KEY": "x" * 60}
    code = CHECK_AND_OPEN_FIRST_PAGE % (PACKAGES,)
    words = ("shell", "--verbosity=0", "--no-imports", "-c", code)
    printed = installed.run(*words, ASSAY_DEMO="on", ASSAY_HTTPS="off", **given)
    assert printed.splitlines() == [
        "System check identified no issues (0 silenced).",
        "200 True True True",
        str({f"{installed.site}/"}),
    ]
    assert [path.name for path in installed.elsewhere.iterdir()] == ["support.py"]
