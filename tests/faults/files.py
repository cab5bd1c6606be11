"""Imports and exports while something happens to the installation."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from bench import house
from tests.faults.people import AWAY, Outcome
from tests.faults.world import PROGRAMS, World, patiently

LINES = 30_000  # of a file that comes in
GRADES = 400_000  # of a file that goes out
ENDS = 600.0  # seconds within which what was begun must be over: a process out of sight is given five minutes
PATIENCE = 60.0  # seconds for which a page is asked for again


class Organizer:
    """An organizer's browser: what can't be had now is asked for again."""

    def __init__(self, world: World) -> None:
        from assessor.campaigns.models import Campaign

        organizer = Campaign.objects.get(slug=house.SLUG).created_by
        assert organizer is not None
        self._client = httpx2.Client(
            base_url=f"http://localhost:{world.port}",
            cookies={"sessionid": house.session(organizer)},
            timeout=60,
            trust_env=False,
        )
        self.base = f"/campaigns/{house.SLUG}/"

    def get(self, path: str) -> httpx2.Response:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._client.get(path, follow_redirects=True)
                if answer.status_code not in AWAY:
                    return answer
                assert "<h1" in answer.text
            except httpx2.TransportError:
                pass
            assert time.monotonic() < until, f"{path} can't be had"
            time.sleep(0.3)

    def post(self, path: str, data: dict[str, Any], **more: Any) -> httpx2.Response:
        """Send a form once, as it was opened just before."""
        self.get(path)
        headers = {"X-CSRFToken": str(self._client.cookies["csrftoken"])}
        return self._client.post(path, data=data, headers=headers, **more)


def topics(first: int = 0) -> str:
    return "".join(f"new-{number}\twhat is number {number}\n" for number in range(first, first + LINES))


def send(organizer: Organizer, content: str) -> httpx2.Response:
    """Upload a file of topics."""
    uploads = {"uploads": ("many.tsv", content.encode())}
    return organizer.post(f"{organizer.base}imports/", {"kind": "topics"}, files=uploads)


def import_under(world: World, fault: Callable[[], str], times: int) -> Outcome:
    """Import a file; each time that much of it has come in, let the fault happen."""
    from assessor.campaigns.models import Campaign, Import, Topic

    world.start(*PROGRAMS)
    organizer = Organizer(world)
    campaign = Campaign.objects.get(slug=house.SLUG)
    before = campaign.topics.count()
    answer = send(organizer, topics())
    assert answer.status_code == 302, answer.text
    import_record = Import.objects.latest("pk")
    rows = Topic._base_manager.filter(import_record=import_record)
    wrong: dict[str, int] = {}
    did = ""
    for time_number in range(times):
        least = (time_number + 1) * LINES // (times + 2)
        patiently(lambda least=least: rows.count() >= least, "a part of the import", ENDS)  # type: ignore[misc]
        did = fault()
        # Nobody sees half a file.
        patiently(lambda: campaign.topics.count() in (before, before + LINES), "the database", 60)
        wrong["topics of half a file seen"] = (campaign.topics.count() - before) % LINES
    wait_for_the_end(import_record)
    wrong["imports not done"] = int(import_record.state != "done")
    wrong["topics lost or doubled"] = abs(campaign.topics.count() - before - LINES)
    wrong["files left"] = left(world, "uploads")
    page = organizer.get(answer.headers["location"])
    wrong["reports not told"] = int("Everything is imported and visible." not in page.text)
    world.stop(*PROGRAMS)
    tried = f"{did}, {times} times; {LINES:,} lines came in, in {import_record.attempts} attempts"
    return Outcome(tried, {what: count for what, count in wrong.items() if count})


def wait_for_the_end(record: Any, seconds: float = ENDS) -> None:
    """Wait until an import or an export is over."""

    def is_over() -> bool:
        record.refresh_from_db()
        return bool(record.is_over)

    patiently(is_over, f"the end of {record}", seconds)


def left(world: World, folder: str) -> int:
    """Return how many files stay in a folder from which they are removed when all is over."""
    until = time.monotonic() + 5
    while (there := sum(1 for _ in (world.data / folder).iterdir())) and time.monotonic() < until:
        time.sleep(0.1)
    return there


def add_grades(folder: Path) -> tuple[str, list[str]]:
    """Import a large file of grades by people; return the source's name and its lines, sorted."""
    from assessor.campaigns.models import Campaign
    from bench import track

    campaign = Campaign.objects.get(slug=house.SLUG)
    qids = list(campaign.topics.order_by("qid").values_list("qid", flat=True))
    each = GRADES // len(qids)
    lines = [f"{qid} 0 d{document} {document % 4}" for qid in qids for document in range(each)]
    path = folder / "many-grades"
    path.write_text("\n".join(lines) + "\n")
    house.load(campaign, track.Part("qrels", path, {"source": "Many", "by": "people"}, 0))
    return "Many", sorted(lines)


def export_under(world: World, fault: Callable[[], str], times: int) -> Outcome:
    """Ask for a file; each time that a part of it is written, let the fault happen; then take it away."""
    source, lines = add_grades(world.folder)
    world.start(*PROGRAMS)
    organizer = Organizer(world)
    answer = ask(organizer, source)
    did = ""
    for _ in range(times):
        patiently(lambda: any(size > 100_000 for size in parts(world)), "a part of the file", ENDS)
        did = fault()
    made = answer.headers["location"]
    wrong = {"files lost or wrong": int(sorted(taken(organizer, made).splitlines()) != lines)}
    world.stop(*PROGRAMS)
    tried = f"{did}, {times} times; {len(lines):,} lines went out"
    return Outcome(tried, {what: count for what, count in wrong.items() if count})


def ask(organizer: Organizer, source: str) -> httpx2.Response:
    """Ask for the file of grades."""
    path = f"{organizer.base}exports/qrels/"
    name = next(name for name in re.findall(r'<option value="([^"]+)"', organizer.get(path).text) if name == source)
    answer = organizer.post(path, {"of": name, "form": "txt"})
    assert answer.status_code == 302, answer.text
    return answer


def taken(organizer: Organizer, made: str) -> str:
    """Wait until a file is there, and take it away."""
    until = time.monotonic() + ENDS
    while (answer := organizer.get(f"{made}file")).status_code != 200:
        assert time.monotonic() < until, f"the export is not there: {answer.status_code}"
        time.sleep(0.3)
    return answer.text


def parts(world: World) -> list[int]:
    """Return the sizes of the files that are being written."""
    return [path.stat().st_size for path in (world.data / "exports").glob("*.part")]
