"""How long the pages of statistics of a condition of a track's size take: the first time, and asked for again.

    python -m bench.statistics_pages [--scale 0.1] [--keep FOLDER] [--database URL]

A track with 146 runs and 301 topics gets 19 nuggets a topic, each with evidence that answers cite, and two conditions
with a label of each in each answer, by chance. A process for each page starts, signs the organizer in and opens the
page of a new campaign; then it asks for the page, with all scores still to be loaded, and again. A page over its
limits fails it.
"""

import json
import logging
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, track
from bench.scores import NUGGETS, label

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign
    from metaeval.models import Comparison

FIRST, SECOND = "First", "Second"
LIMIT, AGAIN_LIMIT = 2, 0.1  # seconds
_EVIDENCE = 3  # passages that a nugget comes from, at most
_TIMES = 10  # a page is asked for again
PAGES = {
    "significance": "scores/{condition}/significance/",
    "nuggets": "scores/{condition}/nuggets/",
    "reusability": "scores/{condition}/reusability/",
    "judges": "scores/{condition}/judges/",
    "next edition": "scores/{condition}/next-edition/",
    "topic of a comparison": "comparisons/{comparison}/topics/{topic}/",
}


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the track, two conditions and a comparison of them, which is not computed."""
    from metaeval.actions import create_comparison

    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "runs", "run_list"):
            house.load(campaign, part)
    add_nuggets(campaign, folder)
    first, second = (label(campaign, name=name, seed=830 + at) for at, name in enumerate((FIRST, SECOND)))
    create_comparison(campaign=campaign, first=first, second=second, seed=7, acting_user=None)


def add_nuggets(campaign: "Campaign", folder: Path) -> None:
    """Import finished nuggets for each topic, each with evidence among what answers to it refer to."""
    from assessor.campaigns.models import Answer

    chance = random.Random(19)
    language, path = track.Language(chance), folder / "attested.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number, topic in enumerate(campaign.topics.order_by("qid")):
            references = Answer.objects.filter(topic=topic).order_by("pk").values_list("references", flat=True)
            cited = sorted({docid for of_answer in references for docid in of_answer})
            nuggets = [
                {
                    "text": f"{language.phrase(8)} {place}",
                    "importance": "okay" if place % 3 else "vital",
                    "id": f"{number:08d}-0000-4000-8000-{place:012d}",
                    "origin": "written",
                    "parents": [],
                    "evidence": [
                        {"docid": docid, "start": None, "end": None}
                        for docid in chance.sample(cited, chance.randint(1, _EVIDENCE))
                    ],
                }
                for place in range(NUGGETS.of_topic)
            ]
            out.write(json.dumps({"query": topic.title, "qid": topic.qid, "ancestors": [], "nuggets": nuggets}) + "\n")
    house.load(campaign, track.Part(NUGGETS.file, path, {"condition": NUGGETS.name, "by": "people"}, 0))


def _comparison() -> "Comparison":
    from metaeval.models import Comparison

    return Comparison.objects.select_related("campaign__created_by").get()


def open_page(step: str) -> dict[str, float]:
    """Ask for a page by its name in PAGES as the organizer's browser does; return seconds and the peak in MiB."""
    compared = _comparison()
    parts = {
        "condition": compared.first.pk,
        "comparison": compared.pk,
        "topic": compared.campaign.topics.earliest("pk").pk,
    }
    client = house.client(compared.campaign.created_by)
    assert client.get("/new-campaign/").status_code == 200
    took, address = [], f"/campaigns/{house.SLUG}/{PAGES[step].format(**parts)}"
    for _ in range(1 + _TIMES):
        start = time.perf_counter()
        response = client.get(address)
        took.append(time.perf_counter() - start)
        assert response.status_code == 200, response
    return {"first": took[0], "again": max(took[1:]), "KB": len(response.content) / 1e3, "MiB": house.peak()}


def main() -> None:
    chosen = house.arguments("Measure the pages of statistics of a condition of a track's size.", PAGES).parse_args()
    if chosen.step:
        import django

        django.setup()
        logging.getLogger("assessor.requests").setLevel(logging.WARNING)
        print(json.dumps(open_page(chosen.step)))
        return
    house.measure(chosen, build, report)


def report() -> int:
    """Measure and print everything; return how many figures are over their limits."""
    over = 0
    for step in PAGES:
        found = house.in_a_process("bench.statistics_pages", step)
        for name, limit in (("first", LIMIT), ("again", AGAIN_LIMIT)):
            is_over = found[name] > limit
            over += is_over
            print(f"{step}, {name}: {found[name]:.3f} s, limit {limit}{' OVER' if is_over else ''}", flush=True)
        print(f"{step}: {found['KB']:.0f} KB, peak {found['MiB']:.0f} MiB")
    return over


if __name__ == "__main__":
    main()
