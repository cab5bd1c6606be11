"""Every address, asked oddly by everybody: no error of the server, nothing that isn't theirs, no half write."""

import random
from collections.abc import Collection
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve
from hypothesis import strategies as st

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.runtime.process_cache import cache
from tests.api.conftest import secrets as secrets
from tests.api.conftest import sending
from tests.api.conftest import study as study
from tests.api.test_access import SENT as API_SENT
from tests.api.test_access import TABLE as API_TABLE
from tests.api.test_access import keys
from tests.desk.test_urls import POSTED, ROLES, TABLE
from tests.desk.test_urls import addresses as addresses
from tests.desk.test_urls import clients as clients
from tests.desk.test_urls import noone as noone
from tests.examples import IS_LONG, examples
from tests.fuzz.database import fingerprint, outside_vocabulary, watched
from tests.fuzz.pages import Sent, offered
from tests.fuzz.profile import SEED, fuzz
from tests.fuzz.requests import ASKED, SCRIPTED, Request, requests

# Those whose campaign and work it is. They are asked more: most of what the others get is one refusal.
OWNERS = ("anna", "olga")
# What signing in leaves, right or wrong.
OF_SIGN_IN = ("sessions.",)
# What a refused request may leave: that its person saw what the answer shows, and when a token was last used.
NOTED = {"work.exposure", "campaigns.event", "api.token"}
API = [("limit", "2"), ("cursor", "WzFd"), ("topic", "t1"), ("run", "r1"), ("min_grade", "1"), ("policy", "zero")]
# Each is what databases refuse where a program passes it on: NUL on PostgreSQL, more than 64 bits on SQLite.
NO_DATABASE_TAKES = ("\x00", "9" * 30, "-9223372036854775809", "²")
_KEPT = ("key", "version")  # without which a write goes no further


def offers(addresses: dict[str, str], clients: dict[str, Client], looked_at: Collection[str]) -> dict[str, list[Sent]]:
    """Return what can be asked, by the name of the address: the address itself, what scripts and pages send to it.

    looked_at: the pages that are looked at.
    """
    found: dict[str, dict[str, Sent]] = {name: {} for name in TABLE}

    def add(name: str | None, sent: Sent) -> None:
        if name in found and sent.method in ("GET", "POST"):
            found[name][repr(sent)] = sent

    for name, (method, _) in TABLE.items():
        path, _, query = addresses[name].partition("?")
        add(name, Sent(method, path, [("of", query.removeprefix("of="))] if query else []))
        if name in POSTED:
            add(name, Sent("POST", path, []))
        if name in SCRIPTED:
            add(name, Sent("POST", path, list(SCRIPTED[name].items())))
        for role in OWNERS if method == "GET" and name in looked_at else ():
            response = clients[role].get(addresses[name])
            if response.status_code == 200 and not response.streaming and "html" in response["Content-Type"]:
                for sent in offered(addresses[name], response.content.decode()):
                    add(name_of(sent.path), sent)
    return {name: [sents[key] for key in sorted(sents)] for name, sents in found.items()}


def name_of(path: str) -> str | None:
    try:
        return resolve(path).url_name
    except Resolver404:
        return None


class House:
    """The campaign of the table of addresses, and what is asked of it; each request is undone."""

    def __init__(self, clients: dict[str, Client]) -> None:
        self.clients = clients
        self.cookies = {
            role: {name: morsel.value for name, morsel in client.cookies.items()} for role, client in clients.items()
        }
        self.before = fingerprint()

    def answer(self, role: str, request: Request) -> tuple[int, str]:
        """Send a request as somebody and check what holds for all. Returns the status and where it leads."""
        with transaction.atomic():
            with watched() as changes:
                response = self._sent(role, request)
            assert response.status_code < 500, response.status_code
            models = [model for model in changes.models() if not model._meta.label_lower.startswith(OF_SIGN_IN)]
            if models and response.status_code >= 400:
                now = fingerprint()
                changed = {name for name in now if now[name] != self.before[name] and not name.startswith(OF_SIGN_IN)}
                assert changed <= NOTED, changed
            elif models:
                assert outside_vocabulary(models) == []
            transaction.set_rollback(True)
        return response.status_code, response.get("Location", "")

    def _sent(self, role: str, request: Request) -> Any:
        client = self.clients[role]
        client.cookies = SimpleCookie(self.cookies[role])  # signing out, or a new password, takes them away
        headers = {name: value.encode(errors="replace").decode("latin-1") for name, value in request.headers.items()}
        response = client.generic(
            request.method, request.path, request.body, content_type=request.content_type, headers=headers
        )
        if response.streaming:
            b"".join(response.streaming_content)
        return response


