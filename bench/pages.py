"""How long the server takes for each page of a track-sized campaign, and how many queries it asks.

    python -m bench.pages [--scale 0.1] [--times 30] [--keep FOLDER]

The whole application answers in this process, all of its middleware and its real settings included, on SQLite: no
network and no web server is in the times. A page over its limit fails the benchmark.
"""

import argparse
import html
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench import house, track

if TYPE_CHECKING:
    from django.test import Client

    from assessor.campaigns.models import Campaign

LIMIT, ADMIN_LIMIT = 100, 300  # milliseconds at the 95th percentile


class Page(NamedTuple):
    """An address, and by whom it is asked for."""

    role: str
    address: str
    limit: int = LIMIT


class Figures(NamedTuple):
    """What was measured of a page: milliseconds, queries, and how large it is."""

    first: float  # after the start, or after an import: what is counted once is counted then
    median: float
    high: float
    queries: int
    kilobytes: int


def pages(full_bank: int, report: int) -> Iterator[Page]:
    """Yield every page of the three roles; `report` is an import's."""
    yield Page("assessor", "/")
    yield Page("assessor", f"/nuggets/{full_bank}/")
    yield Page("assessor", "/guidelines/nuggets/")
    yield Page("organizer", f"/nuggets/{full_bank}/")
    yield Page("organizer", "/new-campaign/")
    base = f"/campaigns/{house.SLUG}/"
    names = (
        "",
        "settings/",
        "conditions/",
        "conditions/new/",
        "setup/",
        "imports/",
        f"imports/{report}/",
        "plan/",
        "plan/hours/",
        "effort/",
    )
    names += (
        "scores/",
        "exports/",
        "frozen/",
        "archive/",
        "progress/",
        "alarms/",
        "asked/",
        "history/",
        "guidelines/",
        "practice/",
    )
    names += (
        "topics/",
        "topics/1/",
        "passages/",
        "passages/?show=no-text",
        "runs/",
        "runs/1/",
        "runs/1/1/",
        "relevance/",
    )
    for name in (*names, "find/?q=1", "comparisons/", "studies/", "jobs/", "judges/", "pairs/"):
        yield Page("organizer", base + name)
    yield Page("administrator", "/admin/", ADMIN_LIMIT)
    for address in _admin_pages():
        yield Page("administrator", address, ADMIN_LIMIT)


def _admin_pages() -> Iterator[str]:
    """Yield every list of the admin: plain, on its last page, searched, with each of its filters; and one record."""
    from django.contrib import admin
    from django.test import Client
    from django.urls import reverse

    client = _client("administrator")
    assert isinstance(client, Client)
    for model, model_admin in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        address = reverse(f"{name}_changelist")
        yield address
        if model_admin.search_fields:
            yield f"{address}?q={track.qid(5)}"
            yield f"{address}?q=nothingofthekind"
        page = html.unescape(client.get(address).content.decode())
        offered = {part.split('"')[0] for part in page.split('href="?')[1:]}
        if numbers := [int(query.removeprefix("p=")) for query in offered if query.startswith("p=")]:
            yield f"{address}?p={max(numbers)}"
        filters = {}
        for query in sorted(offered, reverse=True):  # so that the first of each is kept
            field = query.split("=")[0]
            if not field.startswith(("o", "p")) or "__" in field:
                filters[field] = f"{address}?{query}"
        yield from filters.values()
        if first := model_admin.get_queryset(_request(client)).order_by("pk").first():
            yield reverse(f"{name}_change", args=[first.pk])


def _request(client: "Client") -> object:
    return client.get("/").wsgi_request


_clients: "dict[str, Client]" = {}


def _client(role: str) -> "Client":
    from assessor.accounts.models import Person

    names = {"assessor": f"assessor-{house.SLUG}-0", "organizer": f"organizer-{house.SLUG}", "administrator": "root"}
    if role not in _clients:
        _clients[role] = house.client(Person.objects.get(username=names[role]))
    return _clients[role]


def measure(page: Page, times: int) -> Figures:
    """Ask for a page a number of times, the first two not counted."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = _client(page.role)
    start = time.perf_counter()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(page.address)
    first = 1000 * (time.perf_counter() - start)
    asked = len(queries)
    assert response.status_code == 200, (page, response.status_code)
    client.get(page.address)
    took = []
    for _ in range(times):
        start = time.perf_counter()
        client.get(page.address)
        took.append(1000 * (time.perf_counter() - start))
    return Figures(first, statistics.median(took), house.percentile(took, 95), asked, len(response.content) // 1024)


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the campaign and its people."""
    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        house.load(campaign, part)
    house.person("root", "administrator")
    house.new_campaign("another")  # or the admin offers no filter by campaign
    full = house.work(house.plan(campaign))
    assert full.topic.qid == track.qid(0)
    _plan_the_rest(campaign)


def _plan_the_rest(campaign: "Campaign") -> None:
    """Have all topics be judged for support too, a third of the answers with labels; assignment waits for nuggets."""
    from assessor.accounts.models import Person
    from assessor.plan.actions import carry_out, plan_work
    from assignment.actions import create_manual_assign
    from support.actions import create_support

    people = list(Person.objects.filter(username__startswith=f"assessor-{house.SLUG}").order_by("pk"))
    support = create_support(campaign=campaign, name="support from scratch", shown=None, acting_user=None)
    for task in house.give(support, people):
        judged = task.support_sheets.filter(place__lt=task.support_sheets.count() // 3)
        for sheet in judged:
            said = {key: {"label": "full"} for key in sheet.asked if key not in sheet.unresolved}
            sheet.revise("label", said, judge_id=sheet.judge_id, task_id=task.pk)
    nuggets = campaign.conditions.get(name="ManualNuggets")
    assignment = create_manual_assign(nuggets=nuggets, name="ManualAssign", acting_user=None)
    for assessor in people:
        house.open_guidelines(campaign, assignment.kind, assessor)
        topics = list(campaign.topics.filter(tasks__condition=nuggets, tasks__person=assessor))
        plan_work(condition=assignment, topics=topics, person=assessor, acting_user=None)
    carry_out(campaign, acting_user=None)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure every page of a track-sized campaign.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--keep", type=Path, help="A folder for the database, to be used again.")
    parser.add_argument("--only", default="", help="Only addresses that contain this.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = chosen.keep or Path(name)
        if house.open_house(folder):
            house.collect_static_files()
            build(folder, chosen.scale)
        raise SystemExit(report(chosen.times, chosen.only))


def report(times: int, only: str) -> int:
    """Print a line a page; return how many are over their limit."""
    from assessor.campaigns.models import Import
    from assessor.runtime.garbage import freeze_what_is_loaded
    from nuggets.models import NuggetBank

    full = NuggetBank.objects.get(topic__qid=track.qid(0))
    over = 0
    freeze_what_is_loaded()  # as a web process does (assessor/wsgi.py)
    print(f"{'page':64} {'by':13} {'first':>7} {'p50 ms':>7} {'p95 ms':>7} {'queries':>7} {'KiB':>5} {'limit':>5}")
    for page in pages(full.pk, Import.objects.latest("pk").pk):
        if only not in page.address:
            continue
        found = measure(page, times)
        is_over = found.high > page.limit
        over += is_over
        times_shown = f"{found.first:7.1f} {found.median:7.1f} {found.high:7.1f}"
        verdict = "OVER" if is_over else "ok"
        print(
            f"{page.address[:64]:64} {page.role:13} {times_shown} {found.queries:7} {found.kilobytes:5} "
            f"{page.limit:5} {verdict}"
        )
    return over


if __name__ == "__main__":
    main()
