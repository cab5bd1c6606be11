"""What pages and files tell of control sets: each time that one was asked, and what was found."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition
from assessor.formats.tables import write_table
from assessor.llm.models import Job
from assessor.studies.control_sets import jobs_of, passes_of
from assessor.studies.models import ControlCheck, ControlSet

_COLUMNS = (
    *("pass", "asked", "condition", "replicate", "job", "model", "cells", "labels", "flips", "expected", "kappa", "p"),
    "alarm",
)
_DIGITS = 4
_LEAST = 1e-4  # of p, as pages have it


class Pass(NamedTuple):
    """A time that a set was asked. check: None as long as the job is not done."""

    number: int
    condition: Condition
    job: Job
    check: ControlCheck | None

    @property
    def p(self) -> str:
        """What a page says of p."""
        if self.check is None or self.check.p is None:
            return "—"
        return f"< {_LEAST}" if self.check.p < _LEAST else f"{self.check.p:.4f}"


def passes(control: ControlSet) -> list[Pass]:
    """Return each time that a set was asked, the first one first."""
    jobs = {job.condition_id: job for job in jobs_of(control).select_related("judge__judge")}
    checks = {check.condition_id: check for check in control.checks.all()}
    every = enumerate(passes_of(control), start=1)
    return [Pass(number, one, jobs[one.pk], checks.get(one.pk)) for number, one in every]


def latest_checks(sets: Sequence[ControlSet]) -> dict[int, ControlCheck]:
    """Return what the last pass of each set found, by the set's key."""
    checks = ControlCheck.objects.filter(control__in=sets).order_by("pk")
    return {check.control_id: check for check in checks}


def pass_lines(control: ControlSet) -> Iterator[str]:
    """Yield each time that a set was asked as CSV; what is not known yet is empty."""
    return write_table(_COLUMNS, map(_row, passes(control)))


def _row(one: Pass) -> list[object]:
    asked = [one.number, one.job.created_at.isoformat(), one.condition.name, one.condition.replicate, one.job.pk]
    check = one.check
    if check is None:
        return [*asked, *[None] * (len(_COLUMNS) - len(asked))]
    figures = (None if value is None else round(value, _DIGITS) for value in (check.expected, check.kappa))
    return [*asked, check.model, check.cells, check.labels, check.flips, *figures, check.p, int(check.is_alarm)]
