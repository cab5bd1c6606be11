"""Many labels at the same moment, each on a connection of its own."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from uuid import uuid4

import pytest
from django.http import HttpResponse

from assessor.accounts.models import Person
from assessor.campaigns.models import Event
from assessor.work.models import Write
from tests.conftest import client_of
from tests.judging import counters
from tests.labels.conftest import of_kinds, signs_off
from tests.labels.screens import Item, Screen
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 12


def test_the_same_label_many_times_at_once_counts_once(screen: Screen, anna: Person):
    item, key, written = screen.one, uuid4(), Write.objects.count()
    label = partial(screen.label, item=item, label=screen.labels[0], key=key, version=0)
    responses = at_once([partial(label, client_of(anna)) for _ in range(THREADS)])
    saved = screen.saved(version=1, to_do=len(screen.answers[0]) - 1)
    assert [(response.status_code, response.json()) for response in responses] == [(200, saved)] * THREADS
    assert screen.stands(item) == {"label": screen.labels[0]}
    assert (len(screen.events(item)), Write.objects.count()) == (1, written + 1)


def test_of_many_labels_on_one_version_one_stands(screen: Screen, anna: Person):
    item, others = screen.one, screen.answers[0][1:]
    for other in others:
        screen.label(client_of(anna), other, screen.labels[0])
    seen = len(others)
    given = [screen.labels[number % len(screen.labels)] for number in range(THREADS)]
    calls = [partial(screen.label, client_of(anna), item, label, version=seen) for label in given]
    responses = at_once(calls)
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    [winner] = [label for label, response in zip(given, responses, strict=True) if response.status_code == 200]
    assert screen.stands(item) == {"label": winner}
    for response in responses:
        if response.status_code == 409:
            assert response.json()["said"]["labels"][str(item.key)] == winner
    assert [event.version for event in screen.events(item)] == list(range(1, seen + 2))
    assert counters(screen.task) == ("open", screen.done[-1], screen.total)


def test_labels_of_different_answers_do_not_hinder_each_other(screen: Screen, anna: Person):
    def label_one_after_another(items: list[Item]) -> Callable[[], list[int]]:
        client = client_of(anna)
        return lambda: [
            screen.label(client, item, screen.labels[version], version=version).status_code
            for version, item in enumerate(items)
        ]

    answers = screen.answers
    assert at_once([label_one_after_another(items) for items in answers]) == [[200] * len(items) for items in answers]
    for items in answers:
        assert [screen.stands(item) for item in items] == [{"label": label} for label in screen.labels[: len(items)]]
    done = screen.total
    assert counters(screen.task) == ("open" if screen.signs_off else "finished", done, done)


@of_kinds(where=signs_off)
def test_nothing_slips_in_once_a_topic_is_signed_off(screen: Screen, anna: Person):
    items, first = screen.items, screen.answers[0]
    for item in items:
        screen.label(client_of(anna), item, screen.labels[0])

    def call(number: int) -> Callable[[], HttpResponse]:
        client = client_of(anna)
        if number % 2:
            return lambda: screen.write(client, screen.one, "take back", version=len(first))
        return lambda: screen.sign_off(client, version=len(items))

    responses = at_once([call(number) for number in range(THREADS)])
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    if counters(screen.task)[0] == "finished":
        assert (bool(screen.stands(screen.one)), Event.objects.filter(verb__endswith="signed off").count()) == (True, 1)
        assert counters(screen.task) == ("finished", screen.total, screen.total)
    else:
        assert (screen.stands(screen.one), counters(screen.task)) == ({}, ("open", screen.total - 1, screen.total))
    assert len(screen.events(screen.one)) == screen.version(screen.one)
