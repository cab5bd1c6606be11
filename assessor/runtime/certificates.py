"""Whose certificates are trusted where others are asked. Loaded by who sends requests: it takes httpx2."""

from functools import cache
from ssl import SSLContext

from httpx2 import create_ssl_context


@cache
def trusted() -> SSLContext:
    """Return whose certificates are trusted: reading them takes longer than all else that a client needs."""
    return create_ssl_context(trust_env=False)
