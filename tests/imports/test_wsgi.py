"""The web process, before it serves anybody."""

from pathlib import Path

import pytest

from tests.llm.house import house


@pytest.mark.django_db
def test_what_forks_after_it_was_loaded_shares_no_connection(tmp_path: Path):
    """Two processes on one connection would read each other's answers: one person's session as another's."""
    told = """
import sys
from assessor import wsgi
from django.db import connection
print(connection.connection, list(getattr(connection, "_connection_pools", [])))
print(sorted({"celery", "kombu", "openai", "psutil", "scipy", "yaml"} & set(sys.modules)))
"""
    with house(tmp_path / "data", "embedded://") as study:
        assert study.run(told).split() == ["None", "[]", "[]"], "and what it loads, it needs for most pages"
