"""What is ours in allauth: its words, its limits, who may come in, and how secrets are kept."""

import io
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import get_ip
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from assessor.accounts import single_sign_on
from assessor.accounts.encryption import decrypt, encrypt
from assessor.accounts.models import Person
from assessor.runtime import hints
from assessor.runtime.proxy import client_address

WRONG_CODE = "This code is wrong, or was used already. A code of the app changes every half minute: take the next one."
TOO_MANY_CODES = gettext_noop("Too many wrong codes: none is taken for a quarter of an hour. Nothing else was changed.")
INACTIVE = gettext_noop("You can't sign in any more: an organizer or administrator has made you inactive.")
# What is said of each of allauth's messages; nothing of the others.
_SAID = {
    "account/messages/email_confirmed.txt": "Your mail address is confirmed.",
    "account/messages/email_confirmation_failed.txt": (
        "You can't have this mail address here. Take another one, or ask an administrator."
    ),
    "account/messages/password_changed.txt": "Your new password is set. Other browsers are signed out.",
    "mfa/messages/totp_activated.txt": "Your authenticator app is set up. Other browsers are signed out.",
    "mfa/messages/totp_deactivated.txt": "Codes of your authenticator app are asked for no longer.",
    "mfa/messages/webauthn_added.txt": "Your passkey is added. Other browsers are signed out.",
    "mfa/messages/webauthn_removed.txt": "The passkey is removed. Other browsers are signed out.",
    "socialaccount/messages/account_connected.txt": "Your account is linked: you can sign in with it from now on.",
    "socialaccount/messages/account_connected_other.txt": (
        "That account is linked to somebody else in Assay, so nothing was changed."
    ),
}
# What people are mailed about, at the address they confirmed.
_TOLD = {
    "account/email/email_changed": "your mail address is another one now, and this one is yours no longer.",
    "account/email/password_changed": "your password was changed.",
    "account/email/password_reset": "your password was set anew, by a link.",
    "mfa/email/recovery_codes_generated": "new recovery codes were made; the old ones are over.",
    "mfa/email/totp_activated": "an authenticator app was set up for your account.",
    "mfa/email/totp_deactivated": "codes of your authenticator app are asked for no longer.",
    "mfa/email/webauthn_added": "a passkey was added to your account.",
    "mfa/email/webauthn_removed": "a passkey was removed from your account.",
    "socialaccount/email/account_connected": "an account was linked: you can sign in with it.",
}


