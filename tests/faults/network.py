"""A network that drops half of the requests: a proxy that breaks the connection, before a request or its answer."""

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LOST = 0.25  # of the pieces never arrive; as many do, and what they ask for is carried out, and the answers are lost


class Dropping:
    """The proxy. pieces, dropped: how many came from browsers, and at how many of them it broke the connection."""

    def __init__(self, target: int) -> None:
        self._target, self._chance = target, random.Random(50)
        self.port, self.pieces, self.dropped = 0, 0, 0

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        is_lost = asyncio.Event()  # the answer of what was sent last
        back = asyncio.create_task(self._pass_back(there_reader, writer, is_lost))
        try:
            # A browser sends a request in one piece or in two, and the next one after the answer.
            while data := await reader.read(1 << 20):
                if not is_lost.is_set():
                    self.pieces += 1
                    chance = self._chance.random()
                    self.dropped += chance < 2 * LOST
                    if chance < LOST:
                        break
                    if chance < 2 * LOST:
                        is_lost.set()
                there_writer.write(data)
        except OSError:
            pass
        finally:
            back.cancel()
            writer.close()
            there_writer.close()

    async def _pass_back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_lost: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while (data := await reader.read(1 << 20)) and not is_lost.is_set():
                writer.write(data)
        writer.close()

    async def serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()


@contextmanager
def dropping(target: int) -> Iterator[Dropping]:
    """Run the proxy before a port, in a thread."""
    proxy, ready, loop = Dropping(target), threading.Event(), asyncio.new_event_loop()

    def run() -> None:
        with suppress(RuntimeError):  # stopped while it serves
            loop.run_until_complete(proxy.serve(ready))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
