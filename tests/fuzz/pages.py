"""What a browser would send: the forms and links of a page, with what stands in their fields."""

from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

Pairs = list[tuple[str, str]]


class Sent(NamedTuple):
    """A request that a page offers."""

    method: str
    path: str
    pairs: Pairs  # the query's of a GET, the form's of a POST


class _Forms(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.found: list[Sent] = []
        self._form: Sent | None = None
        self._select = ""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        for method in ("get", "post"):
            if address := told.get(f"hx-{method}"):
                self._add(method, address)
        if tag == "a" and told.get("href", "").startswith(("/", "?")):
            self._add("get", told["href"])
        if tag == "form":
            self._form = self._add(told.get("method", "get"), told.get("action") or self.address)
        name = told.get("name", "")
        if tag == "select":
            self._select = name
        if self._form is None:
            return
        if tag in ("input", "button") and name:
            self._form.pairs.append((name, told.get("value", "")))
        elif tag == "textarea":
            self._text = name
        elif tag == "option" and self._select:
            self._form.pairs.append((self._select, told.get("value", "")))

    def handle_data(self, data: str) -> None:
        if self._text and self._form:
            self._form.pairs.append((self._text, data))
            self._text = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""

    def _add(self, method: str, address: str) -> Sent:
        split = urlsplit(address)
        sent = Sent(method.upper(), split.path or urlsplit(self.address).path, parse_qsl(split.query))
        self.found.append(sent)
        return sent


def offered(address: str, html: str) -> list[Sent]:
    """Return the requests that a page's forms, buttons and links make."""
    forms = _Forms(address)
    forms.feed(html)
    return forms.found