class AccountAdapter(DefaultAccountAdapter):
    """Signing in by name and password."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "incorrect_password": "This is not your password.",  # a message
        "too_many_login_attempts": gettext_lazy(TOO_MANY_CODES),  # a password's is a page
        "rate_limited": gettext_lazy(TOO_MANY_CODES),
        "username_password_mismatch": gettext_lazy(
            "Name and password don't match. Mind upper and lower case, and try again."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return ["assessor.accounts.stages.CodeStage"]

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) if settings.BEHIND_PROXY else str(request.META.get("REMOTE_ADDR", ""))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count wrong passwords for one name from one address: by name alone, anybody could lock anybody out.

        After a reset allauth asks without a name, for a count by mail address, which there is none of.
        """
        return f"{get_ip(request)} {credentials.get('username', '').lower()}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            raise ImmediateHttpResponse(render(request, "accounts/locked_out.html", status=429)) from None

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Person | None:
        person: Person | None = super().authenticate(request, **credentials)
        if person:
            self._delete_login_attempts_cached_email(request, **credentials)  # begins the count anew
        return person

    def reauthenticate(self, user: Person, password: str) -> bool:
        return self.authenticate(context.request, username=user.username, password=password) == user

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        said = {"reauthenticate": "your password", "mfa_reauthenticate": "a code"}
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": said.get(method["id"], "a passkey")} for method in methods]

    def respond_user_inactive(self, request: HttpRequest, user: Person) -> HttpResponse:
        messages.error(request, gettext(INACTIVE))
        return redirect("account_login")

    def set_password(self, user: Person, password: str) -> None:
        """Save the password alone: what an administrator changed meanwhile stays."""
        user.set_password(password)
        user.save(update_fields=["password"])

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("mfa_index")

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        return reverse("mfa_index")

    def is_safe_url(self, url: str) -> bool:
        request = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def is_ajax(self, request: HttpRequest) -> bool:
        """Answer everybody with pages; nothing of ours asks for forms as JSON."""
        return False

    def send_notification_mail(
        self,
        template_prefix: str,
        user: Person,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        to = email or EmailAddress.objects.get_verified(user)
        if settings.MAILS and to and template_prefix in _TOLD:
            hints.send("assessor.accounts.tasks.mail_notice", user.username, str(to), _TOLD[template_prefix])

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if text := message or _SAID.get(message_template or ""):
            messages.add_message(request, level, text, extra_tags=extra_tags)


class FactorAdapter(DefaultMFAAdapter):
    """Second factors."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": WRONG_CODE}

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        # Under another ASSAY_SECRET_KEY nothing must be good: any fixed secret would give codes that can be computed.
        return decrypt(encrypted_text) or get_random_string(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    def get_totp_label(self, user: Person) -> str:
        return f"{user.username}@{context.request.get_host().split(':')[0]}"

    def build_totp_svg(self, url: str) -> str:
        """Draw the QR code without any style."""
        import qrcode
        from qrcode.image.svg import SvgPathImage

        drawn = io.BytesIO()
        qrcode.make(url, image_factory=SvgPathImage).save(drawn)
        return mark_safe(drawn.getvalue().decode().partition("?>")[2])  # noqa: S308 - drawn, not text

    def generate_authenticator_name(self, user: Person, type: Any) -> str:
        count = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {count + 1}" if count else "Passkey"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": "Assay"}

    def _get_user_identifier(self, user: Person) -> str:
        return user.username


class SignOnAdapter(DefaultSocialAccountAdapter):
    """Single sign-on: people who are linked to an account of the one provider of the settings, and nobody else."""

    def list_apps(self, request: HttpRequest, provider: str | None = None, client_id: str | None = None) -> list[Any]:
        from allauth.socialaccount.models import SocialApp

        if not single_sign_on.is_on() or provider not in (None, "openid_connect", settings.SSO_ISSUER):
            return []
        issuer = settings.SSO_ISSUER
        app = SocialApp(
            provider="openid_connect",
            provider_id=issuer,  # accounts are kept by issuer and subject: another issuer's subjects are other people
            name=settings.SSO_NAME,
            client_id=settings.SSO_CLIENT_ID,
            secret=settings.SSO_CLIENT_SECRET,
            settings={
                "server_url": f"{issuer.rstrip('/')}/.well-known/openid-configuration",
                "openid_configuration_overrides": {"issuer": issuer},  # so that identity tokens must name it
                "oauth_pkce_enabled": True,
                "scope": ["openid"],
                "fetch_userinfo": False,
            },
        )
        return [app]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:
        from assessor.accounts import sign_on  # noqa: F401  # which registers it

        return super().get_provider(request, provider, client_id)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return False

    def authenticate_by_email(self, sociallogin: Any) -> None:
        """Never: whoever may choose an address at the provider would be whoever has it here."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Let in who is linked, or comes with a one-time link and is linked by it."""
        from assessor.accounts.actions import link_account

        sociallogin.token = None  # nothing of ours asks the provider anything later
        if "id_token" not in sociallogin.account.extra_data:
            self.on_authentication_error(request, sociallogin.provider)
        if sociallogin.state["process"] == "connect":
            return
        if link := sociallogin.state["data"]:
            if sociallogin.is_existing or not link_account(request, sociallogin, **link):
                raise _refused(request, "link_refused")
        elif not sociallogin.is_existing:
            raise _refused(request, "not_known")

    def on_authentication_error(self, request: HttpRequest, provider: Any, **_: Any) -> None:
        raise _refused(request, "sign_on_failed")

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("mfa_index")


def _refused(request: HttpRequest, page: str) -> ImmediateHttpResponse:
    return ImmediateHttpResponse(render(request, f"accounts/{page}.html", {"name": settings.SSO_NAME}, status=403))
