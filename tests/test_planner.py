"""PostgreSQL looks at tables that have grown at once, and compiles no queries: no page is slow the first time."""

import pytest
from django.db import connection

from assessor.campaigns.models import Campaign, Import, Segment
from tests.conftest import Importer

MANY = [{"docid": f"d{number}", "segment": f"Passage {number}."} for number in range(700)]

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL's planner")


def looked_at() -> float:
    """Return how many segments PostgreSQL believes that there are; -1 where it has never looked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [Segment._meta.db_table])
        return float(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_after_an_import_the_planner_knows_how_many_segments_there_are(
    empty_campaign: Campaign, import_file: Importer
) -> None:
    before = looked_at()
    assert import_file(empty_campaign, "segments", MANY).state == Import.State.DONE
    assert before < 700
    assert looked_at() == 700


@pytest.mark.django_db
def test_no_query_is_compiled() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)
