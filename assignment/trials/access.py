"""Who may have a nugget tried: the person who edits its bank, unless they label, or are to label, its topic blind."""

from django.db.models import Q
from django.http import Http404

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import labelling_kinds
from assessor.campaigns.models import Condition, Topic
from assessor.work.models import Task
from assignment.trials.models import TrialSetting
from nuggets.access import is_owner, own_bank
from nuggets.models import NuggetBank


def setting_of(bank: NuggetBank) -> TrialSetting | None:
    """Return the setting that lets nuggets of a bank be tried, or None where none is on."""
    on = TrialSetting.objects.filter(is_on=True, condition__nuggets=bank.condition_id)
    return on.select_related("condition__judge__model", "condition__nuggets", "condition__campaign").first()


def may_try(person: Person, bank: NuggetBank) -> bool:
    """Say whether a person may have nuggets of a bank tried."""
    if not is_owner(person, bank) or bank.state != NuggetBank.State.OPEN or bank.topic.is_practice:
        return False
    return setting_of(bank) is not None and not labels_blind(person, bank.topic, bank.condition.kind)


def labels_blind(person: Person, topic: Topic, kind: str) -> bool:
    """Say whether a person has, or a plan gives them, labels of nuggets of a topic to give blind.

    kind: that of the nuggets. Work that is finished counts too: it can be opened again.
    """
    kinds = labelling_kinds(kind)
    tasks = Task.objects.filter(person=person, topic=topic, kind__in=kinds).exclude(state=Task.State.WITHDRAWN)
    planned = topic.planned.filter(person=person, condition__kind__in=kinds)
    given = Condition.objects.filter(Q(pk__in=tasks.values("condition")) | Q(pk__in=planned.values("condition")))
    return any(condition.is_blind() for condition in given)


def bank_to_try(person: Person, bank_id: int) -> NuggetBank:
    """Return a person's own bank whose nuggets they may have tried. Raises Http404."""
    bank = own_bank(person, bank_id)
    if not may_try(person, bank):
        raise Http404("Nuggets of this bank can't be tried by you.")
    return bank
