"""How fast the next pair of sentence and passage comes and its label is saved, for fifty people at work.

    python -m bench.judging [--database URL] [--scale 1.0] [--only scratch|edited] [--keep] [--scattered]

A real server on a track-sized campaign in which every topic is given under both conditions, and a model has judged all
citations; bench.people says what a round is. Beside the model's labels each round also asks for the one that goes with
the pair. In the end every label that was called saved must stand in the database, once and in its place. The limits are
those for PostgreSQL. `--scattered` has each round on another answer, which then is fetched for every label.
"""

import argparse
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, people, scores, track
from bench.people import Item, Limits, Pace, Work

if TYPE_CHECKING:
    from assessor.work.models import Task

PEOPLE = 50
LIMITS = Limits(high=60)
# The names of the conditions, and what the figures are called.
CONDITIONS = {
    "scratch": ("support from scratch", "fifty from scratch, a label a second each"),
    "edited": ("support post-edited", "fifty beside a model's labels, a label a second each"),
}


def prepare(folder: Path, scale: float) -> None:
    """Load the track, have a model judge all citations, and give all topics to fifty people under each condition."""
    from support.actions import create_support

    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.kind in ("topics", "segments", "runs"):
            house.load(campaign, part)
    scores.judge_support(campaign)
    model = campaign.conditions.get(name=scores.SUPPORT_NAME)
    for key, (name, _) in CONDITIONS.items():
        shown = model if key == "edited" else None
        condition = create_support(campaign=campaign, name=name, shown=shown, acting_user=None)
        house.give(condition, [house.person(f"{key}-{number}", "assessor") for number in range(PEOPLE)])


def tasks(name: str, *, scattered: bool) -> "list[tuple[Task, list[Item]]]":
    """Return a task of each person under a condition, with what it asks and has no label yet."""
    from assessor.campaigns.models import Condition

    condition = Condition.objects.get(name=name)
    given = condition.tasks.select_related("person").order_by("topic__qid")[:PEOPLE]
    return [(task, items(task, scattered=scattered)) for task in given]


def items(task: "Task", *, scattered: bool) -> list[Item]:
    """Return the citations that a task asks, in their order; scattered: the first of all answers, then the second."""
    sheets = list(task.support_sheets.order_by("place"))
    of_sheets = [[(sheet, key) for key in sheet.open if key not in sheet.labels] for sheet in sheets]
    in_turn = zip_longest(*of_sheets) if scattered else of_sheets
    asked = [pair for some in in_turn for pair in some if pair]
    return [Item(sheet.pk, key, {"docid": sheet.labels_by_item[key].docid}) for sheet, key in asked]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="", help="The URL of an empty PostgreSQL database; else SQLite.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", choices=list(CONDITIONS))
    parser.add_argument("--seconds", type=float, default=60, help="How long each of the two takes.")
    parser.add_argument("--scattered", action="store_true", help="Each round is on another answer.")
    parser.add_argument("--keep", action="store_true", help="The database is one that this has filled before.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        house.open_house(folder, chosen.database)
        house.collect_static_files()
        if not chosen.keep:
            started = time.perf_counter()
            prepare(folder, chosen.scale)
            print(f"prepared in {time.perf_counter() - started:.0f} s", flush=True)
        from support.citations import LABELS
        from support.models import SupportSheet

        over = 0
        for key, (condition, what) in CONDITIONS.items():
            if chosen.only in (None, key):
                work = Work("/support/{}/", "citation", LABELS, SupportSheet, is_shown=key == "edited")
                way = Pace(what, PEOPLE, chosen.seconds, 1.0, 2)
                over += people.measure(work, way, LIMITS, tasks(condition, scattered=chosen.scattered))
        raise SystemExit(over)


if __name__ == "__main__":
    main()
