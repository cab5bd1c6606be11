"""The only way to a bank for a person."""

from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.access import has_now
from assessor.campaigns.models import Role
from assessor.work.access import own_task, require_open_blind
from assessor.work.models import Task
from nuggets.models import NuggetBank

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
    bank = NuggetBank.objects.filter(pk=bank_id, task__person=person).first()
    if bank is None or bank.task_id is None:
        raise Http404("There is no such list for you.")
    task = own_task(person, bank.task_id, "condition__judge", "condition__qrels_source__condition__judge")
    bank.task, bank.condition, bank.topic = task, task.condition, task.topic
    bank.guidelines_version = task.guidelines_version
    require_open_blind(task)
    return bank


def organized_bank(person: Person, bank_id: int) -> NuggetBank:
    """Return somebody else's bank in a campaign that the person organizes. Raises Http404."""
    banks = NuggetBank.objects.filter(has_now(person, Role.ORGANIZER, "condition__campaign"), pk=bank_id)
    bank = banks.select_related(*_WITH).exclude(task__person=person).first()
    if bank is None:
        raise Http404("There is no such list in a campaign of yours.")
    return bank


def readable_bank(person: Person, bank_id: int) -> NuggetBank:
    """Return a bank to look at: one of a campaign that one organizes, or one's own. Raises Http404."""
    try:
        return organized_bank(person, bank_id)
    except Http404:
        return own_bank(person, bank_id)


def is_owner(person: Person, bank: NuggetBank) -> bool:
    """Say whether the bank is the person's own work."""
    task: Task | None = bank.task
    return task is not None and task.person_id == person.pk
