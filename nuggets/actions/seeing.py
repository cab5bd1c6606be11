"""Who looks at drafts has seen what a model gave."""

from assessor.collection.models import Condition, Person
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure
from nuggets.models import NuggetBank


def see_drafts(bank: NuggetBank, *, acting_user: Person) -> None:
    """Record, once for a person and a bank, that they see a model's nuggets on its topic, if they do."""
    if bank.drafting_id is None:
        return
    kind, where = Condition.Kind.NUGGETS, f"drafts of {bank.condition}"
    if not Exposure.objects.filter(person=acting_user, topic=bank.topic, kind=kind, where=where).exists():
        record_exposure(acting_user, [bank.topic], kind, where)
