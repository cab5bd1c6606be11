"""Faults, really made, on installations of their own; afterwards nothing may be lost, doubled or wrong.

    python -m tests.faults [--world embedded] [--world servers] [--world hosts] [words of a trial's name ...]

A world is what is embedded (SQLite and its broker); or servers: a PostgreSQL and a Redis on spare ports, where both
are installed; or hosts: three of them at such servers (as root; see tests/faults/hosts.py). Each trial starts from a
copy of one prepared campaign: see tests/faults/trials.py.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import hosts, trials
from tests.faults.world import World, can_have_servers
from tests.llm.endpoint import ROOT

WORLDS = {"embedded": trials.EVERYWHERE, "servers": trials.TRIALS, "hosts": hosts.TRIALS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="trials whose names have them; else all")
    parser.add_argument("--world", action="append", choices=WORLDS, help="else embedded and servers")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # of all this, one trial, in a folder
    chosen = parser.parse_args()
    if chosen.one:
        raise SystemExit(try_one(chosen.world[0], *chosen.one))
    bad = 0
    for world in chosen.world or ("embedded", "servers"):
        if world != "embedded" and not can_have_servers():
            print("servers: NOT TRIED, as PostgreSQL's or Redis's programs are not installed here")
            continue
        wanted = [name for name in WORLDS[world] if all(word in name for word in chosen.words)]
        bad += try_all(world, wanted)
    print(f"{bad} trials went wrong" if bad else "nothing lost, doubled or wrong")
    raise SystemExit(min(bad, 100))


def world_in(folder: Path, name: str) -> World:
    return hosts.Hosts(folder) if name == "hosts" else World(folder, has_servers=name == "servers")


def try_all(world: str, names: list[str]) -> int:
    """Prepare a campaign, and try each fault on a copy of it; return how many went wrong."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="assay-faults-") as name:
        Path(name).chmod(0o711)  # PostgreSQL's own user must get into a folder of it
        prepared = Path(name) / "prepared"
        made = world_in(prepared, world)
        try:
            made.make()
        finally:
            made.close()
        for trial in names:
            folder = Path(name) / "trial"
            # As it is, owners too.
            subprocess.run(["cp", "-a", str(prepared), str(folder)], check=True)
            command = [sys.executable, "-m", "tests.faults", "--world", world, "--one", trial, str(folder)]
            bad += bool(subprocess.run(command, cwd=ROOT, check=False).returncode)
            shutil.rmtree(folder)
    return bad


def try_one(world: str, name: str, folder: str) -> int:
    """Try one fault on what is prepared in a folder; print what came of it, and return 1 where that was bad."""
    began = time.monotonic()
    here = world_in(Path(folder), world)
    try:
        here.open()
        tried, wrong = WORLDS[world][name](here)
    except BaseException:
        show_logs(Path(folder))
        raise
    finally:
        here.close()
    bad = "; ".join(f"{count} {what}" for what, count in wrong.items())
    took = time.monotonic() - began
    print(f"{world} | {name} | {tried} | lost, doubled, wrong: {bad or 0} | {took:.0f} s", flush=True)
    if bad:
        show_logs(Path(folder))
    return int(bool(bad))


def show_logs(folder: Path) -> None:
    """Print the end of what each process wrote."""
    for log in folder.glob("*.log"):
        print(f"---- {log.name}", log.read_text(errors="replace")[-4000:], sep="\n")


if __name__ == "__main__":
    main()
