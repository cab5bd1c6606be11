"""How requests reach an endpoint, and how replies are read: only where they may go, and no more than they may hold.

Loaded by who makes a gateway: a web process sends no requests, and does without httpx2.
"""

import asyncio
import itertools
import socket
import zlib
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

from django.conf import settings
from httpcore2 import AnyIOBackend, AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream, ConnectError
from httpx2 import AsyncBaseTransport, AsyncHTTPTransport, Request, Response

from assessor.llm.endpoints import inside, is_named, is_public
from assessor.runtime.certificates import trusted

# Headers, and how many of their units are a second; under the longer names LiteLLM's proxy hands on another one's.
_WAITS = {
    "retry-after-ms": 1_000.0,
    "retry-after": 1.0,
    "llm_provider-retry-after-ms": 1_000.0,
    "llm_provider-retry-after": 1.0,
}
_POOL = 8  # connections
_KEPT_OPEN = 5.0  # seconds without a request
_STEP = 65_536  # bytes that are unpacked at once
_FILE = "/content"  # how the path of a file's content ends
_UNPACKED = ("identity", "gzip")  # one of them at a time: a chain unpacks a few bytes to work for minutes


class PublicOrNamed(AsyncNetworkBackend):
    """Connects to hosts that ASSAY_LLM_HOSTS names, and to public addresses.

    The address that was looked at is the one that is connected to: what a name leads to can change in between.
    """

    def __init__(self) -> None:
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        addresses = [host] if is_named(host, port) else await _public_addresses(host, port)
        for address in addresses[:-1]:
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except ConnectError:
                continue
        return await self._backend.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


async def _public_addresses(host: str, port: int) -> list[str]:
    """Return where a name leads. Raises ConnectError where one of its addresses is not public, and for no address."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectError(str(error)) from error
    addresses = [str(told[4][0]) for told in found]
    if not all(is_public(ip_address(address.partition("%")[0])) for address in addresses):
        raise ConnectError(inside(host))
    return addresses


def _pool(context: SSLContext) -> AsyncHTTPTransport:
    """Return a pool that connects only to where requests may go. How to connect, its maker does not ask for."""
    transport = AsyncHTTPTransport(verify=context)
    transport._pool = AsyncConnectionPool(
        ssl_context=context,
        max_connections=None,
        max_keepalive_connections=_POOL,
        keepalive_expiry=_KEPT_OPEN,
        network_backend=PublicOrNamed(),
    )
    return transport


class Unreadable(Exception):
    """A reply is longer than it may be, or packed in a way that was not asked for; the text says which."""


async def _parts(response: Response, *, is_packed: bool) -> AsyncGenerator[bytes, None]:
    """Yield a body, unpacked, in parts of 64 KiB at most: the library's 1 MiB, times all in flight, adds up."""
    unpacker = zlib.decompressobj(wbits=31)
    async for sent in response.aiter_raw():
        if not is_packed:
            yield sent
            continue
        part = unpacker.decompress(sent, _STEP)
        while part:
            yield part
            part = unpacker.decompress(unpacker.unconsumed_tail, _STEP)
        if unpacker.unused_data:  # after the end: the unpacker would hold all of it
            raise zlib.error


async def _read(response: Response) -> Response:
    """Return a response with its body, unpacked. Raises Unreadable.

    Of an error that can't be read whole the status counts all the same, so its body is cut.
    The connection of what is not read to its end is closed.
    """
    limit, body, reason = settings.MAX_REPLY_BYTES, bytearray(), ""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    try:
        if packed not in _UNPACKED:
            reason = f"is packed as {packed[:40]!r}, which was not asked for: let it be sent as it is, or as gzip."
        else:
            async with aclosing(_parts(response, is_packed=packed == "gzip")) as parts:
                async for part in parts:
                    body += part
                    if len(body) > limit:
                        reason = f"is longer than {limit >> 20} MiB. ASSAY_MAX_REPLY_MB sets how much of one is read."
                        break
    except zlib.error:
        reason = "is not gzip to its end, though it says so."
    finally:
        await response.aclose()
    if reason and response.is_success:
        raise Unreadable(f"The endpoint's reply {reason}")
    # No other header is used: the body is UTF-8, as JSON is, whatever charset is named.
    headers = {name: response.headers[name] for name in _WAITS if name in response.headers}
    return Response(response.status_code, headers=headers, content=bytes(body[:limit]))


def _is_plain(response: Response) -> bool:
    return response.headers.get("content-encoding", "identity").strip().lower() == "identity"


def retry_after(headers: Any) -> float | None:
    """Return the seconds that a response asks to wait, or None; a date is too rare to be worth reading."""
    for name, scale in _WAITS.items():
        try:
            seconds = float(headers[name]) / scale
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < 3_600:
            return seconds
    return None


class Transport(AsyncBaseTransport):
    """Requests spread over several pools of connections; replies are read here, as the library knows no limit.

    For each request a pool looks at all of its connections, which with 64 of them took a third of a call's time.
    """

    def __init__(self, connections: int) -> None:
        # How many connections there are is the judge's seats' to say: none waits for one where nobody sees it.
        self._pools = [_pool(trusted()) for _ in range(-(-connections // _POOL))]
        self._turns = itertools.cycle(self._pools)

    async def handle_async_request(self, request: Request) -> Response:
        response = await next(self._turns).handle_async_request(request)
        if response.is_success and request.url.path.endswith(_FILE) and _is_plain(response):
            return response  # part by part to who asked for it, and who bounds it
        return await _read(response)

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()
