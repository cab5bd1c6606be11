"""Background work of the collection: ids in, an action called."""

from collections.abc import Sequence
from typing import Any

from celery import Task, shared_task

from assessor.campaigns.models import Campaign, Import
from assessor.imports import importer
from assessor.runtime.commits import after_commit
from assessor.runtime.hints import is_full
from assessor.runtime.workers import at_start_and_after_deaths


@shared_task(bind=True, max_retries=None)
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


def hand_over(made: Sequence[Import]) -> None:
    """Wake a worker: it takes one import after the other, in the order in which they need each other.

    Should the queue be gone, the next start of a worker finds them waiting in the database.
    """
    if waiting := [one.pk for one in made if one.is_under_way]:
        after_commit(run_import.delay, waiting[0])


@shared_task
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
