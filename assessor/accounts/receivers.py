"""What follows from what people do on allauth's pages: the history, the end of other sessions, a new session key."""

from typing import Any

from allauth.account.signals import (
    authentication_step_completed,
    email_changed,
    password_changed,
    password_reset,
)
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset, authenticator_used
from allauth.socialaccount.signals import social_account_added
from django.dispatch import receiver
from django.http import HttpRequest

from assessor.accounts.deactivation import end_sessions
from assessor.accounts.models import Person
from assessor.campaigns import history

_ADDED = {Authenticator.Type.TOTP: "second factor set up", Authenticator.Type.WEBAUTHN: "passkey added"}
_REMOVED = {Authenticator.Type.TOTP: "second factor turned off", Authenticator.Type.WEBAUTHN: "passkey removed"}


def _record(verb: str, person: Person, **details: Any) -> None:
    history.record(verb, person, campaign=None, person=person, **details)


def _end_other_sessions(request: HttpRequest, person: Person) -> None:
    request.session.cycle_key()
    end_sessions(person, but=request.session.session_key)


@receiver(authentication_step_completed)
def step_completed(request: HttpRequest, **_: Any) -> None:
    """Nobody who planted or read a session's key before a step has the session after it."""
    request.session.cycle_key()


@receiver(authenticator_added)
def factor_added(request: HttpRequest, user: Person, authenticator: Authenticator, **_: Any) -> None:
    if verb := _ADDED.get(Authenticator.Type(authenticator.type)):
        _record(verb, user)
        _end_other_sessions(request, user)


@receiver(authenticator_removed)
def factor_removed(request: HttpRequest, user: Person, authenticator: Authenticator, **_: Any) -> None:
    if verb := _REMOVED.get(Authenticator.Type(authenticator.type)):
        _record(verb, user)
        _end_other_sessions(request, user)


@receiver(authenticator_reset)
def recovery_codes_renewed(user: Person, **_: Any) -> None:
    _record("recovery codes renewed", user)


@receiver(authenticator_used)
def factor_used(user: Person, authenticator: Authenticator, **_: Any) -> None:
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        authenticator.refresh_from_db()
        _record("recovery code used", user, left=len(authenticator.wrap().get_unused_codes()))


@receiver(email_changed)
def address_changed(user: Person, **_: Any) -> None:
    _record("mail address confirmed", user)


@receiver(password_changed)
def password_was_changed(request: HttpRequest, user: Person, **_: Any) -> None:
    _record("password changed", user)
    _end_other_sessions(request, user)


@receiver(password_reset)
def password_was_reset(user: Person, **_: Any) -> None:
    end_sessions(user)


@receiver(social_account_added)
def account_linked(sociallogin: Any, **_: Any) -> None:
    _record("provider's account linked", sociallogin.user, issuer=sociallogin.account.provider)
