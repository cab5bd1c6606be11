"""A deployment's settings pass Django's own check of them."""

import os
import subprocess
import sys
from pathlib import Path

from assay.processes import without_settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_check_of_deployments_finds_nothing(tmp_path: Path):
    env = without_settings(os.environ) | {
        "ASSAY_SECRET_KEY": "M7vN2qZx9KcR4tYw8LpB3sHd6FgJ1aEuXo5iTmVbQnWzGy0Pk-UhDjSfCrA",
        "ASSAY_HOSTS": "assay.example.org",
        "ASSAY_BEHIND_PROXY": "on",
        "ASSAY_DATA_DIR": str(tmp_path),
        "ASSAY_LOG": "json",
        "DATABASE_URL": "postgres://assay@127.0.0.1/assay",
        "CELERY_BROKER_URL": "redis://127.0.0.1/0",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "System check identified no issues (0 silenced)."), done.stderr
