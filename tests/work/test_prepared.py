"""Queries whose plans PostgreSQL keeps."""

import pytest
from django.db import connection

from assessor.runtime.sql import fetch_prepared


@pytest.mark.django_db
def test_what_is_asked_often_is_planned_once():
    query = "SELECT CAST(%s AS integer) + 1 AS next"
    assert [fetch_prepared(query, [number]) for number in range(8)] == [[(number + 1,)] for number in range(8)]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE '%AS next'"
            )
            [(plans,)] = cursor.fetchall()
        assert plans > 0
