"""Who may open what: by pattern of addresses, the statuses of a GET by each person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import unescape
from urllib.parse import urljoin, urlsplit

from django.test import Client
from django.urls import Resolver404, resolve

from tests.golden.player import Player

# Whatever leads somewhere: links, forms, and what scripts ask for.
LEADS = re.compile(r' (?:href|action|formaction|data-url|data-base)="([^"#]*)')
LEFT_OUT = ("admin/", "logout/", "static/")
MOST = 12  # addresses of a pattern that are opened


def tabulate(players: Mapping[str, Player]) -> str:
    """Return a line for each pattern of addresses that anybody's pages lead to."""
    by_pattern: dict[str, set[str]] = defaultdict(set)
    known: dict[tuple[str, str], int] = {}  # by name and path
    for name, player in players.items():
        for pattern, path, status in _leads(player):
            by_pattern[pattern].add(path)
            known[name, path] = status
    clients = {name: player.client for name, player in players.items()} | {"nobody": Client()}
    lines = [" ".join(["address", *clients])]
    for pattern, paths in sorted(by_pattern.items()):
        statuses = (
            {known.get((name, path)) or client.get(path).status_code for path in sorted(paths)}
            for name, client in clients.items()
        )
        lines.append(" ".join([pattern or "/", *(",".join(map(str, sorted(one))) for one in statuses)]))
    return "".join(f"{line}\n" for line in lines)


def _leads(player: Player) -> Iterator[tuple[str, str, int]]:
    """Yield each address that a person's pages lead to from the home on, a few of a pattern: pattern, path, status."""
    waiting, seen, opened = ["/"], {"/"}, defaultdict[str, int](int)
    while waiting:
        address = waiting.pop(0)
        try:
            pattern = resolve(address).route
        except Resolver404:
            continue
        if opened[pattern] == MOST or pattern.startswith(LEFT_OUT):
            continue
        opened[pattern] += 1
        response = player.client.get(address)
        yield pattern, address, response.status_code
        if address == "/" and response.status_code == 302:  # to an organizer's only campaign
            waiting.append(urlsplit(response["Location"]).path)
        if response.status_code != 200 or "html" not in response["Content-Type"]:
            continue
        for href in LEADS.findall(player.with_later_parts(bytes(response.getvalue()).decode())):
            path = urlsplit(urljoin(address, unescape(href))).path
            if path not in seen:
                seen.add(path)
                waiting.append(path)
