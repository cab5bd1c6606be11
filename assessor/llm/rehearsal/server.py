"""Listening, in one process."""

import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from assessor.llm.rehearsal.app import Endpoint
from assessor.llm.rehearsal.files import Files
from assessor.llm.rehearsal.options import Knobs


def serve(knobs: Knobs, listening: Callable[[str], object]) -> None:
    """Serve until SIGINT or SIGTERM ends the process. listening is called with the base URL once it can be reached.

    Raises OSError where the port is taken or the log can't be written.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)  # uvicorn sends the signal once more when it has closed everything
    # Named as TCP: only then asyncio switches Nagle's algorithm off, which holds short answers back for 40 ms.
    with Files() as files, socket.socket(proto=socket.IPPROTO_TCP) as listener:
        config = uvicorn.Config(
            Endpoint(knobs, files),
            loop="asyncio",
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",  # what goes wrong here is meant to
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=75,  # longer than clients keep connections, so that none is closed under a request
            timeout_graceful_shutdown=1,
        )
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((knobs.address, knobs.port))
        listener.listen(config.backlog)
        listening(f"http://{knobs.address}:{listener.getsockname()[1]}/v1")
        uvicorn.Server(config).run(sockets=[listener])


def _leave(*_: Any) -> None:
    sys.exit(0)
