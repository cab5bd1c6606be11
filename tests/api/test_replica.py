"""What is read from a replica is what the primary has at that moment, and the primary is read where it can't be.

It runs where the server of DATABASE_URL lets its role replicate, as that of .ci/run does.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import InternalError, connection, connections, transaction

from assessor.accounts.models import Person
from assessor.archive.exports import ask_for_archive
from assessor.campaigns.models import Campaign
from assessor.exports import actions
from assessor.exports.models import Export
from assessor.exports.registry import BY_NAME, EXPORTABLES
from assessor.runtime import replica
from assessor.runtime.process_cache import cache
from assessor.work.models import Exposure
from assignment.actions import create_manual_assign
from metaeval.actions import calculate_again, run
from metaeval.models import Comparison
from tests.api.conftest import NUGGETS, Ask, answers
from tests.api.test_access import TABLE, keys
from tests.conftest import client_of
from tests.judging import again, asked, give, judged, send
from tests.replicas import Replica, running_replica

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", replica.ALIAS])


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Replica]:
    with django_db_blocker.unblock(), running_replica() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _known(server: Replica) -> Iterator[None]:
    """Assay knows the replica."""
    know(server.port)
    yield
    del connections.settings[replica.ALIAS]


def know(port: int) -> None:
    """Name the server on a port as the replica."""
    settings = dict(connection.settings_dict) | {"HOST": "127.0.0.1", "PORT": str(port), "USER": "postgres"}
    settings["OPTIONS"] = {name: value for name, value in settings["OPTIONS"].items() if name != "pool"}
    settings["TEST"] = settings["TEST"] | {"MIRROR": "default"}  # the tests empty the primary alone
    connections.settings[replica.ALIAS] = settings


@pytest.fixture(autouse=True)
def _asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(replica, "_REST", 0)
    monkeypatch.setattr(replica, "_PATIENCE", 30)
    yield
    connections[replica.ALIAS].close()
    del connections[replica.ALIAS]
    replica._replica.rests_until = 0


@contextmanager
def resting() -> Iterator[None]:
    """Read nothing from the replica meanwhile."""
    replica._replica.rests_until = time.monotonic() + 600
    yield
    replica._replica.rests_until = 0


def was_asked_for(server: Replica, table: str) -> bool:
    return any(f'FROM "{table}"' in statement for statement in server.statements())


@pytest.fixture
def people_label(campaign: Campaign, import_file: Any, anna: Person) -> Callable[[], None]:
    """Have a person label the next nugget of an answer, in their browser, under the condition "by hand"."""
    for kind, lines, options in (
        ("runs", answers("r1")[:1], {}),
        ("nuggets", [NUGGETS], {"condition": "N people", "by": "people"}),
    ):
        assert import_file(campaign, kind, lines, **options).state == "done"
    manual = create_manual_assign(nuggets=campaign.conditions.get(name="N people"), name="by hand", acting_user=None)
    one = judged(give(manual, campaign.topics.get(qid="t1"), anna), "r1")
    nuggets, client = asked(one), client_of(anna)

    def label() -> None:
        assert send(client, again(one), "label", nuggets.pop(0), label="support", seconds=1).status_code == 200

    return label


def by_hand(campaign: Campaign) -> str:
    return f"/campaigns/study/conditions/{campaign.conditions.get(name='by hand').pk}"


def labels_in(done: Export) -> list[str]:
    assert (done.state, done.why) == ("done", "")
    lines = [json.loads(line) for line in b"".join(actions.open_file(done)).splitlines()]
    return [nugget["assignment"] for line in lines for nugget in line["nuggets"] if nugget.get("assignment")]


def export(campaign: Campaign, kind: str, of: str) -> Export:
    return actions.run(actions.ask_for(campaign=campaign, kind=BY_NAME[kind], options={"of": of}, acting_user=None))


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "exports").mkdir()


def test_all_that_is_read_from_the_replica_is_the_same(study: Campaign, ask: Ask, server: Replica):
    addresses = [address.format(**keys(study)) for address, _ in TABLE.values()]
    files = [(kind, record) for kind in EXPORTABLES for record in kind.records(study)[:1]]

    def answers() -> list[str]:
        return [text_of(ask(one, lines=lines)) for lines in (False, True) for one in addresses]

    def exports() -> dict[str, tuple[str, str, list[Any]]]:
        found = {}
        for kind, record in files:
            options = {"of": str(record or ""), "allow_incomplete": True}
            done = actions.run(actions.ask_for(campaign=study, kind=kind, options=options, acting_user=None))
            if kind.name != "history":  # which tells of these exports
                found[kind.name] = (done.state, done.sha256, done.shown)
        return found

    def comparison() -> tuple[Any, ...]:
        done = run(calculate_again(Comparison.objects.get(), acting_user=None))
        return done.state, done.result, done.files, done.inputs

    server.statements()
    found = []
    for read in (answers, exports, comparison):
        found.append(read())
        with resting():
            cache.clear()
            assert read() == found[-1]
    statements = server.statements()
    assert {state for state, _, _ in found[1].values()} == {found[2][0]} == {"done"}
    assert Exposure.objects.exists()
    for table in ("campaigns_topic", "campaigns_answer", "assignment_assignment", "metaeval_comparison"):
        assert any(f'FROM "{table}"' in one for one in statements), table
    assert not any("api_token" in one for one in statements)
    for asked_for in (
        actions.ask_for_release(campaign=study, condition=None, acting_user=None),
        ask_for_archive(campaign=study, acting_user=None),
    ):
        done = actions.run(asked_for)
        assert (done.state, done.why) == ("done", "")
        assert was_asked_for(server, "assignment_assignment")


def text_of(response: Any) -> str:
    assert response.status_code == 200, response.content
    return response.text_sent if response.streaming else response.content.decode()


def test_a_label_of_just_now_is_waited_for(campaign: Campaign, server: Replica, people_label: Callable[[], None]):
    for labels in (1, 2):
        server.do("SELECT pg_wal_replay_pause()")
        people_label()
        threading.Timer(1, server.do, ["SELECT pg_wal_replay_resume()"]).start()
        assert labels_in(export(campaign, "assignments", "by hand")) == ["support"] * labels
        assert was_asked_for(server, "assignment_assignment")


def test_a_label_of_just_now_is_there_while_the_replica_stands_still(
    campaign: Campaign, server: Replica, ask: Ask, people_label: Callable[[], None], caplog: pytest.LogCaptureFixture
):
    people_label()
    address = f"{by_hand(campaign)}/assignments"
    assert text_of(ask(address)).count('"support"') == 1
    server.do("SELECT pg_wal_replay_pause()")
    try:
        people_label()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(replica, "_PATIENCE", 0.5)
            assert labels_in(export(campaign, "assignments", "by hand")) == ["support"] * 2
            server.statements()
            for lines in (False, True):
                assert text_of(ask(address, lines=lines)).count('"support"') == 2
            assert not was_asked_for(server, "assignment_assignment")
    finally:
        server.do("SELECT pg_wal_replay_resume()")
    assert told(caplog) == ["The replica is not read: It is more than 0.5 seconds behind."]
    for lines in (False, True):
        assert text_of(ask(address, lines=lines)).count('"support"') == 2
        assert was_asked_for(server, "assignment_assignment")


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == replica.__name__ and one.levelno > logging.INFO]


def test_scores_change_with_a_label_whose_transaction_was_long_open(
    campaign: Campaign, server: Replica, ask: Ask, people_label: Callable[[], None]
):
    """On a replica a snapshot has the same text before such a commit and after it."""
    people_label()
    address = f"{by_hand(campaign)}/scores/topics"
    saved, committed = threading.Event(), threading.Event()

    def label_and_wait() -> None:
        with transaction.atomic():
            people_label()
            saved.set()
            assert committed.wait(30)
        connections.close_all()

    of = connection.settings_dict
    with psycopg.connect(
        host=of["HOST"], port=of["PORT"] or 5432, user=of["USER"], password=of["PASSWORD"], dbname=of["NAME"]
    ) as older:
        older.execute("SELECT pg_current_xact_id()")
        thread = threading.Thread(target=label_and_wait)
        thread.start()
        assert saved.wait(30)
        Person.objects.update(first_name="younger")
        before = text_of(ask(address))
        committed.set()
        thread.join()
        after = text_of(ask(address))
    assert after != before
    assert after == text_of(ask(address))


def test_a_replica_that_was_killed_is_not_missed(campaign: Campaign, server: Replica, ask: Ask, caplog):
    def topics() -> list[str]:
        return [text_of(ask("/campaigns/study/topics", lines=lines)) for lines in (False, True)]

    before = topics()
    server.stop()
    try:
        assert topics() == before
        assert export(campaign, "qrels", "NIST").state == "done"
        [words] = told(caplog)
        assert words.startswith("The replica is not read: ")
    finally:
        server.start()
    server.statements()
    assert topics() == before
    assert was_asked_for(server, "campaigns_topic")


def test_what_broke_off_is_read_again_from_the_primary(campaign: Campaign, server: Replica):
    servers = []

    def topics() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery(), pg_backend_pid()")
            is_replica, process = cursor.fetchone()
        servers.append(is_replica)
        if is_replica:
            server.do(f"SELECT pg_terminate_backend({process}, 5000)")
        return list(campaign.topics.order_by("qid").values_list("qid", flat=True))

    assert replica.read(topics) == ["t1", "t2"]
    assert servers == [True, False]


def test_nothing_is_written_by_way_of_the_replica(campaign: Campaign):
    with pytest.raises(InternalError, match="read-only transaction"):
        replica.read(campaign.topics.update, title="lost")

    def write() -> int:
        with replica.on_primary():
            return campaign.topics.update(title="kept")

    assert replica.read(write) == 2
    assert {topic.title for topic in replica.read(list, campaign.topics.all())} == {"kept"}
    with transaction.atomic():
        campaign.topics.update(title="not yet committed")
        assert {topic.title for topic in replica.read(list, campaign.topics.all())} == {"not yet committed"}
        transaction.set_rollback(True)


def test_what_is_no_replica_is_not_read(campaign: Campaign, server: Replica, caplog: pytest.LogCaptureFixture):
    """Such as the primary itself, or a replica that was made a primary."""
    del connections[replica.ALIAS]
    know(int(connection.settings_dict["PORT"] or 5432))
    servers = []

    def topics() -> int:
        servers.append(replica.is_read())
        return campaign.topics.count()

    try:
        assert replica.read(topics) == 2
    finally:
        know(server.port)
    assert servers == [False]
    assert told(caplog) == ["The replica is not read: ASSAY_REPLICA_URL names no replica of this database."]
