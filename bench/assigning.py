"""How fast an answer comes and a label is saved: for one assessor, ten without a pause, fifty and 200 at work.

    python -m bench.assigning [--database URL] [--scale 1.0] [--only one|ten|fifty|many]

A real server on a track-sized campaign; bench.people says what a round is. In the end every label that was called saved
must stand in the database, once and in its place.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, people, track
from bench.people import Item, Limits, Pace, Work

if TYPE_CHECKING:
    from assessor.work.models import Task

CORES = os.cpu_count() or 1
NUGGETS = 19
PEOPLE = 200
LABELS = ("support", "partial_support", "not_support")
WAYS = {
    "one": (Pace("one assessor", 1, 10, 0, 1), Limits(median_times=1.5, high_times=2)),
    "ten": (Pace("ten without a pause", 10, 20, 0, 2), Limits(high=90)),
    "fifty": (Pace("fifty, a label a second each", 50, 60, 1.0, 2), Limits(high=40)),
    "many": (Pace("200, a label in five seconds each", PEOPLE, 60, 5.0, 2 * CORES), Limits(high=80)),
}


def prepare(folder: Path, scale: float) -> "list[Task]":
    """Load the track, finish nuggets for every topic, and give the topics to all people."""
    from assignment.actions import create_manual_assign

    campaign = house.new_campaign()
    parts = track.write(folder / "track", scale)
    for part in parts:
        if part.kind in ("topics", "runs"):
            house.load(campaign, part)
    house.load(campaign, _nuggets(folder / "nuggets.jsonl", [topic.qid for topic in campaign.topics.all()]))
    nuggets = campaign.conditions.get(name="N")
    condition = create_manual_assign(nuggets=nuggets, name="N/Manual", acting_user=None)
    return house.give(condition, [house.person(f"assessor-{number}", "assessor") for number in range(PEOPLE)])


def _nuggets(path: Path, qids: list[str]) -> track.Part:
    with path.open("w", encoding="utf-8") as out:
        for qid in qids:
            nuggets = [
                {"text": f"fact {number} of {qid}", "importance": "okay" if number % 3 else "vital"}
                for number in range(NUGGETS)
            ]
            out.write(json.dumps({"query": "", "qid": qid, "nuggets": nuggets}) + "\n")
    return track.Part("nuggets", path, {"condition": "N", "by": "people"}, len(qids))


def items(task: "Task") -> list[Item]:
    """Return what a task asks and has no label: a nugget through all answers, so that each round is on another one."""
    from assignment.models import AnswerSheet
    from nuggets.queries import nuggets_in_order

    sheets = list(AnswerSheet.with_items(task.answer_sheets.filter(by_rule=False).order_by("place")))
    nuggets = [str(nugget.pk) for nugget in nuggets_in_order(sheets[0].bank)]
    return [Item(sheet.pk, nugget, {}) for nugget in nuggets for sheet in sheets if nugget not in sheet.labels]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="", help="The URL of an empty PostgreSQL database; else SQLite.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", choices=list(WAYS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        house.open_house(folder, chosen.database)
        house.collect_static_files()
        tasks = prepare(folder, chosen.scale)[:PEOPLE]
        from assignment.models import AnswerSheet

        work = Work("/assign/{}/", "nugget", LABELS, AnswerSheet)
        over = 0
        for key, (way, limits) in WAYS.items():
            if chosen.only in (None, key):
                over += people.measure(work, way, limits, [(task, items(task)) for task in tasks])
        raise SystemExit(over)


if __name__ == "__main__":
    main()
