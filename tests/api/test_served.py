"""Sending to a real server, whose client goes away, and with a client that others' program wrote."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.llm.house import House, house, wait_until

SET_UP = """
from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.actions import create_campaign
from assessor.imports.made_files import import_lines
olga = Person.objects.create_superuser("olga", password="a good long password")
study = create_campaign(name="Study", slug="study", acting_user=olga)
import_lines(study, "topics", "topics", ["t1\\twhy do cats purr\\n"], olga)
for may in ("read", "import"):
    print(create_token(person=olga, name=may, may=may, expires_at=None, acting_user=None).secret)
"""


class Served(NamedTuple):
    """An installation with a web server, and two tokens of an organizer."""

    house: House
    address: str
    reads: str
    sends: str

    def uploads(self) -> list[Path]:
        return [*(Path(self.house.env["ASSAY_DATA_DIR"]) / "uploads").iterdir()]

    def imports(self) -> list[tuple[str, str]]:
        return self.house.rows("select kind, state from campaigns_import order by id")  # type: ignore[return-value]


@pytest.fixture
def served(db: None, tmp_path: Path) -> Iterator[Served]:
    with house(tmp_path / "data", "embedded://") as made:
        reads, sends = made.run(SET_UP).split()
        yield Served(made, made.start_web(), reads, sends)


def test_a_file_that_breaks_off_is_none(served: Served):
    """Neither where its client stops sending, nor where it is gone; one of unknown length is not taken at all."""
    request = (
        "POST /api/v1/campaigns/study/imports?kind=qrels&source=x&by=model HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nAuthorization: Bearer {served.sends}\r\n"
    )

    def connected(rest: str) -> socket.socket:
        there = urlsplit(served.address)
        connection = socket.create_connection((there.hostname, there.port), 60)
        connection.sendall((request + rest).encode())
        return connection

    with connected("Content-Length: 20\r\n\r\nt1 0 d1 1\n") as stops:
        stops.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: stops.recv(4096), b"")).decode()
    assert answer.startswith("HTTP/1.1 400 ")
    assert "The file broke off on the way. Nothing of it was kept: send it again." in answer
    goes = connected("Content-Length: 20\r\n\r\nt1 0 d1 1\n")
    wait_until(lambda: len(served.uploads()) == 1, "it is being read", 30)
    goes.close()
    wait_until(lambda: not served.uploads(), "what came of it is gone", 30)
    with connected("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\na\r\nt1 0 d1 1\n\r\n0\r\n\r\n") as unknown:
        assert unknown.recv(4096).startswith(b"HTTP/1.1 411 ")
    assert served.imports() == [("topics", "done")]
    with connected("Content-Length: 10\r\n\r\nt1 0 d1 1\n") as whole:
        assert whole.recv(4096).startswith(b"HTTP/1.1 202 ")
    assert served.imports() == [("topics", "done"), ("qrels", "waiting")]
