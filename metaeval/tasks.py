"""Background work on comparisons and calibrations: ids in. The database says what waits; a message is only a hint."""

from assessor.celery import app
from assessor.runtime import hints
from assessor.runtime.workers import at_start_and_after_deaths
from metaeval import actions
from metaeval.background import TASKS, sweep
from metaeval.models import Calculation, CalibrationRequest


@app.task
def calculate(calculation_id: int) -> None:
    """Compute a comparison, unless it is being computed or over."""
    actions.run(Calculation.objects.select_related("comparison__campaign").get(pk=calculation_id))


@app.task
def calibrate(request_id: int) -> None:
    """Calibrate a judge, unless that is being done or over."""
    related = ("campaign", "human", "human_source__condition", "judged__judge", "created_by")
    actions.run_calibration(CalibrationRequest.objects.select_related(*related).get(pk=request_id))


def take_up() -> None:
    """Send hints for all that waits, and for what a dead process left."""
    for model, task in TASKS.items():
        for pk in sweep(model):
            hints.send(task, pk)


at_start_and_after_deaths(take_up)
