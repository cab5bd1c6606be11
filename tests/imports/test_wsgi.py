"""The web process, before it serves anybody."""

from pathlib import Path

import pytest

from tests.llm.house import house


@pytest.mark.django_db
def test_what_forks_after_it_was_loaded_shares_no_connection(tmp_path: Path):
    """Two processes on one connection would read each other's answers: one person's session as another's."""
    told = """
from assessor import wsgi
from django.db import connection
print(connection.connection, list(getattr(connection, "_connection_pools", [])))
"""
    with house(tmp_path / "data", "embedded://") as study:
        assert study.run(told).split() == ["None", "[]"]
