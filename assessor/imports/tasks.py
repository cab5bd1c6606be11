"""Background work of the collection: ids in, an action called."""

from typing import Any

from celery import Task

from assessor.campaigns.models import Campaign, Import
from assessor.celery import app
from assessor.imports import importer
from assessor.runtime.hints import is_full
from assessor.runtime.workers import at_start_and_after_deaths


@app.task(bind=True, max_retries=None)
def run_import(self: "Task[Any, Any]", import_id: int) -> None:
    """Run the import that is first in line of an uploaded one's campaign, then the next, each in a task of its own.

    While another one runs, try again every two seconds.
    """
    campaign = Campaign.objects.get(imports=import_id)
    importer.sweep()
    first = importer.next_in_line(campaign)
    if first is None:
        return
    try:
        importer.run(first)
    except importer.Busy as busy:
        raise self.retry(countdown=2, exc=busy) from busy
    if following := importer.next_in_line(campaign):
        run_import.delay(following.pk)


@app.task
def take_up_imports() -> None:
    """Clear away what dead imports left behind, and send hints for what waits: the queue may have lost theirs.

    None where an import of the campaign runs: it would only be tried again and again until that is over.
    """
    importer.sweep()
    busy = Campaign.objects.filter(imports__state=Import.State.RUNNING)
    for campaign in Campaign.objects.filter(imports__state=Import.State.WAITING).exclude(pk__in=busy).distinct():
        if (first := importer.next_in_line(campaign)) and not is_full("celery"):
            run_import.apply_async((first.pk,))


at_start_and_after_deaths(take_up_imports)
