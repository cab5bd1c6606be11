"""A job in batches whose process is killed again and again: what the endpoint, the database and the clock say of it."""

import random
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.llm.endpoint import RunningEndpoint
from tests.llm.house import House, house, kill_all_of
from tests.llm.test_killed import LAUNCH, fill

_IN_BATCHES = LAUNCH.replace("topics=topics)", 'topics=topics, mode="batch")').replace(
    "acting_user=None)", "acting_user=None, to_workers=False)"
)
# A little more than a share of what is estimated, as parts of tokens are rounded up.
_LIMIT = "ModelJudge.objects.update(batch_tokens=Job.objects.get().estimate['tokens_in'] // {files} + {units})"


_MORE = 3  # times that a process is started after the last kill: one that ends by itself has done the job


class Found(NamedTuple):
    """What came of it. sizes: requests of each batch; peak: MiB of the largest process; cpu: seconds of all."""

    kills: int
    sizes: list[int]
    peak: float
    cpu: float


def killed(folder: Path, units: int, files: int, kills: int, seed: int, longest: float) -> Found:
    """Do a job of so many requests in so many files, killing its process at random moments; check everything.

    longest: seconds for which a process runs before it is killed, at most.
    """
    chance = random.Random(seed)
    server = RunningEndpoint(batch_seconds=1)
    peak = cpu = 0.0
    done_kills = 0
    try:
        with house(folder / "data", "embedded://") as study:
            study.env["ASSAY_BATCH_LOOK_SECONDS"] = "1"
            fill(study, folder, server.base_url, units)
            launch = _IN_BATCHES.replace("pool_depth=1_000", f"pool_depth={units}")
            study.run(launch + _LIMIT.format(files=files, units=units))
            [[job]] = study.rows("select id from llm_job")
            for _ in range(kills + _MORE):
                if study.rows("select state from llm_job") == [("done",)]:
                    break
                worker = study.start("run_job", str(job), start_new_session=True)
                process, spent = psutil.Process(worker.pid), 0.0
                ends = time.monotonic() + chance.uniform(0.5, longest) if done_kills < kills else float("inf")
                while worker.poll() is None and time.monotonic() < ends:
                    try:
                        peak = max(peak, process.memory_info().rss / 2**20)
                        spent = sum(process.cpu_times()[:2])
                    except psutil.NoSuchProcess:
                        break
                    time.sleep(0.05)
                cpu += spent
                if worker.poll() is None:
                    kill_all_of(worker)
                    done_kills += 1
            _check(study, server, units)
            sizes = [size for (size,) in study.rows("select requests_total from llm_batch order by id")]
            assert len(sizes) == len([line for line in server.of("batch_created") if line["status"] == 200])
    finally:
        server.stop()
    return Found(done_kills, sizes, peak, cpu)


def _check(study: House, server: RunningEndpoint, units: int) -> None:
    assert study.rows("select units_done, units_failed, calls from llm_job") == [(units, 0, units)]
    assert study.rows("select outcome, count(*), count(distinct request) from llm_call group by outcome") == [
        ("good", units, units)
    ]
    judged = study.rows("select count(*), count(distinct topic_id || ' ' || docid) from relevance_relevancejudgment")
    assert judged == [(units, units)]
    asked = Counter(line["request"] for line in server.batched())
    assert (len(asked), max(asked.values())) == (units, 1)
    assert study.rows("select count(*) from llm_batchrequest") == [(0,)]
    assert study.rows("select count(*) from llm_batch where state <> 'done'") == [(0,)]
