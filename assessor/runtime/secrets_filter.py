"""Taking secrets out of what is written down where many may read it: logs, and reports of errors."""

import os
import re
from functools import cache
from urllib.parse import unquote, urlsplit

from django.conf import settings

HIDDEN = "[hidden]"
_NAMES = re.compile(r"(^|_)(KEY|PASSWORD|SECRET|TOKEN)$")
_SHORTEST = 6  # characters: to hide a shorter value wherever it stands would hide half of the text
_SHAPES = [
    # What a URL has before its host: user and password, or a key.
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^\s/'\"]{1,500}@"), rf"\1{HIDDEN}@"),
    (
        re.compile(r"(?i)\b((?:set-)?cookie|(?:proxy-)?authorization)(['\"]?\s*[:=]\s*['\"]?)[^\r\n'\"]+"),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}"), rf"\1 {HIDDEN}"),
    (
        re.compile(
            r"(?i)((?:password|passwd|secret|token|api[_-]?key|secret_key|session_?id|csrf[\w-]{0,20}|dsn)['\"]?\s*[:=]\s*)"
            r"(?:'[^'\r\n]*'|\"[^\"\r\n]*\"|[^\s,;&'\")}\]]+)"
        ),
        rf"\1{HIDDEN}",
    ),
    # Tokens of the API, and keys of models' endpoints.
    (re.compile(r"\b(?:assay_|sk-)[A-Za-z0-9_-]{8,}"), HIDDEN),
    # The token of a one-time link.
    (re.compile(r"(/password/link/\w{1,20}/)[0-9a-f]{64}"), rf"\1{HIDDEN}"),
    # A query string: what somebody searched for or a page was asked with.
    (re.compile(r"(?<=[\w/%.~-])\?[^\s'\"<>?=]{1,200}=[^\s'\"<>]*"), f"?{HIDDEN}"),
]


@cache
def _secrets() -> list[str]:
    """Return the secrets of this process's environment, the longest first: whole values, and passwords in URLs."""
    found: set[str] = set()
    for name, value in os.environ.items():
        if _NAMES.search(name):
            found |= {value, value.strip()}
        if "://" in value:
            try:
                password = urlsplit(value).password or ""
            except ValueError:
                continue
            found |= {password, unquote(password)}
    return sorted((secret for secret in found if len(secret) >= _SHORTEST), key=len, reverse=True)


def scrub(text: str) -> str:
    """Return a text without secrets: the installation's key, the environment's, and whatever has the shape of one."""
    # The key may be from the data folder. A server logs before the settings are there.
    if settings.configured and len(settings.SECRET_KEY) >= _SHORTEST:
        text = text.replace(settings.SECRET_KEY, HIDDEN)
    for secret in _secrets():
        text = text.replace(secret, HIDDEN)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text
