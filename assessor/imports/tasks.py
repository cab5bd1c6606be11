"""Background work of the collection: ids in, an action called."""

from typing import Any

from celery import Task, shared_task

from assessor.campaigns.models import Campaign, Import
from assessor.imports import importer
from assessor.runtime.workers import at_start_and_after_deaths

_HINT_LASTS = 25  # seconds; the next look comes soon after


@shared_task(bind=True, max_retries=None)
def run_import(self: "Task[Any, Any]", import_id: int) -> None:
    """Run an uploaded import; while another one of the campaign runs, try again every two seconds."""
    import_record = Import.objects.select_related("campaign").get(pk=import_id)
    if import_record.state != Import.State.WAITING:
        return
    importer.sweep()
    try:
        importer.run(import_record, importer.upload_path(import_record))
    except importer.Busy as busy:
        raise self.retry(countdown=2, exc=busy) from busy


@shared_task
def take_up_imports() -> None:
    """Clear away what dead imports left behind, and send hints for what waits: the queue may have lost theirs.

    None where an import of the campaign runs: it would only be tried again and again until that is over.
    """
    importer.sweep()
    busy = Campaign.objects.filter(imports__state=Import.State.RUNNING)
    for pk in Import.objects.filter(state=Import.State.WAITING).exclude(campaign__in=busy).values_list("pk", flat=True):
        run_import.apply_async((pk,), expires=_HINT_LASTS)


at_start_and_after_deaths(take_up_imports)
