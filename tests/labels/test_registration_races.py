"""A study that is registered while the first label of its conditions is being written, on a connection of its own."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign
from assessor.studies.models import Registration
from assessor.studies.registration import RegistrationError
from tests.conftest import client_of
from tests.labels.screens import Screen
from tests.studies.conftest import register
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_labels_by_rule(screen: Screen) -> None:
    """Have no label stand under the condition: by rule, an empty answer has some from the beginning."""
    condition = screen.task.condition
    kind_of(condition).label_records(condition)[0].update(value=None, state="open")
    assert not kind_of(condition).has_labels(condition)


def race(screen: Screen, anna: Person, seconds: float) -> object:
    """Label, commit that after some seconds, and register a study meanwhile; return what came of that."""
    campaign, condition = screen.task.campaign, screen.task.condition
    client, written = client_of(anna), threading.Event()

    def label() -> None:
        with transaction.atomic():
            assert screen.label(client, screen.one, screen.labels[0]).status_code == 200
            written.set()
            time.sleep(seconds)

    def registered() -> Registration:
        assert written.wait(20)
        return register(Campaign.objects.get(pk=campaign.pk), conditions=[condition.name])

    calls: list[Callable[[], object]] = [label, registered]
    labelled, found = at_once(calls)
    assert labelled is None
    assert screen.stands(screen.one) == {"label": screen.labels[0]}
    return found


def test_a_label_that_is_being_written_is_found(screen: Screen, anna: Person):
    found = race(screen, anna, 0.4)
    assert isinstance(found, RegistrationError)
    assert "labels already" in str(found)
    assert not Registration.objects.exists()


def test_what_is_being_written_for_long_is_not_waited_for(screen: Screen, anna: Person):
    found = race(screen, anna, 2)
    assert isinstance(found, RegistrationError)
    waits = connection.vendor == "sqlite"
    assert ("labels already" if waits else "labels are being written at this moment") in str(found)
    assert not Registration.objects.exists()


def test_a_study_is_registered_while_nobody_labels(screen: Screen, anna: Person):
    made = register(screen.task.campaign, conditions=[screen.task.condition.name])
    assert screen.label(client_of(anna), screen.one, screen.labels[0]).status_code == 200
    assert Registration.objects.get() == made
