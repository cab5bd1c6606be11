"""What a browser that opens a page would ask other hosts for."""

import re
from html.parser import HTMLParser

from django.http import HttpResponse

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
_FETCHED = {"src", "srcset", "poster", "data", "background", "ping", "manifest", "xlink:href"}  # of any element
_LINKS = {"link", "use", "image", "base"}  # whose href is fetched, or changes what is
_ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?(?:[a-z]+:)?//", re.IGNORECASE)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_fetched = name in _FETCHED or (name == "href" and tag in _LINKS)
            is_styled = name == "style" and _IN_STYLE.search(value or "")
            is_sent_on = tag == "meta" and name == "content" and re.search(r"url\s*=", value or "", re.IGNORECASE)
            if (is_fetched and _ELSEWHERE.match((value or "").strip())) or is_styled or is_sent_on:
                self.asked.append(f"<{tag} {name}={value!r}>")


def asked_elsewhere(page: HttpResponse) -> list[str]:
    """Return what a page has a browser ask another host for; one without the strict policy is told too."""
    found = _Page()
    found.feed(page.content.decode())
    if set(page.headers.get("Content-Security-Policy", "").split("; ")) != POLICY:
        found.asked.append("no strict policy")
    return found.asked
