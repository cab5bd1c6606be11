"""Ports for servers that tests start, kill and start again: no other process of tests takes them, of any checkout."""

import socket

_FIRST, _LAST, _EACH = 20_000, 30_000, 20  # below those that the system gives to whoever asks for any
_held: list[socket.socket] = []
_left: list[int] = []


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on; the one after the other, each once."""
    while True:
        if not _left:
            _left.extend(take_block())
        port = _left.pop(0)
        with socket.socket() as probe:
            # As servers do, so that connections of an earlier one don't hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def take_block() -> range:
    """Return ports in a row that are this process's own: it holds the one before them for as long as it lives."""
    for first in range(_FIRST, _LAST, _EACH):
        holder = socket.socket()
        try:
            holder.bind(("127.0.0.1", first))
        except OSError:
            holder.close()
            continue
        _held.append(holder)
        return range(first + 1, first + _EACH)
    raise OSError(f"All blocks of ports from {_FIRST} to {_LAST} are taken.")
