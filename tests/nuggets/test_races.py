"""Many requests at the same moment, each on a connection of its own."""

from collections import Counter
from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Event
from assessor.work.models import Task, Write
from nuggets import actions
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.nuggets.conftest import A, do, fill, listed, send, shown
from tests.work.conftest import at_once

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 20


def adds(bank: NuggetBank, person: Person, keys: Sequence[UUID], uids: Sequence[UUID]) -> list[HttpResponse]:
    """Add a nugget for each key at once, all on the version that the bank has now."""
    clients = [client_of(person) for _ in keys]

    def call(client: Client, key: UUID, uid: UUID) -> Callable[[], HttpResponse]:
        fields = {"uid": str(uid), "text": str(uid)}
        return lambda: send(client, bank, "add", key=key, version=bank.version, **fields)

    return at_once([call(*each) for each in zip(clients, keys, uids, strict=True)])


def assert_one_edit(bank: NuggetBank) -> None:
    before = bank.version
    bank.refresh_from_db()
    assert bank.version == before + 1
    assert list(bank.edits.filter(version__gt=before).values_list("version", "verb")) == [(before + 1, "add")]
    assert bank.nuggets.count() == len(bank.order) == Task.objects.get().done == 2


def test_the_same_write_many_times_at_once_counts_once(bank: NuggetBank, anna: Person):
    fill(bank, (A, "a", ""))
    written = Write.objects.count()
    responses = adds(bank, anna, [uuid4()] * THREADS, [uuid4()] * THREADS)
    assert [response.status_code for response in responses] == [200] * THREADS
    assert {response.content for response in responses} == {responses[0].content}
    assert_one_edit(bank)
    assert Write.objects.count() == written + 1


def test_of_many_writes_on_one_version_one_is_done(bank: NuggetBank, anna: Person):
    fill(bank, (A, "a", ""))
    written = Write.objects.count()
    uids = [uuid4() for _ in range(THREADS)]
    responses = adds(bank, anna, [uuid4() for _ in range(THREADS)], uids)
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    assert_one_edit(bank)
    [winner] = [uid for uid, response in zip(uids, responses, strict=True) if response.status_code == 200]
    assert listed(bank) == [("a", ""), (str(winner), "")]
    for response in responses:
        assert [text for _, text, _ in shown(response).rows] == ["a", str(winner)]
    assert Write.objects.count() == written + 1


def test_a_bank_is_finished_once_and_nothing_slips_in(bank: NuggetBank, anna: Person):
    fill(bank, (A, "a", "vital"))
    clients = [client_of(anna) for _ in range(THREADS)]

    def call(client: Client, number: int) -> Callable[[], HttpResponse]:
        if number % 2:
            return lambda: send(client, bank, "add", version=bank.version, uid=str(uuid4()), text="b")
        return lambda: send(client, bank, "finish", version=bank.version)

    responses = at_once([call(client, number) for number, client in enumerate(clients)])
    assert Counter(response.status_code for response in responses) == {200: 1, 409: THREADS - 1}
    before = bank.version
    bank.refresh_from_db()
    assert bank.version == before + 1
    if bank.state == NuggetBank.State.FINISHED:
        assert (bank.edition, listed(bank), Event.objects.filter(verb="bank finished").count()) == (
            1,
            [("a", "vital")],
            1,
        )
    else:
        assert (bank.edition, listed(bank)) == (0, [("a", "vital"), ("b", "")])


def test_writes_on_fresh_versions_all_get_through(bank: NuggetBank, anna: Person):
    """As two tabs do: each asks again on the version that the refusal named, with a new key."""
    clients = [client_of(anna) for _ in range(4)]

    def call(client: Client) -> Callable[[], int]:
        def keep_trying() -> int:
            for attempt in range(100):
                uid = str(uuid4())
                if send(client, bank, "add", uid=uid, text=uid).status_code == 200:
                    return attempt
            raise AssertionError("never got through")

        return keep_trying

    results = at_once([call(client) for client in clients])
    assert [type(result) for result in results] == [int] * 4
    bank.refresh_from_db()
    assert list(bank.edits.values_list("version", flat=True)) == [1, 2, 3, 4]
    assert len(listed(bank)) == 4
    for left in (3, 2, 1, 0):
        do(bank, actions.undo)
        assert len(listed(bank)) == left
