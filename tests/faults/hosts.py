"""Three hosts with web and workers, on one machine: each has a network, a name and a clock of its own.

PostgreSQL, Redis, the endpoint and a proxy as nginx are on the bridge between them; all see one data folder, as by NFS.
Needs root.
"""

import json
import subprocess
import time
from bisect import bisect_left
from pathlib import Path
from typing import Any

from tests.faults import files, network
from tests.faults.people import Outcome, at_work, calls_of
from tests.faults.world import World, patiently, wrong_clock

_BRIDGE = "assay-bridge"
_PORT = 8000
CLOCKS = {"host1": -3600, "host2": 0, "host3": 3600}  # seconds ahead
BEAT, CUT = "host2", "host3"
RATE, PAUSE = 5.0, (1.0, 3.0)  # of job and people: all of this shares one machine
IN_FLIGHT = 32  # requests of the judge at most, of which those at the cut are sent again
LATE = 5.0  # seconds after the cut in which requests are read that came before
STARTS, BEFORE, AWAY, AFTER = 60.0, 30.0, 120.0, 60.0  # seconds


def _address(host: str) -> str:
    return f"10.77.0.1{host[-1]}"


class Hosts(World):
    """Processes on three hosts; their names are like "web host1"."""

    address = "10.77.0.1"
    programs = (*(f"{name} {host}" for host in CLOCKS for name in ("web", "imports", "jobs")), f"beat {BEAT}")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, has_servers=True)
        self.env |= {
            "ASSAY_LLM_HOSTS": self.address,
            "ASSAY_RUNNERS_PER_JOB": str(2 * len(CLOCKS)),  # as many as there are
            "WEB_CONCURRENCY": "1",
        }
        for program in self.programs:
            name, host = program.split()
            env = {"ASSAY_BIND": f"{_address(host)}:{_PORT}"} | wrong_clock(CLOCKS[host])
            words = [f"{variable}={value}" for variable, value in env.items()]
            inside = f"ip netns exec {host} unshare --uts sh -c".split()
            inside += ['hostname "$0" && exec env "$@"', host]
            self._commands[program] = [*inside, *words, *self._commands[name]]
            if name == "web":
                self._listening[program] = (_address(host), _PORT)
        self._lay_cables()

    def _lay_cables(self) -> None:
        self._remove_cables()
        _ip(f"link add {_BRIDGE} type bridge", f"addr add {self.address}/24 dev {_BRIDGE}", f"link set {_BRIDGE} up")
        for host in CLOCKS:
            _ip(
                f"netns add {host}",
                f"link add {host} type veth peer name eth0 netns {host}",
                f"-n {host} addr add {_address(host)}/24 dev eth0",
                f"-n {host} link set eth0 up",
                f"-n {host} link set lo up",
                f"link set {host} up",
            )
            self.plug_in(host)

    def _remove_cables(self) -> None:
        for gone in (*(f"{what} del {host}" for host in CLOCKS for what in ("link", "netns")), f"link del {_BRIDGE}"):
            subprocess.run(["ip", *gone.split()], check=False, capture_output=True)

    def plug_in(self, host: str) -> None:
        _ip(f"link set {host} master {_BRIDGE}")

    def cut_off(self, host: str) -> None:
        """Let all packets to and from a host vanish, of which neither side is told."""
        _ip(f"link set {host} nomaster")

    def close(self) -> None:
        super().close()
        self._remove_cables()


def _ip(*commands: str) -> None:
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)


def one_cut_off(world: Hosts) -> Outcome:
    """People and a job at work on three hosts, whose clocks are apart; one of them is cut off, and comes back."""
    from assessor.campaigns.models import Import

    seen: dict[str, Any] = {}
    log = world.folder / f"web {CUT}.log"

    def meanwhile() -> str:
        patiently(lambda: all(map(_units_of, CLOCKS)), "units held by each host", STARTS)
        time.sleep(BEFORE)
        held = _units_of(CUT)
        seen["cut"] = time.time()
        world.cut_off(CUT)
        patiently(lambda: not _units_of(CUT) & held, f"nothing held by {CUT}", AWAY)
        seen["taken over"] = time.time() - seen["cut"]
        files.send(files.Organizer(world), "new-1\twhat is new\n")
        import_record = Import.objects.latest("pk")
        files.wait_for_the_end(import_record)
        seen["import"] = import_record.state
        time.sleep(max(0.0, seen["cut"] + AWAY - time.time()))
        old = log.stat().st_size
        world.plug_in(CUT)
        seen["back"] = time.time()
        time.sleep(AFTER)
        seen["served"] = log.read_bytes()[old:].count(b" 200 ")
        return f"{CUT} with {len(held)} units cut off for {AWAY:.0f} s, clocks apart by {CLOCKS}"

    with network.running(network.Balanced([(_address(host), _PORT) for host in CLOCKS])) as proxy:
        world.port = proxy.port
        outcome = at_work(world, STARTS + BEFORE + AWAY + AFTER, meanwhile, RATE, PAUSE)
    calls = [call for call in map(json.loads, calls_of(world).read_text().splitlines()) if call["event"] == "start"]
    starts = sorted(call["start"] for call in calls)
    most = max(bisect_left(starts, first + 60) - place for place, first in enumerate(starts))
    by_host = {host: [call["start"] for call in calls if call["client"] == _address(host)] for host in CLOCKS}
    back = [start - seen["back"] for start in by_host[CUT] if start > seen["back"]]
    again = len(calls) - len({call["request"] for call in calls})
    limit = round(60 * RATE / 0.98)  # as bench.load gives it to the judge
    wrong = outcome.wrong | {
        "requests of a minute over the limit": max(0, most - limit),
        "requests sent again": max(0, again - IN_FLIGHT),
        "hosts that asked nothing": sum(not of_host for of_host in by_host.values()),
        "requests of a host that was cut off": sum(seen["cut"] + LATE < at < seen["back"] for at in by_host[CUT]),
        "hosts that came back and asked nothing": int(not back),
        "hosts that came back and served no page": int(not seen["served"]),
        "imports not done": int(seen["import"] != "done"),
    }
    told = (
        f"{outcome.tried} ({', '.join(f'{host} {len(of_host)}' for host, of_host in by_host.items())}; {most} in the "
        f"fullest minute of at most {limit}, {again} sent again); units given back after {seen['taken over']:.0f} s; "
        f"once back it asked after {min(back, default=0):.0f} s, {len(back)} times, and served {seen['served']} pages"
    )
    return Outcome(told, {what: count for what, count in wrong.items() if count})


def _units_of(host: str) -> set[int]:
    """Return the units that runners of a host hold, by key."""
    from assessor.llm.models import Unit

    return set(Unit.objects.filter(state="claimed", runner__owner__startswith=f"{host} ").values_list("pk", flat=True))


TRIALS = {"three hosts, one cut off": one_cut_off}
