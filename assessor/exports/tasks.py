"""Background work on exports: ids in. The database says what waits; a message is only a hint to look."""

from assessor.celery import app
from assessor.exports import actions
from assessor.exports.models import Export
from assessor.runtime.workers import at_start_and_after_deaths


@app.task
def write_export(export_id: int) -> None:
    """Write the file of an export, unless it is being written or over."""
    actions.run(Export.objects.select_related("campaign", "person").get(pk=export_id))


@app.task
def take_up_exports() -> None:
    """Send hints for all that waits, and for what a dead process left; remove old files."""
    for pk in actions.sweep():
        write_export.delay(pk)


at_start_and_after_deaths(take_up_exports)
