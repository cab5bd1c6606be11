"""Sending to a real server, whose client goes away, and with a client that others' program wrote."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.llm.house import House, house, wait_until
from tests.support.lines import FULL, NONE, cites
from tests.support.lines import line as judgments

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

    def imports(self) -> list[str]:
        return [kind for [kind] in self.house.rows("select kind from campaigns_import order by id")]


@pytest.fixture
def served(db: None, tmp_path: Path) -> Iterator[Served]:
    with house(tmp_path / "data", "embedded://") as made:
        reads, sends = made.run(SET_UP).split()
        yield Served(made, made.start_web(), reads, sends)


def test_a_file_that_breaks_off_is_none(served: Served):
    """Neither where its client stops sending, nor where it is gone; one of unknown length is not taken at all."""
    before = served.imports()
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
    assert served.imports() == before
    with connected("Content-Length: 10\r\n\r\nt1 0 d1 1\n") as whole:
        assert whole.recv(4096).startswith(b"HTTP/1.1 202 ")
    assert served.imports() == [*before, "qrels"]


@pytest.fixture
def generated(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """A client made from the API's own description; returns what a dotted name in it stands for."""
    description, configuration = tmp_path / "openapi.json", tmp_path / "configuration.yml"
    with urlopen(f"{served.address}/api/v1/openapi.json", timeout=60) as answer:
        description.write_bytes(answer.read())
    configuration.write_text("post_hooks: []\n")  # which would tidy what nobody reads
    command = ["generate", "--path", str(description), "--meta", "none", "--fail-on-warning"]
    command += ["--config", str(configuration), "--output-path", str(tmp_path / "assay_client")]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)

    def find(name: str) -> Any:
        module, _, attribute = f"assay_client.{name}".rpartition(".")
        return getattr(import_module(module), attribute)

    yield find
    for module in [one for one in sys.modules if one.partition(".")[0] == "assay_client"]:
        del sys.modules[module]


def test_a_generated_client_sends_follows_and_reads(served: Served, generated: Callable[[str], Any]):
    served.house.start_worker("celery")
    client, file, kinds, by = map(
        generated,
        (
            "client.AuthenticatedClient",
            "types.File",
            "models.send_import_kind.SendImportKind",
            "models.send_import_by_type_0.SendImportByType0",
        ),
    )

    def sent(*lines: Any) -> Any:
        body = file(BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode()))
        said = {"kind": kinds.SUPPORT, "condition": "Pipeline", "by": by.MODEL, "body": body}
        made = generated("api.imports.send_import.sync")("study", client=sends, **said)
        get = partial(generated("api.imports.get_import.sync"), "study", made.id, client=sends)
        wait_until(lambda: get().is_over, "a worker took it", 60)
        return get()

    with client(served.address, served.reads) as reads, client(served.address, served.sends) as sends:
        line = judgments("t1", "r1", cites("Cats purr.", d1=FULL), cites("They do.", d1=NONE))
        done, refused = sent(line), sent(line | {"topic_id": "t9"})
        assert (done.state, done.report.counts["labels added"]) == ("done", 2)
        [error] = refused.report.errors
        assert (refused.state, error.line, error.field, error.found) == ("refused", 1, "topic_id", "t9")
        assert error.expected == "a topic of the campaign; load the topics first"
        list_campaigns = generated("api.campaigns.list_campaigns.sync")
        [campaign] = list_campaigns(client=reads).items
        assert list_campaigns(client=sends).detail == "This token may send labels and drafts, and read nothing."
        [condition] = generated("api.campaigns.list_conditions.sync")(campaign.slug, client=reads).items
        assert (condition.name, condition.kind, condition.judge) == ("Pipeline", "support", "Pipeline")
        [run] = generated("api.results.get_scores.sync")(campaign.slug, condition.id, client=reads).runs
        assert (run.run_id, run.topics, run.scores["hard_precision"]) == ("r1", 1, 0.5)
