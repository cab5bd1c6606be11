"""All that the API answers to an organizer."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from django.core.management import call_command

from tests.golden.masks import mask_json
from tests.golden.player import Player

ROOT = "/api/v1"
KINDS = {"nuggets": ("nuggets",), "assignments": ("assignment",), "support": ("support",)}
SCORED = ("assignment", "support")


def fetch_answers(player: Player, person: str) -> Iterator[tuple[str, bytes]]:
    """Yield a name and what is answered for each address, of all that the lists have."""
    secret = io.StringIO()
    call_command("create_token", person, "golden", stdout=secret)

    def ask(path: str, accept: str = "application/json") -> bytes:
        headers = {"Authorization": f"Bearer {secret.getvalue().strip()}", "Accept": accept}
        response = player.client.get(f"{ROOT}{path}", headers=headers)
        assert response.status_code in (200, 404), (path, response.status_code, response.content[:500])
        return bytes(response.getvalue())

    paths = json.loads(ask("/openapi.json"))["paths"]
    for address in sorted(paths):
        if "/imports" in address:
            continue  # of tokens that send
        path = address.removeprefix(ROOT)
        for name, url in _fill(path, ask):
            is_list = "next" in json.loads(ask(url))
            content = ask(url, "application/jsonl" if is_list else "application/json")
            lines = content.decode().splitlines() if is_list else [content.decode()]
            masked = "".join(f"{json.dumps(mask_json(json.loads(line)), ensure_ascii=False)}\n" for line in lines)
            yield f"api{name}.jsonl".replace("/", "."), masked.encode()


def _fill(path: str, ask: Any) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a path of the description stands for, each with a name that has no keys."""
    path = path.replace("{slug}", "golden")
    match = re.search(r"/(conditions|qrels|comparisons|hybrids|calibrations)/\{\w+\}(.*)", path)
    if match is None:
        yield path, path
        return
    of, rest = match.groups()
    for one in json.loads(ask(f"/campaigns/golden/{of}?limit=500"))["items"]:
        last = rest.removeprefix("/").split("/")[0]
        kinds = SCORED if last == "scores" else KINDS.get(last)
        if of == "conditions" and one["kind"] not in (kinds or ()):
            continue
        name = one["name"].replace("/", " ")
        yield f"/campaigns/golden/{of}/{name}{rest}", f"/campaigns/golden/{of}/{one['id']}{rest}"
