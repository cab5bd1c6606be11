"""What Prometheus reads: how much work there is and whether it moves; nothing of whose or what it is.

Each model is asked once, by state: the queries stay the same, and none reads labels.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric

from assessor.campaigns.models import Import
from assessor.exports.models import Export
from assessor.llm.models import Job, Runner
from assessor.runtime.version import program_version
from assessor.work.models import Task
from metaeval.models import Calculation, CalibrationRequest

# What waits in the database for a worker, besides jobs.
_WORK: dict[str, Any] = {
    "import": Import,
    "export": Export,
    "comparison": Calculation,
    "calibration": CalibrationRequest,
}

_ByState = dict[str, dict[str, Any]]


def as_text() -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector())
    return generate_latest(registry)


class _Collector:
    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("assay", "The program.", {"version": program_version()})
        names = ("units_total", "units_done", "units_failed", "calls", "tokens_in", "tokens_out")
        # A job that was begun before, and resumed, waits since another time than it was made at.
        jobs = _by_state(Job, Min("created_at", filter=Q(started_at=None)), **{name: Sum(name) for name in names})
        work = {kind: _by_state(model, Min("created_at")) for kind, model in _WORK.items()}
        yield from _jobs(jobs)
        yield from _runners()
        yield from _background_work(work)
        yield _oldest_waiting({"job": jobs, **work})
        yield from _tasks(_by_state(Task, Min("created_at"), done=Sum("done")))


def _jobs(of_state: _ByState) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("assay_jobs", "Jobs, by state.", labels=["state"])
    for state in Job.State.values:
        jobs.add_metric([state], _number(of_state, state))
    active = {state: row for state, row in of_state.items() if state in Job.ACTIVE}
    done, failed = _sum(of_state, "units_done"), _sum(of_state, "units_failed")
    to_do = _sum(active, "units_total") - _sum(active, "units_done") - _sum(active, "units_failed")
    about = "Units of all jobs that are done or failed, and those of active jobs that are to do."
    units = GaugeMetricFamily("assay_job_units", about, labels=["state"])
    for state, number in {"to_do": to_do, "done": done, "failed": failed}.items():
        units.add_metric([state], number)
    calls = CounterMetricFamily("assay_model_calls", "Requests to models whose outcome is known.")
    calls.add_metric([], _sum(of_state, "calls"))
    tokens = CounterMetricFamily("assay_model_tokens", "Tokens of models, as they counted them.", labels=["direction"])
    tokens.add_metric(["in"], _sum(of_state, "tokens_in"))
    tokens.add_metric(["out"], _sum(of_state, "tokens_out"))
    yield from (jobs, units, calls, tokens)


def _runners() -> Iterator[Metric]:
    row = Runner.objects.aggregate(number=Count("pk"), seats=Sum("seats"), silent=Min("alive_at"))
    yield GaugeMetricFamily("assay_runners", "Worker processes at work on a job.", row["number"])
    yield GaugeMetricFamily("assay_runner_seats", "Requests that they may have in flight.", row["seats"] or 0)
    about = "Seconds since the last sign of life of the process that gave none for longest; 0: none is at work."
    yield GaugeMetricFamily("assay_runner_silence_seconds", about, _seconds_since(row["silent"]))


def _background_work(work: dict[str, _ByState]) -> Iterator[Metric]:
    number = GaugeMetricFamily("assay_background_work", "Background work, by state.", labels=["kind", "state"])
    for kind, of_state in work.items():
        for state in _WORK[kind].State.values:
            number.add_metric([kind, state], _number(of_state, state))
    yield number


def _oldest_waiting(work: dict[str, _ByState]) -> Metric:
    about = "Seconds since the oldest that waits for a worker was asked for; 0: none waits."
    oldest = GaugeMetricFamily("assay_oldest_waiting_seconds", about, labels=["kind"])
    for kind, of_state in work.items():
        oldest.add_metric([kind], _seconds_since(of_state["waiting"]["oldest"] if "waiting" in of_state else None))
    return oldest


def _tasks(of_state: _ByState) -> Iterator[Metric]:
    tasks = GaugeMetricFamily("assay_tasks", "Topics given to people, by state.", labels=["state"])
    for state in Task.State.values:
        tasks.add_metric([state], _number(of_state, state))
    yield tasks
    yield GaugeMetricFamily("assay_task_items_done", "Labels and nuggets that people saved.", _sum(of_state, "done"))


def _by_state(model: Any, oldest: Min, **figures: Sum) -> _ByState:
    """Return by state the number of records, when the oldest was made, and sums."""
    rows = model.objects.order_by().values("state").annotate(number=Count("pk"), oldest=oldest, **figures)
    return {row["state"]: row for row in rows}


def _number(of_state: _ByState, state: str) -> int:
    return of_state[state]["number"] if state in of_state else 0


def _sum(of_state: _ByState, name: str) -> int:
    return sum(row[name] for row in of_state.values())


def _seconds_since(at: datetime | None) -> float:
    return max(0.0, (timezone.now() - at).total_seconds()) if at else 0.0
