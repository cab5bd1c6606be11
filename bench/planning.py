"""How long an organizer waits for the plan: topics drawn for people, and other runs judged on many topics.

    python -m bench.planning [--database URL] [--scale 1.0] [--keep FOLDER]

By the pages' own forms, on a track-sized campaign; and how long a worker then gives what was planned.
"""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import house, track

if TYPE_CHECKING:
    from django.test import Client

    from assessor.campaigns.models import Campaign

PEOPLE = 12
RULED = 100  # topics on which another rule holds
LIMIT = 1.0  # seconds


def build(folder: Path, scale: float) -> None:
    """Load the track; make conditions of nuggets and of support, and people."""
    from nuggets.actions import create_manual_nuggets
    from support.actions import create_support

    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind != "qrels" or part.options["source"] == track.PEOPLE:
            house.load(campaign, part)
    source = campaign.qrels_sources.get(name=track.PEOPLE)
    create_manual_nuggets(campaign=campaign, name="Nuggets", qrels_source=source, acting_user=None)
    create_support(campaign=campaign, name="Support", shown=None, acting_user=None)
    for number in range(PEOPLE):
        house.person(f"assessor-{number}", "assessor")


def report() -> int:
    """Print what each step of an organizer takes; return how many are over the limit."""
    from assessor.campaigns.models import Campaign
    from assessor.work.queries import assessors

    campaign = Campaign.objects.get(slug=house.SLUG)
    assert campaign.created_by is not None
    client = house.client(campaign.created_by)
    nuggets, support = (campaign.conditions.get(name=name) for name in ("Nuggets", "Support"))
    topics = list(campaign.topics.order_by("qid").values_list("pk", flat=True))
    people = [person.pk for person in assessors(campaign)]
    drawn = {f"topics{nuggets.pk}": len(topics), "people": people, "rule": "", "seed": 5}
    given = {"condition": [support.pk], "topics": topics[:RULED], "person": people[0], "reason": "", "confirmed": "yes"}
    allocate, give = (f"/campaigns/{house.SLUG}/plan/{page}/" for page in ("allocate", "give"))
    shown: dict[str, str] = {}

    def draw() -> None:
        page = client.post(allocate, drawn).content.decode()
        shown["drawn"] = re.search('name="drawn" value="([0-9a-f]+)"', page)[1]  # type: ignore[index]

    steps: dict[str, Callable[[], None]] = {
        f"{len(topics)} topics drawn for {PEOPLE} people": draw,
        "and given as drawn": lambda: _post(client, allocate, drawn | shown | {"confirmed": "yes"}),
        f"support on {RULED} topics given, one run of each team": lambda: _post(
            client, give, given | {"rule": "1 per team"}
        ),
        "the same with all runs": lambda: _post(client, give, given | {"rule": "all", "reason": "more money"}),
        "the same with none": lambda: _post(client, give, given | {"rule": "none", "reason": "less money"}),
    }
    return sum(_told(campaign, what, do) for what, do in steps.items())


def _post(client: "Client", address: str, form: Mapping[str, Any]) -> None:
    response = client.post(address, form)
    assert response.status_code == 302, response.content.decode()[-3_000:]


def _told(campaign: "Campaign", what: str, do: Callable[[], None]) -> bool:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from assessor.plan.tasks import give_planned

    wall, cpu = time.perf_counter(), time.process_time()
    with CaptureQueriesContext(connection) as asked:
        do()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    worker = time.process_time()
    give_planned.run(campaign.pk, campaign.created_by_id)
    worker = time.process_time() - worker
    print(f"{what}: {wall:.2f} s ({cpu:.2f} s of CPU, {len(asked):,} queries); {worker:.2f} s of CPU in a worker")
    return wall > LIMIT


if __name__ == "__main__":
    house.measure(house.arguments(__doc__, []).parse_args(), build, report)
