"""All files that an organizer can reach by links, as they come."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urljoin, urlsplit

from tests.golden.player import Player

# Pages of one item each, of which there are hundreds: nothing can be downloaded there that is not linked elsewhere.
PASSED_OVER = re.compile(r"/(labels|topics|runs|work)/")


def downloads(player: Player, start: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file, in the order of links from a page on, each address once."""
    waiting, seen = [start], {start}
    while waiting:
        address = waiting.pop(0)
        response = player.client.get(address)
        content = b"".join(response) if response.streaming else response.content
        named = re.search(r'filename="([^"]*)"', response.get("Content-Disposition", ""))
        if response.status_code == 200 and named:
            yield named[1], content
        if response.status_code != 200 or "html" not in response["Content-Type"]:
            continue
        for href in re.findall(r'<a [^>]*href="([^"#]*)', content.decode()):
            found = urljoin(address, unescape(href))
            path = urlsplit(found).path
            if found not in seen and path.startswith(start) and not PASSED_OVER.search(path.removeprefix(start)):
                seen.add(found)
                waiting.append(found)
