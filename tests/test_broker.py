"""The embedded broker, on a folder as a real worker has it."""

from pathlib import Path

import pytest
from kombu import Connection, Exchange, Queue


@pytest.mark.parametrize(("exchange", "left"), [("empty", ""), ("written-twice", '[["celery", "", "jobs"]]]]')])
def test_a_worker_starts_beside_a_damaged_file_of_an_older_version(tmp_path: Path, exchange: str, left: str) -> None:
    (tmp_path / f"{exchange}.exchange").write_text(left)
    folders = dict.fromkeys(("data_folder_in", "data_folder_out", "control_folder"), str(tmp_path))
    with Connection("embedded://", transport_options=folders) as connection:
        queue = Queue("celery", Exchange(exchange), routing_key="celery")(connection.channel())
        queue.declare()
        connection.Producer().publish({"id": 1}, exchange="", routing_key="celery")
        message = queue.get()
    assert message is not None
    assert message.payload == {"id": 1}


def test_it_offers_no_remote_control() -> None:
    """Two workers that start at once would damage the files that it needs."""
    assert not Connection("embedded://").supports_exchange_type("fanout")