def is_refused(role: str, name: str) -> bool:
    """Say whether an address answers somebody with a refusal, whatever they ask."""
    return role not in OWNERS and TABLE[name][1][ROLES.index(role)] in ("in", 401, 404)


def some(most: int) -> list[str]:
    """Return the names of all addresses in the long run, else of a few."""
    return sorted(TABLE if IS_LONG else random.Random(SEED).sample(sorted(TABLE), most))


def test_scripts_send_to_addresses_that_there_are():
    assert SCRIPTED.keys() <= TABLE.keys()


@pytest.mark.parametrize("role", ROLES if IS_LONG else ("olga",))
def test_every_address_asked_oddly(role: str, addresses: dict[str, str], clients: dict[str, Client]):
    names = some(20)
    asked = offers(addresses, clients, names)
    parameters = sorted({name for sents in asked.values() for sent in sents for name, _ in sent.pairs} | {*ASKED})
    house, found = House(clients), []
    for name in names:

        def check(request: Request, name: str = name) -> str:
            status, leads = house.answer(role, request)
            if is_refused(role, name) and not request.is_elsewhere and request.method in ("GET", "POST"):
                assert status >= 400 or leads.startswith("/login/"), status
            return str(status)

        cases = st.sampled_from(asked[name]).flatmap(lambda sent: requests(sent, parameters))
        most = examples(2, 24 if role in OWNERS else 10)
        found += fuzz(f"requests of {role}", name, cases, check, most)
    assert found == [], "\n\n".join(found)


def test_every_parameter_at_once_is_what_no_database_takes(addresses: dict[str, str], clients: dict[str, Client]):
    names = some(3)
    asked = offers(addresses, clients, names)
    house, found = House(clients), []
    for name in names:
        merged: dict[tuple[str, str], dict[str, str]] = {}
        for sent in asked[name]:
            merged.setdefault((sent.method, sent.path), {}).update(sent.pairs)
        for (method, path), pairs in merged.items():
            cases = [_with_all(method, path, pairs, value) for value in NO_DATABASE_TAKES]
            for role in OWNERS:

                def check(request: Request, role: str = role) -> str:
                    return str(house.answer(role, request)[0])

                subject = f"{name} {method} as {role}"
                found += fuzz("all parameters at once", subject, st.sampled_from(cases), check, len(cases))
    assert found == [], "\n\n".join(found)


def _with_all(method: str, path: str, pairs: dict[str, str], value: str) -> Request:
    """Return a request in which each parameter that there may be says the same."""
    kept = {name: said for name, said in pairs.items() if name in _KEPT}
    encoded = urlencode(dict.fromkeys([*pairs, *ASKED], value) | kept)
    if method == "GET":
        return Request(method, f"{path}?{encoded}", b"", "", {}, False)
    return Request(method, path, encoded.encode(), "application/x-www-form-urlencoded", {}, False)


def test_the_api_asked_oddly(study: Campaign, secrets: dict[str, str], olga: Person, settings: Any):
    settings.API_REQUESTS_A_MINUTE = 10**9
    cache.clear()
    sends, own_import = sending(study, olga)
    house, found = House({"script": Client()}), []
    of = keys(study) | {"import": own_import}
    asked = {name: (secrets["organizer"], "GET", address) for name, (address, _) in API_TABLE.items()}
    asked |= {name: (sends, *sent) for name, sent in API_SENT.items()}
    for name, (secret, method, address) in asked.items():
        # The body of what is posted is the file; what is said of it stands in the address.
        said = "?kind=qrels&source=x&by=model" if method == "POST" else ""
        sent = Sent(method, f"/api/v1{address.format(**of)}{said}", [])

        def check(request: Request, secret: str = secret) -> str:
            asked = request._replace(headers={"Authorization": f"Bearer {secret}"} | request.headers)
            return str(house.answer("script", asked)[0])

        seeds = [sent, *(sent._replace(pairs=[pair]) for pair in API)]
        cases = st.sampled_from(seeds).flatmap(lambda sent: requests(sent, [name for name, _ in API]))
        found += fuzz("requests of scripts", name, cases, check, examples(2, 40))
    assert found == [], "\n\n".join(found)
