"""What labels of a track's size take that come by file, and what follows a bank that is finished again.

    python -m bench.relabelling [--scale 0.1] [--database URL]

All labels of nuggets of the made-up track are exported, and the file is imported under another condition: seconds, and
bytes of the database for each label; then all grades of questions, whose file has a line for each and so each answer
twenty times. Processes of their own do so, whose peak memory must be that of an import. Then a person labels all
answers to one topic, the bank is opened again, a nugget is reworded, and the request is timed that finishes it. Last,
the pages that tell how far the conditions are.
"""

import argparse
import json
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from bench import house, imports, scores, track

if TYPE_CHECKING:
    from assessor.accounts.models import Person
    from assessor.campaigns.models import Campaign, Condition, QrelsSource, Topic
    from assessor.work.models import Task

NUGGETS = 20
AGAIN, PAGES = 1.0, 0.1  # seconds
SHOWING = ("progress", "scores")  # pages


def database_bytes() -> int:
    """Return the bytes of the database."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(cursor.fetchone()[0])


def import_labels(items: scores.Items) -> dict[str, float]:
    """Export all labels and import them again; return what it takes. Runs in a process of its own."""
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    from assignment.models import Assignment

    path, started = Path(settings.DATA_DIR) / f"{items.labels_file}.jsonl", time.perf_counter()
    of = items.labels_name
    call_command(f"export_{items.labels_file}", house.SLUG, condition=of, output=str(path), verbosity=0)
    exported, size = time.perf_counter() - started, path.stat().st_size
    before, started, worked = database_bytes(), time.perf_counter(), time.process_time()
    options = {"condition": f"{of} by file", "nuggets": items.name, "by": "model"}
    call_command(f"import_{items.labels_file}", house.SLUG, str(path), **options, stdout=sys.stderr)
    took, cpu = time.perf_counter() - started, time.process_time() - worked
    labels = Assignment.objects.filter(sheet__condition__name=options["condition"]).count()
    path.unlink()
    return {
        "export": exported,
        "size": size,
        "labels": labels,
        "import": took,
        "cpu": cpu,
        "bytes": (database_bytes() - before) / labels,
        "peak": house.peak(),
    }


def told(kind: str) -> list[tuple[str, float, float]]:
    """Print what the export and import of all labels of a kind take; return the figures that have limits."""
    found = house.in_a_process("bench.relabelling", kind)
    print(f"{kind}: export of all labels {found['export']:.1f} s, {found['size'] / 1e6:,.0f} MB")
    print(
        f"{kind}: import of {found['labels']:,} labels {found['import']:.1f} s, {found['cpu']:.1f} s CPU, "
        f"{found['bytes']:.1f} bytes of the database for each, peak {found['peak']:.0f} MiB",
        flush=True,
    )
    return [
        (f"{kind}: import, s", found["import"], imports.TOTAL_LIMIT),
        (f"{kind}: import, MiB", found["peak"], imports.MEMORY_LIMIT),
    ]


def finish_again(campaign: "Campaign") -> float:
    """Let a person label all answers to a topic, and finish the bank again; return the seconds of that request."""
    from assignment.actions import create_manual_assign
    from nuggets.actions import create_manual_nuggets, reopen_bank
    from nuggets.models import NuggetBank
    from nuggets.queries import nuggets_in_order

    topic, someone = campaign.topics.earliest("qid"), house.person("assessor", "assessor")
    written = create_manual_nuggets(
        campaign=campaign, name="By hand", qrels_source=_source(campaign, topic), acting_user=None
    )
    bank = NuggetBank.objects.get(task=_give(written, topic, someone))
    client = house.client(someone)

    def send(address: str, version: int, **fields: object) -> int:
        data = {"key": str(uuid.uuid4()), "version": version, **fields}
        answer = client.post(address, data, headers={"X-Assay-Write": "1"})
        assert answer.status_code == 200, answer.content
        told = answer.json()
        return int(told["about"]["version"] if "about" in told else told.get("version", 0))

    base, version = f"/nuggets/{bank.pk}/", bank.version
    for place in range(NUGGETS):
        importance = "okay" if place % 3 else "vital"
        version = send(f"{base}add/", version, uid=uuid.uuid4(), text=f"fact {place}", importance=importance)
    send(f"{base}finish/", version)
    task = _give(create_manual_assign(nuggets=written, name="Labels by hand", acting_user=None), topic, someone)
    client.get(f"/assign/{task.pk}/")
    sheets, bank = list(task.answer_sheets.order_by("place")), NuggetBank.objects.get(pk=bank.pk)
    asked = [nugget.pk for nugget in nuggets_in_order(bank)]
    for sheet in sheets:
        version = sheet.version
        for key in asked:
            address = f"/assign/{task.pk}/answers/{sheet.pk}/label/"
            version = send(address, version, nugget=key, label="support", seconds=1)
    reopen_bank(bank, reason="measured", acting_user=campaign.created_by)
    bank = NuggetBank.objects.get(pk=bank.pk)
    first = bank.nuggets.earliest("pk")
    version = send(f"{base}{first.uid}/reword/", bank.version, text="in other words")
    started = time.perf_counter()
    send(f"{base}finish/", version)
    took = time.perf_counter() - started
    print(f"a bank of {NUGGETS} finished again, with {len(sheets)} answers: {took:.2f} s")
    return took


def _source(campaign: "Campaign", topic: "Topic") -> "QrelsSource":
    """Bring a passage of a topic with its grade, without which there is no editor."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        for kind, line, options in (
            ("segments", '{"docid": "only#0", "text": "One passage."}', {}),
            ("qrels", f"{topic.qid} 0 only#0 1", {"source": "One", "by": "people"}),
        ):
            path = Path(name) / kind
            path.write_text(f"{line}\n")
            house.load(campaign, track.Part(kind, path, options, 1))
    return campaign.qrels_sources.get(name="One")


def _give(condition: "Condition", topic: "Topic", someone: "Person") -> "Task":
    from assessor.work.actions import give_tasks

    house.open_guidelines(condition.campaign, condition.kind, someone)
    [task] = give_tasks(
        campaign=condition.campaign, topics=[topic], condition=condition, person=someone, acting_user=None
    )
    return task


def open_pages(campaign: "Campaign") -> float:
    """Open the pages that tell how far conditions are, twice; return the seconds of the slowest, the second time."""
    client, slowest = house.client(campaign.created_by), 0.0
    for name in (*SHOWING, *SHOWING):
        started = time.perf_counter()
        assert client.get(f"/campaigns/{campaign.slug}/{name}/").status_code == 200
        took = time.perf_counter() - started
        print(f"the page of {name}: {took * 1000:.0f} ms")
        slowest = took if name == SHOWING[0] else max(slowest, took)
    return slowest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--database", default="", help="The DATABASE_URL of an empty PostgreSQL database.")
    parser.add_argument("--step", choices=scores.ALL_ITEMS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        print(json.dumps(import_labels(scores.ALL_ITEMS[chosen.step])))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        house.open_house(folder, chosen.database)
        house.collect_static_files()
        campaign = scores.load(folder, chosen.scale)
        for items in scores.ALL_ITEMS.values():
            scores.label(campaign, items)
        over = [figure for kind in scores.ALL_ITEMS for figure in told(kind)]
        over += [("finished again, s", finish_again(campaign), AGAIN), ("pages, s", open_pages(campaign), PAGES)]
    for what, took, limit in over:
        print(f"{what}: {took:.2f}, limit {limit}{' OVER' if took > limit else ''}")
    raise SystemExit(sum(took > limit for _, took, limit in over))


if __name__ == "__main__":
    main()
