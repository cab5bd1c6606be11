"""What an organizer does about judgments that a person could not give."""

from assessor.accounts.models import Person
from assessor.labels import flags
from assessor.labels.flags import ResolveError
from assignment.argue.models import ArgueSheet
from assignment.argue.vocabulary import LABELS


def resolve_label(*, sheet: ArgueSheet, item: str, other: ArgueSheet, acting_user: Person) -> None:
    """Let another person's judgment count where the first one could not judge. Raises ResolveError."""
    flags.adopt(sheet=sheet, item=item, other=other, acting_user=acting_user)


def decide_label(*, sheet: ArgueSheet, item: str, label: str, reason: str, acting_user: Person) -> None:
    """Let "yes" or "no" count where the person could not judge. Raises ResolveError."""
    if label not in LABELS:
        raise ResolveError(f"A judgment is one of {', '.join(LABELS)}.")
    flags.decide(sheet=sheet, item=item, label=label, reason=reason, acting_user=acting_user)
