"""What an organizer does about citations that a person could not judge."""

from assessor.accounts.models import Person
from assessor.labels import flags
from support.citations import NOT_JUDGED
from support.models import SupportSheet


def resolve_label(*, sheet: SupportSheet, citation: str, other: SupportSheet, acting_user: Person) -> None:
    """Let another person's label count where the first one could not judge. Raises ResolveError."""
    flags.adopt(sheet=sheet, item=citation, other=other, acting_user=acting_user)


def leave_out(*, sheet: SupportSheet, citation: str, reason: str, acting_user: Person) -> None:
    """Let a citation that the person could not judge count nowhere, as one not judged. Raises ResolveError."""
    flags.decide(sheet=sheet, item=citation, label=NOT_JUDGED, reason=reason, acting_user=acting_user)
