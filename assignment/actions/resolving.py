"""What an organizer does about labels that a person could not give."""

from django.db import transaction

from assessor.collection import history
from assessor.collection.models import Condition, Person
from assessor.work.models import Task
from assessor.work.sheets import revise
from assessor.work.writes import Stale
from assignment.models import AnswerSheet, LeftOut, Opinion
from nuggets.models import Nugget

MAX_REASON = 500  # characters


class ResolveError(Exception):
    """It can't be resolved like that; the text says why."""


@transaction.atomic
def adopt_label(*, sheet: AnswerSheet, nugget: int, other: AnswerSheet, acting_user: Person) -> None:
    """Let another person's label count where the first one could not judge. Raises ResolveError.

    It stands apart from what the first person said, who is never shown it.
    """
    key = str(nugget)
    second = Opinion.objects.filter(condition=other.condition_id, of=sheet.condition_id, purpose=Opinion.Purpose.SECOND)
    if not second.exists() or (other.bank_id, other.answer_id) != (sheet.bank_id, sheet.answer_id):
        raise ResolveError("That is no other person's opinion on this answer.")
    if sheet.task is None or sheet.task.state != Task.State.FINISHED:
        raise ResolveError(f"{sheet.judge} has not signed the topic off, and may still say something there.")
    if key not in sheet.cannot or key in sheet.adopted:
        raise ResolveError("Nothing is unresolved there: load the page again.")
    if key not in other.labels or other.edition != sheet.edition:
        raise ResolveError("The other person has no label there that counts.")
    label = other.labels[key]
    reason = f"adopted by {acting_user} from {other.condition}"[:MAX_REASON]
    try:
        revise(sheet, "adopted", {nugget: {"adopted": label}}, judge_id=other.judge_id, reason=reason)
    except Stale as error:
        raise ResolveError("The person changed this answer at the same moment: load the page again.") from error
    told = {"sheet": sheet.pk, "nugget": nugget, "label": label, "from": other.condition.name}
    history.record("label adopted", sheet.condition, campaign=sheet.condition.campaign, person=acting_user, **told)


@transaction.atomic
def leave_out(*, condition: Condition, nugget: Nugget, is_out: bool, reason: str, acting_user: Person) -> None:
    """Leave a nugget out of a condition's scores, for all runs, or take it back into them. Raises ResolveError."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_REASON or "\x00" in reason:
        raise ResolveError(f"Say why, in at most {MAX_REASON} characters.")
    Condition.objects.select_for_update(no_key=True, of=("self",)).get(pk=condition.pk)
    newest = LeftOut.objects.filter(condition=condition, nugget=nugget).order_by("pk").last()
    if (newest is not None and newest.is_out) == is_out:
        raise ResolveError("That is so already: load the page again.")
    LeftOut.objects.create(condition=condition, nugget=nugget, is_out=is_out, reason=reason, person=acting_user)
    verb = "nugget left out" if is_out else "nugget taken back"
    told = {"nugget": nugget.pk, "text": nugget.text, "reason": reason}
    history.record(verb, condition, campaign=condition.campaign, person=acting_user, **told)
