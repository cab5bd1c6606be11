"""The writers of second factors: setting up, taking codes, ending; and what a campaign requires."""

import time
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from assessor.accounts import codes
from assessor.accounts.deactivation import end_sessions
from assessor.accounts.models import Person, SecondFactor
from assessor.campaigns import history
from assessor.campaigns.models import Campaign

MOST_FAILURES = 5
WAIT = timedelta(minutes=15)
WRONG = "This code is wrong, or was used already. A code of the app changes every half minute: take the next one."
TOO_MANY = "Too many wrong codes: no code is taken for a quarter of an hour. Nothing else was changed."


@transaction.atomic
def set_up(*, person: Person, secret: str, code: str, session_key: str | None) -> list[str] | None:
    """Set up a person's second factor once a code shows that their app has the secret; None for a wrong code.

    Returns the recovery codes, which are told now and never again. All other sessions of the person end: they began
    with the password alone. session_key: of the one that stays.
    """
    step = codes.step_of(secret, code, time.time())
    if step is None:
        return None
    recovery = _recovery_codes()
    _, is_new = SecondFactor.objects.get_or_create(
        person=person,
        defaults={"secret": codes.seal(secret), "last_step": step, "recovery": list(map(codes.digest, recovery))},
    )
    if not is_new:  # set up in another tab a moment ago
        return None
    end_sessions(person, but=session_key)
    history.record("second factor set up", person, campaign=None, person=person)
    return recovery


@transaction.atomic
def why_refused(person: Person, code: str) -> str | None:
    """Use a code of a person's app, or a recovery code, up; say why it is not taken, or None where it is.

    Five wrong codes in a row, from wherever, and none is taken for a quarter of an hour.
    """
    factor = SecondFactor.objects.select_for_update().filter(person=person).first()
    if factor is None:
        return WRONG
    now = timezone.now()
    if factor.failed_at and now - factor.failed_at >= WAIT:
        factor.failures = 0
    if factor.failures >= MOST_FAILURES:
        return TOO_MANY
    if _use(factor, code):
        factor.failures, factor.failed_at = 0, None
    else:
        factor.failures, factor.failed_at = factor.failures + 1, now
    factor.save()
    if not factor.failed_at:
        return None
    return TOO_MANY if factor.failures >= MOST_FAILURES else WRONG


def _use(factor: SecondFactor, code: str) -> bool:
    """Use a code up, if it is good."""
    if (digest := codes.digest(code)) in factor.recovery:
        factor.recovery = [left for left in factor.recovery if left != digest]
        history.record(
            "recovery code used", factor.person, campaign=None, person=factor.person, left=len(factor.recovery)
        )
        return True
    secret = codes.unseal(factor.secret)
    step = codes.step_of(secret, code.replace(" ", ""), time.time()) if secret else None
    if step is None or step <= factor.last_step:
        return False
    factor.last_step = step
    return True


@transaction.atomic
def renew_recovery_codes(*, person: Person) -> list[str]:
    """Give a person new recovery codes, told now and never again; the old ones are good no longer."""
    recovery = _recovery_codes()
    SecondFactor.objects.filter(person=person).update(recovery=list(map(codes.digest, recovery)))
    history.record("recovery codes renewed", person, campaign=None, person=person)
    return recovery


@transaction.atomic
def remove_second_factor(*, person: Person, acting_user: Person | None) -> None:
    """Ask for a person's password alone from now on; they turn it off themselves, or an administrator resets it."""
    if SecondFactor.objects.filter(person=person).delete()[0]:
        verb = "second factor turned off" if acting_user == person else "second factor reset"
        history.record(verb, person, campaign=None, person=acting_user)


@transaction.atomic
def require_second_factor(*, campaign: Campaign, required: bool, acting_user: Person | None) -> None:
    """Require a second factor of everybody who can open a campaign, or no longer."""
    if (
        Campaign.objects.filter(pk=campaign.pk)
        .exclude(second_factor_required=required)
        .update(second_factor_required=required)
    ):
        verb = "second factor required" if required else "second factor no longer required"
        history.record(verb, campaign, campaign=campaign, person=acting_user)


def _recovery_codes() -> list[str]:
    return [codes.recovery_code() for _ in range(codes.RECOVERY_CODES)]


def make_link(*, person: Person, acting_user: Person) -> str:
    from django.contrib.auth.tokens import default_token_generator

    return f"/login/?{default_token_generator.make_token(person)}"
