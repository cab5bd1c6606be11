"""Who looks at nuggets that are a model's has seen what a model gave."""

from assessor.accounts.models import Person
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure
from nuggets.models import NuggetBank


def see_nuggets(bank: NuggetBank, *, acting_user: Person) -> None:
    """Record, once for a person and a condition, that they see a model's nuggets on the bank's topic, if they may."""
    if bank.drafting_id is None and not bank.condition.shows_a_models_nuggets():
        return
    kind, where = bank.condition.kind, f"nuggets of {bank.condition}"
    if not Exposure.objects.filter(person=acting_user, topic=bank.topic, kind=kind, where=where).exists():
        record_exposure(acting_user, [bank.topic], kind, where)
