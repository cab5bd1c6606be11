"""The only way to a bank, or another list that a person edits, for a person."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.access import has_now
from assessor.campaigns.models import Role
from assessor.runtime.sql import Parameter, Prepared
from assessor.work.access import own_task, require_open_blind
from assessor.work.models import Task
from nuggets.models import Edited, NuggetBank

List = TypeVar("List", bound=Edited)
_WITH = (
    "topic",
    "condition__campaign",
    "condition__protocol",
    "condition__judge",
    "condition__qrels_source__condition__judge",
    "maker",
    "task",
)


def own_bank(person: Person, bank_id: int) -> NuggetBank:
    """Return the bank of a person's own task, to work on. Raises Http404 for anybody else's and for none.

    Raises PermissionDenied where the person can't do it blind any more.
    """
    return own_list(NuggetBank, person, bank_id, "condition__judge", "condition__qrels_source__condition__judge")


def own_list(model: type[List], person: Person, pk: int, *related: str) -> List:
    """Return a list of a person's own task, with related records of the task, as own_bank() does."""
    found: Any = next(_lists(model).fetch(pk=pk, person=person.pk), None)
    if found is None:
        raise Http404("There is no such list for you.")
    task = own_task(person, found.task_id, *related)
    found.task, found.condition, found.topic = task, task.condition, task.topic
    found.guidelines_version = task.guidelines_version
    require_open_blind(task)
    own: List = found
    return own


@cache
def _lists(model: type[List]) -> Prepared[List]:
    return Prepared(model._default_manager.filter(pk=Parameter("pk"), task__person=Parameter("person")))


def organized_bank(person: Person, bank_id: int) -> NuggetBank:
    """Return somebody else's bank in a campaign that the person organizes. Raises Http404."""
    return organized_list(NuggetBank, person, bank_id, _WITH)


def organized_list(model: type[List], person: Person, pk: int, related: Sequence[str]) -> List:
    """Return somebody else's list in a campaign that the person organizes. Raises Http404."""
    lists = model._default_manager.filter(has_now(person, Role.ORGANIZER, "condition__campaign"), pk=pk)
    found: List | None = lists.select_related(*related).exclude(task__person=person).first()
    if found is None:
        raise Http404("There is no such list in a campaign of yours.")
    return found


def readable_bank(person: Person, bank_id: int) -> NuggetBank:
    """Return a bank to look at: one of a campaign that one organizes, or one's own. Raises Http404."""
    try:
        return organized_bank(person, bank_id)
    except Http404:
        return own_bank(person, bank_id)


def is_owner(person: Person, edited: Any) -> bool:
    """Say whether a list is the person's own work."""
    task: Task | None = edited.task
    return task is not None and task.person_id == person.pk
