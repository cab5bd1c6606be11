"""How fast imports are, beside a plain json.loads loop over the same file, in one run.

    make bench

Writes made-up runs and segments into a database of its own in a temporary folder; prints rates and the ratio.
"""

import json
import os
import random
import resource
import tempfile
import time
from pathlib import Path

ANSWERS, SEGMENTS, TOPICS = 6_000, 20_000, 300
WORDS = [f"word{n}" for n in range(2_000)]


def sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)) + "."


def write_files(folder: Path) -> tuple[Path, Path, list[Path]]:
    """Write topics, segments and runs of one answer a topic; seeded, so always the same."""
    chance = random.Random(7)
    topics, segments = folder / "topics.tsv", folder / "segments.jsonl"
    topics.write_text("".join(f"t{n}\twhat is {n}\n" for n in range(TOPICS)))
    with segments.open("w") as out:
        for n in range(SEGMENTS):
            out.write(json.dumps({"docid": f"d{n}", "title": f"T{n}", "segment": sentence(chance, 150)}) + "\n")
    runs = []
    for r in range(ANSWERS // TOPICS):
        runs.append(folder / f"run{r}.jsonl")
        with runs[-1].open("w") as out:
            for t in range(TOPICS):
                references = [f"d{n}" for n in chance.sample(range(SEGMENTS), 20)]
                answer = [
                    {"text": sentence(chance, 20), "citations": chance.sample(range(20), 2)}
                    for _ in range(chance.randint(6, 14))
                ]
                record = {"run_id": f"run{r}", "topic_id": f"t{t}", "references": references, "answer": answer}
                out.write(json.dumps(record) + "\n")
    return topics, segments, runs


def parse_seconds(paths: list[Path]) -> float:
    start = time.perf_counter()
    for path in paths:
        with path.open() as lines:
            for line in lines:
                json.loads(line)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        os.environ |= {
            "ASSAY_SECRET_KEY": "bench",
            "ASSAY_DATA_DIR": name,
            "DJANGO_SETTINGS_MODULE": "assessor.settings",
        }
        import django

        django.setup()
        from django.core.management import call_command

        from assessor.collection import importing
        from assessor.collection.actions import create_campaign

        call_command("migrate", verbosity=0)
        campaign = create_campaign(name="bench", slug="bench", acting_user=None)

        def load(kind: str, path: Path) -> float:
            start = time.perf_counter()
            import_record = importing.new_import(
                campaign=campaign, kind=kind, file_name=path.name, options={}, person=None, check_only=False
            )
            importing.run(import_record, path)
            assert import_record.state == "done", import_record.report
            return time.perf_counter() - start

        topics, segments, runs = write_files(folder)
        load("topics", topics)
        for kind, paths, records in (("segments", [segments], SEGMENTS), ("runs", runs, ANSWERS)):
            seconds = sum(load(kind, path) for path in paths)
            parsing = parse_seconds(paths)
            rate, ratio = records / seconds, seconds / parsing
            print(f"{kind}: {records:,} records in {seconds:.2f} s ({rate:,.0f}/s), {ratio:.1f} x json.loads")
        print(f"largest memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
