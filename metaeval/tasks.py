"""Background work on comparisons: ids in. The database says what waits; a message is only a hint to look."""

from celery import shared_task

from assessor.runtime.workers import at_start_and_after_deaths
from metaeval import actions
from metaeval.models import Calculation


@shared_task
def calculate(calculation_id: int) -> None:
    """Compute a comparison, unless it is being computed or over."""
    actions.run(Calculation.objects.select_related("comparison__campaign").get(pk=calculation_id))


def take_up() -> None:
    """Send hints for all that waits, and for what a dead process left."""
    for pk in actions.sweep():
        calculate.delay(pk)


at_start_and_after_deaths(take_up)
