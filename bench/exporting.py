"""How long it takes to take files away from a campaign of a track's size, and how much memory.

    python -m bench.exporting [--scale 0.1] [--keep FOLDER] [--database URL]

The track with its segments, its 20,000 grades of people, a label of each of 19 nuggets in each answer and one of each
citation. Processes of their own take away 20,000 labels by the page of exports (grades; assignments and support
judgments of as many topics as have that many labels); have all labels made into files as a worker does; write the whole
campaign's archive, verify it, and restore it into an empty SQLite database. The peak memory of each is told beside that
of a process that has answered one page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import house, scores, track

if TYPE_CHECKING:
    from assessor.campaigns.models import Campaign

LABELS = 20_000
SECONDS, MEMORY = 3, 20  # limits for as many labels, as issue 8 has them
ARCHIVE_MEMORY = 100  # MiB
ARCHIVE = "campaign.zip"


def build(folder: Path, scale: float) -> None:
    """Fill an empty database with all of the track and both conditions of labels."""
    campaign = house.new_campaign()
    for part in track.write(folder / "track", scale):
        if part.options.get("by") != "model":
            house.load(campaign, part)
    scores.add_items(campaign, folder)
    scores.label(campaign)
    scores.judge_support(campaign)


def _campaign() -> "Campaign":
    from assessor.campaigns.models import Campaign

    return Campaign.objects.get(slug=house.SLUG)


def _client() -> Any:
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.cookies["sessionid"] = house.session(_campaign().created_by)
    return client


def start() -> int:
    """Answer one page, as any server has done."""
    assert _client().get(f"/campaigns/{house.SLUG}/exports/").status_code == 200
    return 1


def _topics(per_topic: float) -> list[str]:
    """Return the first topics that have enough labels together."""
    return list(_campaign().topics.order_by("qid").values_list("qid", flat=True)[: -(-LABELS // int(per_topic))])


def _some(kind: str) -> dict[str, Any]:
    """Return which of a kind's records are about LABELS labels."""
    from assessor.campaigns.models import Answer
    from support.models import SupportJudgment

    topics = _campaign().topics.count()
    if kind == "qrels":
        return {"of": track.PEOPLE}
    if kind == "assignments":
        return {
            "of": scores.NUGGETS.labels_name,
            "topics": _topics(scores.NUGGETS.of_topic * Answer.objects.count() / topics),
        }
    citations = SupportJudgment.objects.filter(state="given").count()
    return {"of": scores.SUPPORT_NAME, "topics": _topics(citations / topics)}


def _sent(kind: str) -> Callable[[], int]:
    def do() -> int:
        """Take a file by its page."""
        client, asked = _client(), _some(kind)
        before = time.perf_counter()
        response = client.get(f"/campaigns/{house.SLUG}/exports/{kind}/file/", asked)
        assert response.streaming, response
        lines = sum(chunk.count(b"\n") for chunk in response.streaming_content)
        _took.append(time.perf_counter() - before)
        return lines

    return do


def _made(kind: str) -> Callable[[], int]:
    def do() -> int:
        """Have a file made as a worker makes it, all of it."""
        from assessor.exports import actions
        from assessor.exports.registry import BY_NAME

        campaign = _campaign()
        asked = {name: value for name, value in _some(kind).items() if name == "of"}
        export = actions.ask_for(campaign=campaign, kind=BY_NAME[kind], options=asked, acting_user=campaign.created_by)
        before = time.perf_counter()
        export = actions.run(export)
        _took.append(time.perf_counter() - before)
        assert export.state == "done", export.why
        actions.made(export).discard()
        return int(export.records)

    return do


def archive() -> int:
    """Write the archive; return its bytes."""
    from django.conf import settings

    from assessor.archive.writer import CampaignArchive

    with (Path(settings.DATA_DIR) / ARCHIVE).open("wb") as out:
        for block in CampaignArchive(_campaign()):
            out.write(block)
        return out.tell()


def verify() -> int:
    """Verify the archive; return its records."""
    from django.conf import settings

    from assessor.archive.reader import verify as counts

    return sum(counts(Path(settings.DATA_DIR) / ARCHIVE).values())


def restore() -> int:
    """Restore the archive into an empty SQLite database; return its answers."""
    from django.conf import settings

    file = Path(settings.DATA_DIR) / ARCHIVE
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        env = os.environ | {"ASSAY_DATA_DIR": name, "DATABASE_URL": ""}
        command = [sys.executable, "-m", "bench.exporting", "--restore", str(file)]
        found = json.loads(subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout)
        _took.append(found["s"])
        _peaks.append(found["MiB"])
        return int(found["answers"])


def restored(file: Path) -> dict[str, float]:
    """Restore an archive into the database that the environment names."""
    from django.core.management import call_command

    from assessor.archive.actions import restore as again
    from assessor.campaigns.models import Answer

    call_command("migrate", verbosity=0)
    before = time.perf_counter()
    again(file)
    return {"s": time.perf_counter() - before, "MiB": house.peak(), "answers": Answer.objects.count()}


# What a step says of itself where its process says something else.
_took: list[float] = []
_peaks: list[float] = []

STEPS: dict[str, Callable[[], int]] = {
    "start": start,
    "qrels": _sent("qrels"),
    "assignments": _sent("assignments"),
    "support": _sent("support"),
    "all assignments": _made("assignments"),
    "all support": _made("support"),
    "archive": archive,
    "verify": verify,
    "restore": restore,
}


def carry_out(step: str) -> dict[str, float]:
    """Do a step once, after a page; return what it found, its seconds and its peak in MiB."""
    import django

    django.setup()
    start()
    before = time.perf_counter()
    found = STEPS[step]()
    seconds = time.perf_counter() - before
    return {"found": found, "s": (_took or [seconds])[0], "MiB": (_peaks or [house.peak()])[0]}


def main() -> None:
    parser = house.arguments("Measure exports and the archive of a campaign of a track's size.", STEPS)
    parser.add_argument("--restore", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        print(json.dumps(carry_out(chosen.step)))
        return
    if chosen.restore:
        import django

        django.setup()
        print(json.dumps(restored(chosen.restore)))
        return
    house.measure(chosen, build, report)


def report() -> int:
    """Measure and print everything; return how many figures are over their limits."""
    found = {step: house.in_a_process("bench.exporting", step) for step in STEPS}
    base = found["start"]["MiB"]
    print(f"{'step':16} {'found':>12} {'s':>8} {'MiB more':>9}")
    for step, figures in found.items():
        print(f"{step:16} {figures['found']:12,.0f} {figures['s']:8.2f} {figures['MiB'] - base:9.1f}", flush=True)
    limits = [(step, "s", found[step]["s"], SECONDS) for step in ("qrels", "assignments", "support")]
    for step in ("qrels", "assignments", "support", "all assignments", "all support"):
        limits.append((step, "MiB more", found[step]["MiB"] - base, MEMORY))
    for step in ("archive", "verify", "restore"):
        limits.append((step, "MiB more", found[step]["MiB"] - base, ARCHIVE_MEMORY))
    for what, unit, figure, limit in limits:
        print(f"{what}: {figure:.1f} {unit}, limit {limit}{' OVER' if figure > limit else ''}")
    return sum(figure > limit for _, _, figure, limit in limits)


if __name__ == "__main__":
    main()
