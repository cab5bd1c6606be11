"""All files that an organizer can reach by links and choices, as they come."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from tests.golden.player import Player

# Pages of one item each, of which there are hundreds: nothing can be downloaded there that is not linked elsewhere. And
# drawings, which depend on the fonts of a machine, with what they are drawn from, which is no file.
PASSED_OVER = re.compile(
    r"(^labels|/(labels|topics|runs|work))/|^(guidelines|jobs|judges|pairs|people)/.|\.(svg|png|pdf)$|/figures/.*\.json$"
)
# What shows the same in another way: the same files can be had there.
OTHER_VIEWS = {
    "sort",
    "measure",
    "task",
    "run",
    "tag",
    "state",
    "show",
    "q",
    "kind",
    "first",
    "second",
    "topic",
    "flag",
    "kappa",
}


def fetch_downloads(player: Player, start: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file, in the order of links from a page on, each address once."""
    waiting, seen = [start], {start}
    while waiting:
        address = waiting.pop(0)
        response = player.client.get(address)
        content = bytes(response.getvalue())
        named = re.search(r'filename="([^"]*)"', response.get("Content-Disposition", ""))
        if response.status_code == 200 and named:
            yield named[1], content
        if "html" not in response.get("Content-Type", ""):
            continue
        page = player.with_later_parts(content.decode())
        hrefs = [unescape(href) for href in re.findall(r'<a [^>]*href="([^"#]*)', page)]
        for found in [urljoin(address, href) for href in [*hrefs, *condition_links(page), *records_to_choose(page)]]:
            path, query = urlsplit(found).path, parse_qs(urlsplit(found).query)
            if OTHER_VIEWS & {*query} and "/exports/" not in path:
                continue
            if found not in seen and path.startswith(start) and not PASSED_OVER.search(path.removeprefix(start)):
                seen.add(found)
                waiting.append(found)


def condition_links(page: str) -> Iterator[str]:
    """Yield where the choice of a condition leads, each alone."""
    for form in re.findall(r'<form method="get">.*?</form>', page, re.DOTALL):
        for key in re.findall(r'name="condition" value="(\d+)"', form):
            yield f"?condition={key}"


def records_to_choose(page: str) -> Iterator[str]:
    """Yield where the files of a kind are of which each record has one: too many to be linked."""
    for action, form in re.findall(
        r'<form method="post" action="([^"]*/exports/[^"/]+/)"(.*?)</form>', page, re.DOTALL
    ):
        for select in re.findall(r'<select name="of".*?</select>', form, re.DOTALL):
            for value in re.findall(r'<option value="([^"]+)"', select):
                yield f"{action}file/?{urlencode({'of': unescape(value)})}"
