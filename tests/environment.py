"""The environment of the tests; a pytest plugin, so that it is there before Django's settings are read."""

import os
import shutil
import tempfile

import pytest

from tests.cheap_columns import compare_columns_cheaply
from tests.large_stack import on_large_stack

os.environ.setdefault("ASSAY_SECRET_KEY", "only for tests")
os.environ.setdefault("ASSAY_HTTPS", "0")
# Endpoints on this machine, and those that tests name without asking them.
os.environ.setdefault("ASSAY_LLM_HOSTS", "127.0.0.1,localhost,api.example.org,other.example.org")
# On PostgreSQL: tests in which many do the same at once have more threads than a web process.
os.environ.setdefault("ASSAY_DATABASE_POOL", "24")
# In memory, where there is room: what commits waited for the disk for a third of its time.
MEMORY = "/dev/shm"
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY
# A folder of its own for each test process: uploads, the embedded broker, SQLite's test database.
os.environ["ASSAY_DATA_DIR"] = tempfile.mkdtemp(prefix="assay-tests-")

compare_columns_cheaply()
pytest.Function.runtest = on_large_stack(pytest.Function.runtest)  # type: ignore[method-assign]
