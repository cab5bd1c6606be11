"""python -m tests.golden FOLDER [--keep]: play the study, and write its files there.

Without --keep the sums of tests/golden/sums.txt are compared, and what differs is named; with it they are written anew.
To see what a change did to a file, write the files of both commits and compare the folders.
"""

import argparse
import logging
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from tests.cheap_columns import compare_columns_cheaply
from tests.golden.world import open_world
from tests.large_stack import on_large_stack
from tests.llm.endpoint import RunningEndpoint

SUMS = Path(__file__).with_name("sums.txt")
# What need not be the same: the form of an archive may change, as long as what it restores gives the same files.
LEFT_OUT = ".archive.zip"


@on_large_stack
def write_files(folder: Path) -> list[str]:
    """Play the study and write its files; return a line for each: its sum and its name."""
    compare_columns_cheaply()
    lines = []
    endpoint = RunningEndpoint()
    try:
        with tempfile.TemporaryDirectory() as data, open_world(Path(data)) as clock:
            # Only now: they take names from what the world has changed.
            from tests.golden.api import fetch_answers
            from tests.golden.downloads import fetch_downloads
            from tests.golden.masks import mask_file
            from tests.golden.roles import tabulate
            from tests.golden.study import BASE, Study

            logging.disable(logging.INFO)
            study = Study(clock, endpoint.base_url)
            study.play()
            files = [
                *fetch_downloads(study.olga, BASE),
                *fetch_answers(study.olga, "olga"),
                ("roles.txt", tabulate(study.players).encode()),
            ]
            for name, content in files:
                if name.endswith(LEFT_OUT):
                    continue
                content = mask_file(name, content)
                digest = sha256(content).hexdigest()
                # Some pages have files of one name, of a topic each, say.
                place = folder / name
                if place.exists():
                    place = folder / f"{digest[:8]}.{name}"
                place.write_bytes(content)
                lines.append(f"{digest}  {name}\n")
    finally:
        endpoint.stop()
    return sorted(lines, key=lambda line: line.split("  ")[::-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if any(chosen.folder.iterdir()):
        sys.exit(f"{chosen.folder} is not empty.")
    lines = write_files(chosen.folder)
    if chosen.keep:
        SUMS.write_text("".join(lines))
        return
    kept = SUMS.read_text().splitlines(keepends=True)
    wrong = sorted({line.split("  ")[1].strip() for line in {*kept} ^ {*lines}})
    if lines != kept:
        sys.exit("Not the same as before: " + ", ".join(wrong or ["how many files there are"]))


if __name__ == "__main__":
    main()
