"""A receiver of webhooks as others write them: a server of its own that checks signatures by a published library."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook as Verifier

from assessor.notices.models import Webhook
from assessor.notices.signatures import secret_of


class Receiver:
    """Keeps what it is sent, and answers each request as the test says."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self.headers: dict[str, str] = {}
        self.is_endless = False  # whether an answer's body never ends
        self.came = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/told?by=assay"

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.requests]

    def events(self, secret: str) -> list[Any]:
        """Return what came, each checked by the library that receivers use."""
        return [Verifier(secret).verify(body, headers) for headers, body in self.requests]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.came.set()
                receiver.may_answer.wait(30)
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):
                    while receiver.is_endless:
                        self.wfile.write(b"x" * 65_536)

            def do_GET(self) -> None:
                receiver.requests.append(({"followed": self.path}, b""))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


@contextmanager
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    try:
        yield made
    finally:
        made.may_answer.set()
        made.server.shutdown()
        made.server.server_close()


def secret(webhook: Webhook) -> str:
    return secret_of(Webhook.objects.get(pk=webhook.pk))
