"""Background work on comparisons and calibrations: ids in. The database says what waits; a message is only a hint."""

from typing import Any

from celery import shared_task

from assessor.runtime.commits import after_commit
from assessor.runtime.workers import at_start_and_after_deaths
from metaeval import actions
from metaeval.background import sweep
from metaeval.models import Calculation, CalibrationRequest


@shared_task
def calculate(calculation_id: int) -> None:
    """Compute a comparison, unless it is being computed or over."""
    actions.run(Calculation.objects.select_related("comparison__campaign").get(pk=calculation_id))


@shared_task
def calibrate(request_id: int) -> None:
    """Calibrate a judge, unless that is being done or over."""
    related = ("campaign", "human", "human_source__condition", "judged__judge", "created_by")
    actions.run_calibration(CalibrationRequest.objects.select_related(*related).get(pk=request_id))


_TASKS: dict[type[Calculation | CalibrationRequest], Any] = {Calculation: calculate, CalibrationRequest: calibrate}


def send_hint(work: Calculation | CalibrationRequest) -> None:
    """Tell the worker, once it is committed. Should the queue be gone, the next start of one finds it waiting."""
    after_commit(_TASKS[type(work)].delay, work.pk)


def take_up() -> None:
    """Send hints for all that waits, and for what a dead process left."""
    for model, task in _TASKS.items():
        for pk in sweep(model):
            task.delay(pk)


at_start_and_after_deaths(take_up)
