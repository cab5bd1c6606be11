"""What an organizer does about labels that a person could not give."""

from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Condition
from assessor.labels import flags
from assessor.labels.flags import ResolveError, given_reason
from assignment.models import AnswerSheet, LeftOut
from nuggets.models import Nugget


def resolve_label(*, sheet: AnswerSheet, nugget: int, other: AnswerSheet, acting_user: Person) -> None:
    """Let another person's label count where the first one could not judge. Raises ResolveError."""
    flags.adopt(sheet=sheet, item=str(nugget), other=other, acting_user=acting_user)


@transaction.atomic
def leave_out(*, condition: Condition, nugget: Nugget, is_out: bool, reason: str, acting_user: Person) -> None:
    """Leave a nugget out of a condition's scores, for all runs, or take it back into them. Raises ResolveError."""
    reason = given_reason(reason)
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    newest = LeftOut.objects.filter(condition=condition, nugget=nugget).order_by("pk").last()
    if (newest is not None and newest.is_out) == is_out:
        raise ResolveError("That is so already: load the page again.")
    LeftOut.objects.create(condition=condition, nugget=nugget, is_out=is_out, reason=reason, person=acting_user)
    verb = "nugget left out" if is_out else "nugget taken back"
    told = {"nugget": nugget.name, "text": nugget.text, "reason": reason}
    history.record(verb, condition, campaign=condition.campaign, person=acting_user, **told)
