"""Score pages as the tests of all kinds of scores read them."""

from html.parser import HTMLParser

from django.test import Client
from django.urls import reverse

from assessor.campaigns.models import Condition


class Page(HTMLParser):
    """What stands in a page: its tables as texts, row by row, the heads' sort orders and all addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.orders: dict[str, str] = {}
        self.addresses: list[str] = []
        self._cell: list[str] | None = None
        self._order = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th", "caption"):
            self._cell, self._order = [], named.get("aria-sort") or ""
        elif tag == "a":
            self.addresses.append(named["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "caption") and self._cell is not None:
            text = " ".join("".join(self._cell).split())
            if tag == "caption":
                self.tables[-1].append([text])
            else:
                self.tables[-1][-1].append(text)
            if self._order:
                self.orders[text] = self._order
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def get(client: Client, address: str, status: int = 200) -> tuple[str, Page]:
    response = client.get(address)
    assert response.status_code == status
    text = response.content.decode()
    return text, Page(text)


def board(page: Page, at: int = 0) -> list[list[str]]:
    """Return a leaderboard of a page: its caption, heads and rows, without boxes, bars, and letters of groups."""
    caption, heads, *rows = [table for table in page.tables if "runs over all topics" in table[0][0]][at]
    bar = 6
    after = bar + 1 + ("Letters" in heads)
    return [caption, [*heads[1:bar], *heads[after:]], *([*row[1:bar], *row[after:]] for row in rows)]


def letters(page: Page) -> dict[str, str]:
    """Return the letters of the runs of a page's first leaderboard, by tag; nothing without that column."""
    _, heads, *rows = next(table for table in page.tables if "runs over all topics" in table[0][0])
    return {row[2]: row[heads.index("Letters")] for row in rows if row[1]} if "Letters" in heads else {}


def scores_of(*conditions: Condition, **asked: str) -> str:
    chosen = "&".join(f"condition={one.pk}" for one in conditions)
    return f"/campaigns/study/scores/?{chosen}" + "".join(f"&{name}={value}" for name, value in asked.items())


def address(name: str, condition: Condition, *more: object, query: str = "") -> str:
    return reverse(name, args=["study", condition.pk, *more]) + query
