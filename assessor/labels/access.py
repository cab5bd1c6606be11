"""The only way to a task of labelling for a person."""

from collections.abc import Collection

from django.http import Http404

from assessor.accounts.models import Person
from assessor.labels.manual_setups import require_not_repeated
from assessor.work.access import own_task, require_open_blind
from assessor.work.models import Task


def own_labelling(person: Person, task_id: int, kinds: Collection[str], what: str) -> Task:
    """Return a person's own task of one of some kinds. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where it is still to be done and the person can't do it blind any more, and where they are
    repeating it now. what: what is labelled, for the text.
    """
    task = own_task(person, task_id)
    if task.kind not in kinds:
        raise Http404(f"There are no such {what} for you.")
    require_open_blind(task)
    require_not_repeated(task)
    return task
