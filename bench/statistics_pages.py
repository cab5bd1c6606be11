"""How long the pages of statistics of a track's size take: the first time, and asked for again.

    python -m bench.statistics_pages [--scale 0.1] [--keep FOLDER] [--database URL]

A track with 146 runs and 301 topics gets 19 nuggets a topic, each with evidence that answers cite; two conditions of
models with a label of each in each answer, by chance, and their comparison; and people's labels of a part of the
topics, with a calibration and hybrid scores. A process for each page starts, signs the organizer in and opens the page
of a new campaign; then it asks for the page, with all scores still to be loaded, and again. A page over its limits
fails it. CPU seconds tell what a page takes on a machine that others use too.
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

FIRST, SECOND, PEOPLE = "First", "Second", "People"
_PEOPLES_TOPICS = 45
LIMIT, AGAIN_LIMIT = 2, 0.1  # seconds
_EVIDENCE = 3  # passages that a nugget comes from, at most
_TIMES = 10  # a page is asked for again
_FIGURES_OF = "figures of "
PAGES = {
    "scores": "scores/?condition={condition}",
    "score figures": "scores/{condition}/figures/",
    "significance": "scores/{condition}/significance/",
    "randomised HSD": "scores/{condition}/significance/?correction=randomised",
    "nuggets": "scores/{condition}/nuggets/",
    "reusability": "scores/{condition}/reusability/",
    "judges": "scores/{condition}/judges/",
    "next edition": "scores/{condition}/next-edition/",
    "comparisons": "comparisons/",
    "comparison": "comparisons/{comparison}/",
    "topic of a comparison": "comparisons/{comparison}/topics/{topic}/",
    "hybrid scores": "hybrids/{hybrid}/",
    "calibrations": "calibrations/",
    "calibration": "calibrations/{calibration}/",
}
# Of these pages htmx asks for the figures, once the rest is there.
PAGES |= {
    f"{_FIGURES_OF}{name}": PAGES[name]
    for name in ("significance", "randomised HSD", "nuggets", "reusability", "judges", "hybrid scores")
}


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with the track and its conditions, and all that is computed before a page shows it."""
    from assessor.campaigns.models import Judge
    from metaeval.actions import create_calibration, create_comparison, create_hybrid, run

    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "runs", "run_list"):
            house.load(campaign, part)
    add_nuggets(campaign, folder)
    first, second = (label(campaign, name=name, seed=830 + at) for at, name in enumerate((FIRST, SECOND)))
    assessors = Judge.objects.create(kind="imported", name="made-up people", parameters={"by": "people"})
    people = label(campaign, name=PEOPLE, seed=832, topics=_PEOPLES_TOPICS, by=assessors)
    create_hybrid(campaign=campaign, human=people, model=first, acting_user=None)
    create_calibration(campaign=campaign, human=people, judged=first, acting_user=None)
    calculation = run(create_comparison(campaign=campaign, first=first, second=second, seed=7, acting_user=None))
    assert calculation.state == "done", calculation.why


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


def open_page(step: str) -> dict[str, float]:
    """Ask for a page by its name in PAGES as the organizer's browser does; return seconds, size and the peak in MiB."""
    from assessor.runtime.garbage import freeze_what_is_loaded
    from metaeval.models import Calibration, Comparison, Hybrid

    compared = Comparison.objects.select_related("campaign__created_by").get()
    parts = {
        "condition": compared.first.pk,
        "comparison": compared.pk,
        "topic": compared.campaign.topics.earliest("pk").pk,
        "hybrid": Hybrid.objects.get().pk,
        "calibration": Calibration.objects.get().pk,
    }
    client = house.client(compared.campaign.created_by)
    freeze_what_is_loaded()  # as a web process does (assessor/wsgi.py)
    assert client.get("/new-campaign/").status_code == 200
    loop = house.loop()
    headers = {"HX-Request": "true"} if step.startswith(_FIGURES_OF) else {}
    took, cpu, address = [], [], f"/campaigns/{house.SLUG}/{PAGES[step].format(**parts)}"
    for _ in range(1 + _TIMES):
        start, worked = time.perf_counter(), time.process_time()
        response = client.get(address, headers=headers)
        took.append(time.perf_counter() - start)
        cpu.append(time.process_time() - worked)
        assert response.status_code == 200, response
    return {
        "first": took[0],
        "first CPU": cpu[0],
        "again": max(took[1:]),
        "again CPU": max(cpu[1:]),
        "loop": loop,
        "KB": len(response.content) / 1e3,
        "MiB": house.peak(),
    }


def main() -> None:
    chosen = house.arguments("Measure the pages of statistics of a track's size.", PAGES).parse_args()
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
            cpu = f"CPU {found[f'{name} CPU']:.3f} s"
            print(f"{step}, {name}: {found[name]:.3f} s, {cpu}, limit {limit}{' OVER' if is_over else ''}", flush=True)
        print(f"{step}: {found['KB']:.0f} KB, peak {found['MiB']:.0f} MiB; a loop of additions {found['loop']:.3f} s")
    return over


if __name__ == "__main__":
    main()
