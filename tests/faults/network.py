"""Proxies before the web processes: one that drops half of the requests or answers, one that knows several hosts."""

import asyncio
import random
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

LOST = 0.25  # of the pieces never arrive; as many do, and what they ask for is carried out, and the answers are lost
REACHED = 3.0  # seconds within which a host must take a connection


class Proxy:
    """Listens on a port that it chooses itself."""

    port = 0

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()


class Balanced(Proxy):
    """Gives each connection to the next host that takes it, as nginx's upstream does."""

    def __init__(self, hosts: Sequence[tuple[str, int]]) -> None:
        self._hosts = deque(hosts)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(len(self._hosts)):
            self._hosts.rotate(-1)
            try:
                async with asyncio.timeout(REACHED):
                    there_reader, there_writer = await asyncio.open_connection(*self._hosts[0])
            except OSError:
                continue
            there = asyncio.create_task(_pass_on(there_reader, writer))
            await _pass_on(reader, there_writer)
            there.cancel()
            return
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until one side closes; then close the other."""
    with suppress(OSError):
        while data := await reader.read(1 << 20):
            writer.write(data)
    writer.close()


class Dropping(Proxy):
    """Breaks connections. pieces, dropped: how many came from browsers, and at how many of them it did so."""

    def __init__(self, target: int) -> None:
        self._target, self._chance = target, random.Random(50)
        self.pieces, self.dropped = 0, 0

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


_Running = TypeVar("_Running", bound=Proxy)


@contextmanager
def running(proxy: _Running) -> Iterator[_Running]:
    """Run a proxy in a thread."""
    ready, loop = threading.Event(), asyncio.new_event_loop()

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
