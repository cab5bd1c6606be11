"""What is kept of a condition's labels until anything is written to the database, by whichever connection."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.runtime.database_state import database_state
from assessor.scores.cache import state_of
from tests.conftest import client_of
from tests.labels.screens import Screen
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def seen_alike(see: Callable[[], bool]) -> bool:
    """Say whether a look comes out as expected, on PostgreSQL at least one of a hundred.

    All its databases draw on one counter of transactions, and further processes of the tests write to theirs.
    """
    return any(see() for _ in range(100 if connection.vendor == "postgresql" else 1))


def rename(campaign: Campaign, name: str) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(name=name)


@pytest.mark.parametrize("screen", ["assignment"], indirect=True)
def test_the_state_of_labels_is_counted_again_once_anybody_labels(screen: Screen, anna: Person):
    condition, client = screen.task.condition, client_of(anna)
    before = state_of(condition)

    def asks_only_whether_anything_was_written() -> bool:
        with CaptureQueriesContext(connection) as asked:
            assert state_of(condition) == before
        return len(asked) == 1

    assert seen_alike(asks_only_whether_anything_was_written)
    at_once([lambda: screen.label(client, screen.one, screen.labels[0])])  # on another connection
    after = state_of(condition)
    assert after != before
    screen.label(client, screen.one, screen.labels[1])  # on this one
    assert state_of(condition) not in (before, after)


def test_the_database_is_the_same_until_anybody_writes(campaign: Campaign):
    assert seen_alike(lambda: database_state() == database_state())
    seen = [database_state()]
    rename(campaign, "one")
    seen.append(database_state())
    at_once([lambda: rename(campaign, "another")])
    seen.append(database_state())
    with transaction.atomic():
        rename(campaign, "a third")
        assert database_state() is None  # it may be taken back
        transaction.set_rollback(True)
    seen.append(database_state())
    assert len(set(seen[:3])) == 3
    assert None not in seen
    connection.close()
    assert database_state() is not None
    if connection.vendor == "sqlite":  # counts of another connection
        assert database_state() not in seen
