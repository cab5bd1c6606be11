"""The writers of how people come in: one-time links, linked accounts, second factors that are required or reset."""

import logging
from collections.abc import Callable
from smtplib import SMTPException
from typing import Any, NamedTuple

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import int_to_base36

from assessor.accounts.deactivation import end_access, end_sessions
from assessor.accounts.links import LINK_DAYS, LinkTokens
from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign

_log = logging.getLogger(__name__)


class LinkRefused(Exception):
    """Nobody may make this person a link, or not whoever asked."""


class Link(NamedTuple):
    """A one-time link, which is nowhere kept, and the address it was mailed to, or ""."""

    address: str
    mailed_to: str


def make_link(
    *,
    person: Person,
    acting_user: Person | None,
    site: str,
    campaign: Campaign | None = None,
    to: str = "",
    may: Callable[[Person], bool] = lambda person: person.is_active,
) -> Link:
    """Make the link by which a person sets a password, or links their account at the provider; mail it if possible.

    It is good once, for LINK_DAYS, and only until another is made or the password changes: an invitation for who never
    had a password, a reset for others. site: "https://host" of its address. acting_user is None for who forgot theirs;
    campaign: that whose organizer makes it; to: a mail address in place of the person's own. may: whether it can be
    made, asked while nobody's role changes. Raises LinkRefused.

    Whoever makes a link for somebody else can open it first, and keep a way into the account. So using such a link
    starts the account anew, and it is mailed to no address that was entered by whoever signed in.
    """
    with transaction.atomic():
        locked = Person.objects.select_for_update().get(pk=person.pk)
        if not may(locked):
            raise LinkRefused(f"No link can be made for {person}.")
        token = LinkTokens().make_token(locked, starts_anew=acting_user is not None)
        history.record("sign-in link made", person, campaign=campaign, person=acting_user)
    key = {"uidb36": int_to_base36(person.pk), "key": token}
    address = site + reverse("account_reset_password_from_key", kwargs=key)
    to = to or ("" if acting_user and _is_address_confirmed(person) else person.email)
    is_mailed = settings.MAILS and to and mail("Your link to Assay", "link_mail", to, person=person, address=address)
    return Link(address, to if is_mailed else "")


def _is_address_confirmed(person: Person) -> bool:
    """Say whether a person's mail address is one confirmed in the account, not one that an administrator entered."""
    return EmailAddress.objects.filter(user=person, verified=True, email=person.email).exists()


def change_address(*, person: Person, email: str, site: str) -> bool:
    """Mail a link by which a person confirms their new mail address; say whether it was mailed.

    Until they do, the old address stays. Only the newest such link works. site: as in make_link().
    """
    with transaction.atomic():
        Person.objects.select_for_update().get(pk=person.pk)
        EmailAddress.objects.filter(user=person, verified=False).delete()
        waiting = EmailAddress.objects.create(user=person, email=email.lower())
    address = site + reverse("account_confirm_email", args=[EmailConfirmationHMAC(waiting).key])
    return mail("Confirm your mail address in Assay", "address_mail", email, person=person, address=address)


def mail(subject: str, template: str, to: str, **told: Any) -> bool:
    """Mail a template's text; say whether the mail server took it."""
    text = render_to_string(f"accounts/{template}.txt", told | {"days": LINK_DAYS})
    try:
        send_mail(subject, text, None, [to])
    except (OSError, SMTPException):
        _log.exception("A mail was not sent.")
        return False
    return True


@transaction.atomic
def use_link(*, person_id: int, token: str) -> Person | None:
    """Use a one-time link up, in the transaction of what it is used for; return whose it is, or None if it is dead."""
    person = Person.objects.select_for_update().filter(pk=person_id).first()
    if person is None or not LinkTokens().check_token(person, token):
        return None
    person.link_until = None
    person.save(update_fields=["link_until"])
    history.record("sign-in link used", person, campaign=None, person=person)
    if person.link_starts_anew:
        _start_anew(person)
    return person


def _start_anew(person: Person) -> None:
    """End all that a person could come in by so far, whoever set it up: password, passkeys, codes, accounts, mail."""
    if _is_address_confirmed(person):
        person.email = ""
    person.set_unusable_password()
    person.save(update_fields=["email", "password"])
    ways = (EmailAddress, Authenticator, SocialAccount)
    if sum(way.objects.filter(user=person).delete()[0] for way in ways):
        history.record("earlier ways to sign in ended", person, campaign=None, person=person)
    end_access(person)


@transaction.atomic
def link_account(request: HttpRequest, sociallogin: Any, *, person_id: int, token: str) -> bool:
    """Link an account at the provider, just signed in to, to the person of a one-time link; False if that is dead.

    Not for who has a second factor: the provider could then say that it asked for one, and theirs would be none.
    """
    person = use_link(person_id=person_id, token=token)
    if person is None:
        return False
    if Authenticator.objects.filter(user=person).exists():
        transaction.set_rollback(True)  # the link stays good
        return False
    sociallogin.connect(request, person)
    return True


@transaction.atomic
def unlink_account(*, account: SocialAccount, acting_user: Person, session_key: str | None = None) -> bool:
    """Unlink an account at the provider, which ends the person's sessions but session_key.

    False, and nothing done, where it is their only way in and they do it themselves.
    """
    person = account.user
    has_passkey = Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN).exists()
    if acting_user == person and not person.has_usable_password() and not has_passkey:
        return False
    account.delete()
    end_sessions(person, but=session_key)
    history.record("provider's account unlinked", person, campaign=None, person=acting_user, issuer=account.provider)
    return True


@transaction.atomic
def remove_second_factor(*, person: Person, acting_user: Person | None, campaign: Campaign | None = None) -> None:
    """Remove a person's codes and passkeys, which ends all their sessions: by password alone they set up new ones."""
    if Authenticator.objects.filter(user=person).delete()[0]:
        end_sessions(person)
        history.record("second factor reset", person, campaign=campaign, person=acting_user)


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
