"""What an organizer does about pairs that a person could not judge. Labels are in terms of the pair."""

from assessor.accounts.models import Person
from assessor.labels import flags
from assessor.preference.models import PreferencePair
from assessor.preference.verdicts import verdicts


def adopt(*, pair: PreferencePair, item: str, other: PreferencePair, acting_user: Person) -> None:
    """Let another person's preference count where the first one could not judge. Raises ResolveError."""
    flags.adopt(sheet=pair, item=item, other=other, acting_user=acting_user)


def decide(*, pair: PreferencePair, item: str, label: str, reason: str, acting_user: Person) -> None:
    """Let an organizer's preference count where the person could not judge. Raises ResolveError."""
    if label not in verdicts(ties=pair.condition.protocol.preference_ties):
        raise flags.ResolveError("Say which answer is better.")
    flags.decide(sheet=pair, item=item, label=label, reason=reason, acting_user=acting_user)
