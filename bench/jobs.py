"""A whole UMBRELA job beside a bare loop over AsyncOpenAI, on the rehearsal endpoint with a fixed latency.

Both in one run, on one endpoint: what they reach is compared, not the clock. The limit is n·L/c.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import house, track

if TYPE_CHECKING:
    from assessor.llm.models import ModelJudge

LATENCY = 0.25  # seconds
TOPICS = 20
# By requests in flight: how many workers share the job, and the least share of a bare loop's rate. Many more need more
# than the processor of one loop: there it is the least share of the limit.
OF_A_LOOP = {32: (1, 0.99), 64: (1, 0.97)}
OF_ALL = {128: (2, 0.90), 512: (4, 0.90)}
FIRST_CALL = 10.0  # seconds from launch, for 44,000 units
MORE_MEMORY = 32.0  # MiB, from 1,000 to 40,000 units


class Worked(NamedTuple):
    """What workers did: calls a second from the first to the last, seconds of processors, MiB of one at its peak."""

    rate: float
    cpu: float
    memory: float


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        house.open_house(Path(folder), arguments.database)
        over = 0
        with endpoint(LATENCY, Path(folder) / "calls.jsonl") as url:
            for flight, (workers, least) in (OF_A_LOOP | OF_ALL).items():
                over += _throughput(url, flight, workers, least, arguments.calls, Path(folder))
        if arguments.size:
            with endpoint(0.0, Path(folder) / "quick.jsonl") as url:
                over += _memory(url, Path(folder))
    raise SystemExit(over)


def _throughput(url: str, flight: int, workers: int, least: float, calls: int, folder: Path) -> int:
    judge = _campaign(f"flight-{flight}", url, calls, concurrency=flight)
    bodies = _bodies(judge, calls)
    log = folder / "calls.jsonl"
    log.write_text("")
    asyncio.run(_bare_loop(url, bodies, flight))
    bare = _rate(log)
    log.write_text("")
    worked = _work(_launch(judge), log, workers)
    limit = flight / LATENCY
    of = bare if flight in OF_A_LOOP else limit
    print(
        f"{flight} in flight, {workers} workers: bare loop {bare:.1f} calls/s ({bare / limit:.1%} of the limit "
        f"{limit:.0f}); whole job {worked.rate:.1f}, {worked.rate / bare:.1%} of the bare loop and "
        f"{worked.rate / limit:.1%} of the limit (at least {least:.0%} of {of:.1f}); "
        f"{calls / worked.cpu:.0f} calls for each CPU second of a worker, {worked.memory:.0f} MiB",
        flush=True,
    )
    return int(worked.rate < least * of)


def _memory(url: str, folder: Path) -> int:
    few = _work(_launch(_campaign("few", url, 1_000, concurrency=32)), folder / "quick.jsonl")
    judge = _campaign("many", url, 40_000, concurrency=32)
    log = folder / "quick.jsonl"
    log.write_text("")
    begun = time.time()
    many = _work(_launch(judge), log)
    with log.open() as lines:
        first = json.loads(next(lines))["start"] - begun
    more = many.memory - few.memory
    print(
        f"memory of a worker: {few.memory:.0f} MiB with 1,000 units, {many.memory:.0f} MiB with 40,000 "
        f"(at most {MORE_MEMORY:.0f} more); {many.rate:.0f} calls/s"
    )
    print(f"first call: {first:.1f} s after the launch of 40,000 units (at most {FIRST_CALL:.0f})")
    return int(more > MORE_MEMORY) + int(first > FIRST_CALL)


def _campaign(slug: str, url: str, units: int, *, concurrency: int) -> "ModelJudge":
    """Make a campaign whose pool has so many segments, and a judge."""
    from assessor.llm.actions import create_judge

    campaign = house.new_campaign(slug)
    language = track.Language(random.Random(units))
    each = units // TOPICS
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / kind for kind in ("topics", "segments", "retrieval")}
        files["topics"].write_text("".join(f"t{topic}\t{language.phrase(8)}\n" for topic in range(TOPICS)))
        with files["segments"].open("w") as segments, files["retrieval"].open("w") as retrieval:
            for topic in range(TOPICS):
                for place in range(each):
                    docid = f"d{topic}_{place}"
                    segments.write(json.dumps({"docid": docid, "segment": language.phrase(150)}) + "\n")
                    retrieval.write(f"t{topic} Q0 {docid} {place + 1} {each - place} run\n")
        from assessor.campaigns.actions import change_protocol

        assert campaign.created_by is not None
        change_protocol(campaign=campaign, settings={"pool_depth": each}, acting_user=campaign.created_by)
        for kind, path in files.items():
            house.load(campaign, track.Part(kind, path, {}, 0))
    parameters = {"model": "m", "temperature": 0.0, "max_tokens": 100, "limit_name": "max_tokens", "structured": False}
    settings = {"base_url": url, "concurrency": concurrency}
    return create_judge(campaign=campaign, name=slug, parameters=parameters, settings=settings, acting_user=None)


def _launch(judge: "ModelJudge") -> int:
    from assessor.llm.actions import launch, plan_job
    from assessor.llm.job_kind import job_kind_named

    topics = list(judge.campaign.topics.all())
    plan = plan_job(kind=job_kind_named("UMBRELA"), judge=judge, name="U", qrels_source=None, topics=topics)
    return launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False).pk


def _work(job_id: int, log: Path, workers: int = 1) -> Worked:
    """Run a job in processes of its own, as workers do."""
    program = (
        "import django, resource; django.setup(); from assessor.llm.runner import run_job; "
        f"run_job({job_id}); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    most = max(int(one.communicate()[0]) for one in running)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    from assessor.llm.models import Job

    job = Job.objects.get(pk=job_id)
    assert (job.state, job.units_failed) == (Job.State.DONE, 0), job.message
    return Worked(_rate(log), cpu, most / 1024)


def _rate(log: Path) -> float:
    """Return calls a second, from the first one's start to the last one's end."""
    first, last, calls = float("inf"), 0.0, 0
    with log.open() as lines:
        for line in lines:
            call = json.loads(line)
            first = min(first, call["start"])
            if "end" in call:
                last, calls = max(last, call["end"]), calls + 1
    return calls / (last - first)


def _bodies(judge: "ModelJudge", calls: int) -> list[dict[str, Any]]:
    """Return the requests that the job will send."""
    from assessor.llm import gateway
    from assessor.llm.prompt_sets import prompt_set
    from assessor.relevance.umbrela import RELEVANCE_PROMPT

    prompts = prompt_set(judge.prompt_set)
    texts = judge.campaign.segments.values_list("text", flat=True)[:calls]
    asked = [RELEVANCE_PROMPT.request(prompts, query="what is it", passage=text) for text in texts]
    return [gateway.request_body(question, question.messages, judge.judge.parameters) for question in asked]


async def _bare_loop(url: str, bodies: list[dict[str, Any]], flight: int) -> None:
    """Send requests as a script would: the library, a semaphore, nothing kept."""
    from openai import AsyncOpenAI

    seats = asyncio.Semaphore(flight)
    async with AsyncOpenAI(api_key="none", base_url=url, timeout=60, max_retries=0) as client:

        async def send(body: dict[str, Any]) -> None:
            async with seats:
                await client.chat.completions.create(**body)

        await asyncio.gather(*[send(body) for body in bodies])


@contextmanager
def endpoint(latency: float, log: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """Run the rehearsal endpoint; yield its base URL."""
    log.write_text("")
    command = [sys.executable, "manage.py", "serve_rehearsal_llm", "--address", address, "--port", "0"]
    command += ["--latency", str(latency), "--log", str(log)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield next(word for line in server.stdout for word in line.split() if word.startswith("http"))
    finally:
        server.terminate()
        server.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=4_000, help="of each throughput")
    parser.add_argument("--database", default="", help="DATABASE_URL of an empty PostgreSQL database; else SQLite")
    parser.add_argument("--size", action="store_true", help="also memory and the first call, with 40,000 units")
    return parser.parse_args()


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    main()
