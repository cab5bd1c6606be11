"""Background work of the collection: ids in, an action called."""

from typing import Any

from celery import Task, shared_task
from celery.signals import task_failure, worker_ready
from django.db import close_old_connections

from assessor.collection import importing
from assessor.collection.models import Import
from assessor.connections import leave_connections


@shared_task(bind=True, max_retries=None)
def run_import(self: "Task[Any, Any]", import_id: int) -> None:
    """Run an uploaded import; while another one of the campaign runs, try again every two seconds."""
    import_record = Import.objects.select_related("campaign").get(pk=import_id)
    if import_record.state != Import.State.WAITING:
        return
    sweep_imports()
    try:
        importing.run(import_record, importing.upload_path(import_record))
    except importing.Busy as busy:
        raise self.retry(countdown=2, exc=busy) from busy


def sweep_imports() -> None:
    """Clear away what dead imports left behind, and hand those that can be run again to the worker."""
    for pk in importing.sweep():
        run_import.delay(pk)


@worker_ready.connect
def take_up_imports(**kwargs: Any) -> None:
    """Start what waits in the database: the queue may have lost its hint."""
    close_old_connections()
    importing.sweep()
    for pk in Import.objects.filter(state=Import.State.WAITING).values_list("pk", flat=True):
        run_import.delay(pk)
    leave_connections()  # in the process from which later children are forked


@task_failure.connect
def take_up_what_a_killed_child_left(**kwargs: Any) -> None:
    """Sweep when a task failed: the worker goes on when one of its child processes is killed."""
    close_old_connections()
    sweep_imports()
    leave_connections()
